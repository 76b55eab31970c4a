//! Rank 1 panics while the others wait for it. `.ci/mpi` checks that all of them end.

use matnet_mpi::Mpi;
use matnet_train::ranks::Collective;

fn main() -> Result<(), String> {
    let mpi = Mpi::connect()?;
    if mpi.rank() == 1 {
        panic!("rank 1 panics on purpose");
    }
    mpi.all_gather(b"nobody answers");
    Ok(())
}
