//! Several processes that work through the same runs: which of them each takes first, and how launchers say so.
//!
//! A part is only an order. A process begins with its own share and goes on with whatever is unfinished and not locked, so that
//! nothing depends on how many processes there are, on how fast they are, or on whether all of them live.

use std::fmt;
use std::str::FromStr;

use matnet_data::files::NO_LOCKS;

/// One of several processes on the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    index: usize,
    /// How many processes there are, where that is known.
    count: Option<usize>,
}

/// Variables of a launcher: its name, the one with the number of the process, and the one with how many there are.
struct Launcher {
    name: &'static str,
    index: &'static str,
    count: &'static str,
}

/// Launchers that number single processes. Inside a Slurm job these are started by Slurm themselves, so that its own numbers
/// count only if none of these is there.
const LAUNCHERS: [Launcher; 3] = [
    Launcher { name: "Open MPI", index: "OMPI_COMM_WORLD_RANK", count: "OMPI_COMM_WORLD_SIZE" },
    Launcher { name: "PMI", index: "PMI_RANK", count: "PMI_SIZE" },
    Launcher { name: "torchrun and others", index: "RANK", count: "WORLD_SIZE" },
];
const SLURM: Launcher = Launcher { name: "Slurm", index: "SLURM_PROCID", count: "SLURM_NTASKS" };
/// What `srun` has started. A batch script of a job with several tasks is one process, and has no such number.
const SRUN: Launcher = Launcher { name: "srun", index: "SLURM_PROCID", count: "SLURM_STEP_NUM_TASKS" };
/// Kubernetes tells a pod of an indexed job its number, and not how many there are.
const KUBERNETES: &str = "JOB_COMPLETION_INDEX";

/// How `--part` is written.
const EXPECTED: &str = "K/N with K from 1 to N, or `auto`, expected";

impl Part {
    /// The only process.
    pub const WHOLE: Self = Self { index: 0, count: Some(1) };

    /// Process `index` (from 0) of `count`.
    pub fn new(index: usize, count: usize) -> Option<Self> {
        (index < count).then_some(Self { index, count: Some(count) })
    }

    /// What `--part` says: `3/8`, or `auto` for what the launcher says in the environment.
    pub fn parse(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        if variable(NO_LOCKS).is_some_and(|value| !["", "0"].contains(&value.as_str())) {
            return Err(format!(
                "several processes need locks, and {NO_LOCKS} says that there are none; unset it, and choose a folder on a file \
                 system with locks"
            ));
        }
        match text {
            "auto" => Self::from_environment(variable),
            text => text.parse(),
        }
    }

    /// What the launcher says. The tasks of a Slurm array are counted together: task 2 of 4 with 3 processes each has the parts
    /// 4 to 6 of 12.
    fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let array = array(&variable)?;
        let mut found: Vec<(String, Self)> = Vec::new();
        for launcher in &LAUNCHERS {
            found.extend(launcher.part(&variable)?.map(|part| (launcher.describe(), part)));
        }
        if let Some(index) = number(&variable, KUBERNETES)? {
            let count = number(&variable, "WORLD_SIZE")?;
            if let Some(count) = count.filter(|count| index >= *count) {
                return Err(format!("{KUBERNETES}={index}, but WORLD_SIZE={count}; it counts from 0"));
            }
            found.push((KUBERNETES.to_owned(), Self { index, count }));
        }
        // A batch script that is no task of `srun` has the number 0, and often no number of tasks.
        if found.is_empty() && number(&variable, SLURM.count)?.is_some() {
            found.extend(SLURM.part(&variable)?.map(|part| (SLURM.describe(), part)));
        }
        for pair in found.windows(2) {
            let [(a, first), (b, second)] = pair else { continue };
            if first != second {
                return Err(format!("{a} says {first}, and {b} says {second}; --part K/N decides"));
            }
        }
        let process = found.into_iter().next().map(|(_, part)| part);
        match (array, process) {
            (Some(task), None) => Ok(task),
            (None, Some(process)) => Ok(process),
            (Some(task), Some(process)) => Ok(task.times(process)),
            (None, None) => Err(format!(
                "no launcher says which part this is: {}, Slurm (SLURM_ARRAY_TASK_ID, SLURM_PROCID) or Kubernetes ({KUBERNETES}) \
                 would; --part K/N says it",
                LAUNCHERS.map(|launcher| launcher.describe()).join(", ")
            )),
        }
    }

    /// How many processes were started together with this one, and who says so. The tasks of an array and the pods of Kubernetes are started
    /// each on its own.
    pub fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<(String, usize)> {
        LAUNCHERS.iter().chain([&SRUN]).find_map(|launcher| {
            let part = launcher.part(&variable).ok()??;
            Some((launcher.describe(), part.count?))
        })
    }

    /// A process of a task of an array.
    fn times(self, process: Self) -> Self {
        match (self.count, process.count) {
            (Some(tasks), Some(processes)) => {
                Self { index: self.index * processes + process.index, count: Some(tasks * processes) }
            }
            _ => Self { index: self.index + process.index, count: None },
        }
    }

    /// Whether the item with this number, of so many, is in its share.
    pub fn owns(self, item: usize, of: usize) -> bool {
        match self.count {
            Some(count) => item % count == self.index,
            None => item == self.index % of.max(1),
        }
    }

    /// The order in which so many items are taken: its share, then the others, from its place on and round.
    pub fn order(self, of: usize) -> Vec<usize> {
        let round = (0..of).map(|step| (self.index % of + step) % of);
        let (others, mut order): (Vec<usize>, Vec<usize>) = (
            round.filter(|item| !self.owns(*item, of)).collect(),
            (0..of).filter(|item| self.owns(*item, of)).collect(),
        );
        order.extend(others);
        order
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.count {
            Some(count) => write!(out, "{}/{count}", self.index + 1),
            None => write!(out, "{}", self.index + 1),
        }
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (index, count) = text.split_once('/').ok_or(EXPECTED)?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| EXPECTED.to_owned());
        let (index, count) = (number(index)?, number(count)?);
        index.checked_sub(1).and_then(|index| Self::new(index, count)).ok_or(EXPECTED.to_owned())
    }
}

