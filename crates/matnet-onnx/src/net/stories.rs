//! Nets on stories. Words are numbers from 1, in the order of the vocabulary; 0 is padding, at the end of sentences and stories.

use matnet::net::{
    Embedding, Encoding, EndToEnd, EndToEndConfig, MemoryNetwork, MemoryNetworkConfig, StoryNetConfig,
};

use crate::graph::{Graph, Value};
use crate::layer::Layer;
use crate::proto::{Attribute, Type};

/// Added to the scores of sentences that are not there. It is finite, so that a softmax over such sentences alone is finite too.
const CLOSED: f32 = -1e30;

/// What both nets make of a story.
struct Encoder {
    /// `[batch, sentences, words]`
    stories: Value,
    /// `[batch, words]`
    questions: Value,
    /// How many sentences ago each was, 0 where that is out of range: `[batch, sentences]`.
    ages: Value,
    /// 1 for the sentences that are in the memory, else 0: `[batch, sentences]`.
    kept: Value,
    memory_size: usize,
    /// The length of the longest sentence, for the position encoding.
    places: Option<usize>,
}

impl Encoder {
    fn new(
        graph: &mut Graph,
        stories: &Value,
        questions: &Value,
        memory_size: usize,
        places: Option<usize>,
    ) -> Self {
        let (nothing, zero) = (graph.int(0), graph.float(0.0));
        let is_word = graph.op("Greater", &[stories, &nothing], vec![]);
        let words = graph.cast(&is_word, Type::Float);
        let count = graph.sum(&words, &[2]);
        let count = graph.squeeze(&count, &[2]);
        let is_there = graph.op("Greater", &[&count, &zero], vec![]);
        let there = graph.cast(&is_there, Type::Float);
        let sentences = graph.side(stories, 1);
        let places_of = graph.range(&sentences);
        let (numbers, one) = (graph.cast(&places_of, Type::Float), graph.float(1.0));
        let numbers = graph.add(&numbers, &one);
        let numbered = graph.mul(&there, &numbers);
        // The last sentence with a word; those before it count, with or without words.
        let last =
            graph.op("ArgMax", &[&numbered], vec![Attribute::int("axis", 1), Attribute::int("keepdims", 1)]);
        let ages = graph.sub(&last, &places_of);
        let (least, most) = (graph.int(-1), graph.int(memory_size as i64));
        let begun = graph.op("Greater", &[&ages, &least], vec![]);
        let remembered = graph.op("Less", &[&ages, &most], vec![]);
        let any = graph.sum(&there, &[1]);
        let any = graph.op("Min", &[&any, &one], vec![]);
        let [begun, remembered] = [begun, remembered].map(|value| graph.cast(&value, Type::Float));
        let kept = graph.mul(&begun, &remembered);
        let kept = graph.mul(&kept, &any);
        let (first, last) = (graph.int(0), graph.int(memory_size as i64 - 1));
        let ages = graph.op("Max", &[&ages, &first], vec![]);
        let ages = graph.op("Min", &[&ages, &last], vec![]);
        Self { stories: stories.clone(), questions: questions.clone(), ages, kept, memory_size, places }
    }

    /// Sums of the words of each sentence, with their positions: `[…, words]` → `[…, width]`.
    fn words(&self, graph: &mut Graph, embedding: &Embedding, words: &Value, axes: i64) -> Value {
        let width = embedding.word_map.val().dims()[1];
        let (map, padding) = (graph.parameter("word_map", embedding.word_map.val()), vec![0.0; width]);
        let padding = graph.floats("padding", &[1, width], &padding);
        let table = graph.concat(&[&padding, &map], 0);
        let rows = graph.gather(&table, 0, words);
        let sum = |graph: &mut Graph, rows: &Value| {
            let sum = graph.sum(rows, &[axes]);
            graph.squeeze(&sum, &[axes])
        };
        let plain = sum(graph, &rows);
        let Some(places) = self.places else { return plain };
        // Number k of word j counts 1 + place(j) · slope(k) times.
        let (places, d) = (places as f32, width as f32);
        let slopes: Vec<f32> = (0..width).map(|k| 4.0 * (k as f32 + 1.0 - (d + 1.0) / 2.0) / d).collect();
        let slopes = graph.floats("slopes", &[width], &slopes);
        let count = graph.side(words, axes);
        let numbers = graph.range(&count);
        let numbers = graph.cast(&numbers, Type::Float);
        let (shift, scale) = (graph.float(1.0 - (places + 1.0) / 2.0), graph.float(places));
        let shifted = graph.add(&numbers, &shift);
        let place = graph.div(&shifted, &scale);
        let place = graph.unsqueeze(&place, &[1]);
        let placed = graph.mul(&rows, &place);
        let placed = sum(graph, &placed);
        let placed = graph.mul(&placed, &slopes);
        graph.add(&plain, &placed)
    }

