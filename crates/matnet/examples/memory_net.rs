//! Answers questions about little stories with an end-to-end memory network, and shows which sentences it attends to.
//!
//! ```text
//! cargo run --release --example memory_net
//! ```

use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use matnet::prelude::*;

/// All words; the number of a word is its place, counted from 1.
const WORDS: [&str; 13] = [
    "anna", "boris", "clara", "kitchen", "garden", "office", "hall", "went", "walked", "to", "the", "where",
    "is",
];
const PEOPLE: usize = 3;
const PLACES: usize = 4;
const BATCH: usize = 32;
const STEPS: usize = 800;

fn main() -> Result<(), ConfigError> {
    let device = Device::flex().autodiff();
    let config = EndToEndConfig::new(WORDS.len(), 5, 16).with_memory_size(8).with_hops(2);
    let mut net = config.init(&mut SeededRng::new(1, "init"), &device)?;
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "noise"));
    let mut rng = SeededRng::new(1, "stories");
    let criterion = CrossEntropyLossConfig::new().init(&device);
    for step in 1..=STEPS {
        let (mut stories, mut answers) = (Stories::default(), Vec::new());
        for _ in 0..BATCH {
            let story = Story::random(&mut rng);
            stories.push(&story.sentences, &story.question);
            // Answers are counted from 0, as classes are.
            answers.push(i64::from(story.answer) - 1);
        }
        let target = Tensor::<1, Int>::from_data(TensorData::new(answers, [BATCH]), &device);
        let loss = criterion.forward(net.forward(stories, &mut mode), target);
        if step % 200 == 0 {
            println!("step {step}: loss {:.4}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(1e-2, net, gradients);
    }

    let net = net.valid();
    let story = Story::random(&mut SeededRng::new(2, "stories"));
    let mut stories = Stories::default();
    stories.push(&story.sentences, &story.question);
    // For each question, hop and head, a weight for each sentence.
    let attention = net.attention(&stories);
    println!("\nhop 1  hop 2");
    for (at, sentence) in story.sentences.iter().enumerate() {
        let [first, second] = [0, 1].map(|hop| 100.0 * attention[0][hop][0][at]);
        println!("{first:3.0} %  {second:3.0} %  {}", text(sentence));
    }
    let scores = net.forward(stories, &mut Mode::Eval);
    let word = scores.argmax(1).into_scalar::<i64>() as u32 + 1;
    println!("\n{}? {} (correct: {})", text(&story.question), text(&[word]), text(&[story.answer]));
    Ok(())
}

struct Story {
    sentences: Vec<Vec<u32>>,
    question: Vec<u32>,
    answer: u32,
}

impl Story {
    /// Two to six moves of three people; the question is where one of them is now.
    fn random(rng: &mut SeededRng) -> Self {
        let (mut sentences, mut places) = (Vec::new(), [None; PEOPLE]);
        for _ in 0..2 + rng.below(5) {
            let (person, place) = (rng.below(PEOPLE), rng.below(PLACES));
            let went = 8 + rng.below(2) as u32;
            sentences.push(vec![person as u32 + 1, went, 10, 11, (PEOPLE + place) as u32 + 1]);
            places[person] = Some((PEOPLE + place) as u32 + 1);
        }
        let seen: Vec<usize> = (0..PEOPLE).filter(|&person| places[person].is_some()).collect();
        let person = seen[rng.below(seen.len())];
        let answer = places[person].expect("a person who was seen");
        Self { sentences, question: vec![12, 13, person as u32 + 1], answer }
    }
}

fn text(words: &[u32]) -> String {
    words.iter().map(|&word| WORDS[word as usize - 1]).collect::<Vec<_>>().join(" ")
}
