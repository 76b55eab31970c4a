//! The page at `/`, and what it asks for: predictions for dropped files, and pictures of a net.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use matnet_data::Array;
use matnet_data::catalog::Cache;
use matnet_data::local::SampleReader;
use matnet_report::picture::{Colormap, Grid, Tile, png};
use matnet_train::draw::map_grids;
use matnet_train::task::{PredictRequest, Predictions, TaskFigure, Wanted};
use matnet_train::{Error, Predictor};
use serde_json::{Value, json};

use crate::http::{Answer, answer, json};
use crate::model::Model;
use crate::passes::Passes;
use crate::refusal::{Allowed, Refusal};

/// Samples of a file that the page shows.
const SAMPLES: usize = 12;
/// Layers whose maps are shown.
const LAYERS: usize = 12;
/// Products of columns of U and V that are shown.
const PRODUCTS: usize = 6;
/// Steps of a sequence that are shown.
const STEPS: usize = 16;
/// Matrices with sides up to this are drawn whole.
const MAX_SIDE: usize = 128;
/// Files that can be dropped, by their endings.
const ENDINGS: [&str; 14] =
    ["npy", "npz", "csv", "tsv", "txt", "ts", "wav", "png", "jpg", "jpeg", "gif", "bmp", "pgm", "ppm"];

