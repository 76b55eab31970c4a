//! No key is accepted without effect. Every key of every kind of net is set to other values, beside many configs: each time the
//! trained net or its scores change, or the config is refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use matnet_data::catalog::Cache;
use matnet_data::format::{npy, npz::NpzWriter};
use matnet_train::config::{TrainConfig, keys_of};
use matnet_train::registry;
use matnet_train::run::BEST;
use matnet_train::{Document, Options, Planner, Run};
use safetensors::SafeTensors;
use serde_json::Value;

/// Values to try, for every key. A new key is missing here until it has some.
const VALUES: &[(&str, &[&str])] = &[
    // [data] of samples
    ("data.valid", &["'samples.npz'", "'sequences.npz'", "'values.npz'"]),
    ("data.test", &["'samples.npz'", "'sequences.npz'", "'values.npz'"]),
    ("data.target", &["'value'", "'class'", "'labels'", "'matrix'"]),
    ("data.target_column", &["'c'"]),
    ("data.columns", &["['a']"]),
    ("data.shape", &["[2, 1]"]),
    ("data.layout", &["'matrix'", "'sequence'"]),
    ("data.image_size", &["[2, 2]"]),
    ("data.color", &["true"]),
    ("data.seed", &["7"]),
    ("data.limit", &["8"]),
    ("data.shuffle_block", &["4"]),
    ("data.sequences", &["12"]),
    ("data.context_length", &["2"]),
    ("data.window", &["5"]),
    ("data.horizon", &["3"]),
    ("data.normalize_window", &["'last'", "'standardize'"]),
    ("data.missing", &["'zero'", "'mean'", "'forward'"]),
    ("data.missing_mask", &["true"]),
    ("data.occlusion", &["[2, 2]"]),
    ("data.permute", &["true"]),
    ("data.scale", &["'standardize'", "'min-max'"]),
    ("data.scale_per", &["'row'", "'column'", "'entry'"]),
    ("data.scale_target", &["true", "false"]),
    ("data.spectrogram", &["{}"]),
    ("data.spectrogram.window", &["4"]),
    ("data.spectrogram.overlap", &["2"]),
    ("data.spectrogram.mean", &["'of-window'"]),
    ("data.spectrogram.value", &["'density'"]),
    ("data.spectrogram.sample_rate", &["100"]),
    ("data.log_mel", &["{ sample_rate = 100, fft_size = 16, hop = 4, n_mels = 4 }"]),
    ("data.log_mel.f_min", &["10.0"]),
    ("data.log_mel.f_max", &["40.0"]),
    ("data.log_mel.hop", &["5"]),
    ("data.log_mel.mel_scale", &["'htk'"]),
    ("data.log_mel.offset", &["0.1"]),
    ("data.log", &["{}", "{ offset = 2.0 }"]),
    ("data.augment", &["{ noise = 0.1 }", "{ shift = 1 }", "{ mixup = 0.5 }", "{ channel_mask = 1 }"]),
    ("data.augment.crop", &["3"]),
    ("data.augment.time_mask", &["2"]),
    (
        "data.split.rule",
        &["'random'", "'stratified'", "'within-groups'", "'between-groups'", "'k-fold'", "'chronological'"],
    ),
    ("data.split.train", &["6"]),
    ("data.split.valid", &["0.4", "5"]),
    ("data.split.test", &["0.4", "7"]),
    ("data.split.folds", &["3"]),
    ("data.split.fold", &["1"]),
    ("data.split.per_seed", &["true"]),
    // [data] of graphs
    ("data.edges", &["'other-edges.csv'"]),
    ("data.directed", &["true"]),
    ("data.normalize", &["'rows'"]),
    ("data.num_neighbors", &["1"]),
    ("data.eval_num_neighbors", &["1"]),
    ("data.edge_dropout", &["0.5"]),
    ("data.split.per_class", &["3"]),
    ("data.split.index", &["1"]),
    // [data] of stories
    ("data.tasks", &["[9]"]),
    ("data.size", &["'10k'"]),
    // [data] of algorithms
    ("data.width", &["3"]),
    ("data.length", &["[2, 4]"]),
    ("data.repeats", &["[1, 4]"]),
    ("data.length_draws", &["3"]),
    ("data.unbalanced_bits", &["0.9"]),
    ("data.item_length", &["2"]),
    ("data.sequences_per_epoch", &["12"]),
    ("data.valid_sequences", &["5"]),
    ("data.valid_lengths", &["[3]"]),
    ("data.test_sequences", &["5"]),
    ("data.test_length", &["5"]),
    ("data.extrapolation_length", &["5"]),
    ("data.test_repeats", &["5"]),
    // [model]
    ("model.form", &["'vector'"]),
    ("model.input", &["[9, 9]"]),
    ("model.hidden", &["[3, 2]", "[5]", "5", "[[2, 3], [3, 2]]"]),
    ("model.output", &["9", "[9, 9]"]),
    ("model.depth", &["3", "4"]),
    ("model.activation", &["'sigmoid'"]),
    ("model.output_activation", &["'tanh'", "'relu'"]),
    ("model.skip", &["'residual'", "'dense'"]),
    ("model.block", &["2"]),
    ("model.reach", &["1"]),
    ("model.batch_norm", &["true"]),
    ("model.batch_norm_bias_init", &["0.5"]),
    ("model.input_dropout", &["0.5"]),
    ("model.dropout", &["0.5"]),
    ("model.tied", &["true"]),
    ("model.init", &["'glorot'"]),
    ("model.noise", &["'gaussian'"]),
    ("model.noise_ratio", &["0.6"]),
    ("model.cell", &["'gru'", "'rnn'", "'lstm'"]),
    ("model.layers", &["2"]),
    ("model.bidirectional", &["true"]),
    ("model.projection", &["[2, 2]", "[3]"]),
    ("model.projection_activation", &["'tanh'"]),
    ("model.forget_bias", &["1.0"]),
    ("model.steps", &["9"]),
    ("model.decoder_state", &["'encoder'"]),
    ("model.num_features", &["9"]),
    ("model.num_classes", &["9"]),
    ("model.num_relations", &["9"]),
    ("model.aggregation", &["'attention'", "'concat'"]),
    ("model.heads", &["2"]),
    ("model.num_neighbors", &["1"]),
    ("model.order", &["1"]),
    ("model.lambda_max", &["'estimated'"]),
    ("model.controller", &["'feedforward'"]),
    ("model.slots", &["5"]),
    ("model.slot_width", &["3"]),
    ("model.read_heads", &["2"]),
    ("model.write_heads", &["2"]),
    ("model.shift_range", &["2"]),
    ("model.sharpness_init", &["2.0"]),
    ("model.vocab_size", &["99"]),
    ("model.sentence_length", &["9"]),
    ("model.embedding_dim", &["5"]),
    ("model.memory_size", &["1"]),
    ("model.hops", &["1"]),
    ("model.tying", &["'layer-wise'"]),
    ("model.encoding", &["'bag-of-words'"]),
    ("model.temporal_encoding", &["false"]),
    ("model.time_noise", &["0.9"]),
    ("model.empty_slots", &["false"]),
    ("model.init_std", &["0.3"]),
    ("model.linear_start", &["1"]),
    ("model.linear_start_patience", &["1"]),
    ("model.margin", &["0.3"]),
    // [train]
    ("train.epochs", &["4"]),
    ("train.batch_size", &["3"]),
    ("train.shards", &["2"]),
    ("train.precision", &["'16-mixed'", "'bf16-mixed'"]),
    ("train.checkpointing", &["true"]),
    ("train.saved_activations", &["'bf16'"]),
    ("train.bucket_by_length", &["true", "false"]),
    ("train.seed", &["5"]),
    ("train.loss", &["'mae'", "'huber'"]),
    ("train.huber_delta", &["0.1"]),
    ("train.label_smoothing", &["0.2"]),
    ("train.class_weights", &["'balanced'", "{ b = 3.0 }"]),
    ("train.reduction", &["'sum'"]),
    ("train.optimizer", &["'sgd'", "'adamw'"]),
    ("train.learning_rate", &["0.1"]),
    ("train.beta_1", &["0.1"]),
    ("train.beta_2", &["0.1"]),
    ("train.epsilon", &["0.5"]),
    ("train.momentum", &["0.9"]),
    ("train.weight_decay", &["0.7"]),
    ("train.schedule", &["'linear'", "'cosine'", "'exponential'"]),
    ("train.warmup_epochs", &["2.0"]),
    ("train.min_learning_rate", &["0.009"]),
    ("train.gamma", &["0.1"]),
    ("train.step_size", &["1.0"]),
    ("train.restart_epochs", &["0.5"]),
    ("train.restart_factor", &["2"]),
    ("train.grad_clip_norm", &["0.001"]),
    ("train.grad_clip_norm_per_param", &["0.001"]),
    ("train.l1", &["0.1"]),
    ("train.l2", &["0.1"]),
    ("train.regularize_only", &["'layer.0'", "'head'", "'no such layer'"]),
    ("train.patience", &["1"]),
    ("train.monitor", &["'loss'", "'accuracy'", "'r2'"]),
    ("train.log_test", &["true"]),
    ("train.ema_decay", &["0.5"]),
    ("train.learning_rate_multipliers", &["{ map = 0.1 }", "{ 'no such word' = 0.1 }"]),
    ("train.from", &["'no such run'"]),
    ("train.from_sha256", &["'0'"]),
    ("train.freeze", &["['head']", "['no such layer']"]),
    ("train.previous_epochs", &["[1]"]),
];

