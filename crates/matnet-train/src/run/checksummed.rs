//! Safetensors files with a checksum.
//!
//! The format has none of its own, so the metadata hold one over everything else: names, types, shapes,
//! numbers and the text that follows it. PyTorch and all others read such a file as any.
//!
//! There is one metadata entry, `matnet`: the checksum, a space, and a text. (Several entries would come in another
//! order each time, and the same run would not give the same bytes.)

use std::collections::HashMap;
use std::path::Path;

use burn::tensor::{DType, TensorData};
use matnet_data::memory;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use super::files;
use crate::{Error, Result};

const ENTRY: &str = "matnet";

/// The bytes of the file `path` with these tensors and this text.
pub fn encode(tensors: &[(String, TensorData)], text: &str, path: &Path) -> Result<Vec<u8>> {
    let size: usize = tensors.iter().map(|(_, data)| data.as_bytes().len()).sum();
    memory::check(size as u64, path.display())?;
    let views: Vec<(&str, TensorView)> =
        tensors.iter().map(|(name, data)| (name.as_str(), view(data))).collect();
    let text = format!("{} {text}", digest(&views, text));
    // Names are unique and every view was made from numbers that fill its shape.
    Ok(safetensors::serialize(views, Some(HashMap::from([(ENTRY.to_owned(), text)])))
        .expect("tensors that fit their shapes"))
}

/// The contents of a checksummed file.
pub struct Decoded {
    /// Tensors by name.
    pub tensors: HashMap<String, TensorData>,
    /// The text beside them.
    pub text: String,
}

/// Reads a file and verifies its checksum.
pub fn read(path: &Path) -> Result<Decoded> {
    decode(&files::read(path)?, path)
}

/// The contents of the file `path` with these bytes, whose checksum is verified.
pub fn decode(bytes: &[u8], path: &Path) -> Result<Decoded> {
    let damaged = |what: String| Error::damaged(path, what);
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| damaged(format!("damaged: {error}")))?;
    let texts = header.metadata().clone().unwrap_or_default();
    let Some((written, text)) = texts.get(ENTRY).and_then(|text| text.split_once(' ')) else {
        return Err(damaged("damaged, or not written by matnet: no checksum".to_owned()));
    };
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(format!("damaged: {error}")))?;
    let mut views: Vec<(String, TensorView)> = tensors.tensors();
    views.sort_by(|a, b| a.0.cmp(&b.0));
    let named: Vec<(&str, TensorView)> =
        views.iter().map(|(name, view)| (name.as_str(), view.clone())).collect();
    if written != digest(&named, text) || texts.len() != 1 {
        return Err(damaged("damaged: the checksum does not match".to_owned()));
    }
    let mut found = HashMap::new();
    for (name, view) in &views {
        let dtype = match view.dtype() {
            Dtype::F32 => DType::F32,
            Dtype::F64 => DType::F64,
            other => return Err(damaged(format!("{name} holds {other:?}; f32 expected"))),
        };
        let bytes = memory::collect(view.data().iter().copied(), path.display())?;
        let data = TensorData::from_bytes_vec(bytes, view.shape().to_vec(), dtype);
        found.insert(name.clone(), data);
    }
    Ok(Decoded { tensors: found, text: text.to_owned() })
}

fn view(data: &TensorData) -> TensorView<'_> {
    let dtype = match data.dtype() {
        DType::F64 => Dtype::F64,
        _ => Dtype::F32,
    };
    TensorView::new(dtype, data.shape().to_vec(), data.as_bytes()).expect("numbers that fill their shape")
}

/// The SHA-256 of everything but itself, in the order of the names.
fn digest(tensors: &[(&str, TensorView)], text: &str) -> String {
    let mut sha = Sha256::new();
    let mut add = |part: &[u8]| {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    };
    let mut order: Vec<&(&str, TensorView)> = tensors.iter().collect();
    order.sort_by_key(|(name, _)| *name);
    for (name, view) in order {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    add(text.as_bytes());
    hex(&sha.finalize())
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let tensors = vec![
            ("b.weight".to_owned(), TensorData::from([1.0_f32, -2.0, 3.5])),
            ("a".to_owned(), TensorData::from([[0.5_f32, 0.25]])),
        ];
        let good = encode(&tensors, "{\"words\": 3}", &path).unwrap();
        files::write(&path, &good).unwrap();
        let decoded = read(&path).unwrap();
        assert_eq!(decoded.tensors["a"], tensors[1].1);
        assert_eq!(decoded.text, "{\"words\": 3}");
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bad).unwrap();
            assert!(read(&path).is_err(), "bit {bit} of {}", 8 * good.len());
        }
    }
}
