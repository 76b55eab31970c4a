//! Memory nets: analytic against numeric gradients in f64 over 100 random stories each; what padding, the other stories of a batch and tying
//! may not change; configs and storage.

mod common;

use burn::tensor::{Device, Tensor, TensorData};
use common::{between, check_module, device, distance, numbers, shaken, weigh};
use matnet::net::{Encoding, Tying};
use matnet::ops::{Activation, mat1};
use matnet::prelude::*;
use matnet::weights;

const SHAPES: usize = 100;
const VOCABULARY: usize = 9;

/// Stories of 0 to 6 sentences of 0 to 5 words, a question each.
fn stories(rng: &mut SeededRng, count: usize) -> Stories {
    let mut all = Stories::default();
    for _ in 0..count {
        let (sentences, question) = story(rng);
        all.push(&sentences, &question);
    }
    all
}

fn story(rng: &mut SeededRng) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut line = |most: usize| -> Vec<u32> {
        let words = rng.below(most + 1);
        (0..words).map(|_| 1 + rng.below(VOCABULARY) as u32).collect()
    };
    let sentences = line(6).iter().map(|_| line(5)).collect();
    (sentences, line(4))
}

fn end_to_end(rng: &mut SeededRng, index: usize) -> EndToEndConfig {
    EndToEndConfig::new(VOCABULARY, 5, between(rng, 1, 5))
        .with_memory_size(between(rng, 1, 7))
        .with_hops(1 + index % 3)
        .with_heads(1 + index / 3 % 3)
        .with_tying([Tying::Adjacent, Tying::LayerWise][index / 2 % 2])
        .with_encoding([Encoding::Position, Encoding::BagOfWords][index / 5 % 2])
        .with_temporal_encoding(!index.is_multiple_of(7))
        .with_empty_slots(index % 4 < 2)
        .with_time_noise([0.5, 0.0, 0.0][index % 3])
}

fn built(config: &EndToEndConfig, rng: &mut SeededRng) -> EndToEnd {
    config.init(rng, &device()).unwrap()
}

/// The mode of a step that always draws the same.
fn learning() -> Mode {
    Mode::train(SeededRng::new(3, "noise"))
}

#[test]
fn end_to_end_gradients() {
    for index in 0..SHAPES {
        let mut rng = SeededRng::new(index as u64, "end to end");
        let config = end_to_end(&mut rng, index);
        let net = built(&config, &mut rng).with_softmax(index % 5 != 4);
        let net = shaken(net, &mut rng, 0.4);
        let batch = between(&mut rng, 1, 4);
        let stories = stories(&mut rng, batch);
        check_module(&format!("end to end {index}"), &net, &[], |net, _| {
            weigh(net.forward(stories.clone(), &mut learning()))
        });
    }
}

#[test]
fn memory_network_gradients() {
    for index in 0..SHAPES {
        let mut rng = SeededRng::new(index as u64, "memory network");
        let config = MemoryNetworkConfig::new(VOCABULARY, 5, between(&mut rng, 1, 5))
            .with_memory_size(between(&mut rng, 1, 7))
            .with_hops(1 + index % 3)
            .with_encoding([Encoding::Position, Encoding::BagOfWords][index / 2 % 2])
            .with_temporal_encoding(!index.is_multiple_of(5))
            .with_activation([Activation::Identity, Activation::Tanh][index / 7 % 2])
            .with_time_noise([0.5, 0.0, 0.0][index % 3])
            .with_margin([None, Some(0.1)][index / 3 % 2]);
        let net = shaken(config.init(&mut rng, &device()).unwrap(), &mut rng, 0.4);
        let (mut all, mut facts, mut answers) = (Stories::default(), Vec::new(), Vec::new());
        for _ in 0..between(&mut rng, 1, 4) {
            let (sentences, question) = story(&mut rng);
            let count = if sentences.is_empty() { 0 } else { rng.below(4) };
            facts.push((0..count).map(|_| rng.below(sentences.len())).collect());
            answers.push(rng.below(VOCABULARY) as u32);
            all.push(&sentences, &question);
        }
        check_module(&format!("memory network {index}"), &net, &[], |net, _| {
            net.supervised_loss(&all, &facts, &answers, &mut learning()).unwrap().loss
        });
    }
}

