//! The native half of the Python package `raddle`: conversions, one map of errors, and the seams that classes of Python
//! fill. What users see is in `python/raddle`, which calls this module.
//!
//! ```text
//!  raddle (Python) ──► _raddle ──► Machine ──► Device ──launch──► Run
//!                        │                        ▲
//!                        ├── mechanism: pick() of a class of Python, asked at a seam
//!                        └── sweep: experiments on the engine and the store of the command line
//! ```
//!
//! The lock of the interpreter is never held while something is simulated or a lock is waited for. Kernels, sweeps and
//! the classes of Python that they ask can therefore use several threads.
#![forbid(unsafe_code)]

mod device;
mod error;
mod machine;
mod mechanism;
mod run;
mod store;
mod sweep;
mod trouble;
mod workload;

use pyo3::prelude::*;

/// The command line, with these words; gives its exit code.
#[pyfunction]
fn command_line(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| raddle_cli::main_from(raddle_mech::registry(), words))
}

/// The version, with the commit and the epoch of the timing model.
#[pyfunction]
fn version() -> &'static str {
    raddle_cli::version()
}

#[pymodule]
mod _raddle {
    #[pymodule_export]
    use super::device::{Device, Module};
    #[pymodule_export]
    use super::error::{CompileError, Error, KernelError};
    #[pymodule_export]
    use super::machine::{Machine, mechanisms, presets};
    #[pymodule_export]
    use super::mechanism::{DispatchView, FetchView, SchedulerView};
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::store::{export_store, store_records};
    #[pymodule_export]
    use super::sweep::{Sweep, counter_names};
    #[pymodule_export]
    use super::workload::{run_launch_file, run_workload, workload, workload_names};
    #[pymodule_export]
    use super::{command_line, version};
}
