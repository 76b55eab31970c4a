//! Safetensors files that notice a flipped bit.
//!
//! The format has no checksum of its own, so one stands in the metadata, over everything else: names, types, shapes,
//! numbers and the note that follows it. PyTorch and all others read such a file as any.
//!
//! There is one entry of metadata, `matnet`: the checksum, a space, and the note. (More entries would come in another
//! order each time, and the same run would not give the same bytes.)

use std::collections::HashMap;
use std::path::Path;

use burn::tensor::{DType, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use crate::{Error, Result, files};

const ENTRY: &str = "matnet";

/// The bytes of a file with these tensors and this note.
pub fn seal(tensors: &[(String, TensorData)], note: &str) -> Vec<u8> {
    let views: Vec<(&str, TensorView)> =
        tensors.iter().map(|(name, data)| (name.as_str(), view(data))).collect();
    let text = format!("{} {note}", digest(&views, note));
    // Names are unique and every view was made from numbers that fill its shape.
    safetensors::serialize(views, Some(HashMap::from([(ENTRY.to_owned(), text)])))
        .expect("tensors that fit their shapes")
}

/// What a sealed file holds.
pub struct Opened {
    /// Numbers by name.
    pub tensors: HashMap<String, TensorData>,
    /// The note.
    pub note: String,
    /// The file itself.
    pub bytes: Vec<u8>,
}

/// Reads a file and checks every bit of it.
pub fn open(path: &Path) -> Result<Opened> {
    let bytes = files::read(path)?;
    let damaged = |what: String| Error::damaged(path, what);
    let (_, header) =
        SafeTensors::read_metadata(&bytes).map_err(|error| damaged(format!("damaged: {error}")))?;
    let texts = header.metadata().clone().unwrap_or_default();
    let Some((written, note)) = texts.get(ENTRY).and_then(|text| text.split_once(' ')) else {
        return Err(damaged("damaged, or not written by matnet: it has no checksum".to_owned()));
    };
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(format!("damaged: {error}")))?;
    let mut views: Vec<(String, TensorView)> = tensors.tensors();
    views.sort_by(|a, b| a.0.cmp(&b.0));
    let named: Vec<(&str, TensorView)> =
        views.iter().map(|(name, view)| (name.as_str(), view.clone())).collect();
    if written != digest(&named, note) || texts.len() != 1 {
        return Err(damaged("damaged: its checksum does not fit what it holds".to_owned()));
    }
    let mut found = HashMap::new();
    for (name, view) in &views {
        let dtype = match view.dtype() {
            Dtype::F32 => DType::F32,
            Dtype::F64 => DType::F64,
            other => return Err(damaged(format!("{name} holds {other:?}; f32 expected"))),
        };
        let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
        found.insert(name.clone(), data);
    }
    let note = note.to_owned();
    Ok(Opened { tensors: found, note, bytes })
}

fn view(data: &TensorData) -> TensorView<'_> {
    let dtype = match data.dtype() {
        DType::F64 => Dtype::F64,
        _ => Dtype::F32,
    };
    TensorView::new(dtype, data.shape().to_vec(), data.as_bytes()).expect("numbers that fill their shape")
}

/// A digest of everything but itself, in the order of the names.
fn digest(tensors: &[(&str, TensorView)], note: &str) -> String {
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
    add(note.as_bytes());
    hex(&sha.finalize())
}

/// Bytes as people write checksums.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let tensors = vec![
            ("b.weight".to_owned(), TensorData::from([1.0_f32, -2.0, 3.5])),
            ("a".to_owned(), TensorData::from([[0.5_f32, 0.25]])),
        ];
        let good = seal(&tensors, "{\"words\": 3}");
        files::write(&path, &good).unwrap();
        let opened = open(&path).unwrap();
        assert_eq!(opened.tensors["a"], tensors[1].1);
        assert_eq!(opened.note, "{\"words\": 3}");
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bad).unwrap();
            assert!(open(&path).is_err(), "bit {bit} of {}", 8 * good.len());
        }
    }
}