/// Keys that may well change nothing, and why that is right.
const MAY_CHANGE_NOTHING: &[(&str, &str)] = &[
    ("train.patience", "acts once the validation score gets no better"),
    ("train.monitor", "may choose the same epoch"),
    ("train.checkpointing", "gives the same numbers in less memory"),
    ("train.shards", "gives the same numbers but for rounding, where nothing is random"),
    ("data.seed", "seeds a split, and some rules draw nothing"),
    ("data.target", "may say what the type of `y` says"),
    ("data.layout", "may say what the source says"),
    ("train.bucket_by_length", "may say what the lengths say"),
    ("data.scale_target", "may say what the target says"),
    ("model.cell", "may be the cell of the config"),
    ("data.split.rule", "may be the rule of the config"),
    ("model.linear_start_patience", "ends a linear start that gets no better"),
    ("data.missing", "acts where a value is missing"),
    ("data.scale", "may be what the values are already"),
    ("data.split.per_seed", "draws nothing where there is neither a validation nor a test split"),
    ("model.hops", "may be what the stories have"),
];

const TRAIN: &str = "[train]\nepochs = 2\nbatch_size = 8\nlearning_rate = 0.01\n";

/// Configs of every kind, for every kind of data, and the options that other keys depend on.
fn configs() -> Vec<(&'static str, String)> {
    let samples = |source: &str, model: &str, more: &str| {
        format!("[data]\nsource = '{source}'\n{more}[model]\n{model}\n{TRAIN}")
    };
    let ff = "kind = 'feedforward'\nhidden = [3, 3]\ndepth = 3";
    let sequence = |kind: &str, cell: &str| format!("kind = '{kind}'\nhidden = [3, 3]\ncell = '{cell}'");
    let column = |how: &str| format!("kind = 'column-net'\nhidden = 3\ndepth = 2\naggregation = '{how}'");
    let stft = "spectrogram = { window = 8, overlap = 4 }\n";
    let mel = "log_mel = { sample_rate = 100, fft_size = 16, hop = 4, n_mels = 4 }\n";
    let train = |config: String, more: &str| format!("{config}{more}\n");
    let machine = |source: &str, controller: &str| {
        let only = if source == "associative-recall" { "item_length = 1\n" } else { "" };
        format!(
            "[data]\nsource = '{source}'\nwidth = 2\nlength = [2, 3]\n{only}sequences_per_epoch = 8\nvalid_sequences = 3\ntest_sequences = 3\n\
             [model]\nkind = 'turing-machine'\nhidden = [2, 2]\nslots = 4\nslot_width = 2\ncontroller = '{controller}'\n\
             [train]\nepochs = 1\nbatch_size = 4\nlearning_rate = 0.01\n"
        )
    };
    let stories = |kind: &str, model: &str, more: &str| {
        format!(
            "[data]\nsource = 'stories.txt'\n[model]\nkind = '{kind}'\nembedding_dim = 3\n{model}\n{TRAIN}{more}\n"
        )
    };
    let graph = |model: &str, more: &str| {
        format!(
            "[data]\nsource = 'graph.npz'\n{more}[model]\n{model}\n[train]\nepochs = 2\nlearning_rate = 0.01\n"
        )
    };
    vec![
        ("classes", samples("samples.npz", ff, "")),
        (
            "classes, sgd in steps",
            train(samples("samples.npz", ff, ""), "optimizer = 'sgd'\nschedule = 'step'\nstep_size = 0.5"),
        ),
        (
            "classes, adamw with restarts",
            train(
                samples("samples.npz", ff, ""),
                "optimizer = 'adamw'\nschedule = 'cosine-restarts'\nrestart_epochs = 1",
            ),
        ),
        (
            "classes, linear schedule, l2",
            train(samples("samples.npz", ff, ""), "schedule = 'linear'\nl2 = 0.01\npatience = 1"),
        ),
        (
            "classes, dense",
            samples("samples.npz", &format!("{ff}\nskip = 'dense'"), "scale = 'standardize'\n"),
        ),
        (
            "classes, batch norm",
            samples("samples.npz", &format!("{ff}\nbatch_norm = true"), "permute = true\n"),
        ),
        ("classes, folds", samples("samples.npz", ff, "split = { rule = 'k-fold', folds = 4 }\n")),
        (
            "classes, groups",
            samples("groups.npz", ff, "split = { rule = 'between-groups', valid = 0.25, test = 0.25 }\n"),
        ),
        ("classes, own test", samples("samples.npz", ff, "test = 'official-test.npz'\n")),
        ("classes, no validation, no test", samples("samples.npz", ff, "split = { valid = 0, test = 0 }\n")),
        ("classes, official split", samples("official.npz", ff, "")),
        ("classes, missing values", samples("missing.npz", ff, "missing = 'mean'\n")),
        ("values", samples("values.npz", ff, "")),
        ("values, huber", train(samples("values.npz", ff, ""), "loss = 'huber'")),
        ("labels", samples("labels.npz", ff, "")),
        ("matrices", samples("matrices.npz", ff, "")),
        (
            "a table",
            samples(
                "table.csv",
                "kind = 'feedforward'\nhidden = [1, 3]\ndepth = 3",
                "target_column = 'c'\nshape = [1, 2]\n",
            ),
        ),
        ("pictures", samples("pictures", ff, "")),
        ("autoencoder", samples("samples.npz", "kind = 'autoencoder'\nhidden = [3, 3]\ndepth = 2", "")),
        (
            "autoencoder, occluded",
            samples(
                "samples.npz",
                "kind = 'autoencoder'\nhidden = [3, 3]\ndepth = 2",
                "occlusion = [1, 1]\n",
            ),
        ),
        ("sequences, lstm", samples("sequences.npz", &sequence("sequence-classifier", "lstm"), "")),
        ("sequences, rnn", samples("sequences.npz", &sequence("sequence-classifier", "rnn"), "")),
        (
            "sequences, gru, lengths",
            samples("lengths.npz", &sequence("sequence-classifier", "gru"), "augment = { crop = 4 }\n"),
        ),
        (
            "sequences, projection",
            samples(
                "sequences.npz",
                &format!("{}\nprojection = [2, 2]", sequence("sequence-classifier", "gru")),
                "",
            ),
        ),
        (
            "sequences, vectors",
            samples("sequences.npz", "kind = 'sequence-classifier'\nform = 'vector'\nhidden = [4]", ""),
        ),
        ("spectrograms", samples("signals.npz", &sequence("sequence-classifier", "rnn"), stft)),
        ("log-mel spectrograms", samples("signals.npz", &sequence("sequence-classifier", "rnn"), mel)),
        ("sequences of values", samples("steps-values.npz", &sequence("sequence-regressor", "gru"), "")),
        ("labels of steps", samples("steps.npz", &sequence("sequence-labeller", "lstm"), "")),
        ("matrices of steps", samples("steps-matrices.npz", &sequence("sequence-labeller", "rnn"), "")),
        ("sequence to sequence", samples("steps-matrices.npz", &sequence("seq2seq", "lstm"), "")),
        ("what follows", samples("plain.npz", &sequence("seq2seq", "rnn"), "context_length = 3\n")),
        ("forecast", samples("table.csv", &sequence("seq2seq", "rnn"), "window = 4\nhorizon = 2\n")),
        (
            "forecast by a matrix",
            samples("table.csv", ff, "window = 4\nhorizon = 2\nscale = 'standardize'\n"),
        ),
        (
            "moving digits",
            samples(
                "moving-digits",
                "kind = 'seq2seq'\nhidden = [2, 2]",
                "context_length = 10\nsequences = 10\n",
            ),
        ),
        ("mean", graph(&column("mean"), "")),
        ("attention", graph(&column("attention"), "")),
        ("concat", graph(&column("concat"), "")),
        ("mean, relations", samples("relations.npz", &column("mean"), "").replace("batch_size = 8\n", "")),
        ("gcn", graph("kind = 'gcn'\nhidden = [3]", "")),
        ("gcn, batches", train(graph("kind = 'gcn'\nhidden = [3]", ""), "batch_size = 4")),
        ("gcn, public split", graph("kind = 'gcn'\nhidden = [3]", "").replace("graph.npz", "public.npz")),
        (
            "gcn, per class",
            graph(
                "kind = 'gcn'\nhidden = [3]",
                "split = { rule = 'per-class', per_class = 2, valid = 3, test = 3 }\n",
            ),
        ),
        (
            "gcn, text",
            graph("kind = 'gcn'\nhidden = [3]", "edges = 'edges.csv'\n").replace("graph.npz", "nodes.csv"),
        ),
        ("chebyshev", graph("kind = 'chebyshev'\nhidden = [3]", "")),
        ("copy", machine("copy", "lstm")),
        ("copy, feedforward", machine("copy", "feedforward")),
        ("repeat-copy", machine("repeat-copy", "lstm")),
        ("associative-recall", machine("associative-recall", "lstm")),
        ("memory network", stories("memory-network", "", "")),
        ("memory network, margin", stories("memory-network", "margin = 0.1", "")),
        ("end-to-end memory", stories("end-to-end-memory", "", "")),
        ("end-to-end memory, linear start", stories("end-to-end-memory", "linear_start = 2", "")),
    ]
}

