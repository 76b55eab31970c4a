//! Stories that are ready for training: loaded, their words numbered, their questions split.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use matnet::net::Stories;
use matnet::random::SeededRng;
use matnet_data::catalog::readers::babi::{self, BabiSize};
use matnet_data::catalog::{self, Cache, LoadOptions};
use matnet_data::format::archive;
use matnet_data::local::ReadOptions;
use matnet_data::{Contents, QaTask, Question, SplitIndices, Story, StoryData, local, tokenize};
use matnet_report::text::counted;
use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};

use super::StoryDataConfig;
use crate::config::{Amount, nearest};
use crate::error::at;
use crate::run::checksummed::hex;
use crate::task::impl_task_data;
use crate::tasks::source;
use crate::{Error, Result};

/// A question about a story.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionExample {
    /// The index of the story.
    pub story: usize,
    /// Its index among the questions of the story.
    pub question: usize,
    /// The index of its task in [`QaData::tasks`].
    pub task: usize,
    /// Its words, from 1.
    words: Vec<u32>,
    /// The answer, a word from 0, if it is known.
    pub answer: Option<u32>,
}

/// Stories with their words numbered, and the splits.
#[derive(Clone, Debug)]
pub struct QaData {
    /// The stories as texts.
    pub stories: Vec<Story>,
    /// The words of their sentences, from 1.
    sentences: Vec<Vec<Vec<u32>>>,
    /// All questions.
    pub examples: Vec<QuestionExample>,
    /// Number and name of each task.
    pub tasks: Vec<(usize, String)>,
    /// All words, sorted: those of stories and questions, and the answers.
    pub vocabulary: Vec<String>,
    /// Words of the longest sentence or question.
    pub sentence_length: usize,
    /// Sentences before a training question, at most.
    pub story_length: usize,
    /// Sentences that support an answer, at most.
    pub max_facts: usize,
    /// The splits.
    pub indices: SplitIndices,
    /// The config, with the defaults that the data decided.
    pub config: StoryDataConfig,
    checksum: String,
    notes: Vec<String>,
}

impl QaData {
    /// Loads and prepares the stories of a config; `seed` is that of the run, for splits that depend on it.
    pub fn load(config: &StoryDataConfig, cache: &Cache, seed: u64) -> Result<Self> {
        config.check()?;
        let (mut found, mut notes, mut config) = find(config, cache)?;
        if config.tasks.is_none() {
            notes.extend(found.missing.iter().map(|what| format!("{what} is missing; its task is left out")));
        }
        found.tasks = chosen(found.tasks, &config)?;
        let has_test = found.tasks.iter().all(|task| !task.test.is_empty());
        if !has_test {
            let share = *config.split.test.get_or_insert(Amount::Fraction(0.2));
            let mut rng = SeededRng::new(config.seed, "test");
            for task in &mut found.tasks {
                task.train.shuffle(&mut rng);
                let all = task.train.len();
                let test = share.count_some("split.test", all, "story").map_err(at("data"))?;
                if test >= all {
                    let value = format!("{test} of {}", counted(all, "story"));
                    return Err(Error::config("data", "split.test", value, "leaves nothing to train on"));
                }
                task.test = task.train.split_off(task.train.len() - test);
            }
        } else if let Some(test) = config.split.test {
            let expected = "only stories without a test split of their own use it";
            return Err(Error::config("data", "split.test", test.to_string(), expected));
        }
        let vocabulary = vocabulary(&found.tasks);
        let mut data = Self::numbered(found.tasks, vocabulary, config.clone(), notes)?;
        if let Some(example) = data.examples.iter().find(|example| example.answer.is_none()) {
            let what = format!("{}: `{}` has no answer to learn", config.source, data.question(example).text);
            return Err(Error::data_key("data.source", what));
        }
        let name = if config.split.per_seed { format!("split of run {seed}") } else { "split".to_owned() };
        let mut train = std::mem::take(&mut data.indices.train);
        train.shuffle(&mut SeededRng::new(config.seed, &name));
        let valid = config.split.valid.count_some("split.valid", train.len(), "question");
        let valid = valid.map_err(at("data"))?;
        if valid >= train.len() {
            let value = format!("{valid} of {} questions", train.len());
            return Err(Error::config("data", "split.valid", value, "leaves nothing to train on"));
        }
        data.indices.train = train.split_off(valid);
        data.indices.valid = train;
        data.indices.train.sort_unstable();
        data.indices.valid.sort_unstable();
        Ok(data)
    }

