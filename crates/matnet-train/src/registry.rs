//! Every kind of net: its name, help line, template and constructors. A new net is one entry here. Nothing else in this crate knows the
//! kinds by name, but for `config/comparable.rs`, where `autoencoder` is the net that predicts its own inputs, and an error about stories.

use burn::tensor::Device;
use matnet::net::{
    AutoEncoderConfig, ChebyshevNetConfig, ColumnNetConfig, EndToEndConfig, FeedForwardConfig, GcnConfig,
    MemoryNetworkConfig, Seq2SeqConfig, SequenceClassifierConfig, SequenceLabellerConfig,
    SequenceRegressorConfig,
};
use matnet_data::Target;
use matnet_data::catalog::Cache;
use toml::Value;

use crate::config::{Document, keys_of, suggestion};
use crate::model::Predictor;
use crate::plan::{Plan, Planner, Request};
use crate::ranks::check_same;
use crate::run::{Run, Weights};
use crate::task::{Loaded, Task};
use crate::tasks::algorithms::AlgorithmTask;
use crate::tasks::graph::GraphTask;
use crate::tasks::samples::{self, SampleConfig, SampleData, SampleTask};
use crate::tasks::stories::StoryTask;
use crate::{Error, Result};

/// A kind of net.
pub struct NetKind {
    /// `model.kind`.
    pub name: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
    template: Template,
    /// Whether samples of this kind can be learnt; `None` for nets that take no samples.
    fits: Option<fn(&SampleData) -> bool>,
    keys: fn() -> NetKeys,
    plan: fn(Request, &'static str) -> Result<Box<dyn Plan>>,
    load: fn(Opened, &'static str) -> Result<Box<dyn Predictor>>,
}

/// The keys that the tables of a config may have.
#[derive(Clone, Copy, Debug)]
pub struct NetKeys {
    /// `[data]`.
    pub data: &'static [&'static str],
    /// `[model]`, without `kind`.
    pub model: &'static [&'static str],
}

fn keys<T: Task>() -> NetKeys {
    NetKeys { data: keys_of::<T::DataConfig>(), model: keys_of::<T::NetConfig>() }
}

/// A commented config, with places for the tables that several nets share.
struct Template {
    text: &'static str,
    data: &'static str,
    train: &'static str,
}

/// A run whose weights have been read.
struct Opened<'a> {
    run: &'a Run,
    document: &'a Document,
    weights: Weights,
    device: &'a Device,
}

macro_rules! template {
    ($name:literal) => {
        template!($name, "data", "train")
    };
    ($name:literal, $data:literal, $train:literal) => {
        Template {
            text: include_str!(concat!("../templates/", $name, ".toml")),
            data: include_str!(concat!("../templates/", $data, ".toml")),
            train: include_str!(concat!("../templates/", $train, ".toml")),
        }
    };
}

