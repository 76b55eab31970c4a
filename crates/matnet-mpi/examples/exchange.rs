//! What the exchange of gradients costs: a small message to all, and the two moves of the ordered sum, for nets of several sizes.
//!
//! ```text
//! mpirun -n 4 exchange [REPEATS]
//! ```
//!
//! Prints a line of JSON for every size: minima over the repeats, of the slowest rank.

use std::time::Instant;

use matnet_mpi::Mpi;
use matnet_train::ranks::Collective;

/// Parameters of the nets.
const SIZES: [usize; 4] = [1_000, 100_000, 2_000_000, 30_000_000];

fn main() -> Result<(), String> {
    let repeats: usize =
        std::env::args().nth(1).map_or(Ok(20), |text| text.parse()).map_err(|_| "REPEATS is no number")?;
    let mpi = Mpi::connect()?;
    let (rank, size) = (mpi.rank(), mpi.size());
    let timed = |work: &mut dyn FnMut()| {
        let times = (0..repeats.max(1)).map(|_| {
            mpi.all_gather(&[]);
            let start = Instant::now();
            work();
            let seconds = start.elapsed().as_secs_f64();
            // The slowest rank counts.
            let all = mpi.all_gather(&seconds.to_le_bytes());
            let seconds =
                all.iter().map(|bytes| f64::from_le_bytes(bytes[..].try_into().expect("eight bytes")));
            seconds.fold(0.0, f64::max)
        });
        times.fold(f64::INFINITY, f64::min)
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
