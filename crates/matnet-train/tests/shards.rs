//! `train.shards`: a batch in shards is the batch, to rounding; and whoever computes the shards, the bytes are the same. Here ranks
//! are threads; `.ci/mpi` does the same with processes and MPI.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use matnet_data::catalog::Cache;
use matnet_data::format::npy;
use matnet_train::ranks::Collective;
use matnet_train::{Document, Error, Event, Observer, Options, Outcome, Planner, Ranks, Run, Split};
use tempfile::TempDir;

const SAMPLES: &str = "
[data]
source = 'digits'
limit = 120
split = { valid = 30, test = 20 }
[model]
kind = 'feedforward'
hidden = [4, 4]
depth = 2
[train]
epochs = 2
batch_size = 16
optimizer = 'sgd'
learning_rate = 0.05
l2 = 1e-3
grad_clip_norm = 1.0
";

/// Sequences of different lengths would have other steps in another batch; these have all the same.
const SEQUENCES: &str = "
[data]
source = 'motions'
limit = 60
split = { valid = 20 }
[model]
kind = 'sequence-classifier'
hidden = [4, 4]
[train]
epochs = 1
batch_size = 12
optimizer = 'sgd'
learning_rate = 0.05
";

const STORIES: &str = "
[data]
source = 'stories'
tasks = [1]
[model]
kind = 'end-to-end-memory'
embedding_dim = 6
hops = 2
time_noise = 0.0
[train]
epochs = 1
optimizer = 'sgd'
reduction = 'sum'
learning_rate = 0.01
grad_clip_norm_per_param = 40
";

const GRAPH: &str = "
[data]
source = 'citations'
normalize = 'rows'
split = { rule = 'random', valid = 100, test = 300 }
[model]
kind = 'column-net'
hidden = 6
depth = 2
[train]
epochs = 1
batch_size = 200
optimizer = 'sgd'
learning_rate = 0.05
";

/// Everything that a shard draws from its own generator, and everything that is computed once for all shards.
const EVERYTHING: &str = "
[data]
source = 'digits'
limit = 120
split = { valid = 70, test = 20 }
augment = { noise = 0.1, mixup = 0.4 }
[model]
kind = 'feedforward'
hidden = [4, 4]
depth = 2
dropout = 0.3
batch_norm = true
[train]
epochs = 3
batch_size = 13
shards = 5
l1 = 1e-4
ema_decay = 0.9
grad_clip_norm = 1.0
label_smoothing = 0.1
";

/// A rank that is a thread.
struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Thread {
    /// So many of them, connected.
    fn all(size: usize) -> Vec<Self> {
        let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..size).map(|_| Vec::new()).collect();
        let mut from: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = (0..size).map(|_| Vec::new()).collect();
        for sender in &mut to {
            for receiver in &mut from {
                let (send, receive) = channel();
                sender.push(send);
                receiver.push(Mutex::new(receive));
            }
        }
        to.into_iter().zip(from).enumerate().map(|(rank, (to, from))| Self { rank, to, from }).collect()
    }

    fn send(&self, rank: usize, bytes: Vec<u8>) {
        self.to[rank].send(bytes).unwrap();
    }

    /// A rank that waits too long fails the test.
    fn receive(&self, rank: usize) -> Vec<u8> {
        let receiver = self.from[rank].lock().unwrap();
        receiver.recv_timeout(Duration::from_secs(300)).expect("a message of another rank")
    }
}

fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn to_numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

