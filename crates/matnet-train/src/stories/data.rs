//! Stories that are ready to be learnt from: loaded, their words numbered, their questions divided.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use matnet::ConfigError;
use matnet::net::Stories;
use matnet::random::SeededRng;
use matnet_data::cache::Cache;
use matnet_data::format::archive;
use matnet_data::named::{self, Contents, Options};
use matnet_data::source::babi::{self, Babi, Question, Story, Task, words};
use matnet_data::{Split, catalog};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{Amount, suggestion};
use crate::data::Part;
use crate::sealed::hex;
use crate::{Error, Result};

/// Which stories, and how their questions are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoryDataConfig {
    /// `babi`, `stories`, or a path: a folder or an archive of bAbI, or a text file.
    pub source: String,
    /// The tasks by number; several are learnt by one net. Default: all.
    #[serde(default)]
    pub tasks: Option<Vec<usize>>,
    /// How many questions of bAbI there are to learn from. Default: 1k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<StorySize>,
    /// The seed of the split, and of stories that are made up. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// The parts.
    #[serde(default)]
    pub split: StorySplitConfig,
}

/// The two sizes of bAbI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StorySize {
    /// 1,000 questions of each task.
    #[serde(rename = "1k")]
    Small,
    /// 10,000 questions of each task.
    #[serde(rename = "10k")]
    Large,
}

/// How the questions are divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorySplitConfig {
    /// Questions that decide when to stop, at random from those to learn from: a number, or a fraction. Default: 0.1.
    pub valid: Amount,
    /// Where the stories come without a test of their own, whole stories for it. Default: 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Amount>,
    /// Whether each seed of a run has its own split. Default: no, all share one.
    pub per_run: bool,
}

impl Default for StorySplitConfig {
    fn default() -> Self {
        Self { valid: Amount::Share(0.1), test: None, per_run: false }
    }
}

impl StoryDataConfig {
    /// Everything that can be checked without the data.
    pub fn check(&self) -> Result<()> {
        let wrong = |key: &str, value: String, expected: &str| {
            Err(Error::key("data", ConfigError::new(key, value, expected)))
        };
        self.split.valid.check("split.valid").map_err(|error| Error::key("data", error))?;
        if let Some(test) = self.split.test {
            test.check("split.test").map_err(|error| Error::key("data", error))?;
        }
        match &self.tasks {
            Some(tasks) if tasks.is_empty() => {
                wrong("tasks", "[]".to_owned(), "name at least one; leave it out for all")
            }
            Some(tasks) if tasks.iter().collect::<BTreeSet<_>>().len() < tasks.len() => {
                wrong("tasks", format!("{tasks:?}"), "each once")
            }
            _ => Ok(()),
        }
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The story it is about, by number.
    pub story: usize,
    /// Its number among the questions of the story.
    pub question: usize,
    /// The place of its task in [`PreparedStories::tasks`].
    pub task: usize,
    /// Its words, from 1.
    words: Vec<u32>,
    /// The word that answers it, from 0, if that is known.
    pub answer: Option<u32>,
}

/// Stories with their words numbered, and the parts.
#[derive(Clone, Debug)]
pub struct PreparedStories {
    /// The stories as texts.
    pub stories: Vec<Story>,
    /// The words of their sentences, from 1.
    sentences: Vec<Vec<Vec<u32>>>,
    /// All questions.
    pub examples: Vec<Example>,
    /// Number and name of each task.
    pub tasks: Vec<(usize, String)>,
    /// All words, in order: those of stories and questions, and the answers.
    pub vocabulary: Vec<String>,
    /// The most words of a sentence or question.
    pub words: usize,
    /// The most sentences before a question to learn from.
    pub longest: usize,
    /// The most sentences that support an answer.
    pub most_facts: usize,
    /// The parts.
    pub split: Split,
    /// The config, with the defaults that the data decided.
    pub config: StoryDataConfig,
    /// Over everything as it was loaded.
    pub checksum: String,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl PreparedStories {
    /// Loads and prepares the stories of a config. `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &StoryDataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        let (mut babi, mut notes, mut config) = find(config, cache)?;
        if config.tasks.is_none() {
            notes
                .extend(babi.missing.iter().map(|what| format!("{what} is not there; its task is left out")));
        }
        babi.tasks = chosen(babi.tasks, &config)?;
        let apart = babi.tasks.iter().all(|task| !task.test.is_empty());
        if !apart {
            let share = *config.split.test.get_or_insert(Amount::Share(0.2));
            let mut rng = SeededRng::new(config.seed, "test");
            for task in &mut babi.tasks {
                task.train.shuffle(&mut rng);
                let test = share.count(task.train.len()).min(task.train.len());
                task.test = task.train.split_off(task.train.len() - test);
            }
        } else if config.split.test.is_some() {
            let what = "data.split.test: only stories without a test of their own use it".to_owned();
            return Err(Error::Config(what));
        }
        let vocabulary = vocabulary(&babi.tasks);
        let mut data = Self::numbered(babi.tasks, vocabulary, config.clone(), notes)?;
        let unanswered = data.examples.iter().find(|example| example.answer.is_none());
        if let Some(example) = unanswered {
            let question = &data.question(example).text;
            let what = format!("data.source: {}: `{question}` has no answer to learn", config.source);
            return Err(Error::Config(what));
        }
        let name = if config.split.per_seed { format!("split of run {seed}") } else { "split".to_owned() };
        let mut learnt = std::mem::take(&mut data.split.train);
        learnt.shuffle(&mut SeededRng::new(config.seed, &name));
        let valid = config.split.valid.count(learnt.len());
        if valid >= learnt.len() {
            let what = format!(
                "data.split: {valid} validation of {} questions leave nothing to train on",
                learnt.len()
            );
            return Err(Error::Config(what));
        }
        data.split.train = learnt.split_off(valid);
        data.split.valid = learnt;
        data.split.train.sort_unstable();
        data.split.valid.sort_unstable();
        Ok(data)
    }

