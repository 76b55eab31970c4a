//! Ranks: processes that train one run together.
//!
//! A batch is divided into shards (`train.shards`), and each rank computes some of them. What the ranks exchange is put together in
//! the order of the shards, so the number of ranks does not change a bit of the result.
//!
//! [`Collective`] is what an engine has to offer; the crate `matnet-mpi` has it for MPI. [`Ranks`] is what the training loop
//! talks to. A rank that fails returns its error to [`Ranks::settle`], which tells the others in place of the message that they wait
//! for; all end with the same error, and nobody waits forever.

mod same;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use self::same::{check_data, check_same};
use crate::{Error, Result};

/// Processes that can exchange messages. Every rank calls the same functions in the same order.
pub trait Collective: Send + Sync {
    /// Which of them this process is, from 0.
    fn rank(&self) -> usize;

    /// How many they are.
    fn size(&self) -> usize;

    /// The messages of all ranks, in their order.
    fn all_gather(&self, message: &[u8]) -> Vec<Vec<u8>>;

    /// Gives the bytes of rank 0 to all.
    fn broadcast(&self, bytes: &mut Vec<u8>);

    /// Sends the first `send_counts[0]` numbers to rank 0, the next `send_counts[1]` to rank 1 and so on, and receives in the same
    /// manner.
    fn all_to_all(&self, send: &[f32], send_counts: &[usize], receive: &mut [f32], receive_counts: &[usize]);

    /// The numbers of all ranks, one after another; rank r has `counts[r]`.
    fn all_gather_numbers(&self, own: &[f32], all: &mut [f32], counts: &[usize]);
}

/// The ranks of a training; one process by default.
#[derive(Clone, Default)]
pub struct Ranks(Option<Arc<Together>>);

struct Together {
    engine: Box<dyn Collective>,
    /// Whether all know that one has failed.
    ended: AtomicBool,
}

/// What the first byte of a message says about the rest.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Message = 0,
    Failed = 1,
    Usage = 2,
    Interrupted = 3,
    NotFinite = 4,
}

impl Ranks {
    /// The ranks that an engine connects.
    pub fn new(engine: impl Collective + 'static) -> Self {
        Self(Some(Arc::new(Together { engine: Box::new(engine), ended: AtomicBool::new(false) })))
    }

    /// Which one this process is, from 0. Rank 0 writes all files.
    pub fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, |all| all.engine.rank())
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.0.as_ref().map_or(1, |all| all.engine.size())
    }

    /// Whether this is rank 0.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The others, if there are any.
    fn together(&self) -> Option<&Together> {
        self.0.as_deref().filter(|all| all.engine.size() > 1)
    }

    /// Whether this process is the only one.
    pub fn is_alone(&self) -> bool {
        self.together().is_none()
    }

    /// The messages of all ranks, in their order. If one of them has failed, all of them fail.
    pub(crate) fn gather(&self, own: Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let Some(all) = self.together() else { return Ok(vec![own?]) };
        let message = match &own {
            Ok(payload) => [&[Kind::Message as u8], &payload[..]].concat(),
            Err(error) => [&[kind(error) as u8], error.to_string().as_bytes()].concat(),
        };
        let messages = all.engine.all_gather(&message);
        let failed = messages.iter().position(|message| message.first() != Some(&(Kind::Message as u8)));
        let Some(rank) = failed else {
            return Ok(messages.into_iter().map(|message| message[1..].to_vec()).collect());
        };
        all.ended.store(true, Ordering::Relaxed);
        match own {
            // Ranks that fail in the same way have found it out together.
            Err(error) if messages[rank].get(1..) == Some(error.to_string().as_bytes()) => Err(error),
            _ => Err(received(rank, &messages[rank])),
        }
    }

    /// What rank 0 makes, on all ranks. The others decode what rank 0 has encoded.
    pub(crate) fn made_by_first<V>(
        &self,
        make: impl FnOnce() -> Result<V>,
        encode: impl FnOnce(&mut V) -> Result<Vec<u8>>,
        decode: impl FnOnce(&[u8]) -> Result<V>,
    ) -> Result<V> {
        let Some(all) = self.together() else { return make() };
        if !self.is_first() {
            self.gather(Ok(Vec::new()))?;
            let mut bytes = Vec::new();
            all.engine.broadcast(&mut bytes);
            return decode(&bytes);
        }
        let mut value = make()?;
        let mut bytes = encode(&mut value)?;
        self.gather(Ok(Vec::new()))?;
        all.engine.broadcast(&mut bytes);
        Ok(value)
    }

    /// What rank 0 says.
    pub(crate) fn first_says(&self, own: bool) -> Result<bool> {
        Ok(self.gather(Ok(vec![u8::from(own)]))?[0] == [1])
    }

    /// Ends a phase together: a success only if all ranks have succeeded, else the failure of the first that failed. Whatever
    /// exchanges messages must stand inside such a phase.
    pub fn settle<T>(&self, own: Result<T>) -> Result<T> {
        let ended = self.together().is_none_or(|all| all.ended.load(Ordering::Relaxed));
        match own {
            own if ended => own,
            Ok(value) => self.gather(Ok(Vec::new())).map(|_| value),
            Err(error) => Err(self.gather(Err(error)).err().unwrap_or(Error::Interrupted)),
        }
    }

    /// The shards that this rank computes, of so many.
    pub(crate) fn own_shards(&self, shards: usize) -> Range<usize> {
        part(shards, self.size(), self.rank())
    }

    /// The share of this rank of a batch that is divided into shards.
    pub(crate) fn own_examples<'a>(&self, batch: &'a [usize], shards: usize) -> &'a [usize] {
        let own = self.own_shards(shards);
        &batch[part(batch.len(), shards, own.start).start..part(batch.len(), shards, own.end).start]
    }

    /// See [`Collective::all_to_all`]; none of the ranks may have failed since the last message.
    pub(crate) fn all_to_all(
        &self,
        send: &[f32],
        send_counts: &[usize],
        receive_counts: &[usize],
    ) -> Vec<f32> {
        let mut receive = vec![0.0; receive_counts.iter().sum()];
        match self.together() {
            Some(all) => all.engine.all_to_all(send, send_counts, &mut receive, receive_counts),
            None => receive.copy_from_slice(send),
        }
        receive
    }

    /// See [`Collective::all_gather_numbers`].
    pub(crate) fn all_gather_numbers(&self, own: &[f32], counts: &[usize]) -> Vec<f32> {
        let mut all = vec![0.0; counts.iter().sum()];
        match self.together() {
            Some(together) => together.engine.all_gather_numbers(own, &mut all, counts),
            None => all.copy_from_slice(own),
        }
        all
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "Ranks({} of {})", self.rank(), self.size())
    }
}