impl Collective for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn all_gather(&self, message: &[u8]) -> Vec<Vec<u8>> {
        (0..self.size()).for_each(|rank| self.send(rank, message.to_vec()));
        (0..self.size()).map(|rank| self.receive(rank)).collect()
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) {
        if self.rank == 0 {
            (0..self.size()).for_each(|rank| self.send(rank, bytes.clone()));
        }
        *bytes = self.receive(0);
    }

    fn all_to_all(&self, send: &[f32], send_counts: &[usize], receive: &mut [f32], receive_counts: &[usize]) {
        let mut rest = send;
        for (rank, &count) in send_counts.iter().enumerate() {
            let (own, others) = rest.split_at(count);
            self.send(rank, to_bytes(own));
            rest = others;
        }
        assert!(rest.is_empty());
        let numbers: Vec<Vec<f32>> = (0..self.size()).map(|rank| to_numbers(&self.receive(rank))).collect();
        assert_eq!(numbers.iter().map(Vec::len).collect::<Vec<_>>(), receive_counts);
        receive.copy_from_slice(&numbers.concat());
    }

    fn all_gather_numbers(&self, own: &[f32], all: &mut [f32], counts: &[usize]) {
        assert_eq!(own.len(), counts[self.rank]);
        let numbers =
            self.all_gather(&to_bytes(own)).iter().flat_map(|bytes| to_numbers(bytes)).collect::<Vec<_>>();
        all.copy_from_slice(&numbers);
    }
}

/// A rank to which the first gradient arrives with other numbers.
struct Disturbed(Thread, AtomicBool);

impl Collective for Disturbed {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all_gather(&self, message: &[u8]) -> Vec<Vec<u8>> {
        self.0.all_gather(message)
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) {
        self.0.broadcast(bytes);
    }

    fn all_to_all(&self, send: &[f32], send_counts: &[usize], receive: &mut [f32], receive_counts: &[usize]) {
        self.0.all_to_all(send, send_counts, receive, receive_counts);
    }

    fn all_gather_numbers(&self, own: &[f32], all: &mut [f32], counts: &[usize]) {
        self.0.all_gather_numbers(own, all, counts);
        if !self.1.swap(true, Ordering::Relaxed) {
            all.iter_mut().for_each(|number| *number += 1.0);
        }
    }
}

/// Stops after so many steps.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn event(&mut self, event: Event) {
        if let Event::Step { .. } = event {
            self.0 = self.0.saturating_sub(1);
        }
    }

    fn stop(&mut self) -> bool {
        self.0 == 0
    }
}

fn train(config: &str, folder: &Path, ranks: Ranks, steps: usize) -> Result<Outcome, Error> {
    train_with(config, folder, Options::default().with_ranks(ranks), steps)
}

fn train_with(config: &str, folder: &Path, options: Options, steps: usize) -> Result<Outcome, Error> {
    let document = Document::parse(config).unwrap();
    let mut planner = Planner::default().with_ranks(options.ranks.clone());
    let plan = planner.plan(&document, &Cache::standard().unwrap())?;
    plan.train(&Run::at(folder), &options.with_report(false), &mut StopAfter(steps))
}