    /// Other stories for a net with this vocabulary; all questions (those of the test split, where there is one)
    /// are the test split. `config` is that of the run.
    pub fn load_other(
        source: &str,
        config: &StoryDataConfig,
        vocabulary: &[String],
        cache: &Cache,
    ) -> Result<Self> {
        let config = StoryDataConfig { source: source.to_owned(), size: None, tasks: None, ..config.clone() };
        let (found, notes, config) = find(&config, cache).map_err(Error::without_key)?;
        let mut tasks = found.tasks;
        tasks.retain(|task| !task.train.is_empty() || !task.test.is_empty());
        for task in &mut tasks {
            if task.test.is_empty() {
                std::mem::swap(&mut task.train, &mut task.test);
            }
            task.train.clear();
        }
        Self::numbered(tasks, vocabulary.to_vec(), config, notes)
    }

    /// Numbers the words; fails on one that is not in the vocabulary.
    fn numbered(
        tasks: Vec<QaTask>,
        vocabulary: Vec<String>,
        config: StoryDataConfig,
        notes: Vec<String>,
    ) -> Result<Self> {
        let checksum = checksum(&tasks);
        let numbers: HashMap<&str, u32> = vocabulary.iter().map(String::as_str).zip(1..).collect();
        let number = |word: &str| {
            numbers.get(word).copied().ok_or_else(|| {
                let near = nearest(word, vocabulary.iter().map(String::as_str));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let known = vocabulary.len();
                Error::Mismatch(format!(
                    "the word `{word}` is not among the {known} that the net knows{hint}"
                ))
            })
        };
        let line = |text: &str| tokenize(text).map(|word| number(&word)).collect::<Result<Vec<u32>>>();
        let mut data = Self {
            stories: Vec::new(),
            sentences: Vec::new(),
            examples: Vec::new(),
            tasks: Vec::new(),
            vocabulary: Vec::new(),
            sentence_length: 1,
            story_length: 1,
            max_facts: 1,
            indices: SplitIndices::default(),
            config,
            checksum,
            notes,
        };
        for (task, QaTask { number: task_number, name, train, test }) in tasks.into_iter().enumerate() {
            data.tasks.push((task_number, name));
            let train = train.into_iter().map(|story| (true, story));
            for (training, story) in train.chain(test.into_iter().map(|story| (false, story))) {
                let sentences = story.sentences.iter().map(|text| line(text)).collect::<Result<Vec<_>>>()?;
                for (at, question) in story.questions.iter().enumerate() {
                    let words = line(&question.text)?;
                    let answer = match answer(question) {
                        None => None,
                        Some(word) => Some(number(&word)? - 1),
                    };
                    data.sentence_length = data.sentence_length.max(words.len());
                    if training {
                        data.story_length = data.story_length.max(question.after);
                        data.max_facts = data.max_facts.max(question.facts.len());
                        data.indices.train.push(data.examples.len());
                    } else {
                        data.indices.test.push(data.examples.len());
                    }
                    let story = data.stories.len();
                    data.examples.push(QuestionExample { story, question: at, task, words, answer });
                }
                let longest = sentences.iter().map(Vec::len).max().unwrap_or(0);
                data.sentence_length = data.sentence_length.max(longest);
                data.sentences.push(sentences);
                data.stories.push(story);
            }
        }
        data.vocabulary = vocabulary;
        Ok(data)
    }

    /// The question of an example, as it stands in its story.
    pub fn question(&self, example: &QuestionExample) -> &Question {
        &self.stories[example.story].questions[example.question]
    }

    /// The sentences before a question.
    pub fn context(&self, example: &QuestionExample) -> &[String] {
        &self.stories[example.story].sentences[..self.question(example).after]
    }