/// The page itself.
pub fn index() -> Answer {
    let mut answer =
        answer(StatusCode::OK, "text/html; charset=utf-8", Bytes::from_static(include_bytes!("index.html")));
    let policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'";
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// Pictures of U and V.
pub async fn pictures(model: &Model) -> Allowed<Answer> {
    let pictures = model.ask(|passes| maps(passes.net)).await?;
    Ok(json(&json!({ "pictures": pictures.map_err(failed)? })))
}

fn failed(error: Error) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// U and V of every layer that has them.
fn maps(net: &dyn Predictor) -> Result<Vec<Value>, Error> {
    let weights = net.weights();
    let mut layers: Vec<&str> = Vec::new();
    for (path, _) in &weights {
        let layer = path.rsplit_once('.').map_or("", |(layer, _)| layer);
        if path.ends_with("row_map") && !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    let mut pictures = Vec::new();
    for layer in layers.into_iter().take(LAYERS) {
        for (grid, caption) in map_grids(layer, &weights, PRODUCTS)? {
            pictures.push(json!({ "layer": layer, "caption": caption, "png": encoded(&grid)? }));
        }
    }
    Ok(pictures)
}

fn encoded(grid: &Grid) -> Result<String, Error> {
    Ok(format!("data:image/png;base64,{}", STANDARD.encode(png(&grid.draw()?)?)))
}

/// Predictions for a file whose name is in the query: `name=three.png`.
pub async fn predict(model: &Model, query: &str, file: Bytes) -> Allowed<Answer> {
    let name = query.split('&').find_map(|pair| pair.strip_prefix("name=")).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let Some(ending) = ending.filter(|ending| ENDINGS.contains(&&**ending)) else {
        let endings = ENDINGS.join(", .");
        return Err(Refusal::bad(format!("{name}: a file that ends in .{endings} expected")));
    };
    let shown = model.ask(move |passes| in_file(passes, &ending, &file)).await??;
    Ok(json(&json!({ "samples": shown })))
}

/// The first samples of a file, with pictures and predictions.
fn in_file(passes: &Passes, ending: &str, bytes: &[u8]) -> Allowed<Vec<Value>> {
    let io = |source| failed(Error::Io { path: std::env::temp_dir(), source });
    let folder = tempfile::tempdir().map_err(io)?;
    let path = folder.path().join(format!("file.{ending}"));
    std::fs::File::create_new(&path).and_then(|mut file| file.write_all(bytes)).map_err(io)?;
    // Graphs and stories are read as a whole, and are no matrices that could be drawn.
    let first = passes.net.interface().and_then(|_| first_samples(&path));
    let count = first.as_ref().map_or(Ok(SAMPLES), |first| passes.samples(&first.shape()[1..]))?.min(SAMPLES);
    let pictures = first.map_or(Vec::new(), |first| {
        (0..first.len().min(count)).map(|at| tiles(first.shape(), first.sample(at))).collect()
    });
    shown(passes.net, &path, count, &pictures).map_err(|error| match error {
        Error::Io { .. } | Error::Report(_) => failed(error),
        error => Refusal::bad(error.to_string()),
    })
}

/// Predictions for the first samples of a file, with pictures of the inputs as far as there are any.
fn shown(
    net: &dyn Predictor,
    path: &Path,
    count: usize,
    pictures: &[Vec<Tile>],
) -> Result<Vec<Value>, Error> {
    let plain =
        |error: Error| Error::Mismatch(error.to_string().replace(&path.display().to_string(), "the file"));
    let cache = Cache::new(path.parent().unwrap_or(path));
    let samples = net.interface().is_some();
    let request = PredictRequest {
        input: path,
        edges: None,
        batch_size: samples.then_some(count),
        wanted: Wanted::Predictions,
        cache: &cache,
    };
    let mut stream = net.predict_file(&request).map_err(plain)?;
    let Some(batch) = stream.batches.next().transpose().map_err(plain)? else { return Ok(Vec::new()) };
    let attention = net.attention(&request, count).map_err(plain)?;
    (0..batch.predictions.values.len().min(count))
        .map(|at| {
            let picture = pictures.get(at).map(|steps| encoded(&grid(steps))).transpose()?;
            let mut shown = sample(&batch.predictions, at, &stream.classes, &stream.columns, picture)?;
            // The name of a picture is that of the file here.
            let names = batch.names.as_ref().filter(|_| !samples);
            shown["name"] = json!(names.and_then(|names| names.get(at)));
            shown["attention"] = json!(attention.get(at).map(drawn).transpose()?);
            Ok(shown)
        })
        .collect()
}

/// A figure of attention weights as a picture with a caption.
fn drawn(figure: &TaskFigure) -> Result<Option<Value>, Error> {
    Ok(match figure {
        TaskFigure::Attention(map) => {
            let svg = STANDARD.encode(map.svg().to_string());
            Some(
                json!({ "src": format!("data:image/svg+xml;base64,{svg}"), "caption": "Attention weights." }),
            )
        }
        TaskFigure::Trace { image, caption, .. } => {
            let png = STANDARD.encode(png(image)?);
            Some(json!({ "src": format!("data:image/png;base64,{png}"), "caption": caption }))
        }
        TaskFigure::Embedding(_) => None,
    })
}

/// The first samples, if the file can be read without knowing the run.
fn first_samples(path: &Path) -> Option<Array> {
    let chunk = SampleReader::open(path).and_then(|reader| reader.keep_missing().next_chunk(SAMPLES));
    chunk.ok().flatten().map(|chunk| chunk.inputs)
}

/// The matrices of one sample of an array of this shape.
fn tiles(shape: &[usize], values: &[f32]) -> Vec<Tile> {
    let [.., rows, cols] = *shape else { return Vec::new() };
    let steps = values.chunks_exact((rows * cols).max(1)).take(STEPS);
    steps.filter_map(|step| Tile::new(rows, cols, step).ok()).map(|tile| tile.subsampled(MAX_SIDE)).collect()
}

fn grid(steps: &[Tile]) -> Grid {
    Grid::new(Colormap::Gray).with_row("", steps.iter().cloned())
}

/// What the page shows of one sample.
fn sample(
    predictions: &Predictions,
    at: usize,
    classes: &[String],
    columns: &[String],
    input: Option<String>,
) -> Result<Value, Error> {
    let (values, shape) = (predictions.values.sample(at), predictions.values.shape());
    if !classes.is_empty() {
        // Every step has a class, or the sample has one.
        let steps = if shape.len() == 3 { shape[1] } else { 1 };
        let length = predictions.lengths.get(at).copied().unwrap_or(steps);
        let width = classes.len();
        let best = |row: &[f32]| {
            let better = |best: usize, class: usize| if row[class] > row[best] { class } else { best };
            &classes[(0..width).fold(0, better)]
        };
        let labels: Vec<&String> = values.chunks_exact(width).take(length).map(best).collect();
        let bars: Vec<Value> = match labels.len() {
            1 => classes.iter().zip(values).map(|(name, value)| json!([name, value])).collect(),
            _ => Vec::new(),
        };
        return Ok(json!({ "input": input, "labels": labels, "bars": bars }));
    }
    if !columns.is_empty() {
        let values: Vec<Value> =
            columns.iter().zip(values).map(|(name, value)| json!([name, value])).collect();
        return Ok(json!({ "input": input, "values": values }));
    }
    let output = encoded(&grid(&tiles(shape, values)))?;
    Ok(json!({ "input": input, "output": output }))
}
