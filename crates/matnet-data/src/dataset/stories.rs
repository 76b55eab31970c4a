//! Stories with questions, as in bAbI.

use std::path::Path;

use crate::error::counted;
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
        let mut asked = 0;
        for task in &self.tasks {
            for (split, stories) in [("train", &task.train), ("test", &task.test)] {
                for (at, story) in stories.iter().enumerate() {
                    asked += story.questions.len();
                    for (number, question) in story.questions.iter().enumerate() {
                        question.check(story).map_err(|what| {
                            let place =
                                format!("task {}, {split} story {at}, question {number}", task.number);
                            Error::format(name, format!("{place}: {what}"))
                        })?;
                    }
                }
            }
        }
        match asked {
            0 => Err(Error::format(name, "has no question")),
            _ => Ok(()),
        }
    }
}

impl Question {
    fn check(&self, story: &Story) -> Result<(), String> {
        let (after, sentences) = (self.after, story.sentences.len());
        if after > sentences {
            return Err(format!("after {}; the story has {sentences}", counted(after, "sentence")));
        }
        match self.facts.iter().find(|&&fact| fact >= after) {
            Some(fact) => {
                let before = counted(after, "sentence");
                Err(format!("fact {fact}; the question comes after {before}, which count from 0"))
            }
            None => Ok(()),
        }
    }
}

/// The words of a sentence or question, in lower case and without punctuation.
pub fn tokenize(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || ".?!,".contains(c))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Cache;

    fn data(after: usize, facts: &[usize]) -> StoryData {
        let question =
            Question { text: "Where is Ann?".into(), answer: "home".into(), after, facts: facts.to_vec() };
        let story = Story { sentences: vec!["Ann went home.".into()], questions: vec![question] };
        let task = QaTask { number: 3, train: vec![story], ..QaTask::default() };
        StoryData { tasks: vec![task], missing: Vec::new() }
    }

    #[test]
    fn stories_in_memory_are_checked() {
        let with = |stories| Cache::new("none").with_stories("told", stories);
        let cache = with(data(1, &[0])).unwrap();
        assert_eq!((cache.stories("told"), cache.stories("other")), (Some(&data(1, &[0])), None));
        let error = |stories| with(stories).unwrap_err().to_string();
        let place = "told: task 3, train story 0, question 0";
        assert_eq!(error(data(2, &[])), format!("{place}: after 2 sentences; the story has 1"));
        let expected = "the question comes after 1 sentence, which count from 0";
        assert_eq!(error(data(1, &[1])), format!("{place}: fact 1; {expected}"));
        assert_eq!(error(StoryData { tasks: Vec::new(), missing: Vec::new() }), "told: has no question");
    }
}
