//! The pass over all inputs in a file at the start: their checksum, their minimum and maximum, and whether all numbers are finite. Ranks that
//! have the same file read a share of it each.

use std::ops::Range;

use matnet_data::checksum::{Sum, of_piece, of_pieces};
use matnet_data::pieces::Pieces;
use matnet_data::{Array, StoredArray};
use serde::{Deserialize, Serialize};

use super::range::{EMPTY, joined, range};
use crate::ranks::{Ranks, pack, part, unpack};
use crate::{Error, Result};

/// What a rank is about to read.
#[derive(Serialize, Deserialize)]
struct Start {
    /// The shape of inputs that stay in their file.
    shape: Option<Vec<usize>>,
    /// What this file is.
    file: Option<String>,
}

/// The ranks that have the same file as this one. Fails, on all ranks, if one has inputs of another shape than rank 0, or in another place.
pub(super) fn readers(ranks: &Ranks, found: Option<&StoredArray>) -> Result<Vec<usize>> {
    let file = found.map_or(Ok(None), StoredArray::identity);
    let start = file.map(|file| Start { shape: found.map(|array| array.shape().to_vec()), file });
    let messages = ranks.gather(start.map(|start| pack(&start, &[])).map_err(Error::from))?;
    let all = messages.iter().map(|message| Ok(unpack(message)?.0)).collect::<Result<Vec<Start>>>()?;
    for (rank, start) in all.iter().enumerate() {
        if let Some(message) = difference(&all[0], start) {
            return Err(Error::Rank { rank, usage: true, message });
        }
    }
    let own = &all[ranks.rank()].file;
    let same = |rank: &usize| *rank == ranks.rank() || own.is_some() && all[*rank].file == *own;
    Ok((0..all.len()).filter(same).collect())
}

/// How a rank differs from rank 0.
fn difference(first: &Start, other: &Start) -> Option<String> {
    let reason = "; ranks need the same files and the same MATNET_STREAM_ABOVE";
    match (&first.shape, &other.shape) {
        (first, other) if first == other => None,
        (Some(first), Some(other)) => {
            Some(format!("has other data than rank 0: inputs of shape {other:?}, where rank 0 has {first:?}"))
        }
        (None, _) => Some(format!("leaves its inputs in their file, rank 0 loads them{reason}")),
        (_, None) => Some(format!("loads its inputs, rank 0 leaves them in their file{reason}")),
    }
}

/// What was found in all inputs.
pub(super) struct Scanned {
    pub checksum: Sum,
    /// The minimum and the maximum.
    pub range: (f32, f32),
}

/// What a rank has found in its share.
#[derive(Default, Serialize, Deserialize)]
struct Found {
    /// The first sample with a number that is not finite, and this number.
    wrong: Option<(usize, String)>,
    range: Option<(f32, f32)>,
}

/// Looks at all inputs, of which `readers` read a share each; fails if a number is not finite. `read` gives some samples.
pub(super) fn scan(
    shape: &[usize],
    read: impl Fn(Range<usize>) -> Result<Array>,
    source: &str,
    readers: &[usize],
    ranks: &Ranks,
) -> Result<Scanned> {
    let pieces = Pieces::of(shape);
    let place = readers.iter().take_while(|&&rank| rank != ranks.rank()).count();
    let (mut found, mut sums) = (Found::default(), Vec::new());
    for piece in part(pieces.count(), readers.len(), place) {
        let samples = pieces.samples(piece);
        let values = read(samples.clone())?;
        if let Some(at) = values.data().iter().position(|x| !x.is_finite()) {
            let size = values.data().len() / samples.len();
            found.wrong = Some((samples.start + at / size, values.data()[at].to_string()));
            break;
        }
        found.range = Some(joined(found.range.unwrap_or(EMPTY), range(values.data())));
        sums.extend(of_piece(values.data()));
    }
    let (mut all, mut whole): (Vec<Sum>, _) = (Vec::new(), EMPTY);
    for (rank, message) in ranks.gather(Ok(pack(&found, &sums)))?.iter().enumerate() {
        let (Found { wrong, range }, sums) = unpack(message)?;
        if let Some((sample, number)) = wrong {
            let what = format!("{source}: sample {sample} holds {number}; finite numbers expected");
            return Err(Error::data_key("data.source", what));
        }
        if readers.contains(&rank) {
            all.extend(sums.as_chunks().0);
            whole = joined(whole, range.unwrap_or(EMPTY));
        }
    }
    Ok(Scanned { checksum: of_pieces(shape, &all), range: whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_must_have_the_same_inputs_in_the_same_place() {
        let start = |shape: Option<&[usize]>| Start { shape: shape.map(<[usize]>::to_vec), file: None };
        let said =
            |first: Option<&[usize]>, other: Option<&[usize]>| difference(&start(first), &start(other));
        let (shape, longer): (&[usize], &[usize]) = (&[5, 2, 3], &[6, 2, 3]);
        assert_eq!((said(None, None), said(Some(shape), Some(shape))), (None, None));
        let expected = "has other data than rank 0: inputs of shape [6, 2, 3], where rank 0 has [5, 2, 3]";
        assert_eq!(said(Some(shape), Some(longer)).unwrap(), expected);
        assert!(
            said(None, Some(shape))
                .unwrap()
                .starts_with("leaves its inputs in their file, rank 0 loads them")
        );
        assert!(
            said(Some(shape), None)
                .unwrap()
                .starts_with("loads its inputs, rank 0 leaves them in their file")
        );
    }
}
