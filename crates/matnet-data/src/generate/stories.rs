//! Generated stories with questions, to try memory nets without a download.
//!
//! People walk between places, take things, carry them and put them down. There are three tasks: where a person is (one supporting fact),
//! where a thing is (two), and where a thing was before (three). Every question lists its supporting facts. The tasks resemble bAbI's
//! first three; no text is taken from there.

use crate::dataset::{QaTask, Question, Story, StoryData};
use crate::random::SeededRng;
use crate::{Error, Result};

const PEOPLE: [&str; 4] = ["Anna", "Boris", "Clara", "David"];
const PLACES: [&str; 6] = ["attic", "garden", "kitchen", "library", "market", "station"];
const THINGS: [&str; 3] = ["ball", "book", "lamp"];
const GO: [&str; 4] = ["went to", "walked to", "ran to", "returned to"];
const TAKE: [&str; 3] = ["took", "picked up", "grabbed"];
const LEAVE: [&str; 3] = ["dropped", "put down", "left"];
/// The tasks, each with the number of sentences between two questions.
const TASKS: [(&str, usize); 3] =
    [("where-somebody-is", 2), ("where-a-thing-is", 3), ("where-a-thing-was", 4)];
/// Questions per story.
const QUESTIONS: usize = 5;

/// The size of the generated dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryGenerator {
    /// Training questions per task.
    pub train: usize,
    /// Test questions per task.
    pub test: usize,
}

impl Default for StoryGenerator {
    fn default() -> Self {
        Self { train: 1000, test: 1000 }
    }
}

impl StoryGenerator {
    /// Generates the stories of all tasks. Each story has its own random generator, so that a larger number leaves the first ones unchanged.
    pub fn generate(&self, seed: u64) -> Result<StoryData> {
        if self.train.max(self.test) > 1 << 20 {
            let what = format!("{} + {} questions: too many", self.train, self.test);
            return Err(Error::Invalid(what));
        }
        let part = |task: usize, part: &str, questions: usize| -> Vec<Story> {
            let story = |index: usize| {
                let mut rng = SeededRng::new(seed, &format!("stories/{task}/{part}/{index}"));
                story(task, QUESTIONS.min(questions - QUESTIONS * index), &mut rng)
            };
            (0..questions.div_ceil(QUESTIONS)).map(story).collect()
        };
        let task = |(at, (name, _)): (usize, &(&str, usize))| QaTask {
            number: at + 1,
            name: (*name).to_owned(),
            train: part(at, "train", self.train),
            test: part(at, "test", self.test),
        };
        Ok(StoryData { tasks: TASKS.iter().enumerate().map(task).collect(), missing: Vec::new() })
    }
}

/// A story of a task.
fn story(task: usize, questions: usize, rng: &mut SeededRng) -> Story {
    let mut world = World::new(rng);
    while world.story.questions.len() < questions {
        for _ in 0..TASKS[task].1 {
            world.go_on(task > 0, rng);
        }
        // There is no question about a thing that nobody has touched yet: the story continues.
        if let Some(question) = world.question(task, rng) {
            world.story.questions.push(question);
        }
    }
    world.story
}

/// The positions of people and things, and the sentences that state them.
struct World {
    story: Story,
    people: [Person; PEOPLE.len()],
    things: [Thing; THINGS.len()],
}

#[derive(Clone, Copy, Default)]
struct Person {
    /// The place and the sentence that states it; unknown at first.
    at: Option<(usize, usize)>,
}

#[derive(Clone, Default)]
struct Thing {
    place: usize,
    carrier: Option<usize>,
    /// The last sentence in which it was taken or left.
    handled: usize,
    /// The places where it was, in order, each with the sentence that states it.
    seen: Vec<(usize, usize)>,
}

impl World {
    fn new(rng: &mut SeededRng) -> Self {
        let mut things: [Thing; THINGS.len()] = Default::default();
        things.iter_mut().for_each(|thing| thing.place = rng.below(PLACES.len()));
        Self { story: Story::default(), people: Default::default(), things }
    }

    fn say(&mut self, sentence: String) -> usize {
        self.story.sentences.push(sentence);
        self.story.sentences.len() - 1
    }

    /// Appends a sentence: a person walks, or takes or leaves a thing.
    fn go_on(&mut self, things: bool, rng: &mut SeededRng) {
        let who = rng.below(PEOPLE.len());
        let Some((place, told)) = self.people[who].at.filter(|_| things && rng.chance(0.6)) else {
            return self.walk(who, rng);
        };
        let carried = |thing: &Thing| thing.carrier == Some(who);
        let lying = |thing: &Thing| thing.carrier.is_none() && thing.place == place;
        let choices: Vec<usize> = (0..THINGS.len())
            .filter(|&at| lying(&self.things[at]) || (carried(&self.things[at]) && rng.chance(0.3)))
            .collect();
        if choices.is_empty() {
            return self.walk(who, rng);
        }
        let what = choices[rng.below(choices.len())];
        if carried(&self.things[what]) {
            let left = self.say(format!("{} {} the {}.", PEOPLE[who], pick(&LEAVE, rng), THINGS[what]));
            (self.things[what].carrier, self.things[what].handled) = (None, left);
            return;
        }
        let sentence = self.say(format!("{} {} the {}.", PEOPLE[who], pick(&TAKE, rng), THINGS[what]));
        let thing = &mut self.things[what];
        (thing.carrier, thing.handled) = (Some(who), sentence);
        // The place is unchanged, but another sentence states it from now on.
        thing.seen.pop();
        thing.seen.push((place, told));
    }

