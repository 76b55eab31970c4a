//! The ranks of an MPI job as a [`Collective`] of `matnet-train`.
//!
//! A rank that panics ends all ranks. One that is killed is noticed by `mpirun` or `srun`, which end the others.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use matnet_train::ranks::Collective;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use mpi::{Count, Threading};

/// Bytes that one call moves at most: MPI counts with 32 bits.
const MOST: usize = 1 << 30;

/// Bytes whose address is a real one.
static EMPTY: [u8; 1] = [0];

/// The exit code of a process that panics.
const PANICKED: i32 = 101;

/// The MPI job that this process is a rank of. MPI ends when this is dropped.
pub struct Mpi {
    universe: Universe,
    /// One thread at a time may call MPI.
    calls: Mutex<()>,
}

impl Mpi {
    /// Connects to the other ranks. A process that was not started by `mpirun` or `srun` is the only rank, and so is each of several whose
    /// launcher does not speak to this MPI library.
    pub fn connect() -> Result<Self, String> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or("MPI has been started before in this process")?;
        if threading < Threading::Serialized {
            return Err("this MPI library does not allow threads (MPI_THREAD_SERIALIZED)".to_owned());
        }
        Ok(Self { universe, calls: Mutex::new(()) })
    }

    /// The name and the version of the MPI library.
    pub fn library() -> String {
        let text = mpi::environment::library_version().unwrap_or_default();
        // Several lines or clauses, of which the first says it, with blanks to align the others.
        let first = text.split([',', '\n']).next().unwrap_or_default();
        first.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn world(&self) -> (SimpleCommunicator, MutexGuard<'_, ()>) {
        (self.universe.world(), self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collective for Mpi {
    fn rank(&self) -> usize {
        self.universe.world().rank() as usize
    }

    fn size(&self) -> usize {
        self.universe.world().size() as usize
    }

    fn all_gather(&self, message: &[u8]) -> Vec<Vec<u8>> {
        let (world, _guard) = self.world();
        let mut lengths = vec![0_u64; world.size() as usize];
        world.all_gather_into(&[message.len() as u64][..], &mut lengths[..]);
        let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
        if lengths.iter().sum::<usize>() > MOST {
            let each = |(root, &length): (usize, &usize)| {
                let mut bytes =
                    if root == world.rank() as usize { message.to_vec() } else { vec![0; length] };
                broadcast_from(&world, root, &mut bytes);
                bytes
            };
            return lengths.iter().enumerate().map(each).collect();
        }
        // The address of an empty Vec of bytes is 1, which is MPI_IN_PLACE to Open MPI.
        let message = if message.is_empty() { &EMPTY[..0] } else { message };
        let mut all = vec![0; lengths.iter().sum::<usize>().max(1)];
        let (counts, places) = counted(&lengths);
        world.all_gather_varcount_into(message, &mut PartitionMut::new(&mut all[..], counts, places));
        let mut rest = &all[..];
        let mut messages = Vec::new();
        for length in lengths {
            let (own, others) = rest.split_at(length);
            messages.push(own.to_vec());
            rest = others;
        }
        messages
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) {
        let (world, _guard) = self.world();
        let mut length = [bytes.len() as u64];
        world.process_at_rank(0).broadcast_into(&mut length[..]);
        bytes.resize(length[0] as usize, 0);
        broadcast_from(&world, 0, bytes);
    }

    fn all_to_all(&self, send: &[f32], send_counts: &[usize], receive: &mut [f32], receive_counts: &[usize]) {
        let (world, _guard) = self.world();
        let ((counts, places), (receive_counts, receive_places)) =
            (counted(send_counts), counted(receive_counts));
        world.all_to_all_varcount_into(
            &Partition::new(send, counts, places),
            &mut PartitionMut::new(receive, receive_counts, receive_places),
        );
    }

    fn all_gather_numbers(&self, own: &[f32], all: &mut [f32], counts: &[usize]) {
        let (world, _guard) = self.world();
        let (counts, places) = counted(counts);
        world.all_gather_varcount_into(own, &mut PartitionMut::new(all, counts, places));
    }
}

/// Without this the other ranks would wait for one that is gone.
impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.universe.world().abort(PANICKED);
        }
    }
}

/// Gives the bytes of a rank to all, whose buffers have the same length.
fn broadcast_from(world: &SimpleCommunicator, root: usize, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(MOST) {
        world.process_at_rank(root as i32).broadcast_into(piece);
    }
}

/// Counts as MPI takes them, and where each part begins.
fn counted(counts: &[usize]) -> (Vec<Count>, Vec<Count>) {
    let mut next = 0;
    let places = counts.iter().map(|count| {
        next += count;
        (next - count) as Count
    });
    let places = places.collect();
    (counts.iter().map(|&count| count as Count).collect(), places)
}
