//! What went wrong while a launch ran, in Python: an exception in a callback, or Ctrl-C.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use raddle_exec::Interrupt;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals are looked for this often.
const EVERY: Duration = Duration::from_millis(50);

/// The first exception, which whoever launched raises when the launch has ended.
#[derive(Clone, Default)]
pub struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    /// Keeps an exception, unless there is one.
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Raises the exception, if there is one.
    pub fn raise(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Ends a launch when there is an exception, or a signal that raises one.
    pub fn interrupt(&self) -> Interrupt {
        let (trouble, looked) = (self.clone(), Mutex::new(Instant::now()));
        Interrupt::new(move || {
            let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.elapsed() < EVERY {
                return false;
            }
            *looked = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                trouble.keep(error);
            }
            trouble.is_there()
        })
    }
}

thread_local! {
    /// Whether this thread is in a callback.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Calls into Python from inside a launch.
pub fn callback<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    let before = IN_CALLBACK.replace(true);
    let result = Python::attach(call);
    IN_CALLBACK.set(before);
    result
}

/// Refuses what would wait for the launch that asks.
pub fn refuse_callbacks() -> PyResult<()> {
    match IN_CALLBACK.get() {
        true => Err(PyRuntimeError::new_err("a mechanism cannot launch or use a device: it is asked in a launch")),
        false => Ok(()),
    }
}
