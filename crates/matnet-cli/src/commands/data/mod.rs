//! `matnet data`: what there is, getting it, trusting it, looking at it.

mod fetch;
mod list;
mod show;
mod summary;
mod verify;

pub use summary::Degrees;

use matnet_data::cache::Cache;
use matnet_data::catalog::{self, Dataset};

use crate::cli::{CacheArgs, Data};
use crate::failure::{Failure, Outcome};

/// Does what was asked.
pub fn run(command: Data) -> Outcome {
    match command {
        Data::List(args) => list::run(args),
        Data::Fetch(args) => fetch::run(args),
        Data::Verify(args) => verify::run(args),
        Data::Show(args) => show::run(args),
    }
}

/// The cache that was asked for, or the standard one.
pub(super) fn cache(args: &CacheArgs) -> Result<Cache, Failure> {
    match &args.cache {
        Some(root) => Ok(Cache::new(root)),
        None => Ok(Cache::standard()?),
    }
}

/// The datasets of these names; without names, all.
fn chosen(names: &[String]) -> Result<Vec<&'static Dataset>, Failure> {
    match names {
        [] => Ok(catalog::all().iter().collect()),
        names => names.iter().map(|name| Ok(catalog::get(name)?)).collect(),
    }
}