/// The original, written out story by story with loops, from the names of its weights.
fn plain(net: &EndToEnd, config: &EndToEndConfig, sentences: &[Vec<u32>], question: &[u32]) -> Vec<f64> {
    let maps: std::collections::HashMap<String, Vec<f64>> =
        weights::named(net).into_iter().map(|(name, data)| (name, data.iter::<f64>().collect())).collect();
    let d = config.embedding_dim;
    let bag = |words: &[u32], map: &str| -> Vec<f64> {
        let mut sum = vec![0.0; d];
        for (j, &word) in words.iter().enumerate() {
            for (k, sum) in sum.iter_mut().enumerate() {
                let (j, k) = (j as f64 + 1.0, k as f64 + 1.0);
                let (most, width) = (config.sentence_length as f64, d as f64);
                let l = match config.encoding {
                    Encoding::BagOfWords => 1.0,
                    // Twice the formula of the paper, (1 − j/J) − (k/d)(1 − 2j/J), with j and k taken at the middle of their
                    // places.
                    Encoding::Position => {
                        let (j, k) = ((j - 0.5) / most, (k - 0.5) / width);
                        2.0 * ((1.0 - j) - k * (1.0 - 2.0 * j))
                    }
                };
                *sum += l * maps[map][(word as usize - 1) * d + k as usize - 1];
            }
        }
        sum
    };
    let kept = &sentences[sentences.len().saturating_sub(config.memory_size)..];
    let memory = |at: usize| -> Vec<Vec<f64>> {
        let row = |(i, words): (usize, &Vec<u32>)| {
            let mut row = bag(words, &format!("embedding.{at}.word_map"));
            if config.temporal_encoding {
                let age = kept.len() - 1 - i;
                let times = &maps[&format!("embedding.{at}.time_map")];
                row.iter_mut().zip(&times[age * d..]).for_each(|(x, t)| *x += t);
            }
            row
        };
        kept.iter().enumerate().map(row).collect()
    };
    let layer_wise = config.tying == Tying::LayerWise;
    let mut u = bag(question, if layer_wise { "question.word_map" } else { "embedding.0.word_map" });
    for hop in 0..config.hops {
        let (m, c) = if layer_wise { (memory(0), memory(1)) } else { (memory(hop), memory(hop + 1)) };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let powers: Vec<f64> = m.iter().map(|m| dot(&u, m).exp()).collect();
        let empty = if config.empty_slots { (config.memory_size - kept.len()) as f64 } else { 0.0 };
        let total = powers.iter().sum::<f64>() + empty;
        let mut next = match layer_wise {
            false => u.clone(),
            true => (0..d).map(|k| (0..d).map(|i| u[i] * maps["col_map"][i * d + k]).sum()).collect(),
        };
        for (power, c) in powers.iter().zip(&c) {
            next.iter_mut().zip(c).for_each(|(u, c)| *u += power / total * c);
        }
        u = next;
    }
    let answer = |word: usize| match layer_wise {
        false => {
            let map = &maps[&format!("embedding.{}.word_map", config.hops)];
            (0..d).map(|k| u[k] * map[word * d + k]).sum::<f64>()
        }
        true => (0..d).map(|k| u[k] * maps["answer_map"][k * config.vocab_size + word]).sum::<f64>(),
    };
    (0..config.vocab_size).map(answer).collect()
}

#[test]
fn one_head_is_the_original_written_out() {
    for index in 0..SHAPES {
        let mut rng = SeededRng::new(index as u64, "original");
        let config = end_to_end(&mut rng, index).with_heads(1);
        let net = shaken(built(&config, &mut rng), &mut rng, 0.4);
        let (sentences, question) = story(&mut rng);
        let mut one = Stories::default();
        one.push(&sentences, &question);
        let scores = numbers(net.forward(one, &mut Mode::Eval));
        let wanted = plain(&net, &config, &sentences, &question);
        let apart = scores.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Places of words are weights of a sparse matrix, which are f32.
        assert!(apart < 1e-5, "{index}: {apart}");
    }
}