/// Part `at` of `count` things that are divided into `parts` as evenly as possible, one after another.
pub(crate) fn part(count: usize, parts: usize, at: usize) -> Range<usize> {
    // No product of a batch size and a number of shards overflows 128 bits.
    let start = |at: usize| (count as u128 * at as u128 / parts as u128) as usize;
    start(at)..start(at + 1)
}

fn kind(error: &Error) -> Kind {
    match error {
        Error::Interrupted => Kind::Interrupted,
        Error::NotFinite(_) => Kind::NotFinite,
        error if error.is_usage() => Kind::Usage,
        _ => Kind::Failed,
    }
}

/// The error that another rank has sent.
fn received(rank: usize, message: &[u8]) -> Error {
    let text = String::from_utf8_lossy(message.get(1..).unwrap_or_default()).into_owned();
    let is = |kind: Kind| message.first() == Some(&(kind as u8));
    if is(Kind::Interrupted) {
        Error::Interrupted
    } else if is(Kind::NotFinite) {
        Error::NotFinite(text)
    } else {
        Error::Rank { rank, usage: is(Kind::Usage), message: text }
    }
}

/// A message of a value, and bytes.
pub(crate) fn pack(value: &impl Serialize, bytes: &[u8]) -> Vec<u8> {
    let text = serde_json::to_vec(value).expect("numbers and strings");
    [&(text.len() as u64).to_le_bytes(), &text[..], bytes].concat()
}

/// What was packed.
pub(crate) fn unpack<V: DeserializeOwned>(message: &[u8]) -> Result<(V, &[u8])> {
    let split = || {
        let (length, rest) = message.split_first_chunk::<8>()?;
        let (text, bytes) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some((serde_json::from_slice(text).ok()?, bytes))
    };
    split()
        .ok_or_else(|| Error::Mismatch("another rank has sent something else than was expected".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once_and_evenly() {
        for count in 0..40 {
            for parts in 1..9 {
                let ranges: Vec<_> = (0..parts).map(|at| part(count, parts, at)).collect();
                let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                let sizes = || ranges.iter().map(Range::len);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{count} in {parts}");
            }
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let message = pack(&vec![1.5, -2.0], &[7, 8]);
        let (numbers, bytes): (Vec<f64>, _) = unpack(&message).unwrap();
        assert_eq!((numbers, bytes), (vec![1.5, -2.0], &[7, 8][..]));
        for cut in 0..message.len() - 2 {
            assert!(unpack::<Vec<f64>>(&message[..cut]).is_err());
        }
    }
}
