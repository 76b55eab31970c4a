//! bAbI: 20 tasks of short stories with questions, 1,000 or 10,000 questions each to learn from.
//!
//! A line is a number and a sentence, or a number and a question, its answer and the numbers of the sentences that
//! support it, apart by tabs. Numbers start at 1 with every story. A question whose answer is not known ends in a
//! question mark and nothing follows it. [`read`] also takes stories as people write them: a sentence a line, no numbers,
//! an empty line between stories.

use std::path::{Path, PathBuf};

use crate::format::archive;
use crate::format::bounded::Input;
use crate::{Error, Result};

/// How many questions per task there are to learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 1,000: the folder `en`.
    OneThousand,
    /// 10,000: the folder `en-10k`.
    TenThousand,
}

impl Size {
    fn folder(self) -> &'static str {
        match self {
            Self::OneThousand => "en",
            Self::TenThousand => "en-10k",
        }
    }
}

/// A question about a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answer; several words are joined by commas. Empty where it is not known.
    pub answer: String,
    /// How many of the story's sentences come before it.
    pub after: usize,
    /// Which of the story's sentences support the answer.
    pub facts: Vec<usize>,
}

/// Sentences, and questions asked between and after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The sentences in order, questions left out.
    pub sentences: Vec<String>,
    /// The questions in order.
    pub questions: Vec<Question>,
}

/// One of the 20 tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// 1 to 20.
    pub number: usize,
    /// Its name, such as `single-supporting-fact`.
    pub name: String,
    /// The stories to learn from.
    pub train: Vec<Story>,
    /// The stories to be tested on.
    pub test: Vec<Story>,
}

/// All tasks that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Babi {
    /// The tasks, by number.
    pub tasks: Vec<Task>,
    /// What was not found, such as `qa3 train`.
    pub missing: Vec<String>,
}

/// The words of a sentence or question: lower case, without full stop and question mark.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || ".?!,".contains(c))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
}

/// Loads the tasks from the unpacked folder (at any level down to `en` or `en-10k`), from an archive of it, or from
/// a folder with such archives.
pub fn load(path: impl AsRef<Path>, size: Size) -> Result<Babi> {
    let path = path.as_ref();
    let mut tasks: Vec<Task> = (1..=20).map(|number| Task { number, ..Task::default() }).collect();
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
    Ok(Babi { tasks, missing })
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

fn add_archive(tasks: &mut [Task], path: &Path, size: Size) -> Result<()> {
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

/// Number, name and part of a file called `qaN_NAME_train.txt`.
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

fn add(tasks: &mut [Task], file: &str, bytes: impl FnOnce() -> Result<Vec<u8>>, shown: &Path) -> Result<()> {
    let Some((number, name, train)) = task_of(file) else { return Ok(()) };
    let stories = parse(shown, &bytes()?)?;
    let task = &mut tasks[number - 1];
    task.name = name.to_owned();
    if train {
        task.train = stories;
    } else {
        task.test = stories;
    }
    Ok(())
}

/// Reads a file of stories, with numbers as bAbI has them or without.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<Story>> {
    let path = path.as_ref();
    let bytes = Input::open(path)?.rest()?;
    let numbered = bytes.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    let stories = if numbered { parse(path, &bytes)? } else { parse_plain(path, &bytes)? };
    match stories.iter().any(|story| !story.questions.is_empty()) {
        true => Ok(stories),
        false => Err(Error::format(path, "holds no question; a line that ends in ? is one")),
    }
}

/// Reads stories without numbers; `name` is for errors. An answer may follow a question after a tab.
pub fn parse_plain(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Vec<Story>> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::format(name.as_ref(), "is not UTF-8"))?;
    let mut stories = vec![Story::default()];
    for line in text.lines().map(str::trim) {
        let story = stories.last_mut().expect("there is always one");
        if line.is_empty() {
            if *story != Story::default() {
                stories.push(Story::default());
            }
            continue;
        }
        match line.split_once('\t') {
            None if !line.ends_with('?') => story.sentences.push(line.to_owned()),
            parts => {
                let (text, answer) = parts.unwrap_or((line, ""));
                let (text, answer) = (text.trim().to_owned(), answer.trim().to_owned());
                let after = story.sentences.len();
                story.questions.push(Question { text, answer, after, facts: Vec::new() });
            }
        }
    }
    stories.retain(|story| *story != Story::default());
    Ok(stories)
}

