//! Asks a server on this machine for one-sample predictions over many connections, and says how fast and how well it answers.
//!
//! ```text
//! matnet serve runs/digits &
//! cargo run --release -p matnet-serve --example load -- --model digits --connections 64 --seconds 10
//! ```
//!
//! Every connection sends its own sample again and again, and compares each answer with its first, byte by byte: an answer that is lost, late
//! for another request, or computed in another way counts as failed.

use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// Latencies are counted per microsecond, up to this many.
const SLOWEST: usize = 1_000_000;

struct Args {
    port: u16,
    model: String,
    connections: usize,
    seconds: f64,
    json: bool,
}

fn args() -> Result<Args, String> {
    let mut args =
        Args { port: 8080, model: "digits".to_owned(), connections: 64, seconds: 10.0, json: false };
    let mut given = std::env::args().skip(1);
    while let Some(key) = given.next() {
        let mut value = || given.next().ok_or(format!("{key}: a value expected"));
        let wrong = |_| format!("{key}: a number expected");
        match key.as_str() {
            "--port" => args.port = value()?.parse().map_err(|_| format!("{key}: a port expected"))?,
            "--model" => args.model = value()?,
            "--connections" => args.connections = value()?.parse().map_err(|_| wrong(()))?,
            "--seconds" => args.seconds = value()?.parse().map_err(|_| wrong(()))?,
            "--json" => args.json = true,
            _ => return Err(format!("{key}: --port, --model, --connections, --seconds or --json expected")),
        }
    }
    match (1..=10_000).contains(&args.connections) && (0.0..=3600.0).contains(&args.seconds) {
        true => Ok(args),
        false => Err("1 to 10000 connections and at most 3600 seconds expected".to_owned()),
    }
}

/// What all connections found.
struct Found {
    latencies: Vec<u32>,
    answered: u64,
    failed: u64,
    first_failure: Option<String>,
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(what) => {
            eprintln!("error: {what}");
            return ExitCode::from(2);
        }
    };
    // One thread: as little of the processor as possible is taken from the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match LocalSet::new().block_on(&runtime, run(&args)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: port {}: {error}", args.port);
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> io::Result<bool> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let shape = shape(address, &args.model).await?;
    let before = server(address).await?;
    let (began, own) = (Instant::now(), own_cpu());
    let end = began + Duration::from_secs_f64(args.seconds);
    let empty = Found { latencies: vec![0; SLOWEST + 1], answered: 0, failed: 0, first_failure: None };
    let found = Rc::new(RefCell::new(empty));
    let clients: Vec<_> = (0..args.connections)
        .map(|at| {
            let (request, found) = (request(args, &shape, at as u32), found.clone());
            tokio::task::spawn_local(async move {
                if let Err(error) = ask(address, &request, end, &found).await {
                    let mut found = found.borrow_mut();
                    found.failed += 1;
                    found.first_failure.get_or_insert(error.to_string());
                }
            })
        })
        .collect();
    for client in clients {
        let _ = client.await;
    }
    let (took, own) = (began.elapsed().as_secs_f64(), own_cpu() - own);
    let after = server(address).await?;
    let found = found.borrow();
    let at = |share: f64| {
        let wanted = (found.answered as f64 * share).ceil() as u64;
        let mut below = 0;
        let place = found.latencies.iter().position(|&count| {
            below += u64::from(count);
            below >= wanted.max(1)
        });
        place.unwrap_or(0) as f64 / 1e3
    };
    let each = |seconds: f64| seconds * 1e6 / found.answered.max(1) as f64;
    println!(
        "answers            {} in {took:.1} s, {:.0} per second",
        found.answered,
        found.answered as f64 / took
    );
    println!("failed             {}", found.failed);
    if let Some(failure) = &found.first_failure {
        println!("first failure      {failure}");
    }
    println!(
        "latency (ms)       p50 {:.2}  p90 {:.2}  p99 {:.2}  p99.9 {:.2}  max {:.2}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    println!("server             {:.1} µs of processor time per answer", each(after.cpu - before.cpu));
    println!("this client        {:.1} µs of processor time per answer", each(own));
    let batches = after.batches - before.batches;
    println!(
        "batches            {:.1} samples on average",
        (after.samples - before.samples) / batches.max(1.0)
    );
    println!(
        "memory (MiB)       {:.1} before, {:.1} after",
        before.memory / 1048576.0,
        after.memory / 1048576.0
    );
    Ok(found.failed == 0)
}