    /// Other stories, by name or path, for a net that knows these words; all questions (those of the test, where there is one)
    /// are the test part. `config` is that of the run.
    pub fn load_whole(
        source: &str,
        config: &StoryDataConfig,
        vocabulary: &[String],
        cache: &Cache,
    ) -> Result<Self> {
        let config = StoryDataConfig { source: source.to_owned(), size: None, tasks: None, ..config.clone() };
        let (babi, notes, config) = find(&config, cache).map_err(|error| match error {
            // What is wrong is not the run's config.
            Error::Config(what) => Error::Config(what.trim_start_matches("data.source: ").to_owned()),
            other => other,
        })?;
        let mut tasks = babi.tasks;
        tasks.retain(|task| !task.train.is_empty() || !task.test.is_empty());
        for task in &mut tasks {
            if task.test.is_empty() {
                std::mem::swap(&mut task.train, &mut task.test);
            }
            task.train.clear();
        }
        Self::numbered(tasks, vocabulary.to_vec(), config, notes)
    }

    /// The words as numbers; fails on one that is not in the vocabulary.
    fn numbered(
        tasks: Vec<Task>,
        vocabulary: Vec<String>,
        config: StoryDataConfig,
        notes: Vec<String>,
    ) -> Result<Self> {
        let checksum = checksum(&tasks);
        let numbers: HashMap<&str, u32> = vocabulary.iter().map(String::as_str).zip(1..).collect();
        let number = |word: &str| {
            numbers.get(word).copied().ok_or_else(|| {
                let hint = near(word, &vocabulary);
                Error::Run(format!(
                    "the word `{word}` is not among the {} that the net knows{hint}",
                    vocabulary.len()
                ))
            })
        };
        let line = |text: &str| words(text).map(|word| number(&word)).collect::<Result<Vec<u32>>>();
        let mut data = Self {
            stories: Vec::new(),
            sentences: Vec::new(),
            examples: Vec::new(),
            tasks: Vec::new(),
            vocabulary: Vec::new(),
            words: 1,
            longest: 1,
            most_facts: 1,
            split: Split::default(),
            config,
            checksum,
            notes,
        };
        for (task, Task { number: task_number, name, train, test }) in tasks.into_iter().enumerate() {
            data.tasks.push((task_number, name));
            let parts = train
                .into_iter()
                .map(|story| (true, story))
                .chain(test.into_iter().map(|story| (false, story)));
            for (learnt, story) in parts {
                let sentences = story.sentences.iter().map(|text| line(text)).collect::<Result<Vec<_>>>()?;
                for (at, question) in story.questions.iter().enumerate() {
                    let words = line(&question.text)?;
                    let answer = match answer(question) {
                        None => None,
                        Some(word) => Some(number(&word)? - 1),
                    };
                    data.words = data.words.max(words.len());
                    if learnt {
                        data.longest = data.longest.max(question.after);
                        data.most_facts = data.most_facts.max(question.facts.len());
                        data.split.train.push(data.examples.len());
                    } else {
                        data.split.test.push(data.examples.len());
                    }
                    let story = data.stories.len();
                    data.examples.push(Example { story, question: at, task, words, answer });
                }
                data.words = sentences.iter().map(Vec::len).max().unwrap_or(0).max(data.words);
                data.sentences.push(sentences);
                data.stories.push(story);
            }
        }
        data.vocabulary = vocabulary;
        Ok(data)
    }

    /// The question of an example, as it stands in its story.
    pub fn question(&self, example: &Example) -> &Question {
        &self.stories[example.story].questions[example.question]
    }

    /// The sentences before a question.
    pub fn told(&self, example: &Example) -> &[String] {
        &self.stories[example.story].sentences[..self.question(example).after]
    }