#[test]
fn heads_that_agree_are_one_head() {
    let mut rng = SeededRng::new(1, "heads");
    let config = EndToEndConfig::new(VOCABULARY, 5, 4).with_memory_size(6);
    let single = config.clone().init(&mut rng, &Device::flex()).unwrap();
    let several = config.with_heads(3).init(&mut rng, &Device::flex()).unwrap();
    let mut maps: std::collections::HashMap<_, _> = weights::named(&several).into_iter().collect();
    maps.extend(weights::named(&single));
    let identity: Vec<f32> = (0..4 * 12).map(|n| f32::from(u8::from(n / 12 == n % 12 % 4))).collect();
    maps.insert("heads.query_map".to_owned(), TensorData::new(identity, [4, 12]));
    let several = weights::load(several, maps).unwrap();
    let stories = stories(&mut rng, 5);
    let [a, b] = [single, several].map(|net| net.forward(stories.clone(), &mut Mode::Eval));
    assert!(distance(a, b) < 1e-6);
}

#[test]
fn reading_is_mat1_with_attention_columns() {
    let mut rng = SeededRng::new(2, "read");
    let config = EndToEndConfig::new(VOCABULARY, 5, 4).with_memory_size(6).with_hops(1).with_heads(3);
    let net = config.with_encoding(Encoding::BagOfWords).init(&mut rng, &Device::flex()).unwrap();
    let sentences: Vec<Vec<u32>> = vec![vec![1, 2], vec![3], vec![2, 4, 4]];
    let mut one = Stories::default();
    one.push(&sentences, &[5, 1]);
    let looked = &net.attention(&one)[0][0];
    let u: Vec<f32> = (0..3).flat_map(|i| looked.iter().map(move |head| head[i])).collect();
    let u = Tensor::<2>::from_data(TensorData::new(u, [3, 3]), &Device::flex());
    let named: std::collections::HashMap<_, _> = weights::named(&net).into_iter().collect();
    let map = |name: &str| Tensor::<2>::from_data(named[name].clone(), &Device::flex());
    let (c, t) = (map("embedding.1.word_map"), map("embedding.1.time_map"));
    let row = |words: &[u32], age: usize| {
        let sum = words.iter().map(|&word| c.clone().narrow(0, word as usize - 1, 1));
        sum.fold(t.clone().narrow(0, age, 1), |sum, row| sum + row)
    };
    let memory = Tensor::cat(vec![row(&[1, 2], 2), row(&[3], 1), row(&[2, 4, 4], 0)], 0);
    let identity = Tensor::eye(4, &Device::flex());
    let read = mat1(memory.unsqueeze(), u, identity, None, Activation::Identity);
    let b = map("embedding.0.word_map");
    let question = b.clone().narrow(0, 4, 1) + b.narrow(0, 0, 1);
    let state = question.matmul(map("heads.query_map")).reshape([1, 3, 4]) + read;
    let answer = state.mean_dim(1).reshape([1, 4]).matmul(c.transpose());
    assert!(distance(net.forward(one, &mut Mode::Eval), answer) < 1e-6);
}

