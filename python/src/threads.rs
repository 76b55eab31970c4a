//! Thread pools. A pool belongs to one process: after a fork its threads are gone, and waiting for them would never end.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error;

/// Pools by the process and the number of threads; 0 stands for one per core.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The pool with so many threads.
pub fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let key = (std::process::id(), threads.unwrap_or(0));
    let mut pools = POOLS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let pools = pools.get_or_insert_default();
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let failed = |error| PyErr::new::<PyRuntimeError, _>(format!("cannot start threads: {error}"));
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(key.1).build().map_err(failed)?);
    pools.insert(key, Arc::clone(&pool));
    // The pools of a parent process have no threads here; dropping them would wait for these.
    pools.extract_if(|other, _| other.0 != key.0).for_each(std::mem::forget);
    Ok(pool)
}

/// Runs some work in a pool; a panic becomes an exception.
pub fn run<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce() -> Result<R, matnet_train::Error> + Send,
) -> PyResult<R> {
    match catch_unwind(AssertUnwindSafe(|| pool.install(work))) {
        Ok(result) => result.map_err(error::to_python),
        Err(panic) => Err(error::of_panic(&*panic)),
    }
}
