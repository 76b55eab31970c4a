//! What a net is made of: its parts, their sizes, what they cost, and what a vector net would.

use std::collections::BTreeMap;

use burn::module::Module;
use matnet::net::TuringMachine;
use matnet::weights;

use crate::graph::{GraphModel, GraphModelConfig};
use crate::model::{Model, ModelConfig};
use crate::stories::{StoryModel, StoryModelConfig};

/// A part of a net with parameters of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name, as in the file of weights.
    pub name: String,
    /// What it does, in a word.
    pub kind: &'static str,
    /// The shape of what goes in and of what comes out, where it maps one to the other.
    pub shapes: Option<([usize; 2], [usize; 2])>,
    /// How many numbers it learns.
    pub parameters: usize,
    /// How often a sample goes through it: layers that share parameters and time steps count.
    pub uses: usize,
    /// Floating-point operations of its products for one sample, all uses together.
    pub flops: u64,
    /// How many numbers the same part of a vector net would learn, with as many hidden units as the matrices have
    /// entries.
    pub vector_parameters: u64,
}

/// The parts of a net, in order.
pub fn layers(net: &Model, config: &ModelConfig, time: Option<usize>) -> Vec<Layer> {
    parts(net, |name| uses(name, config, time))
}

/// The parts of a net on graphs, in order; what they cost is counted per node, without what travels along the edges.
pub fn graph_layers(net: &GraphModel, config: &GraphModelConfig) -> Vec<Layer> {
    parts(net, |name| config.uses(name))
}

/// The parts of a net that learns a program, in order, in sequences of so many steps.
pub fn program_layers(net: &TuringMachine, steps: usize) -> Vec<Layer> {
    parts(net, |_| steps)
}

/// The parts of a net on stories, in order.
pub fn story_layers(net: &StoryModel, config: &StoryModelConfig) -> Vec<Layer> {
    let mut parts = parts(net, |_| 1);
    parts.retain(|part| part.parameters > 0);
    for part in parts.iter_mut().filter(|part| part.name.is_empty() || part.name.ends_with("row_map")) {
        part.kind = "maps";
        if part.name.is_empty() {
            part.name = "state and answer".to_owned();
        }
    }
    // All of it is counted with the first part: what it takes does not belong to single tables.
    if let Some(first) = parts.first_mut() {
        first.flops = config.flops();
    }
    parts
}

fn parts<M: Module>(net: &M, uses: impl Fn(&str) -> usize) -> Vec<Layer> {
    let mut order = Vec::new();
    let mut parts: BTreeMap<String, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for (path, shape) in shapes(net) {
        let (name, leaf) = path.rsplit_once('.').unwrap_or(("", &path));
        if !parts.contains_key(name) {
            order.push(name.to_owned());
        }
        parts.entry(name.to_owned()).or_default().insert(leaf.to_owned(), shape);
    }
    order.into_iter().map(|name| layer(&parts[&name], uses(&name), name)).collect()
}

/// Layers that differ in their names only, together.
pub fn alike(parts: &[Layer]) -> Vec<Vec<&Layer>> {
    let mut runs: Vec<Vec<&Layer>> = Vec::new();
    for part in parts {
        let nameless = |part: &Layer| Layer { name: String::new(), ..part.clone() };
        match runs.last_mut() {
            Some(run) if nameless(run[0]) == nameless(part) => run.push(part),
            _ => runs.push(vec![part]),
        }
    }
    runs
}

/// The names of layers that stand together.
pub fn name(run: &[&Layer]) -> String {
    match run {
        [] => String::new(),
        [part] => part.name.clone(),
        [first, .., last] => format!("{} … {}", first.name, last.name),
    }
}

fn shapes<M: Module>(net: &M) -> Vec<(String, Vec<usize>)> {
    weights::named(net).into_iter().map(|(name, data)| (name, data.shape().to_vec())).collect()
}

