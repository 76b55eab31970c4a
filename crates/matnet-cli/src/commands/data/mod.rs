//! `matnet data`: list, fetch, verify and show datasets, pack graphs.

mod fetch;
mod list;
mod pack;
mod show;
mod summary;
mod verify;

use matnet_data::catalog::{self, DatasetInfo};

use crate::cli::Data;
use crate::failure::{Failure, Outcome};

/// Does what was asked.
pub fn run(command: Data) -> Outcome {
    match command {
        Data::List(args) => list::run(args),
        Data::Fetch(args) => fetch::run(args),
        Data::Verify(args) => verify::run(args),
        Data::Show(args) => show::run(args),
        Data::Pack(args) => pack::run(args),
    }
}

/// The datasets of these names; without names, all.
fn chosen(names: &[String]) -> Result<Vec<&'static DatasetInfo>, Failure> {
    match names {
        [] => Ok(catalog::all().iter().collect()),
        names => names.iter().map(|name| Ok(catalog::get(name)?)).collect(),
    }
}
