//! What can go wrong in the lab.

use raddle_runtime::Problem;
use std::io;
use std::path::Path;

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A mistake in an experiment file or on the command line.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// A machine file an experiment names cannot be used.
    #[error("{} cannot be used: {}", file.0, problems.first().map_or("", |p| p.message.as_str()))]
    Machine {
        /// What is wrong with it.
        problems: Vec<raddle_sim::config::Problem>,
        /// Its path and text.
        file: Box<(String, String)>,
    },
    /// A workload cannot be used.
    #[error(transparent)]
    Workload(#[from] raddle_workloads::Error),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A folder is not a store, or one of another version.
    #[error("{path} {reason}")]
    Store {
        /// Which.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Makes an error of a file that cannot be read.
pub(crate) fn reading(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    |source| Error::Read { path: path.display().to_string(), source }
}

/// Makes an error of a file that cannot be written.
pub(crate) fn writing(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    |source| Error::Write { path: path.display().to_string(), source }
}