    fn walk(&mut self, who: usize, rng: &mut SeededRng) {
        let from = self.people[who].at.map(|(place, _)| place);
        let places: Vec<usize> = (0..PLACES.len()).filter(|&place| Some(place) != from).collect();
        let place = places[rng.below(places.len())];
        let sentence = self.say(format!("{} {} the {}.", PEOPLE[who], pick(&GO, rng), PLACES[place]));
        self.people[who].at = Some((place, sentence));
        for thing in self.things.iter_mut().filter(|thing| thing.carrier == Some(who)) {
            thing.place = place;
            thing.seen.push((place, sentence));
        }
    }

    fn question(&self, task: usize, rng: &mut SeededRng) -> Option<Question> {
        let after = self.story.sentences.len();
        if task == 0 {
            let seen: Vec<usize> = (0..PEOPLE.len()).filter(|&who| self.people[who].at.is_some()).collect();
            let who = seen[rng.below(seen.len())];
            let (place, fact) = self.people[who].at?;
            let text = format!("Where is {}?", PEOPLE[who]);
            return Some(Question { text, answer: PLACES[place].to_owned(), after, facts: vec![fact] });
        }
        let known: Vec<usize> =
            (0..THINGS.len()).filter(|&what| self.things[what].seen.len() >= task).collect();
        let what = *known.get(rng.below(known.len()))?;
        let (thing, name) = (&self.things[what], THINGS[what]);
        let (place, told) = *thing.seen.last()?;
        if task == 1 {
            let text = format!("Where is the {name}?");
            let facts = vec![thing.handled, told];
            return Some(Question { text, answer: PLACES[place].to_owned(), after, facts });
        }
        let (before, fact) = thing.seen[thing.seen.len() - 2];
        let text = format!("Where was the {name} before the {}?", PLACES[place]);
        let facts = vec![thing.handled, told, fact];
        Some(Question { text, answer: PLACES[before].to_owned(), after, facts })
    }
}

fn pick<'a>(words: &[&'a str], rng: &mut SeededRng) -> &'a str {
    words[rng.below(words.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::tokenize;

    #[test]
    fn the_number_of_questions_is_exact_and_a_seed_is_reproducible() {
        let make = |seed| StoryGenerator { train: 23, test: 7 }.generate(seed).unwrap();
        let babi = make(1);
        assert_eq!(babi.tasks.len(), 3);
        for task in &babi.tasks {
            for (stories, wanted) in [(&task.train, 23), (&task.test, 7)] {
                assert_eq!(stories.iter().map(|story| story.questions.len()).sum::<usize>(), wanted);
            }
        }
        assert_eq!(make(1), babi);
        assert_ne!(make(2), babi);
        // A larger number leaves the first stories unchanged.
        let more = StoryGenerator { train: 100, test: 7 }.generate(1).unwrap();
        assert_eq!(more.tasks[2].train[..4], babi.tasks[2].train[..4]);
    }

    /// The answer follows from the supporting facts alone.
    #[test]
    fn the_supporting_facts_imply_the_answer() {
        let babi = StoryGenerator::default().generate(5).unwrap();
        for task in &babi.tasks {
            for story in task.train.iter().chain(&task.test) {
                for question in &story.questions {
                    let fact = |at: usize| tokenize(&story.sentences[question.facts[at]]).collect::<Vec<_>>();
                    let last = |at: usize| fact(at).pop().unwrap();
                    let asked: Vec<String> = tokenize(&question.text).collect();
                    assert!(question.facts.iter().all(|&fact| fact < question.after));
                    match task.number {
                        1 => {
                            assert_eq!(fact(0)[0], asked[2]);
                            assert_eq!(last(0), question.answer);
                            let later = &story.sentences[question.facts[0] + 1..question.after];
                            assert!(
                                later.iter().all(|sentence| !sentence.to_lowercase().starts_with(&asked[2]))
                            );
                        }
                        2 => {
                            assert_eq!(last(0), asked[3]);
                            assert_eq!(last(1), question.answer);
                            assert_eq!(fact(0)[0], fact(1)[0]);
                        }
                        _ => {
                            assert_eq!(last(0), asked[3]);
                            assert_eq!((last(1), last(2)), (asked[6].clone(), question.answer.clone()));
                            assert_ne!(last(1), last(2));
                        }
                    }
                }
            }
        }
    }
}