/// What so many ranks do together.
fn together<T: Send>(count: usize, work: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let start = |thread| scope.spawn(move || work(Ranks::new(thread)));
        let ranks: Vec<_> = Thread::all(count).into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Trains on so many ranks, each with its config; every rank ends.
fn train_on(configs: &[&str], folder: &Path, steps: usize) -> Vec<Result<Outcome, Error>> {
    together(configs.len(), |ranks| train(configs[ranks.rank()], folder, ranks, steps))
}

/// A config of large matrices in a file of seven pieces and a half, which several ranks leave there.
fn in_file(folder: &Path) -> (PathBuf, String) {
    let (path, shape) = (folder.join("x.npy"), [60, 256, 128]);
    let number = |at: usize| (at * 7919 % 1009) as f32 / 2e3 + (at >> 17) as f32 / 50.0;
    let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    npy::write_f32(&mut File::create(&path).unwrap(), &shape, &numbers).unwrap();
    let config = format!(
        "[data]\nsource = {path:?}\nscale = 'standardize'\nscale_per = 'row'\nsplit = {{ valid = 10, test = 10 }}\n\
         [model]\nkind = 'autoencoder'\nhidden = [2, 2]\ndepth = 2\n[train]\nepochs = 2\nbatch_size = 8\nshards = 4\n"
    );
    (path, config)
}

/// The same with a loss that needs numbers between 0 and 1, which `transforms` leave there.
fn with_bce(config: &str, transforms: &str) -> String {
    let config = config.replace("scale = 'standardize'\nscale_per = 'row'\n", transforms);
    config.replace("[train]\n", "[train]\nloss = 'bce'\n")
}

/// The files of a run that must be reproducible.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let named = files.map(|file| (file.file_name().to_string_lossy().into_owned(), file.path()));
    let named = named.filter(|(name, _)| !["times.csv", ".lock"].contains(&name.as_str()));
    named.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

fn same(a: &Path, b: &Path, what: &str) {
    let (a, b) = (bytes(a), bytes(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{what}: {name} differs");
    }
}

fn with_shards(config: &str, shards: usize) -> String {
    config.replace("[train]\n", &format!("[train]\nshards = {shards}\n"))
}

#[test]
fn one_shard_is_the_default() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(SAMPLES, &at("default"), Ranks::default(), usize::MAX).unwrap();
    train(&with_shards(SAMPLES, 1), &at("one"), Ranks::default(), usize::MAX).unwrap();
    same(&at("default"), &at("one"), "shards = 1");
}

/// The average of the weights once took the running statistics of the net with it, whenever it was saved.
#[test]
fn when_a_run_is_saved_does_not_change_it() {
    let folder = TempDir::new().unwrap();
    for shards in [1, 5] {
        let config = EVERYTHING.replace("shards = 5", &format!("shards = {shards}"));
        let at = |name: &str| folder.path().join(format!("{name}-{shards}"));
        train(&config, &at("rarely"), Ranks::default(), usize::MAX).unwrap();
        let often = Options::default().with_save_every(Duration::ZERO);
        train_with(&config, &at("often"), often, usize::MAX).unwrap();
        same(&at("rarely"), &at("often"), "saved after every step");
    }
}

#[test]
fn a_batch_in_shards_is_the_batch_to_rounding() {
    let folder = TempDir::new().unwrap();
    for (name, config) in
        [("samples", SAMPLES), ("sequences", SEQUENCES), ("stories", STORIES), ("graph", GRAPH)]
    {
        let mut losses = Vec::new();
        for shards in [1, 3, 4] {
            let run = folder.path().join(format!("{name}-{shards}"));
            let outcome = train(&with_shards(config, shards), &run, Ranks::default(), usize::MAX).unwrap();
            let result = outcome.result;
            losses.push([result.train, result.valid, result.test].map(|score| score.unwrap().loss));
        }
        for others in &losses[1..] {
            for (one, other) in losses[0].iter().zip(others) {
                assert!((one - other).abs() < 2e-5 * one.abs(), "{name}: {one}, in shards {other}");
            }
        }
        let bits =
            |at: usize| std::fs::read(folder.path().join(format!("{name}-{at}/best.safetensors"))).unwrap();
        assert_ne!(bits(1), bits(3), "{name}: the shards were not summed");
    }
}

#[test]
fn the_number_of_ranks_does_not_change_a_bit() {
    let folder = TempDir::new().unwrap();
    let stories = with_shards(STORIES, 3);
    let sampled = with_shards(&GRAPH.replace("normalize", "num_neighbors = 4\nnormalize"), 4);
    for (name, config, ranks) in [
        ("everything", EVERYTHING, vec![2, 3, 5]),
        ("stories", &stories, vec![2]),
        ("sampled", &sampled, vec![4]),
    ] {
        let alone = folder.path().join(name);
        let outcome = train(config, &alone, Ranks::default(), usize::MAX).unwrap();
        for count in ranks {
            let run = folder.path().join(format!("{name}-{count}"));
            for result in train_on(&vec![config; count], &run, usize::MAX) {
                assert_eq!(result.unwrap().result, outcome.result);
            }
            same(&alone, &run, &format!("{name} on {count} ranks"));
        }
    }
}

#[test]
fn samples_in_a_file_are_divided_and_give_the_bytes_of_samples_in_memory() {
    let folder = TempDir::new().unwrap();
    let (_, config) = in_file(folder.path());
    let alone = folder.path().join("alone");
    train(&config, &alone, Ranks::default(), usize::MAX).unwrap();
    for count in 2..5 {
        let run = folder.path().join(format!("{count}"));
        for result in train_on(&vec![&config[..]; count], &run, usize::MAX) {
            result.unwrap();
        }
        same(&alone, &run, &format!("{count} ranks"));
    }
}

/// What this thread has read so far.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn at_the_start_each_rank_reads_its_share() {
    let folder = TempDir::new().unwrap();
    let (path, config) = in_file(folder.path());
    let size = std::fs::metadata(path).unwrap().len();
    let plan = |config: &str, ranks: Ranks| {
        let (document, before) = (Document::parse(config).unwrap(), bytes_read());
        Planner::default().with_ranks(ranks).plan(&document, &Cache::standard().unwrap()).unwrap();
        bytes_read() - before
    };
    // The program itself is read once, to compare it with that of other ranks.
    together(2, |ranks| plan(&config, ranks));
    // All of it for the checksum; then the training samples, which are two thirds, for the scaling, or all for the range of what was
    // transformed. And a sample or two, for their size.
    for (config, passes) in
        [(&config, 2), (&with_bce(&config, ""), 1), (&with_bce(&config, "permute = true\n"), 2)]
    {
        for count in [2, 4] {
            let read = together(count, |ranks| plan(config, ranks));
            // Of eight pieces, of which the last is half a one.
            let share = passes * (8 / count as u64) * 2 * size / 15 + size / 20;
            assert!(read.iter().all(|&read| read < share), "{count} ranks read {read:?} of {size}: {config}");
            let all = passes * size - size / 2;
            assert!(read.iter().sum::<u64>() > all, "{count} ranks read {read:?} of {size}: {config}");
        }
    }
}

