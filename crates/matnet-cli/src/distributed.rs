//! One run on several ranks: `matnet train --distributed mpi`. Only rank 0 writes files and prints.

use clap::ValueEnum;
#[cfg(feature = "mpi")]
use matnet_train::Part;
use matnet_train::{Error, Ranks};

use crate::failure::{Failure, Outcome};

/// What connects the ranks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Engine {
    /// MPI: the processes that `mpirun` or `srun` has started
    Mpi,
}

/// The ranks that were asked for.
pub fn ranks(engine: Option<Engine>) -> Result<Ranks, Failure> {
    match engine {
        None => Ok(Ranks::default()),
        #[cfg(feature = "mpi")]
        Some(Engine::Mpi) => {
            let mpi = matnet_mpi::Mpi::connect();
            let ranks =
                Ranks::new(mpi.map_err(|what| Failure::Failed(format!("--distributed mpi: {what}")))?);
            let launched = Part::launched(|name| std::env::var(name).ok());
            match launched.filter(|(_, count)| ranks.is_alone() && *count > 1) {
                None => Ok(ranks),
                Some((launcher, count)) => Err(Failure::Usage(unseen(&launcher, count))),
            }
        }
        #[cfg(not(feature = "mpi"))]
        Some(Engine::Mpi) => Err(Failure::Usage(
            "--distributed mpi: this build has no MPI; build it with `cargo build --release --features mpi`"
                .to_owned(),
        )),
    }
}

/// That MPI does not see the processes of a launcher. They would train the same run, each alone.
#[cfg(feature = "mpi")]
fn unseen(launcher: &str, count: usize) -> String {
    let library = matnet_mpi::Mpi::library();
    format!(
        "--distributed mpi: MPI sees one process, but {count} were started according to {launcher}; start them with the mpirun of {library}, \
         which this build uses, or with `srun --mpi=pmix`; for one process alone, unset these variables"
    )
}

/// Ends the work of all ranks together: if one has failed, all fail, and rank 0 says why.
pub fn end(ranks: &Ranks, done: Outcome) -> Outcome {
    if ranks.is_alone() {
        return done;
    }
    let own = match &done {
        Ok(()) | Err(Failure::PipeClosed) => Ok(()),
        Err(Failure::Interrupted | Failure::Stopped) => Err(Error::Interrupted),
        Err(Failure::Usage(what)) => Err(Error::Syntax { line: None, message: what.clone() }),
        Err(Failure::Failed(what)) => Err(Error::Mismatch(what.clone())),
        Err(Failure::Reported(_)) => return done,
    };
    let failure = match (ranks.settle(own), done) {
        (Ok(()), done) => return done,
        (Err(Error::Rank { rank, usage, message }), _) => Error::Rank { rank, usage, message }.into(),
        (Err(_), Err(failure)) => failure,
        (Err(error), Ok(())) => error.into(),
    };
    // Before MPI ends: the first process that ends with an error may take the others with it.
    let code = if ranks.is_first() { failure.report() } else { failure.code() };
    Err(Failure::Reported(code))
}
