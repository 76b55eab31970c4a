//! Fine-tuning: the weights of another run that a run starts from, and the parameters that it leaves as they are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Tensor, TensorData};
use matnet::weights;
use sha2::{Digest, Sha256};
use toml::Value;

use crate::config::Document;
use crate::run::checksummed::{self, hex};
use crate::run::{BEST, Transfer, files};
use crate::{Error, Result};

/// A file of weights that `train.from` names.
pub struct SourceWeights {
    path: PathBuf,
    /// The checksum of the file.
    pub sha256: String,
    tensors: HashMap<String, TensorData>,
}

impl SourceWeights {
    /// The file of weights that `train.from` names: a folder stands for the best weights of its run.
    pub fn path(from: &str) -> PathBuf {
        let path = Path::new(from);
        if path.is_dir() { path.join(BEST) } else { path.to_owned() }
    }

    /// Reads the weights that `train.from` names.
    pub fn read(from: &str) -> Result<Self> {
        let path = Self::path(from);
        if !path.exists() {
            let expected = match Path::new(from).is_dir() {
                true => format!("there is no {BEST} in this folder; the folder of a trained run expected"),
                false => "no such file or folder; the folder of a trained run expected".to_owned(),
            };
            return Err(Error::config("train", "from", from, expected));
        }
        let decoded = checksummed::read(&path)?;
        let sha256 = hex(&Sha256::digest(files::read(&path)?));
        Ok(Self { path, sha256, tensors: decoded.tensors })
    }

    /// Fails if the columns that the config reads are those of these weights in another order: each weight would meet another column.
    pub fn check_columns(&self, config: &Document) -> Result<()> {
        let Some(Ok(text)) = self.path.parent().map(|run| files::read_text(&run.join("config.toml"))) else {
            return Ok(());
        };
        let before = text.and_then(|text| Document::parse(&text).ok());
        let columns = |of: &Document| of.get("data", "columns").and_then(Value::as_array).cloned();
        let (Some(before), Some(now)) = (before.as_ref().and_then(columns), columns(config)) else {
            return Ok(());
        };
        let same = before.len() == now.len() && before.iter().all(|column| now.contains(column));
        match same && before != now {
            true => {
                let listed = |all: Vec<Value>| Value::Array(all).to_string();
                let expected = format!(
                    "{} expected, the order in which the weights of train.from have them",
                    listed(before)
                );
                Err(Error::config("data", "columns", listed(now), expected))
            }
            false => Ok(()),
        }
    }

    /// The net with all weights that fit by name and shape; an error if none does.
    pub fn transfer<M: Module>(&self, net: M) -> Result<(M, Transfer)> {
        let mut transfer = Transfer {
            source: self.path.display().to_string(),
            sha256: self.sha256.clone(),
            taken: Vec::new(),
            other_shape: Vec::new(),
            new: Vec::new(),
            unused: Vec::new(),
        };
        let mut all = HashMap::new();
        for (name, own) in weights::named(&net) {
            let (list, data) = match self.tensors.get(&name) {
                Some(data) if data.shape() == own.shape() && data.dtype() == own.dtype() => {
                    (&mut transfer.taken, data.clone())
                }
                Some(_) => (&mut transfer.other_shape, own),
                None => (&mut transfer.new, own),
            };
            list.push(name.clone());
            all.insert(name, data);
        }
        let unused = self.tensors.keys().filter(|name| !all.contains_key(*name));
        transfer.unused = unused.cloned().collect();
        transfer.unused.sort();
        if transfer.taken.is_empty() {
            let value = self.path.display().to_string();
            let expected = "no parameter of this net has the name and shape of one in there";
            return Err(Error::config("train", "from", value, expected));
        }
        let net = weights::load(net, all).map_err(|error| Error::damaged(&self.path, error.to_string()))?;
        Ok((net, transfer))
    }
}

/// Whether a parameter is one of these, or in a layer that is.
pub fn is_among(name: &str, list: &[String]) -> bool {
    let within = |of: &String| name.strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('.'));
    list.iter().any(|of| name == of || within(of))
}

/// The net with these parameters left out of the gradient, so that no optimizer, decay or penalty reaches them. Running
/// statistics are no parameters and follow the data, as in PyTorch.
pub fn freeze<M: Module>(net: M, list: &[String]) -> M {
    struct Freeze<'a>(std::vec::IntoIter<String>, &'a [String]);
    impl ModuleMapper for Freeze<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            match self.0.next().is_some_and(|name| is_among(&name, self.1)) {
                true => param.set_require_grad(false),
                false => param,
            }
        }
    }
    if list.is_empty() {
        return net;
    }
    let names = weights::names(&net);
    net.map(&mut Freeze(names.into_iter(), list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_itself_and_for_what_is_below_it() {
        let list = ["layer.1".to_owned(), "head.bias".to_owned()];
        for (name, among) in [
            ("layer.1.row_map", true),
            ("layer.10.row_map", false),
            ("head.bias", true),
            ("head.weight", false),
            ("layer.1", true),
        ] {
            assert_eq!(is_among(name, &list), among, "{name}");
        }
    }
}
