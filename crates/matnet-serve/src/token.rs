//! The bearer token.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A secret that clients present as `Authorization: Bearer …`. Only its hash is kept.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// From a text, without the white space around it; `None` if that leaves nothing, or something a header cannot hold.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(Sha256::digest(text).into()))
    }

    /// Whether the value of an `Authorization` header presents this token. The time it takes says nothing about the token.
    pub(crate) fn is_presented_by(&self, header: Option<&[u8]>) -> bool {
        let Some((scheme, rest)) = header.and_then(|header| header.split_at_checked(7)) else { return false };
        let presented: [u8; 32] = Sha256::digest(rest.trim_ascii()).into();
        scheme.eq_ignore_ascii_case(b"bearer ") & bool::from(presented.ct_eq(&self.0))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens() {
        let token = Token::new(" s3cret\n").unwrap();
        for right in ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret "] {
            assert!(token.is_presented_by(Some(right.as_bytes())), "{right}");
        }
        for wrong in ["", "s3cret", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Basic s3cret"] {
            assert!(!token.is_presented_by(Some(wrong.as_bytes())), "{wrong}");
        }
        assert!(!token.is_presented_by(None));
        assert!(Token::new(" \n").is_none() && Token::new("two words").is_none());
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