/// An array of an `.npz`.
enum Numbers {
    Floats(Vec<f32>),
    Classes(Vec<&'static str>),
    Integers(Vec<i64>),
    Booleans(Vec<u8>),
}

fn npz(path: &Path, arrays: &[(&str, &[usize], Numbers)]) {
    let mut writer = NpzWriter::new(fs::File::create(path).unwrap());
    for (name, shape, numbers) in arrays {
        writer
            .add(name, |mut out| match numbers {
                Numbers::Floats(values) => npy::write_f32(&mut out, shape, values),
                Numbers::Integers(values) => npy::write_i64(&mut out, shape, values),
                Numbers::Classes(names) => {
                    npy::write_header(&mut out, "|S1", shape)?;
                    names.iter().try_for_each(|name| out.write_all(name.as_bytes()))
                }
                Numbers::Booleans(values) => {
                    npy::write_header(&mut out, "|b1", shape)?;
                    out.write_all(values)
                }
            })
            .unwrap();
    }
    writer.finish().unwrap();
}

/// The files that the configs name. `n` samples: three classes that overlap.
fn write_data(folder: &Path) {
    use Numbers::{Booleans, Classes, Floats, Integers};
    let n = 40;
    let noise = |count: usize| -> Vec<f32> {
        (0..count).map(|at| ((at * at * 7919 + at * 104_729) % 1009) as f32 / 1009.0).collect()
    };
    let class = |at: usize| ["a", "b", "c"][(at * 7 + at / 5) % 3];
    let classes = || Classes((0..n).map(class).collect());
    let write = |name: &str, arrays: &[(&str, &[usize], Numbers)]| npz(&folder.join(name), arrays);
    let x = || ("x", &[40, 4, 5][..], Floats(noise(n * 20)));
    let steps = || ("x", &[40, 6, 3, 2][..], Floats(noise(n * 36)));
    let y = || ("y", &[40][..], classes());
    write("samples.npz", &[x(), y()]);
    write("groups.npz", &[x(), y(), ("group", &[40], Integers((0..40).map(|at| at / 5).collect()))]);
    write("official.npz", &[x(), y(), ("test", &[9], Integers((3..12).collect()))]);
    write("official-test.npz", &[("x", &[40, 4, 5], Floats(noise(n * 21)[n..].to_vec())), y()]);
    let holes = noise(n * 20).into_iter().enumerate().map(|(at, x)| if at % 13 == 0 { f32::NAN } else { x });
    write("missing.npz", &[("x", &[40, 4, 5], Floats(holes.collect())), y()]);
    write("values.npz", &[x(), ("y", &[40, 2], Floats(noise(80)))]);
    let labels = noise(80).iter().map(|x| u8::from(*x > 0.6)).collect();
    write("labels.npz", &[x(), ("y", &[40, 2], Booleans(labels))]);
    write("matrices.npz", &[x(), ("y", &[40, 2, 2], Floats(noise(160)))]);
    write("sequences.npz", &[steps(), y()]);
    write("plain.npz", &[steps()]);
    let lengths = (0..40).map(|at| 3 + at % 4).collect();
    write("lengths.npz", &[steps(), y(), ("length", &[40], Integers(lengths))]);
    write("signals.npz", &[("x", &[40, 2, 32], Floats(noise(n * 64))), y()]);
    write("steps-values.npz", &[steps(), ("y", &[40, 2], Floats(noise(80)))]);
    write("steps.npz", &[steps(), ("y", &[40, 6], Classes((0..240).map(class).collect()))]);
    write("steps-matrices.npz", &[steps(), ("y", &[40, 6, 2, 2], Floats(noise(n * 24)))]);
    let rows = noise(180);
    let rows = rows.chunks(3).map(|row| format!("{},{},{}\n", row[0], row[1], row[2]));
    fs::write(folder.join("table.csv"), format!("a,b,c\n{}", rows.collect::<String>())).unwrap();
    for at in 0..n {
        let folder = folder.join("pictures").join(class(at));
        fs::create_dir_all(&folder).unwrap();
        let pixels: Vec<String> =
            noise((at + 1) * 60)[at * 60..].iter().map(|x| format!("{}", (x * 255.0) as u8)).collect();
        fs::write(folder.join(format!("{at}.ppm")), format!("P3 5 4 255\n{}\n", pixels.join(" "))).unwrap();
    }
    let features = || ("features", &[40, 3][..], Floats(noise(120).iter().map(|x| x - 0.3).collect()));
    let pairs =
        || (0..40).flat_map(|at| [at, (at * 7 + 3) % 40, at, (at * 3 + 2) % 40]).collect::<Vec<i64>>();
    let edges = || ("edges", &[80, 2][..], Integers(pairs()));
    let nodes = || ("labels", &[40][..], classes());
    write("graph.npz", &[features(), edges(), nodes()]);
    let relations = (0..80).map(|at| at % 2).collect();
    write("relations.npz", &[features(), edges(), nodes(), ("relations", &[80], Integers(relations))]);
    let part = |from: i64| ("valid", &[10][..], Integers((from..from + 10).collect()));
    let (valid, test) = (part(20), ("test", &[10][..], Integers((30..40).collect())));
    let train = ("train", &[20][..], Integers((0..20).collect()));
    write("public.npz", &[features(), edges(), nodes(), train, valid, test]);
    let numbers = noise(120);
    let lines = (0..n).map(|at| format!("n{at},{},{},{}\n", numbers[3 * at], numbers[3 * at + 1], class(at)));
    fs::write(folder.join("nodes.csv"), format!("id,u,v,class\n{}", lines.collect::<String>())).unwrap();
    for (name, step) in [("edges.csv", 7), ("other-edges.csv", 5)] {
        let lines = (0..n).map(|at| format!("n{at},n{}\n", (at * step + 3) % n));
        fs::write(folder.join(name), lines.collect::<String>()).unwrap();
    }
    let (people, places) = (["Mary", "John", "Ann"], ["garden", "hall", "kitchen"]);
    let story = |at: usize| {
        let (who, other) = (people[at % 3], people[(at + 1) % 3]);
        let (place, before) = (places[(at * 5 + at / 3) % 3], places[(at + at / 2) % 3]);
        match at % 2 {
            0 => format!(
                "1 {who} went to the {before}.\n2 {other} is here.\n3 {who} went to the {place}.\n4 Where is {who}?\t{place}\t3\n"
            ),
            _ => format!("1 {who} went to the {place}.\n2 Where is {who}?\t{place}\t1\n"),
        }
    };
    fs::write(folder.join("stories.txt"), (0..n).map(story).collect::<String>()).unwrap();
}

/// What a run came to: its weights, its splits and its scores, without what names the config.
#[derive(PartialEq)]
struct Came {
    weights: Vec<(String, Vec<u8>)>,
    texts: Vec<String>,
    result: Value,
}

fn came(folder: &Path) -> Came {
    let bytes = fs::read(folder.join(BEST)).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let weights = tensors.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec()));
    let mut weights: Vec<(String, Vec<u8>)> = weights.collect();
    weights.sort();
    let mut result: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("result.json")).unwrap()).unwrap();
    let fields = result.as_object_mut().unwrap();
    ["sha256", "result_sha256", "seed"].iter().for_each(|name| drop(fields.remove(*name)));
    let texts = ["split.json", "metrics.csv"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    Came { weights, texts: texts.to_vec(), result }
}

