//! What can go wrong with a workload.

use crate::manifest::Size;
use raddle_runtime::Problem;

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device cannot do what the driver asks, or a launch did not complete.
    #[error(transparent)]
    Runtime(#[from] raddle_runtime::Error),
    /// A result is wrong.
    #[error("{0}")]
    Wrong(String),
    /// There is no such workload, or it cannot be run like this.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// A manifest cannot be used.
    #[error("the manifest of `{name}`: {reason}")]
    Manifest {
        /// Workload.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A driver asks for a parameter its manifest does not have.
    #[error("the manifest of `{name}` has no `{key}` in [sizes.{size}]")]
    Parameter {
        /// Workload.
        name: &'static str,
        /// Parameter.
        key: String,
        /// Size.
        size: Size,
    },
    /// The compiler failed.
    #[error("{0}")]
    Compile(String),
}
