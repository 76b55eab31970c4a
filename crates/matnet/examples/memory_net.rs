//! Answers questions about little stories with an end-to-end memory network, which learns from the answers alone, and with a
//! memory network, which is told the sentence that supports each answer. Shows which sentences they attend to.
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
    let mut rng = SeededRng::new(1, "init");
    println!("end-to-end memory network, two hops");
    let config = EndToEndConfig::new(WORDS.len(), 5, 16).with_memory_size(8).with_hops(2);
    ask(&train(config.init(&mut rng, &device)?, &device)?);
    println!("\nmemory network, told the supporting sentence");
    let config = MemoryNetworkConfig::new(WORDS.len(), 5, 16).with_memory_size(8);
    ask(&train(config.init(&mut rng, &device)?, &device)?);
    Ok(())
}

fn train<N: StoryNet>(mut net: N, device: &Device) -> Result<N, ConfigError> {
    let mut adam = AdamConfig::default().init()?;
    let mut mode = Mode::train(SeededRng::new(1, "noise"));
    let mut rng = SeededRng::new(1, "stories");
    let criterion = CrossEntropyLossConfig::new().init(device);
    for step in 1..=STEPS {
        let (mut stories, mut facts, mut answers) = (Stories::default(), Vec::new(), Vec::new());
        for _ in 0..BATCH {
            let story = Story::random(&mut rng);
            stories.push(&story.sentences, &story.question);
            facts.push(vec![story.fact]);
            // Answers are counted from 0, as classes are.
            answers.push(story.answer - 1);
        }
        let loss = match net.supervised_loss(&stories, &facts, &answers, &mut mode) {
            Some(supervised) => supervised.loss,
            None => {
                let answers = answers.into_iter().map(i64::from).collect();
                let target = Tensor::<1, Int>::from_data(TensorData::new::<i64, _>(answers, [BATCH]), device);
                criterion.forward(net.forward(stories, &mut mode), target)
            }
        };
        if step % 200 == 0 {
            println!("step {step}: loss {:.4}", loss.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = adam.step(1e-2, net, gradients);
    }
    Ok(net.valid())
}

/// Shows the attention weights of every hop, and the answer.
fn ask(net: &impl StoryNet) {
    let story = Story::random(&mut SeededRng::new(2, "stories"));
    let mut stories = Stories::default();
    stories.push(&story.sentences, &story.question);
    // For each question, hop and head, a weight for each sentence.
    let attention = &net.attention(&stories)[0];
    for (at, sentence) in story.sentences.iter().enumerate() {
        let weights: String =
            attention.iter().map(|heads| format!("{:3.0} %  ", 100.0 * heads[0][at])).collect();
        println!("{weights}{}", text(sentence));
    }
    let scores = net.forward(stories, &mut Mode::Eval);
    let word = scores.argmax(1).into_scalar::<i64>() as u32 + 1;
    println!("{}? {} (correct: {})", text(&story.question), text(&[word]), text(&[story.answer]));
}

struct Story {
    sentences: Vec<Vec<u32>>,
    question: Vec<u32>,
    answer: u32,
    /// The sentence that says so.
    fact: usize,
}

impl Story {
    /// Two to six moves of three people; the question is where one of them is now.
    fn random(rng: &mut SeededRng) -> Self {
        let (mut sentences, mut places) = (Vec::new(), [None; PEOPLE]);
        for at in 0..2 + rng.below(5) {
            let (person, place) = (rng.below(PEOPLE), rng.below(PLACES));
            let went = 8 + rng.below(2) as u32;
            sentences.push(vec![person as u32 + 1, went, 10, 11, (PEOPLE + place) as u32 + 1]);
            places[person] = Some((at, (PEOPLE + place) as u32 + 1));
        }
        let seen: Vec<usize> = (0..PEOPLE).filter(|&person| places[person].is_some()).collect();
        let person = seen[rng.below(seen.len())];
        let (fact, answer) = places[person].expect("a person who was seen");
        Self { sentences, question: vec![12, 13, person as u32 + 1], answer, fact }
    }
}

fn text(words: &[u32]) -> String {
    words.iter().map(|&word| WORDS[word as usize - 1]).collect::<Vec<_>>().join(" ")
}
