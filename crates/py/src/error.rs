//! Errors of Raddle as exceptions. They have the text that the command line shows.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use raddle_cli::embed;
use raddle_runtime::outcome::Stop;
use raddle_runtime::{Problem, PtxFile};

create_exception!(raddle, Error, PyException, "Something that Raddle cannot do as it was asked; the text says why.");
create_exception!(raddle, CompileError, Error, "A CUDA file does not compile, or a PTX file has errors.");
create_exception!(
    raddle,
    KernelError,
    Error,
    "A kernel did not complete. `kind` is fault, deadlock, instruction limit or cycle limit."
);

/// An error of a device, of a launch or of a file.
pub fn of(error: raddle_runtime::Error) -> PyErr {
    match error {
        raddle_runtime::Error::Ptx { .. } => CompileError::new_err(embed::error(error)),
        error => Error::new_err(unprefixed(&embed::error(error))),
    }
}

/// The command line says `error: ` first, an exception says what it is by its name.
fn unprefixed(text: &str) -> String {
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

pub fn problem(problem: Problem) -> PyErr {
    of(problem.into())
}

pub fn machine(problems: Vec<raddle_sim::config::Problem>) -> PyErr {
    Error::new_err(unprefixed(&embed::machine_error(problems)))
}

pub fn workload(error: raddle_workloads::Error) -> PyErr {
    match error {
        raddle_workloads::Error::Runtime(error) => of(error),
        raddle_workloads::Error::Problem(error) => problem(error),
        other => Error::new_err(other.to_string()),
    }
}

/// An error of an experiment that this text describes.
pub fn lab(error: raddle_lab::Error, text: &str) -> PyErr {
    Error::new_err(unprefixed(&embed::lab_error(error, "sweep", text)))
}

/// A kernel that did not complete.
pub fn stopped(py: Python<'_>, kernel: &str, ending: &Stop, ptx: &PtxFile) -> PyErr {
    let error = KernelError::new_err(format!(
        "kernel `{kernel}` did not complete: {}\n{}",
        ending.name(),
        embed::stopped(ending, ptx)
    ));
    match error.value(py).setattr("kind", ending.name()) {
        Ok(()) => error,
        Err(other) => other,
    }
}
