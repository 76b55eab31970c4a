//! Stories with questions, as in bAbI.

use std::path::Path;

use crate::{Error, Result};

/// A question about a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answer; several words are joined by commas. Empty where it is unknown.
    pub answer: String,
    /// How many of the story's sentences precede the question.
    pub after: usize,
    /// The supporting facts, as indices into the story's sentences.
    pub facts: Vec<usize>,
}

/// Sentences, and the questions asked between and after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The sentences in order, without the questions.
    pub sentences: Vec<String>,
    /// The questions in order.
    pub questions: Vec<Question>,
}

/// A question-answering task: stories whose questions are of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QaTask {
    /// The number of the task, from 1.
    pub number: usize,
    /// The name, such as `single-supporting-fact`.
    pub name: String,
    /// The training stories.
    pub train: Vec<Story>,
    /// The test stories.
    pub test: Vec<Story>,
}

/// Question-answering tasks on stories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryData {
    /// The tasks, by number.
    pub tasks: Vec<QaTask>,
    /// The files that were not found, such as `qa3 train`.
    pub missing: Vec<String>,
}

impl StoryData {
    /// Fails unless every question comes after sentences that are there, and is supported by some of these. `name` is used in errors.
    pub(crate) fn check(&self, name: &Path) -> Result<()> {
        let mut questions = 0;
        for task in &self.tasks {
            for (split, stories) in [("train", &task.train), ("test", &task.test)] {
                for (at, story) in stories.iter().enumerate() {
                    questions += story.questions.len();
                    let wrong = |question: usize, what: String| {
                        let place = format!("task {}, {split} story {at}, question {question}", task.number);
                        Err(Error::format(name, format!("{place}: {what}")))
                    };
                    for (number, question) in story.questions.iter().enumerate() {
                        let (after, sentences) = (question.after, story.sentences.len());
                        if after > sentences {
                            return wrong(number, format!("after {after} sentences; the story has {sentences}"));
                        }
                        if let Some(fact) = question.facts.iter().find(|&&fact| fact >= after) {
                            let what = format!("fact {fact}; one of the {after} sentences before it expected, from 0");
                            return wrong(number, what);
                        }
                    }
                }
            }
        }
        match questions {
            0 => Err(Error::format(name, "has no question")),
            _ => Ok(()),
        }
    }
}

/// The words of a sentence or question, in lower case and without punctuation.
pub fn tokenize(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || ".?!,".contains(c))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
}
