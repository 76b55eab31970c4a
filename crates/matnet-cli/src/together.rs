//! Many runs, trained by several processes together.

use matnet_report::text;
use matnet_train::{Error, Part};

use crate::failure::{Failure, Outcome};
use crate::say;

/// How to get the results of what several processes have trained.
pub const COLLECT: &str = "the same command without --part prints the results";

/// What came of an attempt at a run.
pub enum Attempt {
    /// This process has trained it.
    Trained,
    /// It had been finished before.
    Finished,
    /// Another process is training it.
    Busy,
    /// It failed, and would fail again.
    Failed(String),
}

impl Attempt {
    /// A run that failed in itself is left alone; any other error would hit the other runs, too.
    pub fn failed(error: Error) -> Result<Self, Failure> {
        match error {
            Error::Busy(_) => Ok(Self::Busy),
            error @ (Error::NotFinite(_) | Error::Damaged { .. } | Error::Run { .. }) => {
                Ok(Self::Failed(error.to_string()))
            }
            error => Err(error.into()),
        }
    }
}

/// What a process has done.
#[derive(Debug, Default)]
pub struct Share {
    trained: usize,
    /// Runs that other processes were training at the end.
    busy: usize,
    failed: usize,
}

impl Share {
    /// Works through so many runs: those of a part first, then the others, until every one is finished, failed, or in the hands of
    /// another process.
    pub fn work(
        &mut self,
        part: Part,
        count: usize,
        mut attempt: impl FnMut(usize) -> Result<Attempt, Failure>,
    ) -> Outcome {
        let mut left = part.order(count);
        loop {
            let (mut busy, before) = (Vec::new(), self.trained);
            for at in left {
                match attempt(at)? {
                    Attempt::Trained => self.trained += 1,
                    Attempt::Finished => {}
                    Attempt::Busy => busy.push(at),
                    Attempt::Failed(what) => {
                        say!("failed: {what}");
                        self.failed += 1;
                    }
                }
            }
            // While this process was training, another may have been killed; its run is taken up.
            if busy.is_empty() || self.trained == before {
                self.busy += busy.len();
                return Ok(());
            }
            left = busy;
        }
    }

    /// What it has done in a line, or the failure of runs.
    pub fn summary(&self, part: Part) -> Result<String, Failure> {
        let mut line = format!("part {part}: {} trained", text::counted(self.trained, "run"));
        match self.busy {
            0 => {}
            1 => line += ", 1 is being trained by another process",
            busy => line += &format!(", {busy} are being trained by other processes"),
        }
        match self.failed {
            0 => Ok(format!("{line}; {COLLECT}")),
            failed => Err(Failure::Failed(format!("{line}, {} failed", text::counted(failed, "run")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_process_has_ended_is_taken_up() {
        let part = "2/2".parse().unwrap();
        let mut asked = Vec::new();
        let mut share = Share::default();
        // Run 0 is busy until run 1 is trained, run 2 all the time.
        let attempt = |at: usize| {
            let attempt = match at {
                0 if !asked.contains(&0) => Attempt::Busy,
                2 => Attempt::Busy,
                3 => Attempt::Finished,
                _ => Attempt::Trained,
            };
            asked.push(at);
            Ok(attempt)
        };
        share.work(part, 5, attempt).unwrap();
        assert_eq!(asked, [1, 3, 2, 4, 0, 2, 0, 2]);
        assert_eq!(
            share.summary(part).unwrap(),
            format!("part 2/2: 3 runs trained, 1 is being trained by another process; {COLLECT}")
        );
        share.work(part, 1, |_| Ok(Attempt::Failed("x".to_owned()))).unwrap();
        let Err(Failure::Failed(what)) = share.summary(part) else { panic!("a run has failed") };
        assert!(what.ends_with(", 1 run failed"), "{what}");
    }
}