#[test]
fn what_is_wrong_with_data_in_a_file_is_said_as_by_one_process() {
    let folder = TempDir::new().unwrap();
    let (path, config) = in_file(folder.path());
    let run = folder.path().join("run");
    // The extremes are in the shares of rank 0 and rank 2 of three.
    let unbounded = with_bce(&config, "scale = 'standardize'\n");
    let alone = train(&unbounded, &run, Ranks::default(), usize::MAX).unwrap_err().to_string();
    assert!(alone.starts_with("train.loss: bce, but the targets lie between -"), "{alone}");
    for result in train_on(&[&unbounded[..]; 3], &run, usize::MAX) {
        assert_eq!(result.unwrap_err().to_string(), alone);
    }
    let mut file = File::options().write(true).open(&path).unwrap();
    // In the shares of rank 1 and rank 2 of three.
    for sample in [20, 59] {
        let size = file.metadata().unwrap().len();
        let at = size - 4 * 256 * 128 * (60 - sample);
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&f32::NAN.to_le_bytes()).unwrap();
    }
    let alone = train(&config, &run, Ranks::default(), usize::MAX).unwrap_err().to_string();
    assert!(alone.ends_with("x.npy: sample 20 holds NaN; finite numbers expected"), "{alone}");
    for result in train_on(&[&config[..]; 3], &run, usize::MAX) {
        assert_eq!(result.unwrap_err().to_string(), alone);
    }
    assert!(!run.exists());
}

#[test]
fn a_run_goes_on_with_another_number_of_ranks() {
    let folder = TempDir::new().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    train(EVERYTHING, &whole, Ranks::default(), usize::MAX).unwrap();
    let mut stops = 0;
    for (count, steps) in [(3, 2), (1, 1), (5, 3), (2, 1), (4, usize::MAX)] {
        for result in train_on(&vec![EVERYTHING; count], &parts, steps) {
            match result {
                Err(Error::Interrupted) => stops += 1,
                result => assert_eq!(result.unwrap().result.epochs, 3),
            }
        }
    }
    assert_eq!(stops, 11);
    same(&whole, &parts, "after four stops");
    // And a finished run is finished for all ranks.
    for result in train_on(&[EVERYTHING; 2], &parts, usize::MAX) {
        assert!(result.unwrap().was_finished);
    }
}

#[test]
fn one_rank_that_is_asked_to_stop_stops_all() {
    let folder = TempDir::new().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    train(EVERYTHING, &whole, Ranks::default(), usize::MAX).unwrap();
    let results = std::thread::scope(|scope| {
        let start = |(thread, steps)| {
            let run = &parts;
            scope.spawn(move || train(EVERYTHING, run, Ranks::new(thread), steps))
        };
        let ranks: Vec<_> = Thread::all(3).into_iter().zip([usize::MAX, 3, usize::MAX]).map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Vec<_>>()
    });
    for result in results {
        assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
    }
    assert!(parts.join("last.ckpt").exists() && !parts.join("result.json").exists());
    train(EVERYTHING, &parts, Ranks::default(), usize::MAX).unwrap();
    same(&whole, &parts, "after a stop of rank 1");
}

