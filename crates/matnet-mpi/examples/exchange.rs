//! What the exchange of gradients costs: a small message to all, and the two moves of the ordered sum, for nets of several sizes.
//!
//! ```text
//! mpirun -n 4 exchange [REPEATS]
//! ```
//!
//! Prints a line of JSON for every size: minima over the repeats, of the slowest rank. There are more repeats of short exchanges, and fewer of
//! long ones: on a machine with other work a minimum says something only if some of them were left alone.

use std::time::Instant;

use matnet_mpi::Mpi;
use matnet_train::ranks::Collective;

/// Parameters of the nets.
const SIZES: [usize; 4] = [1_000, 100_000, 2_000_000, 30_000_000];

/// Of long exchanges.
const LEAST_REPEATS: usize = 20;
/// Seconds that the repeats of an exchange take at least: longer than other work keeps a core.
const LEAST_TIME: f64 = 0.5;
/// Seconds after which there are no more than the least repeats.
const MOST_TIME: f64 = 10.0;

fn main() -> Result<(), String> {
    let repeats: usize =
        std::env::args().nth(1).map_or(Ok(200), |text| text.parse()).map_err(|_| "REPEATS is no number")?;
    let mpi = Mpi::connect()?;
    let (rank, size) = (mpi.rank(), mpi.size());
    // The slowest rank counts.
    let slowest = |seconds: f64| {
        let all = mpi.all_gather(&seconds.to_le_bytes());
        let seconds = all.iter().map(|bytes| f64::from_le_bytes(bytes[..].try_into().expect("eight bytes")));
        seconds.fold(0.0, f64::max)
    };
    let timed = |work: &mut dyn FnMut()| {
        let (mut least, mut count, mut passed, begin) = (f64::INFINITY, 0, 0.0, Instant::now());
        while count < LEAST_REPEATS || passed < LEAST_TIME || count < repeats && passed < MOST_TIME {
            mpi.all_gather(&[]);
            let start = Instant::now();
            work();
            least = slowest(start.elapsed().as_secs_f64()).min(least);
            // The same on all ranks, which stop together.
            passed = slowest(begin.elapsed().as_secs_f64());
            count += 1;
        }
        least
    };
    let header = timed(&mut || drop(mpi.all_gather(&[0; 200])));
    for parameters in SIZES {
        let slice = |rank: usize| (parameters * (rank + 1) / size) - (parameters * rank / size);
        let counts: Vec<usize> = (0..size).map(slice).collect();
        let own = vec![rank as f32; parameters];
        let mut slices = vec![0.0; size * counts[rank]];
        let receive_counts = vec![counts[rank]; size];
        let to_all = timed(&mut || mpi.all_to_all(&own, &counts, &mut slices, &receive_counts));
        let mut sums = vec![0.0_f64; counts[rank]];
        let adding = timed(&mut || {
            sums.fill(0.0);
            for shard in slices.chunks_exact(counts[rank].max(1)) {
                for (sum, number) in sums.iter_mut().zip(shard) {
                    *sum += f64::from(*number);
                }
            }
        });
        let summed: Vec<f32> = sums.iter().map(|&sum| sum as f32).collect();
        let mut all = vec![0.0; parameters];
        let gather = timed(&mut || mpi.all_gather_numbers(&summed, &mut all, &counts));
        if rank == 0 {
            println!(
                "{{\"ranks\": {size}, \"parameters\": {parameters}, \"header\": {header:e}, \"all_to_all\": {to_all:e}, \"sum\": {adding:e}, \"all_gather\": {gather:e}}}"
            );
        }
    }
    Ok(())
}