    /// Some questions with their stories, for a net.
    pub fn batch(&self, examples: &[usize]) -> Stories {
        let mut stories = Stories::default();
        for &example in examples {
            let example = &self.examples[example];
            let after = self.question(example).after;
            stories.push(&self.sentences[example.story][..after], &example.words);
        }
        stories
    }

    /// The examples of a part.
    pub fn part(&self, part: Part) -> &[usize] {
        match part {
            Part::Train => &self.split.train,
            Part::Valid => &self.split.valid,
            Part::Test => &self.split.test,
        }
    }
}

/// By name, or else by path.
fn find(config: &StoryDataConfig, cache: &Cache) -> Result<(Babi, Vec<String>, StoryDataConfig)> {
    let (source, mut config) = (config.source.clone(), config.clone());
    let path = Path::new(&source);
    let size = |size: Option<StorySize>| match size {
        Some(StorySize::Large) => babi::Size::TenThousand,
        _ => babi::Size::OneThousand,
    };
    if let Ok(dataset) = catalog::get(&source) {
        if dataset.name == "babi" {
            let wanted = *config.size.get_or_insert(StorySize::Small);
            let found = babi::load(&cache.require(dataset)?.folder, size(Some(wanted)))?;
            return Ok((found, Vec::new(), config));
        }
        no_size(&config)?;
        let named = named::load(&source, cache, Options { seed: config.seed, ..Options::default() })?;
        return match named.contents {
            Contents::Stories(stories) => Ok((stories, named.notes, config)),
            _ => Err(Error::Config(format!(
                "data.source: `{source}` holds no stories, which is what this net takes"
            ))),
        };
    }
    if path.is_file() && !archive::is_archive(&source) {
        no_size(&config)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let task = Task { number: 1, name, train: babi::read(path)?, test: Vec::new() };
        return Ok((Babi { tasks: vec![task], missing: Vec::new() }, Vec::new(), config));
    }
    if path.exists() {
        let wanted = *config.size.get_or_insert(StorySize::Small);
        return Ok((babi::load(path, size(Some(wanted)))?, Vec::new(), config));
    }
    let names: Vec<String> = catalog::all().iter().map(|dataset| dataset.name.to_owned()).collect();
    let hint = suggestion(&source, &names);
    Err(Error::Config(format!("data.source: `{source}` is neither a dataset nor a file; {hint}")))
}

fn no_size(config: &StoryDataConfig) -> Result<()> {
    match config.size {
        None => Ok(()),
        Some(size) => {
            let size = if size == StorySize::Small { "1k" } else { "10k" };
            Err(Error::Config(format!("data.size: {size}; only babi uses it")))
        }
    }
}

/// The tasks that a config names.
fn chosen(tasks: Vec<Task>, config: &StoryDataConfig) -> Result<Vec<Task>> {
    // Of bAbI both parts must be there; a text file has one.
    let halves = tasks.len() > 1;
    let complete = |task: &Task| !task.train.is_empty() && (!halves || !task.test.is_empty());
    let there: Vec<String> =
        tasks.iter().filter(|task| complete(task)).map(|task| task.number.to_string()).collect();
    let Some(wanted) = &config.tasks else {
        return Ok(tasks.into_iter().filter(complete).collect());
    };
    if let Some(number) = wanted.iter().find(|number| !there.contains(&number.to_string())) {
        let what = format!("data.tasks: {number}; {} has {}", config.source, there.join(", "));
        return Err(Error::Config(what));
    }
    Ok(tasks.into_iter().filter(|task| wanted.contains(&task.number)).collect())
}

/// The word that answers a question.
fn answer(question: &Question) -> Option<String> {
    let answer = question.answer.trim().to_lowercase();
    (!answer.is_empty()).then_some(answer)
}

/// All words of all stories, questions and answers, those of the tests too: a net has a place for each from the beginning.
fn vocabulary(tasks: &[Task]) -> Vec<String> {
    let mut all = BTreeSet::new();
    for story in tasks.iter().flat_map(|task| task.train.iter().chain(&task.test)) {
        let questions = story.questions.iter().map(|question| &question.text);
        all.extend(story.sentences.iter().chain(questions).flat_map(|text| words(text)));
        all.extend(story.questions.iter().filter_map(answer));
    }
    all.into_iter().collect()
}

/// The nearest word, if one is near.
fn near(word: &str, vocabulary: &[String]) -> String {
    let near = vocabulary.iter().map(|known| (strsim::damerau_levenshtein(word, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + word.chars().count() / 4 => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

fn checksum(tasks: &[Task]) -> String {
    let mut sha = Sha256::new();
    for task in tasks {
        sha.update(format!("{} {}\n", task.number, task.name));
        for (part, stories) in [("train", &task.train), ("test", &task.test)] {
            for story in stories {
                sha.update(format!("{part} {:?} {:?}\n", story.sentences, story.questions));
            }
        }
    }
    hex(&sha.finalize())
}
