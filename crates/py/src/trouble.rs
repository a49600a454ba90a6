//! What goes wrong while a launch runs, in Python: an exception in a callback, Ctrl-C, or a callback that waits for
//! a thread that waits for the launch.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use raddle_exec::Interrupt;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Signals are looked for this often.
const EVERY: Duration = Duration::from_millis(50);
/// A callback that has not returned for so long, while others wait for its launch, waits for them.
const STUCK: Duration = Duration::from_secs(4);
/// The longest time between two looks at whether a launch has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What goes wrong in a launch, or in the launches of a device or a sweep one after another. Whoever launched raises it
/// when the launch has ended.
#[derive(Clone, Default)]
pub struct Trouble(Arc<State>);

#[derive(Default)]
struct State {
    /// The first exception.
    error: Mutex<Option<PyErr>>,
    /// Callbacks that have not returned.
    callbacks: AtomicUsize,
    /// When the last one began or returned, in milliseconds.
    last: AtomicU64,
}

/// Milliseconds since the first call.
fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_millis() as u64
}

thread_local! {
    /// Whether this thread is in a callback.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
    /// The trouble of the launch that this thread makes.
    static CURRENT: RefCell<Option<Trouble>> = const { RefCell::new(None) };
}

impl Trouble {
    /// Keeps an exception, unless there is one.
    pub fn keep(&self, error: PyErr) {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub fn is_there(&self) -> bool {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Raises the exception, if there is one.
    pub fn raise(&self) -> PyResult<()> {
        self.0.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Makes a launch: what goes wrong in mechanisms that are made meanwhile on this thread is kept here.
    pub fn during<T>(&self, launch: impl FnOnce() -> T) -> T {
        struct Restore(Option<Trouble>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _restore = Restore(CURRENT.replace(Some(self.clone())));
        launch()
    }

    /// That of the launch that this thread makes, if it makes one.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Calls into Python from inside a launch.
    pub fn callback<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
        let before = IN_CALLBACK.replace(true);
        self.0.last.store(now(), Ordering::Relaxed);
        self.0.callbacks.fetch_add(1, Ordering::Relaxed);
        let result = Python::attach(call);
        self.0.last.store(now(), Ordering::Relaxed);
        self.0.callbacks.fetch_sub(1, Ordering::Relaxed);
        IN_CALLBACK.set(before);
        result
    }

    /// Takes the lock that launches hold, without the lock of the interpreter.
    ///
    /// # Errors
    /// When a callback of the launch that holds it does not return: if it waits for this thread, neither ever ends.
    pub fn lock<'m, T>(&self, mutex: &'m Mutex<T>) -> PyResult<MutexGuard<'m, T>> {
        let mut pause = Duration::from_micros(50);
        loop {
            match mutex.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if self.is_stuck() => {
                    return Err(PyRuntimeError::new_err(format!(
                        "the launch that uses the device does not continue: a method of its mechanism has not returned \
                         for {} s; a mechanism cannot wait for a thread that uses the device",
                        STUCK.as_secs()
                    )));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    fn is_stuck(&self) -> bool {
        let since = now().saturating_sub(self.0.last.load(Ordering::Relaxed));
        self.0.callbacks.load(Ordering::Relaxed) > 0 && u128::from(since) > STUCK.as_millis()
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

/// Refuses what would wait for the launch that asks.
pub fn refuse_callbacks() -> PyResult<()> {
    match IN_CALLBACK.get() {
        true => Err(PyRuntimeError::new_err("a mechanism cannot launch or use a device: it is asked in a launch")),
        false => Ok(()),
    }
}