/// Reads the stories of one file; `name` is for errors.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Vec<Story>> {
    let name = name.as_ref();
    let text = std::str::from_utf8(bytes).map_err(|_| Error::format(name, "is not UTF-8"))?;
    let mut stories: Vec<Story> = Vec::new();
    // which sentence each line of the story is; none for a question
    let mut lines: Vec<Option<usize>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: String| Error::format(name, format!("line {}: {what}", at + 1));
        if line.trim().is_empty() {
            continue;
        }
        let (number, rest) = line.trim_start().split_once(' ').ok_or_else(|| wrong("no sentence".into()))?;
        let number: usize = number.parse().map_err(|_| wrong(format!("{number:?} is not a line number")))?;
        if number == 1 {
            stories.push(Story::default());
            lines.clear();
        }
        let Some(story) = stories.last_mut().filter(|_| number == lines.len() + 1) else {
            return Err(wrong(format!("number {number} where {} or 1 was expected", lines.len() + 1)));
        };
        let mut parts = rest.split('\t');
        let text = parts.next().unwrap_or_default().trim().to_owned();
        let answer = match parts.next() {
            Some(answer) => answer,
            None if text.ends_with('?') => "",
            None => {
                lines.push(Some(story.sentences.len()));
                story.sentences.push(text);
                continue;
            }
        };
        let mut facts = Vec::new();
        for fact in parts.next().unwrap_or_default().split_whitespace() {
            let line = fact.parse::<usize>().ok().and_then(|n| *lines.get(n.checked_sub(1)?)?);
            facts
                .push(line.ok_or_else(|| wrong(format!("supporting fact {fact:?} is no earlier sentence")))?);
        }
        lines.push(None);
        let after = story.sentences.len();
        story.questions.push(Question { text, answer: answer.trim().to_owned(), after, facts });
    }
    Ok(stories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_questions_and_facts() {
        let text =
            "1 Ann went home.\n2 Where is Ann? \thome\t1\n3 Bob slept.\n4 Who slept?\tBob,Ann\t3 1\n1 New.\n";
        let stories = parse("t", text.as_bytes()).unwrap();
        assert_eq!(stories.len(), 2);
        assert_eq!(stories[0].sentences, ["Ann went home.", "Bob slept."]);
        let [first, second] = &stories[0].questions[..] else { panic!("two questions expected") };
        assert_eq!((first.text.as_str(), first.answer.as_str(), first.after), ("Where is Ann?", "home", 1));
        assert_eq!((&first.facts[..], &second.facts[..], second.after), (&[0][..], &[1, 0][..], 2));
        assert_eq!(words("Where is Ann?").collect::<Vec<_>>(), ["where", "is", "ann"]);
    }

    #[test]
    fn questions_without_answers_and_stories_without_numbers() {
        let stories = parse("t", b"1 Ann went home.\n2 Where is Ann?\n3 Bob slept.\n").unwrap();
        assert_eq!((stories[0].sentences.len(), stories[0].questions[0].answer.as_str()), (2, ""));
        let plain = "Ann went home.\nWhere is Ann?\n\n\nBob slept.\nWho slept?\tBob\nAnn ran.\n";
        let stories = parse_plain("t", plain.as_bytes()).unwrap();
        assert_eq!(stories.len(), 2);
        let question = &stories[1].questions[0];
        assert_eq!(
            (question.text.as_str(), question.answer.as_str(), question.after),
            ("Who slept?", "Bob", 1)
        );
        assert_eq!(stories[1].sentences, ["Bob slept.", "Ann ran."]);
        assert!(parse_plain("t", b"\n \n").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse("t", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("1 A.\n3 B.\n"), "t: line 2: number 3 where 2 or 1 was expected");
        assert_eq!(error("1 A.\n2 B?\tx\t2\n"), "t: line 2: supporting fact \"2\" is no earlier sentence");
        assert_eq!(error("x y\n"), "t: line 1: \"x\" is not a line number");
    }
}
