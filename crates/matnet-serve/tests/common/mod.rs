//! A server in this process, and a client that can misbehave.

#![allow(dead_code)] // Every test file uses a part of it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use burn::tensor::Device;
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::format::npy;
use matnet_data::format::npz::NpzWriter;
use matnet_serve::{ModelSpec, Options, ServeError, Server};
use matnet_train::{Document, Planner, Predictor, Run};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A run that is in the repository.
pub fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../matnet-train/tests/reference").join(name)
}

/// The inputs of a run that is in the repository.
pub fn inputs(name: &str) -> Array {
    let path = reference(name).join("input.npy");
    let array = npy::read(&path).unwrap().into_array(&path).unwrap();
    match (name.starts_with("turing-machine"), array.shape()) {
        // Matrices of one row, which the file leaves out.
        (true, &[n, time, cols]) => Array::new([n, time, 1, cols], array.into_data()).unwrap(),
        _ => array,
    }
}

/// The net of a run.
pub fn net(folder: &Path) -> Box<dyn Predictor> {
    Run::at(folder).load("best.safetensors", &Device::flex()).unwrap()
}

/// Trains a column network with attention on `graph.npz`, which it writes to the folder; node 7 has no neighbors.
pub fn train_on_graph(folder: &Path) -> PathBuf {
    let numbers = |count: usize, below: usize| (0..count).map(|at| (at % below) as f32).collect::<Vec<_>>();
    let edges = [0, 1, 0, 2, 1, 3, 2, 4, 4, 5, 5, 6].map(|node| node as f32);
    let mut writer = NpzWriter::new(Vec::new());
    for (name, shape, values) in [
        ("features", vec![8, 3], numbers(24, 5)),
        ("edges", vec![6, 2], edges.to_vec()),
        ("labels", vec![8], numbers(8, 2)),
    ] {
        writer.add(name, |out| npy::write_f32(&mut { out }, &shape, &values)).unwrap();
    }
    let path = folder.join("graph.npz");
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let model = "kind = 'column-net'\nhidden = 4\ndepth = 2\naggregation = 'attention'\nheads = 2";
    let text = format!("[data]\nsource = '{}'\n[model]\n{model}\n[train]\nepochs = 1", path.display());
    let document = Document::parse(&text).unwrap();
    let plan = Planner::default().plan(&document, &Cache::new(folder.join("cache"))).unwrap();
    let run = Run::at(folder.join("run"));
    plan.train(&run, &matnet_train::Options::default(), &mut ()).unwrap();
    folder.join("run")
}

/// One sample of an array, as an array.
pub fn sample(all: &Array, at: usize) -> Array {
    let mut shape = all.shape().to_vec();
    shape[0] = 1;
    Array::new(shape, all.sample(at).to_vec()).unwrap()
}

/// Options for tests: any port, and times that no busy machine exceeds.
pub fn options() -> Options {
    let long = Duration::from_secs(600);
    Options {
        listen: ([127, 0, 0, 1], 0).into(),
        timeout: long,
        idle_timeout: long,
        grace: long,
        ..Options::default()
    }
}

/// A server that runs until it is stopped or dropped.
pub struct Running {
    pub address: SocketAddr,
    /// What it said.
    pub said: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

/// Serves some runs.
pub fn serve(models: &[(&str, &Path)], options: Options) -> Running {
    let spec = |&(name, run): &(&str, &Path)| ModelSpec { name: name.to_owned(), run: run.to_owned() };
    let models: Vec<ModelSpec> = models.iter().map(spec).collect();
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = said.clone();
    let options = Options { log: Arc::new(move |line| log.lock().unwrap().push(line.to_owned())), ..options };
    let server = Server::start(&models, options).unwrap();
    let (address, (stop, stopped)) = (server.address(), oneshot::channel());
    let thread = std::thread::spawn(move || server.run(async { stopped.await.unwrap_or(()) }));
    Running { address, said, stop: Some(stop), thread: Some(thread) }
}

/// Serves one run of the repository under its name.
pub fn serve_one(name: &str) -> Running {
    serve(&[(name, &reference(name))], options())
}

impl Running {
    /// Asks it to stop.
    pub fn ask_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Stops it, if that was not asked for, and gives how it ended.
    pub fn end(mut self) -> Result<(), ServeError> {
        self.stop.take().map(|stop| stop.send(()));
        self.thread.take().unwrap().join().unwrap()
    }

