//! NumPy arrays and stories to ours, and arrays back. Python has made them contiguous, in the machine's byte order, and of one of a few types.

use matnet_data::format::npz::Npz;
use matnet_data::format::raw::{RawArray, RawValues};
use matnet_data::{Array, QaTask, Question, Story, StoryData, catalog::Cache};
use numpy::{Element, PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;

/// A story: its sentences, and for each question the text, the answer, how many sentences come before it, and the supporting ones.
type PyStory = (Vec<String>, Vec<(String, String, usize, Vec<usize>)>);

/// A question-answering task: number, name, stories to train on and to test on.
type PyTask = (usize, String, Vec<PyStory>, Vec<PyStory>);

/// Several sets of arrays, or lists of tasks on stories, by the name of the source that they stand for.
pub fn cache(sources: &Bound<'_, PyDict>, root: Option<&str>) -> PyResult<Cache> {
    let mut cache = match root {
        Some(root) => Cache::new(root),
        None => Cache::standard().map_err(error::of_data)?,
    };
    for (name, arrays) in sources {
        if let Ok(tasks) = arrays.extract::<Vec<PyTask>>() {
            let data = StoryData { tasks: tasks.into_iter().map(task).collect(), missing: Vec::new() };
            cache = cache.with_stories(&name.extract::<String>()?, data).map_err(error::of_data)?;
            continue;
        }
        let mut npz = Npz::new(name.extract::<String>()?);
        for (key, array) in arrays.cast::<PyDict>()? {
            npz.insert(&key.extract::<String>()?, raw(&array)?);
        }
        cache = cache.with_arrays(npz);
    }
    Ok(cache)
}

fn task((number, name, train, test): PyTask) -> QaTask {
    let stories = |all: Vec<PyStory>| all.into_iter().map(story).collect();
    QaTask { number, name, train: stories(train), test: stories(test) }
}

fn story((sentences, questions): PyStory) -> Story {
    let question = |(text, answer, after, facts)| Question { text, answer, after, facts };
    Story { sentences, questions: questions.into_iter().map(question).collect() }
}

/// An array of any type.
fn raw(array: &Bound<'_, PyAny>) -> PyResult<RawArray> {
    let (shape, values, boolean) = if let Some((shape, values)) = typed::<f32>(array)? {
        (shape, RawValues::F32(values), false)
    } else if let Some((shape, values)) = typed::<f64>(array)? {
        (shape, RawValues::F64(values), false)
    } else if let Some((shape, values)) = typed::<i64>(array)? {
        (shape, RawValues::I64(values), false)
    } else if let Some((shape, values)) = typed::<u8>(array)? {
        (shape, RawValues::U8(values), false)
    } else if let Some((shape, values)) = typed::<bool>(array)? {
        (shape, RawValues::U8(values.into_iter().map(u8::from).collect()), true)
    } else {
        text(array)?
    };
    RawArray::new(shape, values, boolean).map_err(error::of_data)
}

/// The shape and the elements of an array, if they are of this type.
fn typed<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<usize>, Vec<T>)>> {
    let Ok(array) = array.cast::<PyArrayDyn<T>>() else { return Ok(None) };
    let shape = array.shape().to_vec();
    let array = array.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Some((shape, array.as_slice()?.to_vec())))
}

/// Strings of four-byte characters.
fn text(array: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, RawValues, bool)> {
    let dtype = array.getattr("dtype")?;
    if dtype.getattr("kind")?.extract::<String>()? != "U" {
        let what = format!("arrays of type {dtype} are not taken; numbers or strings expected");
        return Err(PyTypeError::new_err(what));
    }
    let width = dtype.getattr("itemsize")?.extract::<usize>()? / 4;
    let shape = array.getattr("shape")?.extract()?;
    let bytes = array.call_method0("tobytes")?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
    Ok((shape, RawValues::Text { width, bytes }, false))
}

/// The samples `from..to` of an array `[n, …]` of `f32`.
pub fn samples(array: &Bound<'_, PyArrayDyn<f32>>, from: usize, to: usize) -> PyResult<Array> {
    let mut shape = array.shape().to_vec();
    let size = shape[1..].iter().product::<usize>();
    let readonly = array.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let values = readonly.as_slice()?;
    shape[0] = to - from;
    Array::new(shape, values[from * size..to * size].to_vec()).map_err(error::of_data)
}

/// Numbers as a NumPy array of this shape.
pub fn to_numpy<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
    values: Vec<T>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray::from_vec(py, values).reshape(shape)
}