    /// The questions: `[batch, width]`.
    fn question(&self, graph: &mut Graph, name: &str, embedding: &Embedding) -> Value {
        graph.scoped(name, |graph| self.words(graph, embedding, &self.questions, 1))
    }

    /// The rows of a memory, 0 for sentences that are not in it: `[batch, sentences, width]`.
    fn memory(&self, graph: &mut Graph, name: &str, embedding: &Embedding) -> Value {
        graph.scoped(name, |graph| {
            let mut rows = self.words(graph, embedding, &self.stories, 2);
            if let Some(map) = &embedding.time_map {
                let map = graph.parameter("time_map", map.val());
                let times = graph.gather(&map, 0, &self.ages);
                rows = graph.add(&rows, &times);
            }
            let kept = graph.unsqueeze(&self.kept, &[2]);
            graph.mul(&rows, &kept)
        })
    }

    /// What is added to scores: 0 for sentences in the memory, a large negative number for others, `[batch, sentences]`.
    fn mask(&self, graph: &mut Graph) -> Value {
        let (one, closed) = (graph.float(1.0), graph.float(CLOSED));
        let absent = graph.sub(&one, &self.kept);
        graph.mul(&absent, &closed)
    }

    /// The scores of all empty slots together, as one more: `[batch, 1]`. Each has 0, so that n of them count like one with log n.
    fn empty_slots(&self, graph: &mut Graph) -> Value {
        let (size, zero, one) = (graph.float(self.memory_size as f32), graph.float(0.0), graph.float(1.0));
        let used = graph.sum(&self.kept, &[1]);
        let unused = graph.sub(&size, &used);
        let is_any = graph.op("Greater", &[&unused, &zero], vec![]);
        let count = graph.op("Max", &[&unused, &one], vec![]);
        let (logs, closed) = (graph.op("Log", &[&count], vec![]), graph.float(CLOSED));
        graph.choose(&is_any, &logs, &closed)
    }
}

/// The length of the longest sentence, if words have positions.
fn places(encoding: Encoding, sentence_length: usize) -> Option<usize> {
    (encoding == Encoding::Position).then_some(sentence_length)
}

