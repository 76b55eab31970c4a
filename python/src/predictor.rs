//! Trained nets.

use std::path::Path;
use std::sync::Arc;

use burn::tensor::Device;
use matnet_train::task::{PredictRequest, Wanted};
use matnet_train::{Predictor as Trained, Run};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{arrays, threads};

/// Values, most probable classes, and lengths where every step of a sequence has a prediction.
type Predicted<'py> = (Bound<'py, PyArrayDyn<f32>>, Vec<u32>, Vec<usize>);

#[pyclass(frozen, module = "matnet._native")]
pub struct Predictor {
    net: Arc<dyn Trained>,
}

#[pymethods]
impl Predictor {
    /// The net of a run folder.
    #[staticmethod]
    #[pyo3(signature = (folder, weights = "best.safetensors"))]
    fn load(py: Python<'_>, folder: &str, weights: &str) -> PyResult<Self> {
        let pool = threads::pool(None)?;
        let net = py.detach(|| threads::run(&pool, || Run::at(folder).load(weights, &Device::flex())))?;
        Ok(Self { net: net.into() })
    }

    /// The epoch of the weights, from 1.
    #[getter]
    fn epoch(&self) -> usize {
        self.net.epoch()
    }

    /// What is stored beside the weights, as JSON.
    fn metadata(&self) -> String {
        self.net.metadata().to_string()
    }

    /// The parameters by name.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, data) in self.net.weights() {
            let shape = data.shape().to_vec();
            let values =
                data.try_to_vec::<f32>().map_err(|error| PyValueError::new_err(format!("{error:?}")))?;
            all.set_item(name, arrays::to_numpy(py, &shape, values)?)?;
        }
        Ok(all)
    }

    /// Predictions for inputs in memory, a batch at a time: each number is copied once.
    #[pyo3(signature = (inputs, lengths, wanted, batch_size, threads))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyArrayDyn<f32>>,
        lengths: Vec<usize>,
        wanted: &str,
        batch_size: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Predicted<'py>> {
        let shape = inputs.shape().to_vec();
        if shape.len() < 2 || shape.contains(&0) {
            return Err(PyValueError::new_err(format!("X: shape {shape:?} holds nothing")));
        }
        if !lengths.is_empty() && lengths.len() != shape[0] {
            let what = format!("lengths: {} for {} samples", lengths.len(), shape[0]);
            return Err(PyValueError::new_err(what));
        }
        let (count, size) = (shape[0], shape[1..].iter().product());
        let batch = batch_size.unwrap_or_else(|| self.net.batch_size(size)).max(1);
        let pool = threads::pool(threads)?;
        let (mut values, mut classes, mut steps, mut sides) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut from = 0;
        while from < count {
            let to = (from + batch).min(count);
            let chunk = arrays::samples(&inputs, from, to)?;
            let lengths = lengths.get(from..to).unwrap_or_default();
            let net = &*self.net;
            let predicted = py.detach(|| {
                threads::run(&pool, || match wanted {
                    "predictions" => net.predict_sequences(chunk, lengths),
                    "code" => net.states(Wanted::Code, chunk, lengths),
                    "score" => net.states(Wanted::Score, chunk, lengths),
                    layer => net.states(Wanted::Hidden(layer), chunk, lengths),
                })
            })?;
            sides = predicted.values.shape()[1..].to_vec();
            values.extend(predicted.values.into_data());
            classes.extend(predicted.classes);
            steps.extend(predicted.lengths);
            from = to;
            py.check_signals()?;
        }
        let size: usize = sides.iter().product();
        let shape = [&[values.len() / size.max(1)], &sides[..]].concat();
        Ok((arrays::to_numpy(py, &shape, values)?, classes, steps))
    }

    /// Predictions for a file, a folder, a dataset, or arrays that stand for one.
    #[pyo3(signature = (source, arrays, cache, threads))]
    fn predict_source<'py>(
        &self,
        py: Python<'py>,
        source: &str,
        arrays: &Bound<'py, PyDict>,
        cache: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<(Predicted<'py>, Vec<String>)> {
        let cache = arrays::cache(arrays, cache)?;
        let (pool, net) = (threads::pool(threads)?, &*self.net);
        let (shape, values, classes, lengths, names) = py.detach(|| {
            threads::run(&pool, || {
                let request = PredictRequest {
                    input: Path::new(source),
                    edges: None,
                    batch_size: None,
                    wanted: Wanted::Predictions,
                    cache: &cache,
                };
                let stream = net.predict_file(&request)?;
                let (mut values, mut classes, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
                let mut sides = Vec::new();
                for batch in stream.batches {
                    let batch = batch?.predictions;
                    sides = batch.values.shape()[1..].to_vec();
                    values.extend(batch.values.into_data());
                    classes.extend(batch.classes);
                    lengths.extend(batch.lengths);
                }
                let size: usize = sides.iter().product();
                let shape = [&[values.len() / size.max(1)], &sides[..]].concat();
                Ok((shape, values, classes, lengths, stream.classes))
            })
        })?;
        Ok(((arrays::to_numpy(py, &shape, values)?, classes, lengths), names))
    }

    /// What an auto-encoder reconstructs from codes.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        codes: Bound<'py, PyArrayDyn<f32>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let count = codes.shape().first().copied().unwrap_or(0);
        if count == 0 {
            return Err(PyValueError::new_err(format!("codes: shape {:?} holds nothing", codes.shape())));
        }
        let codes = arrays::samples(&codes, 0, count)?;
        let (pool, net) = (threads::pool(None)?, &*self.net);
        let decoded = py.detach(|| threads::run(&pool, || net.decode(codes)))?;
        let shape = decoded.shape().to_vec();
        arrays::to_numpy(py, &shape, decoded.into_data())
    }
}