    /// A connection.
    pub fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).unwrap())
    }

    /// The answer to a GET.
    pub fn get(&self, path: &str) -> Reply {
        self.connect().ask("GET", path, "", b"")
    }

    /// The answer to a POST.
    pub fn post(&self, path: &str, headers: &str, body: &[u8]) -> Reply {
        self.connect().ask("POST", path, headers, body)
    }

    /// The predictions of a model.
    pub fn infer(&self, model: &str, inputs: &Array, lengths: &[usize]) -> Reply {
        self.post(&format!("/v2/models/{model}/infer"), "", &json_request(inputs, lengths))
    }

    /// A number of `/metrics`, by the beginning of its line.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name} in {text}"));
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    }
}

/// A request in JSON.
pub fn json_request(inputs: &Array, lengths: &[usize]) -> Vec<u8> {
    let mut tensors =
        vec![json!({ "name": "x", "shape": inputs.shape(), "datatype": "FP32", "data": inputs.data() })];
    if !lengths.is_empty() {
        tensors.push(
            json!({ "name": "lengths", "shape": [lengths.len()], "datatype": "INT64", "data": lengths }),
        );
    }
    json!({ "inputs": tensors }).to_string().into_bytes()
}

/// A request with the inputs as bytes, that asks for all outputs as bytes: the header, and the body.
pub fn binary_request(inputs: &Array) -> (String, Vec<u8>) {
    let size = 4 * inputs.data().len();
    let text = json!({
        "id": "a \"b\"",
        "inputs": [{ "name": "x", "shape": inputs.shape(), "datatype": "FP32", "parameters": { "binary_data_size": size } }],
        "parameters": { "binary_data_output": true },
    });
    let mut body = text.to_string().into_bytes();
    let header = format!("Inference-Header-Content-Length: {}\r\n", body.len());
    body.extend(inputs.data().iter().flat_map(|value| value.to_le_bytes()));
    (header, body)
}

/// One connection.
pub struct Client(pub TcpStream);

impl Client {
    /// Sends bytes as they are; whether the server still takes them.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    /// Sends a request and reads its answer.
    pub fn ask(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        self.send(head.as_bytes());
        self.send(body);
        self.reply().expect("an answer")
    }

    /// Reads one answer; `None` if the connection ended instead.
    pub fn reply(&mut self) -> Option<Reply> {
        let mut bytes = Vec::new();
        let mut read = |bytes: &mut Vec<u8>| {
            let mut buffer = [0; 4096];
            match self.0.read(&mut buffer) {
                Ok(0) => false,
                Ok(count) => {
                    bytes.extend_from_slice(&buffer[..count]);
                    true
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
                Err(error) => panic!("{error}"),
            }
        };
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if !read(&mut bytes) {
                return None;
            }
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let header = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
        };
        let length = header("content-length").map_or(0, |length| length.parse().unwrap());
        while bytes.len() < end + length {
            assert!(read(&mut bytes), "an answer of {length} bytes");
        }
        assert_eq!(bytes.len(), end + length, "one answer");
        Some(Reply { status, head, body: bytes.split_off(end) })
    }
}

/// An answer.
pub struct Reply {
    pub status: u16,
    /// In small letters.
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// As JSON, after a check of the status.
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The status and the message of an error.
    pub fn error(&self) -> (u16, String) {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()));
        let object = value.as_object().unwrap();
        assert_eq!(object.len(), 1, "{value}");
        (self.status, object["error"].as_str().unwrap().to_owned())
    }

    /// The numbers of an output in JSON, as bits.
    pub fn output(&self, name: &str) -> (Vec<usize>, Vec<u32>) {
        let (shape, data) = self.output_value(name);
        let bits = data.as_array().unwrap().iter().map(|value| (value.as_f64().unwrap() as f32).to_bits());
        (shape, bits.collect())
    }

    /// The texts of an output in JSON.
    pub fn labels(&self) -> Vec<String> {
        let (_, data) = self.output_value("label");
        data.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    }

    fn output_value(&self, name: &str) -> (Vec<usize>, Value) {
        let value = self.json();
        let outputs = value["outputs"].as_array().unwrap();
        let output =
            outputs.iter().find(|output| output["name"] == name).unwrap_or_else(|| panic!("{value}"));
        let shape = output["shape"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap() as usize);
        (shape.collect(), output["data"].clone())
    }
}

/// The shape and the bits of an array.
pub fn bits(array: &Array) -> (Vec<usize>, Vec<u32>) {
    (array.shape().to_vec(), array.data().iter().map(|value| value.to_bits()).collect())
}