#[test]
fn other_stories_and_padding_change_no_bit() {
    for index in 0..20 {
        let mut rng = SeededRng::new(index as u64, "batch");
        let config = end_to_end(&mut rng, index).with_memory_size(50);
        let ours = config.init(&mut rng, &Device::flex()).unwrap();
        let theirs = MemoryNetworkConfig::new(VOCABULARY, 5, 4).with_hops(2).init(&mut rng, &Device::flex());
        let theirs = theirs.unwrap();
        let mut batch = Stories::default();
        let all: Vec<_> = (0..7).map(|_| story(&mut rng)).collect();
        all.iter().for_each(|(sentences, question)| batch.push(sentences, question));
        // One long story, so that all others are padded.
        batch.push(vec![vec![1, 2]; 40], &[3]);
        let together =
            [ours.forward(batch.clone(), &mut Mode::Eval), theirs.forward(batch.clone(), &mut Mode::Eval)];
        for (at, (sentences, question)) in all.iter().enumerate() {
            let mut one = Stories::default();
            one.push(sentences, question);
            let mut padded = vec![0; 9 * 8];
            for (line, words) in padded.chunks_mut(8).zip(sentences) {
                line[..words.len()].copy_from_slice(words);
            }
            let mut asked = question.clone();
            asked.resize(6, 0);
            let padded = Stories::from_padded([1, 9, 8], &padded, &asked);
            // A sentence without words at the end of a story is padding there.
            let whole = sentences.last().is_none_or(|words| !words.is_empty());
            for (net, together) in together.iter().enumerate() {
                let forward = |stories: Stories| match net {
                    0 => ours.forward(stories, &mut Mode::Eval),
                    _ => theirs.forward(stories, &mut Mode::Eval),
                };
                let in_company = numbers(together.clone().narrow(0, at, 1));
                assert_eq!(numbers(forward(one.clone())), in_company, "{index}, story {at}, net {net}");
                if whole {
                    assert_eq!(numbers(forward(padded.clone())), in_company, "{index}, story {at}, padded");
                }
            }
        }
    }
}

#[test]
fn only_the_last_sentences_are_kept() {
    let mut rng = SeededRng::new(4, "kept");
    let net =
        EndToEndConfig::new(VOCABULARY, 5, 4).with_memory_size(2).init(&mut rng, &Device::flex()).unwrap();
    let (mut long, mut short) = (Stories::default(), Stories::default());
    long.push([&[1, 2][..], &[3], &[4, 5], &[6]], &[7]);
    short.push([&[4, 5][..], &[6]], &[7]);
    assert_eq!(net.attention(&long)[0][0][0].len(), 2);
    let [a, b] = [long, short].map(|stories| numbers(net.forward(stories, &mut Mode::Eval)));
    assert_eq!(a, b);
}

#[test]
fn noise_moves_times_only_while_learning_and_keeps_their_order() {
    let mut rng = SeededRng::new(5, "noise");
    let config = EndToEndConfig::new(VOCABULARY, 5, 4).with_memory_size(20).with_time_noise(0.5);
    let net = config.init(&mut rng, &Device::flex()).unwrap();
    let mut one = Stories::default();
    one.push([&[1, 2][..], &[3], &[4, 5], &[6]], &[7]);
    let calm = numbers(net.forward(one.clone(), &mut Mode::Eval));
    assert_eq!(numbers(net.forward(one.clone(), &mut Mode::Eval)), calm);
    let noisy = (0..20).filter(|&seed| {
        let mode = &mut Mode::train(SeededRng::new(seed, "step"));
        numbers(net.forward(one.clone(), mode)) != calm
    });
    assert!((5..20).contains(&noisy.count()));
}

#[test]
fn tied_maps_are_counted_once() {
    let count = |config: EndToEndConfig| {
        weights::count(&config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap())
    };
    // 30 words and 50 times in 20 numbers.
    let (words, times, d) = (30, 50, 20);
    let config = || EndToEndConfig::new(words, 7, d);
    for hops in 1..4 {
        assert_eq!(count(config().with_hops(hops)), (hops + 1) * (words + times) * d);
        let layer_wise = config().with_hops(hops).with_tying(Tying::LayerWise);
        assert_eq!(count(layer_wise), 2 * (words + times) * d + 2 * words * d + d * d);
        let heads = 4 * d * d + hops * 16 + 4;
        assert_eq!(count(config().with_hops(hops).with_heads(4)), (hops + 1) * (words + times) * d + heads);
    }
    assert_eq!(count(config().with_temporal_encoding(false)), 4 * words * d);
}

