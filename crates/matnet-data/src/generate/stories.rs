//! Made-up stories with questions, to try memory nets without a download.
//!
//! People walk between places, take things up, carry them along and put them down. Three tasks ask about that, each
//! harder than the one before: where somebody is (one sentence tells), where a thing is (two sentences), and where a thing
//! was before (three). Every question names the sentences that support its answer. They are of the kind of bAbI's first three
//! tasks, and none of them is from there.

use crate::dataset::{QaTask, Question, Story, StoryData};
use crate::random::SeededRng;
use crate::{Error, Result};

const PEOPLE: [&str; 4] = ["Anna", "Boris", "Clara", "David"];
const PLACES: [&str; 6] = ["attic", "garden", "kitchen", "library", "market", "station"];
const THINGS: [&str; 3] = ["ball", "book", "lamp"];
const GO: [&str; 4] = ["went to", "walked to", "ran to", "returned to"];
const TAKE: [&str; 3] = ["took", "picked up", "grabbed"];
const LEAVE: [&str; 3] = ["dropped", "put down", "left"];
/// The tasks, each with how many sentences stand between two questions.
const TASKS: [(&str, usize); 3] =
    [("where-somebody-is", 2), ("where-a-thing-is", 3), ("where-a-thing-was", 4)];
/// Questions about one story.
const QUESTIONS: usize = 5;

/// How much to make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryGenerator {
    /// Questions of each task to learn from.
    pub train: usize,
    /// Questions of each task to be tested on.
    pub test: usize,
}

impl Default for StoryGenerator {
    fn default() -> Self {
        Self { train: 1000, test: 1000 }
    }
}

impl StoryGenerator {
    /// Makes up the stories of all tasks. Each has a rng of its own, so that more of them change none of the others.
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

/// A story of a task with so many questions.
fn story(task: usize, questions: usize, rng: &mut SeededRng) -> Story {
    let mut world = World::new(rng);
    while world.story.questions.len() < questions {
        for _ in 0..TASKS[task].1 {
            world.go_on(task > 0, rng);
        }
        // Nothing can be asked about a thing that nobody has touched yet: then the story goes on.
        if let Some(question) = world.question(task, rng) {
            world.story.questions.push(question);
        }
    }
    world.story
}

/// Who and what is where, and which sentences tell so.
struct World {
    story: Story,
    people: [Person; PEOPLE.len()],
    things: [Thing; THINGS.len()],
}

#[derive(Clone, Copy, Default)]
struct Person {
    /// The place, and the sentence that tells; nobody has been seen anywhere at first.
    at: Option<(usize, usize)>,
}

#[derive(Clone, Default)]
struct Thing {
    place: usize,
    carrier: Option<usize>,
    /// The sentence in which it was taken or left last.
    handled: usize,
    /// The places it was seen at one after another, each with the sentence that tells.
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

    /// One more sentence: somebody walks, or takes or leaves a thing.
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
        // It is where it was seen last, but from now on somebody else tells so.
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
    fn as_many_questions_as_asked_for_and_the_same_from_the_same_seed() {
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
        // More stories leave the first ones as they are.
        let more = StoryGenerator { train: 100, test: 7 }.generate(1).unwrap();
        assert_eq!(more.tasks[2].train[..4], babi.tasks[2].train[..4]);
    }

    /// The answer follows from the sentences named, read by themselves.
    #[test]
    fn the_facts_tell_the_answer() {
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