/// All kinds of nets.
pub static NETS: &[NetKind] = &[
    NetKind::on_classes_or_matrices::<FeedForwardConfig<usize>, FeedForwardConfig<[usize; 2]>>(
        "feedforward",
        "a class, several labels, values or a matrix for a matrix",
        template!("feedforward"),
    ),
    NetKind::on_samples::<AutoEncoderConfig>(
        "autoencoder",
        "a matrix for itself, through a tied encoder and decoder",
        template!("autoencoder"),
    ),
    NetKind::on_classes::<SequenceClassifierConfig>(
        "sequence-classifier",
        "a class, or several labels, for a sequence of matrices",
        template!("sequence-classifier"),
    ),
    NetKind::on_values_or_matrices::<SequenceRegressorConfig<usize>, SequenceRegressorConfig<[usize; 2]>>(
        "sequence-regressor",
        "values or a matrix for a sequence of matrices",
        template!("sequence-regressor"),
    ),
    NetKind::on_classes_or_matrices::<SequenceLabellerConfig<usize>, SequenceLabellerConfig<[usize; 2]>>(
        "sequence-labeller",
        "a class or a matrix for every step of a sequence",
        template!("sequence-labeller"),
    ),
    NetKind::on_samples::<Seq2SeqConfig>(
        "seq2seq",
        "the matrices that follow a sequence",
        template!("seq2seq"),
    ),
    NetKind::new::<GraphTask<ColumnNetConfig>>(
        "column-net",
        "a class for every node of a graph: column network, by mean, attention or concatenation",
        template!("column-net", "graph-data", "graph-train"),
    ),
    NetKind::new::<GraphTask<GcnConfig>>(
        "gcn",
        "a class for every node of a graph: graph convolutional network",
        template!("gcn", "graph-data", "graph-train"),
    ),
    NetKind::new::<GraphTask<ChebyshevNetConfig>>(
        "chebyshev",
        "a class for every node of a graph: Chebyshev network",
        template!("chebyshev", "graph-data", "graph-train"),
    ),
    NetKind::new::<AlgorithmTask>(
        "turing-machine",
        "an algorithm (copy, repeat-copy, associative-recall): Neural Turing Machine",
        template!("turing-machine"),
    ),
    NetKind::new::<StoryTask<MemoryNetworkConfig>>(
        "memory-network",
        "answers to questions about stories, supervised by the supporting sentences",
        template!("memory-network", "story-data", "train"),
    ),
    NetKind::new::<StoryTask<EndToEndConfig>>(
        "end-to-end-memory",
        "answers to questions about stories, by attention",
        template!("end-to-end-memory", "story-data", "train"),
    ),
];

impl NetKind {
    /// A net with one task.
    const fn new<T: Task>(name: &'static str, help: &'static str, template: Template) -> Self {
        Self { name, help, template, fits: None, keys: keys::<T>, plan: plan::<T>, load: load::<T> }
    }

    /// A net on samples.
    const fn on_samples<C: SampleConfig>(name: &'static str, help: &'static str, template: Template) -> Self {
        Self {
            name,
            help,
            template,
            fits: Some(samples::fits::<C>),
            keys: keys::<SampleTask<C>>,
            plan: plan_samples::<C, C>,
            load: load::<SampleTask<C>>,
        }
    }

    /// A net on samples that gives classes or labels, but no values.
    const fn on_classes<C: SampleConfig>(name: &'static str, help: &'static str, template: Template) -> Self {
        Self {
            fits: Some(|data| !matches!(data.target, Target::Values { .. }) && samples::fits::<C>(data)),
            ..Self::on_samples::<C>(name, help, template)
        }
    }

    /// A net on samples with one config for classes and one for matrices; the target decides.
    const fn on_classes_or_matrices<C: SampleConfig, M: SampleConfig>(
        name: &'static str,
        help: &'static str,
        template: Template,
    ) -> Self {
        Self {
            name,
            help,
            template,
            fits: Some(|data| samples::fits::<C>(data) || samples::fits::<M>(data)),
            keys: keys::<SampleTask<C>>,
            plan: plan_samples::<C, M>,
            load: load_samples::<C, M>,
        }
    }

    /// As [`on_classes_or_matrices`](Self::on_classes_or_matrices), for values in the place of classes.
    const fn on_values_or_matrices<C: SampleConfig, M: SampleConfig>(
        name: &'static str,
        help: &'static str,
        template: Template,
    ) -> Self {
        Self {
            fits: Some(|data| {
                let classes = matches!(data.target, Target::Classes { .. } | Target::MultiLabels { .. });
                !classes && (samples::fits::<C>(data) || samples::fits::<M>(data))
            }),
            ..Self::on_classes_or_matrices::<C, M>(name, help, template)
        }
    }

    /// The keys of its config; those of `[train]` are the same for all.
    pub fn keys(&self) -> NetKeys {
        (self.keys)()
    }

    /// A commented config for it.
    pub fn template(&self) -> String {
        self.template.text.replace("{data}\n", self.template.data).replace("{train}", self.template.train)
    }
}

fn plan<T: Task>(request: Request, kind: &'static str) -> Result<Box<dyn Plan>> {
    request.plan::<T>(kind)
}

fn load<T: Task>(opened: Opened, kind: &'static str) -> Result<Box<dyn Predictor>> {
    let Opened { run, document, weights, device } = opened;
    Ok(Box::new(Loaded::<T>::new(kind, run, document, weights, device)?))
}

