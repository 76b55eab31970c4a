//! Whether all ranks would compute the same: the same binary, config, data and SIMD level.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Ranks, pack, unpack};
use crate::run::checksummed::hex;
use crate::run::text_difference;
use crate::{Error, Result};

const OTHER_DATA: &str = "has other data than rank 0: their checksums differ";

/// What must be the same on all ranks.
#[derive(Serialize, Deserialize)]
struct Facts {
    /// The checksum of the program.
    binary: String,
    simd: String,
    /// Once a run begins.
    device: Option<String>,
    /// The config; once the data are loaded the text of `config.toml`, which holds their checksum.
    config: String,
}

/// Fails, on all ranks, if one differs from rank 0.
pub(crate) fn check_same(ranks: &Ranks, config: String, device: Option<String>) -> Result<()> {
    if ranks.is_alone() {
        return Ok(());
    }
    let facts = binary().map(|binary| Facts { binary, simd: matnet::simd_level(), device, config });
    let messages = ranks.gather(facts.map(|facts| pack(&facts, &[])))?;
    let all: Vec<Facts> = messages.iter().map(|message| Ok(unpack(message)?.0)).collect::<Result<_>>()?;
    let first = &all[0];
    for (rank, facts) in all.iter().enumerate() {
        if let Some(message) = difference(first, facts) {
            return Err(Error::Rank { rank, usage: true, message });
        }
    }
    Ok(())
}

/// Fails, on all ranks, if one has data with another checksum than rank 0.
pub(crate) fn check_data(ranks: &Ranks, checksum: &str) -> Result<()> {
    let all = ranks.gather(Ok(checksum.as_bytes().to_vec()))?;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Error::Rank { rank, usage: true, message: OTHER_DATA.to_owned() }),
    }
}

/// How a rank differs from rank 0.
fn difference(first: &Facts, other: &Facts) -> Option<String> {
    if first.binary != other.binary {
        return Some("is another build of matnet than rank 0; every rank needs the same binary".to_owned());
    }
    if first.simd != other.simd {
        let (simd, wanted) = (&other.simd, &first.simd);
        return Some(format!(
            "computes with {simd}, rank 0 with {wanted}, which gives other bits; MATNET_SIMD=avx2 on all ranks makes them the same, where all CPUs have it"
        ));
    }
    if first.device != other.device {
        let [device, wanted] = [other, first].map(|facts| facts.device.as_deref().unwrap_or("none"));
        return Some(format!("has the device {device}, rank 0 has {wanted}"));
    }
    let difference = text_difference(&first.config, &other.config)?;
    Some(match difference.strip_prefix("run.data_sha256") {
        Some(_) => OTHER_DATA.to_owned(),
        None => format!("has another config than rank 0: {difference}"),
    })
}

/// The checksum of this program.
fn binary() -> Result<String> {
    static SUM: OnceLock<String> = OnceLock::new();
    if let Some(sum) = SUM.get() {
        return Ok(sum.clone());
    }
    let path = std::env::current_exe().map_err(|error| Error::io("the program itself", error))?;
    let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, error))?;
    Ok(SUM.get_or_init(|| hex(&Sha256::digest(bytes))).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let config = "[run]\ndata_sha256 = \"a\"\n[train]\nepochs = 3\n".to_owned();
        Facts { binary: "b".to_owned(), simd: "avx2".to_owned(), device: Some("flex".to_owned()), config }
    }

    #[test]
    fn whatever_differs_is_named() {
        assert_eq!(difference(&facts(), &facts()), None);
        let of = |change: fn(&mut Facts)| {
            let mut other = facts();
            change(&mut other);
            difference(&facts(), &other).unwrap()
        };
        assert!(of(|facts| facts.binary.push('x')).contains("another build"));
        assert!(of(|facts| facts.simd = "avx512".to_owned()).contains("with avx512, rank 0 with avx2"));
        assert!(of(|facts| facts.device = None).contains("has the device none, rank 0 has flex"));
        assert!(of(|facts| facts.config = facts.config.replace("\"a\"", "\"c\"")).contains("other data"));
        let config = of(|facts| facts.config = facts.config.replace('3', "4"));
        assert_eq!(config, "has another config than rank 0: train.epochs = 3, now 4");
    }
}
