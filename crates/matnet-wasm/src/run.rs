//! A trained run: its config and its weights.

use burn::tensor::Device;
use matnet::net::NetConfig;
use matnet::random::SeededRng;
use matnet::weights;
use safetensors::SafeTensors;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::{Error, Result};

/// `config.toml` and `best.safetensors` of a run folder.
#[derive(Clone, Debug)]
pub struct Run {
    model: Table,
    pub(crate) metadata: Metadata,
    weights: Vec<u8>,
}

/// What stands beside the weights, as far as it is needed here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    /// The checksum of the config that the weights belong to.
    config: String,
    /// A name per class.
    pub classes: Vec<String>,
    /// Whether the net gives logits of matrices.
    pub logits: bool,
    /// Steps of a sequence that the net reads.
    pub context_length: Option<usize>,
    /// How the features of nodes are normalized.
    pub normalize: String,
    /// The transforms of the inputs.
    preprocess: serde_json::Map<String, serde_json::Value>,
}

/// What the training data were, beside the transforms.
const NO_TRANSFORMS: [&str; 2] = ["sample_rate", "row_step"];

impl Run {
    /// From the contents of the two files. The weights must be those of the config, and the inputs need no transforms.
    pub fn new(config: &str, weights: Vec<u8>) -> Result<Self> {
        let document: Table =
            config.parse().map_err(|error: toml::de::Error| Error::Config(error.to_string()))?;
        let Some(Value::Table(model)) = document.get("model") else {
            return Err(Error::Config("[model] is missing".to_owned()));
        };
        let metadata = Metadata::read(&weights)?;
        if metadata.config != hex(&Sha256::digest(config)) {
            return Err(Error::Weights("these are the weights of another config.toml".to_owned()));
        }
        if let Some(name) = metadata.transform() {
            let what = format!("the inputs of this run need a transform that a page does not have: {name}");
            return Err(Error::Weights(what));
        }
        Ok(Self { model: model.clone(), metadata, weights })
    }

    /// The net, which must be of this kind (`model.kind`).
    pub(crate) fn net<C: NetConfig + DeserializeOwned>(
        &self,
        kind: &str,
        device: &Device,
    ) -> Result<(C, C::Net)> {
        let mut table = self.model.clone();
        match table.remove("kind") {
            Some(Value::String(found)) if found == kind => {}
            Some(found) => return Err(Error::Config(format!("model.kind is {found}; \"{kind}\" expected"))),
            None => return Err(Error::Config(format!("model.kind is missing; \"{kind}\" expected"))),
        }
        let config: C =
            table.try_into().map_err(|error: toml::de::Error| Error::Config(error.to_string()))?;
        // All parameters are replaced.
        let net = config.init(&mut SeededRng::new(0, "init"), device)?;
        Ok((config, weights::load_safetensors(net, &self.weights)?))
    }
}

impl Metadata {
    /// The name of a transform that the inputs need.
    fn transform(&self) -> Option<&str> {
        let applied = |name: &str, value: &serde_json::Value| {
            !value.is_null() && *value != false && !NO_TRANSFORMS.contains(&name)
        };
        self.preprocess.iter().find_map(|(name, value)| applied(name, value).then_some(name.as_str()))
    }

    fn read(weights: &[u8]) -> Result<Self> {
        let (_, header) =
            SafeTensors::read_metadata(weights).map_err(|error| Error::Weights(error.to_string()))?;
        let entry = header.metadata().as_ref().and_then(|texts| texts.get("matnet"));
        let Some((_, text)) = entry.and_then(|text| text.split_once(' ')) else {
            return Err(Error::Weights("not written by `matnet train`".to_owned()));
        };
        serde_json::from_str(text).map_err(|error| Error::Weights(error.to_string()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_found_and_the_sample_rate_is_none() {
        let of = |preprocess: &str| {
            let text = format!(r#"{{"preprocess":{preprocess}}}"#);
            let metadata: Metadata = serde_json::from_str(&text).unwrap();
            metadata.transform().map(str::to_owned)
        };
        assert_eq!(of(r#"{"sample_rate":8000,"row_step":1.0,"scaler":null,"missing_mask":false}"#), None);
        assert_eq!(of(r#"{"sample_rate":8000,"scaler":{"per":"whole"}}"#).as_deref(), Some("scaler"));
    }
}