    /// Some questions with their stories, as a net takes them.
    pub fn batch(&self, examples: &[usize]) -> Stories {
        let mut stories = Stories::default();
        for &example in examples {
            let example = &self.examples[example];
            let after = self.question(example).after;
            stories.push(&self.sentences[example.story][..after], &example.words);
        }
        stories
    }
}

impl_task_data!(QaData);

/// bAbI, another dataset of stories, or a path.
fn find(config: &StoryDataConfig, cache: &Cache) -> Result<(StoryData, Vec<String>, StoryDataConfig)> {
    let (name, mut config) = (config.source.clone(), config.clone());
    let (path, dataset, stories) = (Path::new(&name), catalog::get(&name), cache.stories(&name));
    let folder = match &dataset {
        _ if stories.is_some() => None,
        Ok(dataset) if dataset.name == "babi" => Some(cache.require(dataset)?.folder),
        Ok(_) => None,
        Err(_) => (path.is_dir() || path.exists() && archive::is_archive(&name)).then(|| path.to_owned()),
    };
    if let Some(folder) = folder {
        let size: BabiSize = *config.size.get_or_insert_default();
        return Ok((babi::load(&folder, size)?, Vec::new(), config));
    }
    if let Some(size) = config.size {
        let size = if size == BabiSize::Small { "1k" } else { "10k" };
        return Err(Error::config("data", "size", size, "only babi uses it"));
    }
    if let Some(stories) = stories {
        return Ok((stories.clone(), Vec::new(), config));
    }
    if dataset.is_err() && path.is_file() && cache.arrays(&name).is_none() {
        return Ok((local::load_stories(path)?, Vec::new(), config));
    }
    let options = LoadOptions { seed: config.seed, ..LoadOptions::default() };
    let found = source::open(&name, cache, options, &ReadOptions::default())?
        .ok_or_else(|| source::not_found(&name))?;
    match found.contents {
        Contents::Stories(stories) => Ok((stories, found.notes, config)),
        _ => Err(source::wrong_contents(&name, "stories")),
    }
}

/// The tasks that a config names.
fn chosen(tasks: Vec<QaTask>, config: &StoryDataConfig) -> Result<Vec<QaTask>> {
    // Of bAbI both splits must be there; a text file has one.
    let halves = tasks.len() > 1;
    let complete = |task: &QaTask| !task.train.is_empty() && (!halves || !task.test.is_empty());
    let there: Vec<String> =
        tasks.iter().filter(|task| complete(task)).map(|task| task.number.to_string()).collect();
    let Some(wanted) = &config.tasks else {
        return Ok(tasks.into_iter().filter(complete).collect());
    };
    if let Some(number) = wanted.iter().find(|number| !there.contains(&number.to_string())) {
        let expected = format!("{} has {}", config.source, there.join(", "));
        return Err(Error::config("data", "tasks", number.to_string(), expected));
    }
    Ok(tasks.into_iter().filter(|task| wanted.contains(&task.number)).collect())
}

/// The word that answers a question.
fn answer(question: &Question) -> Option<String> {
    let answer = question.answer.trim().to_lowercase();
    (!answer.is_empty()).then_some(answer)
}

/// All words of all stories, questions and answers, those of the test split too: a net has an embedding for each.
fn vocabulary(tasks: &[QaTask]) -> Vec<String> {
    let mut all = BTreeSet::new();
    for story in tasks.iter().flat_map(|task| task.train.iter().chain(&task.test)) {
        let questions = story.questions.iter().map(|question| &question.text);
        all.extend(story.sentences.iter().chain(questions).flat_map(|text| tokenize(text)));
        all.extend(story.questions.iter().filter_map(answer));
    }
    all.into_iter().collect()
}

fn checksum(tasks: &[QaTask]) -> String {
    let mut sha = Sha256::new();
    for task in tasks {
        sha.update(format!("{} {}\n", task.number, task.name));
        for (split, stories) in [("train", &task.train), ("test", &task.test)] {
            for story in stories {
                sha.update(format!("{split} {:?} {:?}\n", story.sentences, story.questions));
            }
        }
    }
    hex(&sha.finalize())
}
