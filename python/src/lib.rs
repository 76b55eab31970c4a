//! The extension module of the Python package: `matnet._native`.
//!
//! It holds only what Python cannot do itself: training, prediction and the command. What users see is Python, in `matnet/`.

// The workspace asks for docs of public items; the functions here are documented in `matnet/_native.pyi`.
#![allow(missing_docs)]

mod arrays;
mod error;
mod predictor;
mod threads;
mod train;

use matnet_train::config::{TrainConfig, keys_of};
use matnet_train::{Run, registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: matnet_alloc::MiMalloc = matnet_alloc::MiMalloc;

/// Runs the command `matnet`; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    py.detach(|| matnet_cli::main_from(args))
}

/// Every kind of net with its help line.
#[pyfunction]
fn kinds() -> Vec<(&'static str, &'static str)> {
    registry::NETS.iter().map(|net| (net.name, net.help)).collect()
}

/// A commented config.
#[pyfunction]
fn template(kind: &str) -> PyResult<String> {
    Ok(registry::get(kind).map_err(error::to_python)?.template())
}

/// How long memory that lies idle is kept, in milliseconds.
#[pyfunction]
fn memory_kept_for() -> std::ffi::c_long {
    matnet_alloc::kept_for()
}

/// Writes a trained net as ONNX.
#[pyfunction]
#[pyo3(signature = (folder, weights, path, lengths = None))]
fn export_onnx(
    py: Python<'_>,
    folder: &str,
    weights: &str,
    path: &str,
    lengths: Option<bool>,
) -> PyResult<()> {
    let mut options = matnet_onnx::Options::default();
    options.lengths = lengths;
    let pool = threads::pool(None)?;
    py.detach(|| {
        threads::run(&pool, || {
            // What cannot be written as ONNX is an answer, what goes wrong an error.
            match matnet_onnx::write(path.as_ref(), &Run::at(folder), weights, &options) {
                Ok(()) => Ok(None),
                Err(matnet_onnx::Error::Run(error)) => Err(error),
                Err(refused) => Ok(Some(refused.to_string())),
            }
        })
    })?
    .map_or(Ok(()), |what| Err(PyValueError::new_err(what)))
}

/// The keys of `[data]`, `[model]` and `[train]` for a kind of net.
#[pyfunction]
fn keys(kind: &str) -> PyResult<(Vec<&'static str>, Vec<&'static str>, Vec<&'static str>)> {
    let keys = registry::get(kind).map_err(error::to_python)?.keys();
    Ok((keys.data.to_vec(), keys.model.to_vec(), keys_of::<TrainConfig>().to_vec()))
}

#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    matnet_alloc::keep_freed_memory();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<predictor::Predictor>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(kinds, module)?)?;
    module.add_function(wrap_pyfunction!(template, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(export_onnx, module)?)?;
    module.add_function(wrap_pyfunction!(memory_kept_for, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(train::check, module)?)?;
    Ok(())
}
