//! bAbI: 20 question-answering tasks with 1,000 or 10,000 training questions each. Its text is that of
//! [`format::stories`](crate::format::stories).

use std::path::{Path, PathBuf};

use crate::format::bounded::Input;
use crate::format::{archive, stories};
use crate::{Error, QaTask, Result, StoryData};

/// The number of training questions per task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum BabiSize {
    /// 1,000: the folder `en`.
    #[default]
    #[serde(rename = "1k")]
    Small,
    /// 10,000: the folder `en-10k`.
    #[serde(rename = "10k")]
    Large,
}

impl BabiSize {
    fn folder(self) -> &'static str {
        match self {
            Self::Small => "en",
            Self::Large => "en-10k",
        }
    }
}

/// Loads the tasks from the unpacked folder (any level down to `en` or `en-10k`), from an archive of it, or from a folder with such
/// archives.
pub fn load(path: impl AsRef<Path>, size: BabiSize) -> Result<StoryData> {
    let path = path.as_ref();
    let mut tasks: Vec<QaTask> = (1..=20).map(|number| QaTask { number, ..QaTask::default() }).collect();
    if path.is_dir() {
        let inner = [".", size.folder(), "tasks_1-20_v1-2"].map(|name| path.join(name));
        let deepest = inner[2].join(size.folder());
        let folders = [inner[0].clone(), inner[1].clone(), deepest];
        let own = path.file_name().is_some_and(|name| name == size.folder());
        let unpacked = folders.iter().skip(usize::from(!own)).find(|dir| holds_tasks(dir));
        match unpacked {
            Some(dir) => {
                for file in sorted(dir)? {
                    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    add(&mut tasks, &name, || Input::open(&file)?.rest(), &file)?;
                }
            }
            None => {
                let packed =
                    sorted(path)?.into_iter().filter(|file| archive::is_archive(&file.to_string_lossy()));
                for file in packed {
                    add_archive(&mut tasks, &file, size)?;
                }
            }
        }
    } else {
        add_archive(&mut tasks, path, size)?;
    }
    let mut missing = Vec::new();
    for task in &tasks {
        for (part, stories) in [("train", &task.train), ("test", &task.test)] {
            if stories.is_empty() {
                missing.push(format!("qa{} {part}", task.number));
            }
        }
    }
    if missing.len() == 40 {
        let what = format!("{}: no file qaN_NAME_train.txt of {} is there", path.display(), size.folder());
        return Err(Error::Missing(what));
    }
    Ok(StoryData { tasks, missing })
}

fn holds_tasks(dir: &Path) -> bool {
    sorted(dir).is_ok_and(|files| files.iter().any(|file| task_of(&file.to_string_lossy()).is_some()))
}

fn sorted(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))?;
    let paths: std::io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(|e| Error::io(dir, e))?;
    paths.sort();
    Ok(paths)
}

fn add_archive(tasks: &mut [QaTask], path: &Path, size: BabiSize) -> Result<()> {
    let folder = format!("/{}/", size.folder());
    archive::each(path, &mut |mut entry| {
        if !format!("/{}", entry.name).contains(&folder) {
            return Ok(());
        }
        let shown = entry.input.name().to_owned();
        let name = entry.name.clone();
        add(tasks, &name, || entry.input.rest(), &shown)
    })
}

/// Number and name of the task, and whether it is the training file, of a file called `qaN_NAME_train.txt`.
fn task_of(path: &str) -> Option<(usize, &str, bool)> {
    let file = path.rsplit('/').next()?;
    let (number, rest) = file.strip_prefix("qa")?.split_once('_')?;
    let (name, part) = rest.strip_suffix(".txt")?.rsplit_once('_')?;
    let number = number.parse().ok().filter(|n| (1..=20).contains(n))?;
    match part {
        "train" => Some((number, name, true)),
        "test" => Some((number, name, false)),
        _ => None,
    }
}

fn add(
    tasks: &mut [QaTask],
    file: &str,
    bytes: impl FnOnce() -> Result<Vec<u8>>,
    shown: &Path,
) -> Result<()> {
    let Some((number, name, train)) = task_of(file) else { return Ok(()) };
    let stories = stories::parse(shown, &bytes()?)?;
    let task = &mut tasks[number - 1];
    task.name = name.to_owned();
    if train {
        task.train = stories;
    } else {
        task.test = stories;
    }
    Ok(())
}
