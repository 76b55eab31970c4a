//! Errors as Python knows them.

use std::any::Any;

use matnet_train::Error;
use pyo3::exceptions::{
    PyFileNotFoundError, PyFloatingPointError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error: what the caller can put right is a `ValueError`.
pub fn to_python(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        _ if error.is_usage() => PyValueError::new_err(text),
        Error::In { error, .. } => {
            // The same exception, with the whole text.
            let inner = to_python(*error);
            Python::attach(|py| {
                inner.get_type(py).call1((text,)).map_or_else(|other| other, PyErr::from_value)
            })
        }
        Error::Mismatch(_) | Error::Run { .. } | Error::Damaged { .. } => PyValueError::new_err(text),
        Error::Data(matnet_data::Error::Missing(_)) => PyFileNotFoundError::new_err(text),
        Error::Data(matnet_data::Error::Interrupted) | Error::Interrupted => {
            PyKeyboardInterrupt::new_err(text)
        }
        Error::Data(_) => PyValueError::new_err(text),
        Error::Io { .. } => PyOSError::new_err(text),
        Error::NotFinite(_) => PyFloatingPointError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// The exception for an error of the data crate.
pub fn of_data(error: matnet_data::Error) -> PyErr {
    to_python(error.into())
}

/// The exception for a panic, which is a mistake of ours; the interpreter goes on.
pub fn of_panic(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    PyRuntimeError::new_err(format!("internal error of matnet, please report it: {text}"))
}