fn layer(leaves: &BTreeMap<String, Vec<usize>>, uses: usize, name: String) -> Layer {
    let numbers = |leaf: &str| leaves.get(leaf).map_or(0, |shape| shape.iter().product::<usize>());
    let parameters =
        leaves.keys().filter(|leaf| !leaf.starts_with("running_")).map(|leaf| numbers(leaf)).sum();
    let mut part = Layer {
        name,
        kind: "element by element",
        shapes: None,
        parameters,
        uses,
        flops: 0,
        vector_parameters: parameters as u64,
    };
    let bias = numbers("bias") as u64;
    let sides = |leaf: &str| leaves.get(leaf).map(Vec::as_slice);
    match (sides("row_map"), sides("col_map"), sides("weight")) {
        (Some(&[r, p]), Some(&[c, q]), _) => {
            part.kind = "matrix map";
            part.shapes = Some(([r, c], [p, q]));
            part.flops = pair([r, c], [p, q]);
            part.vector_parameters = (r * c) as u64 * (p * q) as u64 + bias;
        }
        (_, _, Some(&[n, m])) => {
            part.kind = "vector map";
            part.shapes = Some(([n, 1], [m, 1]));
            part.flops = 2 * (n * m) as u64;
        }
        _ => {}
    }
    let cell = ["input_row_map", "input_col_map", "state_row_map"].map(sides);
    if let [Some(&[gates, r, p]), Some(&[_, c, q]), Some(_)] = cell {
        part.kind = "matrix cell";
        part.shapes = Some(([r, c], [p, q]));
        part.flops = gates as u64 * (pair([r, c], [p, q]) + pair([p, q], [p, q]));
        let (input, hidden) = ((r * c) as u64, (p * q) as u64);
        part.vector_parameters = gates as u64 * (input * hidden + hidden * hidden) + bias;
    }
    if let (Some(&[gates, n, m]), Some(_)) = (sides("input_map"), sides("state_map")) {
        part.kind = "vector cell";
        part.shapes = Some(([n, 1], [m, 1]));
        part.flops = 2 * (gates * m * (n + m)) as u64;
    }
    match (sides("own_map"), sides("neighbour_map"), sides("score_map"), sides("weight")) {
        (Some(&[_, width, _]), Some(&[_, heard, _]), _, _) => {
            part.kind = "column highway";
            part.shapes = Some(([width, 1], [width, 1]));
            part.flops = 2 * (2 * width * (width + heard)) as u64;
        }
        (_, _, Some(&[heads, width, _]), _) => {
            part.kind = "edge attention";
            part.shapes = Some(([width, 1], [width, heads]));
            part.flops = 2 * (heads * width * width) as u64;
        }
        (_, _, _, Some(&[terms, n, m])) => {
            part.kind = "polynomial";
            part.shapes = Some(([n, 1], [m, 1]));
            part.flops = 2 * (terms * n * m) as u64;
        }
        _ => {}
    }
    if let Some(&[words, width]) = sides("word_map") {
        part.kind = "words and times";
        part.shapes = Some(([words, 1], [width, 1]));
    }
    if let Some(&[width, all]) = sides("query_map").filter(|_| leaves.contains_key("answer_row_map")) {
        part.kind = "heads";
        part.shapes = Some(([width, 1], [all / width.max(1), width]));
    }
    part.flops *= uses as u64;
    part
}

/// Operations of UᵀXV in the cheaper order.
fn pair([r, c]: [usize; 2], [p, q]: [usize; 2]) -> u64 {
    2 * (p * r * c + p * c * q).min(r * c * q + p * r * q) as u64
}

/// How often a sample goes through the part of this name.
fn uses(name: &str, config: &ModelConfig, time: Option<usize>) -> usize {
    let time = time.unwrap_or(1);
    let tied = |hidden: &matnet::net::Hidden, form, depth: Option<usize>, tied: bool| {
        let depth = hidden.shapes(form, depth).map_or(1, |shapes| shapes.len());
        if tied && name.starts_with("layer.1") { depth.saturating_sub(1).max(1) } else { 1 }
    };
    match config {
        ModelConfig::Classes(config) => tied(&config.hidden, config.form, config.depth, config.tied),
        ModelConfig::Matrices(config) => tied(&config.hidden, config.form, config.depth, config.tied),
        // The way there and the way back.
        ModelConfig::AutoEncoder(_) => 1 + usize::from(name.starts_with("encoder")),
        ModelConfig::SequenceClasses(_) => {
            if name.starts_with("head") {
                1
            } else {
                time
            }
        }
        ModelConfig::StepClasses(_) | ModelConfig::StepMatrices(_) => time,
        ModelConfig::Seq2Seq(config) => {
            if name.starts_with("encoder") {
                time
            } else {
                config.steps
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use matnet::net::{FeedForwardConfig, SequenceClassifierConfig};
    use matnet::random::SeededRng;

    use super::*;

    fn parts(config: ModelConfig, time: Option<usize>) -> Vec<Layer> {
        let net = config.init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap();
        let parts = layers(&net, &config, time);
        assert_eq!(parts.iter().map(|part| part.parameters).sum::<usize>(), weights::count(&net));
        parts
    }

    #[test]
    fn a_deep_net_is_the_sum_of_its_layers() {
        let config = FeedForwardConfig::new([28, 28], [20, 20], 10).with_depth(Some(30));
        let twin = config.clone().with_form(matnet::Form::Vector);
        let mut twin = twin;
        twin.hidden = [400].into();
        let parts = parts(ModelConfig::Classes(config), None);
        assert_eq!(parts.len(), 31);
        assert_eq!(parts[0].shapes, Some(([28, 28], [20, 20])));
        assert_eq!(parts[0].flops, 2 * (20 * 28 * 28 + 20 * 28 * 20));
        // The vector net of as many units, built.
        let built = ModelConfig::Classes(twin).init(&mut SeededRng::new(1, "init"), &Device::flex()).unwrap();
        assert_eq!(
            parts.iter().map(|part| part.vector_parameters).sum::<u64>(),
            weights::count(&built) as u64
        );
    }

    #[test]
    fn time_steps_and_tied_layers_count() {
        let config = SequenceClassifierConfig::new([6, 5], [4, 3], 2);
        let mut twin = config.clone().with_form(matnet::Form::Vector);
        twin.hidden = vec![12];
        let cell = &parts(ModelConfig::SequenceClasses(config), Some(7))[0];
        assert_eq!((cell.kind, cell.uses), ("matrix cell", 7));
        let built = parts(ModelConfig::SequenceClasses(twin), Some(7));
        assert_eq!(cell.vector_parameters, built[0].parameters as u64);
        assert_eq!(built[0].flops, 7 * 2 * 4 * 12 * (30 + 12));
        let tied = FeedForwardConfig::new([4, 4], [3, 3], 2).with_depth(Some(9)).with_tied(true);
        assert_eq!(parts(ModelConfig::Classes(tied), None)[1].uses, 8);
    }
}