fn plan_samples<C: SampleConfig, M: SampleConfig>(
    mut request: Request,
    kind: &'static str,
) -> Result<Box<dyn Plan>> {
    let data = request.data::<SampleTask<C>>()?;
    let net = NETS.iter().find(|net| net.name == kind);
    if !net.and_then(|net| net.fits).is_some_and(|fits| fits(&data)) {
        let fitting = NETS.iter().filter(|net| net.fits.is_some_and(|fits| fits(&data)));
        let names: Vec<&str> = fitting.map(|net| net.name).collect();
        let data = samples::describe(&data);
        let expected = match names[..] {
            [] => format!("the data are {data}, which no kind of net can learn from"),
            _ => format!("the data are {data}, which {} can learn from", names.join(" or ")),
        };
        return Err(Error::config("model", "kind", kind, expected));
    }
    match data.target {
        Target::Matrices(_) => request.plan::<SampleTask<M>>(kind),
        _ => request.plan::<SampleTask<C>>(kind),
    }
}

fn load_samples<C: SampleConfig, M: SampleConfig>(
    opened: Opened,
    kind: &'static str,
) -> Result<Box<dyn Predictor>> {
    match opened.weights.metadata["target"].as_str() {
        Some("matrices") => load::<SampleTask<M>>(opened, kind),
        _ => load::<SampleTask<C>>(opened, kind),
    }
}

/// The kind of net of this name.
pub fn get(name: &str) -> Result<&'static NetKind> {
    NETS.iter().find(|net| net.name == name).ok_or_else(|| {
        let names: Vec<String> = NETS.iter().map(|net| net.name.to_owned()).collect();
        Error::config("model", "kind", name, suggestion(name, &names))
    })
}

/// The kind of net that a config names. It decides what all other keys mean.
fn of(document: &Document) -> Result<&'static NetKind> {
    match document.kind() {
        Some(Value::String(name)) => get(name),
        other => {
            let names: Vec<&str> = NETS.iter().map(|net| net.name).collect();
            let value = other.map_or("is missing".to_owned(), Value::to_string);
            Err(Error::config("model", "kind", value, format!("one of {} expected", names.join(", "))))
        }
    }
}

impl Planner {
    /// Plans the run of a config: loads its dataset, fills in the sizes and checks everything.
    pub fn plan(&mut self, document: &Document, cache: &Cache) -> Result<Box<dyn Plan>> {
        let ranks = self.ranks.clone();
        ranks.settle(self.plan_together(document, cache))
    }

    /// The same on one of the ranks.
    fn plan_together(&mut self, document: &Document, cache: &Cache) -> Result<Box<dyn Plan>> {
        check_same(&self.ranks, document.text(), None)?;
        let variants = document.variants();
        if !variants.is_empty() {
            let message = format!(
                "this config has the variants {}: `matnet compare` trains them all, --variant chooses one",
                variants.join(", ")
            );
            return Err(Error::Syntax { line: None, message });
        }
        let (net, train) = (of(document)?, document.train()?);
        if let Some(tuned) = document.tuned()? {
            tuned.check(train.seed)?;
        }
        (net.plan)(Request { planner: self, document, cache, train }, net.name)
    }
}

impl Run {
    /// The trained net, from `best.safetensors` or another file of weights in the folder.
    pub fn load(&self, weights_file: &str, device: &Device) -> Result<Box<dyn Predictor>> {
        let document = self.document()?;
        let net = of(&document)?;
        let weights = self.weights(weights_file)?;
        // Whoever uses a finished run should know that one of its files was edited.
        self.result()?;
        (net.load)(Opened { run: self, document: &document, weights, device }, net.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_a_config_of_its_kind() {
        for net in NETS {
            let document = Document::parse(&net.template()).unwrap();
            assert_eq!(of(&document).unwrap().name, net.name);
            document.train().unwrap();
        }
        let error = get("feedfoward").err().unwrap();
        assert_eq!(error.to_string(), "model.kind: feedfoward; did you mean `feedforward`?");
    }
}