#[test]
fn weights_that_have_drifted_apart_are_not_saved() {
    let folder = TempDir::new().unwrap();
    let (run, options) = (folder.path().join("x"), Options::default().with_save_every(Duration::ZERO));
    train_with(EVERYTHING, &run, options.clone(), 2).unwrap_err();
    let before = bytes(&run);
    let [first, second] = Thread::all(2).try_into().unwrap_or_else(|_| unreachable!());
    let ranks = [Ranks::new(first), Ranks::new(Disturbed(second, AtomicBool::new(false)))];
    let messages: Vec<String> = std::thread::scope(|scope| {
        let start = |ranks| {
            let (run, options) = (&run, options.clone().with_ranks(ranks));
            scope.spawn(move || train_with(EVERYTHING, run, options, usize::MAX))
        };
        let ranks: Vec<_> = ranks.into_iter().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap().unwrap_err().to_string()).collect()
    });
    let expected = "rank 1: has other weights than rank 0 after epoch 0, step 3; nothing was saved, and the last \
                    checkpoint is intact";
    assert_eq!(messages, [expected; 2]);
    assert!(bytes(&run) == before, "something was written");
}

#[test]
fn ranks_that_differ_or_fail_end_all_with_one_error() {
    let folder = TempDir::new().unwrap();
    let errors = |configs: &[&str], run: &str| -> Vec<String> {
        let results = train_on(configs, &folder.path().join(run), usize::MAX);
        results.into_iter().map(|result| result.map(|_| ()).unwrap_err().to_string()).collect()
    };
    let other = EVERYTHING.replace("epochs = 3", "epochs = 4");
    let expected = "rank 1: has another config than rank 0: train.epochs = 3, now 4";
    assert_eq!(errors(&[EVERYTHING, &other, EVERYTHING], "config"), [expected; 3]);
    let other = EVERYTHING.replace("limit = 120", "limit = 121");
    assert!(
        errors(&[EVERYTHING, &other], "data")[0]
            .starts_with("rank 1: has another config than rank 0: data.limit")
    );

    let few = errors(&[SAMPLES; 2], "few");
    assert_eq!(
        few[0],
        "train.shards: 1; 2 ranks need at least as many shards; train.shards = 2 gives each rank one"
    );
    assert!(!folder.path().join("few").exists());

    // Only one rank sees the overflow, and only rank 0 has the folder.
    let diverging = SAMPLES.replace("0.05", "1e30").replace("grad_clip_norm = 1.0", "shards = 3");
    for message in errors(&[diverging.as_str(); 3], "diverging") {
        assert!(message.contains("training diverged in epoch 1, step "), "{message}");
    }
    std::fs::write(folder.path().join("file"), "no folder").unwrap();
    let messages = errors(&[EVERYTHING; 2], "file");
    assert!(
        messages[0].contains("file") && messages[1] == format!("rank 0: {}", messages[0]),
        "{messages:?}"
    );
}

#[test]
fn shards_that_cannot_be_are_refused() {
    let planned = |config: &str| {
        let document = Document::parse(config).unwrap();
        Planner::default()
            .plan(&document, &Cache::standard().unwrap())
            .map(|plan| plan.split_size(Split::Train))
    };
    let message = |config: String| planned(&config).unwrap_err().to_string();
    assert_eq!(message(with_shards(SAMPLES, 0)), "train.shards: 0; must be at least 1");
    assert_eq!(
        message(with_shards(SAMPLES, 17)),
        "train.shards: 17; at most train.batch_size = 16, since a shard is a part of a batch"
    );
    assert_eq!(
        message(with_shards(&GRAPH.replace("batch_size = 200", ""), 2)),
        "train.shards: 2; a step takes the whole graph, which cannot be divided; set train.batch_size"
    );
    assert_eq!(planned(&with_shards(SAMPLES, 16)).unwrap(), 70);
}