/// Sends a request again and again.
async fn ask(address: SocketAddr, request: &[u8], end: Instant, found: &RefCell<Found>) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut buffer, mut first) = (Vec::with_capacity(16 << 10), Vec::new());
    while Instant::now() < end {
        let sent = Instant::now();
        stream.write_all(request).await?;
        let body = answer(&mut stream, &mut buffer).await?;
        let answer = &buffer[body..];
        if first.is_empty() {
            first = answer.to_vec();
        }
        let mut found = found.borrow_mut();
        match buffer.starts_with(b"HTTP/1.1 200") && answer == first {
            true => {
                found.answered += 1;
                found.latencies[(sent.elapsed().as_micros() as usize).min(SLOWEST)] += 1;
            }
            false => {
                found.failed += 1;
                let text = String::from_utf8_lossy(&buffer).chars().take(300).collect();
                found.first_failure.get_or_insert(text);
            }
        }
    }
    Ok(())
}

/// Reads one answer into the buffer and gives where its body begins.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.clear();
    let mut size = None;
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::Error::other("the server closed the connection"));
        }
        if size.is_none()
            && let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.split("content-length:").nth(1).and_then(|rest| rest.lines().next());
            let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
            size = Some((end + 4, end + 4 + length));
        }
        if let Some((body, size)) = size
            && buffer.len() >= size
        {
            return Ok(body);
        }
    }
}

/// A request for one sample, which the number of the connection decides.
fn request(args: &Args, shape: &[usize], connection: u32) -> Vec<u8> {
    let count: usize = shape.iter().product();
    let mut state = connection.wrapping_mul(2_654_435_769).wrapping_add(1);
    let values: Vec<f32> = (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        })
        .collect();
    let (data, bytes, wanted) = match args.json {
        true => (format!("\"data\":{values:?}"), Vec::new(), ""),
        false => (
            format!("\"parameters\":{{\"binary_data_size\":{}}}", 4 * count),
            values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ",\"parameters\":{\"binary_data\":true}",
        ),
    };
    let text = format!(
        "{{\"inputs\":[{{\"name\":\"x\",\"shape\":{shape:?},\"datatype\":\"FP32\",{data}}}],\"outputs\":[{{\"name\":\"probabilities\"{wanted}}}]}}"
    );
    let head = format!(
        "POST /v2/models/{}/infer HTTP/1.1\r\nhost: localhost\r\ninference-header-content-length: {}\r\ncontent-length: {}\r\n\r\n",
        args.model,
        text.len(),
        text.len() + bytes.len()
    );
    [head.into_bytes(), text.into_bytes(), bytes].concat()
}

async fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await?;
    let mut buffer = Vec::new();
    let body = answer(&mut stream, &mut buffer).await?;
    let text = String::from_utf8_lossy(&buffer[body..]).into_owned();
    if buffer.starts_with(b"HTTP/1.1 200") { Ok(text) } else { Err(io::Error::other(text)) }
}

/// The shape of one sample; where any size will do, 10.
async fn shape(address: SocketAddr, model: &str) -> io::Result<Vec<usize>> {
    let text = get(address, &format!("/v2/models/{model}")).await?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let sides = metadata["inputs"][0]["shape"].as_array().cloned().unwrap_or_default();
    let side = |side: &serde_json::Value| side.as_u64().unwrap_or(10) as usize;
    Ok(std::iter::once(1).chain(sides.iter().skip(1).map(side)).collect())
}

/// What `/metrics` says.
struct State {
    cpu: f64,
    memory: f64,
    batches: f64,
    samples: f64,
}

async fn server(address: SocketAddr) -> io::Result<State> {
    let text = get(address, "/metrics").await?;
    let all = |name: &str| {
        let values = text.lines().filter(|line| line.starts_with(name) && !line.starts_with('#'));
        values.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    };
    Ok(State {
        cpu: all("process_cpu_seconds_total"),
        memory: all("process_resident_memory_bytes"),
        batches: all("matnet_batch_samples_count"),
        samples: all("matnet_samples_total"),
    })
}

/// Processor time of this process.
fn own_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