#[test]
fn a_memory_network_finds_what_it_was_taught() {
    // "x is y" twice, the question names one x: found and answered after some steps by hand.
    let mut rng = SeededRng::new(6, "taught");
    let config = MemoryNetworkConfig::new(8, 2, 10).with_hops(2);
    let mut net = config.init(&mut rng, &device()).unwrap();
    let (mut stories, mut facts, mut answers) = (Stories::default(), Vec::new(), Vec::new());
    for _ in 0..30 {
        let (a, b) = (1 + rng.below(3) as u32, 5 + rng.below(3) as u32);
        let (other, its) = (1 + (a + rng.below(2) as u32) % 3, 5 + rng.below(3) as u32);
        let first = rng.below(2);
        let lines = if first == 0 { [[a, b], [other, its]] } else { [[other, its], [a, b]] };
        stories.push(lines, &[a]);
        facts.push(vec![first]);
        answers.push(b - 1);
    }
    let mut optimizer = burn::optim::AdamConfig::new().init();
    for _ in 0..150 {
        let loss = net.supervised_loss(&stories, &facts, &answers, &mut Mode::Eval).unwrap().loss;
        let gradients = burn::optim::GradientsParams::from_grads(loss.backward(), &net);
        net = optimizer.step(0.02, net, gradients);
    }
    for (chosen, facts) in net.chosen(&stories).iter().zip(&facts) {
        assert_eq!((chosen[0], chosen[1]), (Some(facts[0]), None));
    }
    let scores = net.forward(stories, &mut Mode::Eval);
    let given: Vec<u32> = numbers(scores)
        .chunks(8)
        .map(|row| (0..8).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap() as u32)
        .collect();
    assert_eq!(given, answers);
}

#[test]
fn wrong_configs_name_their_keys() {
    let key = |config: EndToEndConfig| {
        config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap_err().key
    };
    let config = || EndToEndConfig::new(9, 5, 4);
    assert_eq!(key(EndToEndConfig::new(0, 5, 4)), "vocab_size");
    assert_eq!(key(EndToEndConfig::new(9, 0, 4)), "sentence_length");
    assert_eq!(key(EndToEndConfig::new(9, 5, 0)), "embedding_dim");
    assert_eq!(key(EndToEndConfig::new(1 << 20, 5, 1 << 20)), "embedding_dim");
    assert_eq!(key(config().with_memory_size(0)), "memory_size");
    assert_eq!(key(config().with_hops(0)), "hops");
    assert_eq!(key(config().with_heads(0)), "heads");
    assert_eq!(key(config().with_heads(usize::MAX)), "heads");
    assert_eq!(key(config().with_time_noise(1.0)), "time_noise");
    assert_eq!(key(config().with_init_std(f64::NAN)), "init_std");
    let key = |config: MemoryNetworkConfig| {
        config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap_err().key
    };
    let config = || MemoryNetworkConfig::new(9, 5, 4);
    assert_eq!(key(config().with_hops(0)), "hops");
    assert_eq!(key(config().with_margin(Some(-1.0))), "margin");
}

#[test]
fn a_net_is_what_was_stored_but_for_its_softmax() {
    let config = EndToEndConfig::new(9, 5, 4).with_heads(2).with_tying(Tying::LayerWise);
    let net = config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap().with_softmax(false);
    let bytes = weights::to_safetensors(&net).unwrap();
    let other = config.init(&mut SeededRng::new(2, "init"), &Device::flex()).unwrap();
    let other = weights::load_safetensors(other, &bytes).unwrap();
    assert!(other.has_softmax() && !net.has_softmax());
    let other = other.with_softmax(false);
    let stories = stories(&mut SeededRng::new(3, "stories"), 4);
    let [a, b] = [net, other].map(|net| numbers(net.forward(stories.clone(), &mut Mode::Eval)));
    assert_eq!(a, b);
    let names: Vec<String> =
        weights::names(&config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap());
    assert!(
        names.contains(&"embedding.0.word_map".to_owned()) && names.contains(&"heads.row_map.0".to_owned())
    );
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<EndToEndConfig>(&text).unwrap(), config);
}

#[test]
fn printed_forms_show_sizes() {
    let net = EndToEndConfig::new(9, 5, 4).init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap();
    assert!(format!("{net}").contains("9 words in 4 dimensions, 50 sentences, hops: 3, heads: 1"), "{net}");
    let net =
        MemoryNetworkConfig::new(9, 5, 4).init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap();
    assert!(format!("{net}").contains("up to 1 of them found"), "{net}");
}
