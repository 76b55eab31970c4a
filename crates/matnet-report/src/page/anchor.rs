//! Anchors of headings.

use std::collections::HashSet;

/// The anchors of a page, all different.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    taken: HashSet<String>,
}

impl Anchors {
    /// A new anchor derived from `text`.
    pub fn take(&mut self, text: &str) -> String {
        let mut name = String::new();
        for letter in text.to_lowercase().chars() {
            if letter.is_ascii_alphanumeric() {
                name.push(letter);
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
        }
        let name = match name.trim_end_matches('-') {
            "" => "section",
            name => name,
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.to_string()).chain(numbered).find(|name| !self.taken.contains(name));
        let anchor = free.unwrap_or_default();
        self.taken.insert(anchor.clone());
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_ascii_and_different() {
        let mut anchors = Anchors::default();
        let taken = ["U and V!", "u and v", "<b>", "σ", "σ", "u and v 2"].map(|text| anchors.take(text));
        assert_eq!(taken, ["u-and-v", "u-and-v-2", "b", "section", "section-2", "u-and-v-2-2"]);
    }
}