impl Launcher {
    fn describe(&self) -> String {
        format!("{} ({}, {})", self.name, self.index, self.count)
    }

    fn part(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Part>, String> {
        let (index, count) = (number(variable, self.index)?, number(variable, self.count)?);
        match (index, count) {
            (Some(index), Some(count)) => match Part::new(index, count) {
                Some(part) => Ok(Some(part)),
                None => Err(format!("{}={index}, but {}={count}; it counts from 0", self.index, self.count)),
            },
            (Some(index), None) => {
                Err(format!("{}={index}, but {} is not set; --part K/N decides", self.index, self.count))
            }
            // A number of processes alone says nothing: Slurm sets it for the whole job.
            (None, _) => Ok(None),
        }
    }
}

/// The part of a task of a Slurm array. Arrays may have gaps, as with `--array=3,17` for tasks that are tried again.
fn array(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Part>, String> {
    let [id, count, min, step] =
        ["ID", "COUNT", "MIN", "STEP"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
    let Some(at) = number(variable, &id)? else { return Ok(None) };
    let Some(tasks) = number(variable, &count)? else {
        return Err(format!("{id}={at}, but {count} is not set; --part K/N decides"));
    };
    let first = number(variable, &min)?.unwrap_or(0);
    let step = number(variable, &step)?.unwrap_or(1).max(1);
    match at.checked_sub(first) {
        _ if tasks == 0 => Err(format!("{count}=0; at least 1 expected")),
        None => Err(format!("{id}={at}, but {min}={first}; it cannot be smaller")),
        Some(from_first) => Ok(Part::new(from_first / step % tasks, tasks)),
    }
}

/// A variable that holds a number.
fn number(variable: &impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<usize>, String> {
    let Some(text) = variable(name) else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("{name}={text}; a whole number expected")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a variable, of several.
    fn get(variables: &str, name: &str) -> Option<String> {
        let mut all = variables.split(' ').filter_map(|pair| pair.split_once('='));
        all.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }

    /// What `--part auto` makes of these variables.
    fn auto(variables: &str) -> Result<String, String> {
        Part::parse("auto", |name| get(variables, name)).map(|part| part.to_string())
    }

    #[test]
    fn every_launcher_is_understood() {
        for (variables, part) in [
            ("SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", "4/8"),
            ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=0", "1/1"),
            (
                "SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2",
                "4/4",
            ),
            // Of --array=3,17: no gap leaves the shares.
            ("SLURM_ARRAY_TASK_ID=17 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3", "1/2"),
            ("SLURM_PROCID=2 SLURM_NTASKS=3", "3/3"),
            // A batch script of an array.
            ("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_PROCID=0", "2/4"),
            (
                "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_PROCID=0 SLURM_NTASKS=3",
                "4/12",
            ),
            ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2", "1/2"),
            // mpirun starts one helper per node through srun.
            ("OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6 SLURM_PROCID=1 SLURM_NTASKS=2", "6/6"),
            ("PMI_RANK=1 PMI_SIZE=2", "2/2"),
            ("RANK=7 WORLD_SIZE=8", "8/8"),
            ("RANK=1 WORLD_SIZE=2 PMI_RANK=1 PMI_SIZE=2", "2/2"),
            ("JOB_COMPLETION_INDEX=3", "4"),
            ("JOB_COMPLETION_INDEX=3 WORLD_SIZE=8", "4/8"),
            ("RANK=0 WORLD_SIZE=1 PMI_RANK=", "1/1"),
        ] {
            assert_eq!(auto(variables).as_deref(), Ok(part), "{variables}");
        }
    }

    #[test]
    fn only_processes_of_this_launch_count_as_started_together() {
        for (variables, expected) in [
            ("", None),
            // `srun`; the batch script itself; one task of `srun` in a job of several.
            ("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2", Some(("srun (SLURM_PROCID, ", 2))),
            ("SLURM_PROCID=0 SLURM_NTASKS=4", None),
            ("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1", Some(("srun", 1))),
            // Tasks of arrays and pods.
            ("SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=8 SLURM_PROCID=0 SLURM_NTASKS=1", None),
            ("JOB_COMPLETION_INDEX=3 WORLD_SIZE=8", None),
            // mpirun in a task of `srun`, and the helpers that it starts.
            (
                "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2",
                Some(("Open MPI", 1)),
            ),
            ("PMI_RANK=1 PMI_SIZE=3", Some(("PMI (PMI_RANK, PMI_SIZE)", 3))),
            ("RANK=1 WORLD_SIZE=2", Some(("torchrun and others", 2))),
            // Somebody else's variables.
            ("RANK=1", None),
            ("RANK=high WORLD_SIZE=2", None),
            ("WORLD_SIZE=2", None),
        ] {
            let launched = Part::launched(|name| get(variables, name));
            assert_eq!(
                launched.as_ref().map(|(_, count)| *count),
                expected.map(|(_, count)| count),
                "{variables}"
            );
            let said = launched.map(|(said, _)| said).unwrap_or_default();
            assert!(said.starts_with(expected.map_or("", |(said, _)| said)), "{variables}: {said}");
        }
    }

    #[test]
    fn wrong_and_contradictory_variables_are_errors() {
        for (variables, said) in [
            (
                "",
                "no launcher says which part this is: Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), ",
            ),
            ("SLURM_PROCID=0", "no launcher says which part this is"),
            ("RANK=2 WORLD_SIZE=2", "RANK=2, but WORLD_SIZE=2; it counts from 0"),
            ("RANK=0 WORLD_SIZE=0", "RANK=0, but WORLD_SIZE=0; it counts from 0"),
            ("RANK=-1 WORLD_SIZE=2", "RANK=-1; a whole number expected"),
            ("RANK=1", "RANK=1, but WORLD_SIZE is not set; --part K/N decides"),
            (
                "SLURM_ARRAY_TASK_ID=1",
                "SLURM_ARRAY_TASK_ID=1, but SLURM_ARRAY_TASK_COUNT is not set; --part K/N decides",
            ),
            (
                "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=2",
                "SLURM_ARRAY_TASK_ID=1, but SLURM_ARRAY_TASK_MIN=2; it cannot be smaller",
            ),
            (
                "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=0",
                "SLURM_ARRAY_TASK_COUNT=0; at least 1 expected",
            ),
            (
                "PMI_RANK=1 PMI_SIZE=2 RANK=0 WORLD_SIZE=4",
                "PMI (PMI_RANK, PMI_SIZE) says 2/2, and torchrun and others (RANK, WORLD_SIZE) says 1/4; --part K/N decides",
            ),
            (
                "JOB_COMPLETION_INDEX=8 WORLD_SIZE=8",
                "JOB_COMPLETION_INDEX=8, but WORLD_SIZE=8; it counts from 0",
            ),
            (
                "RANK=0 WORLD_SIZE=2 MATNET_NO_LOCKS=1",
                "several processes need locks, and MATNET_NO_LOCKS says",
            ),
        ] {
            let error = auto(variables).unwrap_err();
            assert!(error.starts_with(said), "{variables}: {error}");
        }
        for text in ["", "3", "0/2", "3/2", "1/0", "a/b", "-1/2", "1/2/3", "Auto"] {
            assert_eq!(Part::parse(text, |_| None), Err(EXPECTED.to_owned()), "{text}");
        }
    }

    #[test]
    fn shares_cover_everything_once_and_everybody_reaches_all() {
        for (count, of) in [(1, 5), (3, 7), (8, 3), (2, 0)] {
            let parts: Vec<Part> = (0..count).map(|index| Part::new(index, count).unwrap()).collect();
            for item in 0..of {
                assert_eq!(parts.iter().filter(|part| part.owns(item, of)).count(), 1);
            }
            for part in parts {
                let mut order = part.order(of);
                assert!(order.is_sorted_by_key(|item| !part.owns(*item, of)), "its own come first");
                order.sort_unstable();
                assert_eq!(order, (0..of).collect::<Vec<_>>());
            }
        }
        let unknown = Part { index: 5, count: None };
        assert_eq!(unknown.order(4), [1, 2, 3, 0]);
        assert_eq!("2/3".parse::<Part>().unwrap().order(7), [1, 4, 2, 3, 5, 6, 0]);
    }
}