/// The end-to-end memory network: scores over all words, `[batch, words]`.
pub fn add_end_to_end(
    graph: &mut Graph,
    net: &EndToEnd,
    config: &EndToEndConfig,
    stories: &Value,
    questions: &Value,
) -> Value {
    let places = places(config.encoding, config.sentence_length);
    let encoder = Encoder::new(graph, stories, questions, config.memory_size(), places);
    let memories: Vec<Value> = net
        .embedding
        .iter()
        .enumerate()
        .map(|(at, embedding)| encoder.memory(graph, &format!("embedding.{at}"), embedding))
        .collect();
    let question = match &net.question {
        Some(question) => encoder.question(graph, "question", question),
        None => encoder.question(graph, "embedding.0", &net.embedding[0]),
    };
    let (k, d) = (config.heads as i64, config.embedding_dim as i64);
    let mask = encoder.mask(graph);
    let mask = graph.unsqueeze(&mask, &[1]);
    let empty_slots = config.empty_slots.then(|| {
        let (empty, heads) = (encoder.empty_slots(graph), graph.ints(&[1, k, 1]));
        let empty = graph.unsqueeze(&empty, &[1]);
        graph.expand(&empty, &heads)
    });
    let mut state = match &net.heads {
        None => graph.unsqueeze(&question, &[1]),
        Some(heads) => {
            let map = graph.parameter("heads.query_map", heads.query_map.val());
            let queries = graph.matmul(&question, &map);
            graph.reshape(&queries, &[0, k, d])
        }
    };
    for hop in 0..config.hops {
        // With layer-wise tying all hops share two memories, else each has its values from the next.
        let (keys, values) = if net.col_map.is_some() { (0, 1) } else { (hop, hop + 1) };
        let keys = graph.transpose(&memories[keys], &[0, 2, 1]);
        let mut weights = graph.matmul(&state, &keys);
        if net.has_softmax() {
            let masked = graph.add(&weights, &mask);
            weights = match &empty_slots {
                None => graph.softmax(&masked),
                Some(empty) => {
                    let scores = graph.concat(&[&masked, empty], 2);
                    let weights = graph.softmax(&scores);
                    // The empty slots hold zeros.
                    let (first, last) = (graph.ints(&[0]), graph.ints(&[-1]));
                    graph.slice(&weights, 2, &first, &last)
                }
            };
        }
        let read = graph.matmul(&weights, &memories[values]);
        if let Some(heads) = &net.heads {
            let at = hop.min(heads.row_map.len() - 1);
            let map = graph.parameter(&format!("heads.row_map.{at}"), heads.row_map[at].val());
            let map = graph.transposed(&map);
            state = graph.matmul(&map, &state);
        }
        if let Some(map) = &net.col_map {
            let map = graph.parameter("col_map", map.val());
            state = graph.matmul(&state, &map);
        }
        state = graph.add(&state, &read);
    }
    if let Some(heads) = &net.heads {
        let map = graph.parameter("heads.answer_row_map", heads.answer_row_map.val());
        let map = graph.transposed(&map);
        state = graph.matmul(&map, &state);
    }
    let answer = graph.squeeze(&state, &[1]);
    let map = match &net.answer_map {
        Some(map) => graph.parameter("answer_map", map.val()),
        None => {
            let last = &net.embedding[config.hops].word_map;
            let map = graph.parameter(&format!("embedding.{}.word_map", config.hops), last.val());
            graph.transposed(&map)
        }
    };
    graph.matmul(&answer, &map)
}

/// The memory network: scores over all words, `[batch, words]`.
pub fn add_memory_network(
    graph: &mut Graph,
    net: &MemoryNetwork,
    config: &MemoryNetworkConfig,
    stories: &Value,
    questions: &Value,
) -> Value {
    let places = places(config.encoding, config.sentence_length);
    let encoder = Encoder::new(graph, stories, questions, config.memory_size(), places);
    let keys = encoder.memory(graph, "sentence", &net.sentence);
    let found = encoder.memory(graph, "found", &net.found);
    let answer_found = encoder.memory(graph, "answer_found", &net.answer_found);
    let mut query = encoder.question(graph, "question", &net.question);
    let mut answer = encoder.question(graph, "answer_question", &net.answer_question);
    let mask = encoder.mask(graph);
    let nothing = graph.parameter("nothing_map", net.nothing_map.val());
    let nothing = graph.transposed(&nothing);
    let sentences = graph.side(stories, 1);
    let numbers = graph.range(&sentences);
    let mut open: Option<Value> = None;
    for _ in 0..config.hops {
        let column = graph.unsqueeze(&query, &[2]);
        let scores = graph.matmul(&keys, &column);
        let scores = graph.squeeze(&scores, &[2]);
        let scores = graph.add(&scores, &mask);
        let none = graph.matmul(&query, &nothing);
        let scores = graph.concat(&[&scores, &none], 1);
        let choice =
            graph.op("ArgMax", &[&scores], vec![Attribute::int("axis", 1), Attribute::int("keepdims", 1)]);
        let chosen = graph.op("Equal", &[&numbers, &choice], vec![]);
        let mut chosen = graph.cast(&chosen, Type::Float);
        // The search ends with the first choice of nothing.
        let goes_on = graph.op("Less", &[&choice, &sentences], vec![]);
        let mut goes_on = graph.cast(&goes_on, Type::Float);
        if let Some(open) = &open {
            chosen = graph.mul(&chosen, open);
            goes_on = graph.mul(&goes_on, open);
        }
        open = Some(goes_on);
        let chosen = graph.unsqueeze(&chosen, &[1]);
        let mut add = |state: &Value, memory: &Value| {
            let row = graph.matmul(&chosen, memory);
            let row = graph.squeeze(&row, &[1]);
            graph.add(state, &row)
        };
        (query, answer) = (add(&query, &found), add(&answer, &answer_found));
    }
    let features = config.activation.add(graph, &answer);
    let map = graph.parameter("answer_map", net.answer_map.val());
    graph.matmul(&features, &map)
}