/// Trains a config in a fresh folder; an error where it is refused.
fn train(document: &Document, planner: &mut Planner, cache: &Cache, folder: &Path) -> Result<Came, String> {
    let _ = fs::remove_dir_all(folder);
    let plan = planner.plan(document, cache).map_err(|error| error.to_string())?;
    let options = Options::default().with_report(false);
    plan.check(&options).map_err(|error| error.to_string())?;
    plan.train(&Run::at(folder), &options, &mut ()).map_err(|error| error.to_string())?;
    Ok(came(folder))
}

#[test]
fn every_key_changes_the_run_or_is_refused() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    write_data(folder.path());
    let (cache, mut planner) = (Cache::new(folder.path().join("cache")), Planner::default());
    let (run, mut wrong, mut tried) = (folder.path().join("run"), Vec::new(), 0);
    let mut effective = BTreeSet::new();
    for (name, text) in configs() {
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let kind = text.split("kind = '").nth(1).unwrap().split('\'').next().unwrap();
        let keys = registry::get(kind).unwrap().keys();
        let of = |table: &str, keys: &[&str]| keys.iter().map(|key| format!("{table}.{key}")).collect();
        let all: Vec<Vec<String>> =
            vec![of("data", keys.data), of("model", keys.model), of("train", keys_of::<TrainConfig>())];
        let before =
            train(&document, &mut planner, &cache, &run).unwrap_or_else(|error| panic!("{name}: {error}"));
        for key in all.concat().iter().filter(|key| *key != "data.source") {
            let below = format!("{key}.");
            let values: Vec<_> =
                VALUES.iter().filter(|(path, _)| path == key || path.starts_with(&below)).collect();
            assert!(!values.is_empty(), "{key}: no value to try");
            for (path, values) in values {
                for value in *values {
                    let mut other = document.clone();
                    if other.set(&format!("{path}={value}")).is_err() || other == document {
                        continue;
                    }
                    tried += 1;
                    match train(&other, &mut planner, &cache, &run) {
                        Ok(after) if after != before => drop(effective.insert(*path)),
                        Ok(_) if MAY_CHANGE_NOTHING.iter().any(|(free, _)| free == path) => {}
                        Ok(_) => wrong.push(format!("{name}: {path} = {value} changes nothing")),
                        Err(_) => {}
                    }
                }
            }
        }
    }
    println!("{tried} configs with another value of one key");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    // Keys that only say what the data say, and keys of files and runs that are not here, are refused everywhere.
    let mut idle: Vec<&str> = VALUES.iter().map(|(path, _)| *path).collect();
    idle.retain(|path| !effective.contains(path));
    println!("refused by every config: {}", idle.join(", "));
}
