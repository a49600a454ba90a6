//! What can go wrong before, between and after launches.

use crate::element::Element;
use crate::npy::NpyError;
use raddle_exec::image::LoadError;
use raddle_ptx::Diagnostic;
use std::ops::Range;
use std::path::PathBuf;

/// Bytes of a launch file; `None` for what did not come from one.
pub type At = Option<Range<usize>>;

/// Something the user has to change in a launch file or on the command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where in the launch file.
    pub at: At,
}

impl Problem {
    /// A problem without a place.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, at: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the place.
    #[must_use]
    pub fn at(mut self, at: At) -> Self {
        self.at = at;
        self
    }
}

/// Any error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A `.npy` file cannot be used.
    #[error("cannot use {path}: {source}")]
    Npy {
        /// Which.
        path: String,
        /// Why.
        source: NpyError,
    },
    /// A `.npy` file with elements of another type.
    #[error("{path} holds elements of type `{found}`, the buffer is of type {wanted}")]
    ElementType {
        /// Which.
        path: String,
        /// NumPy's name of its type.
        found: String,
        /// The buffer's type.
        wanted: Element,
    },
    /// A raw file whose size is not a whole number of elements.
    #[error("{path} has {bytes} bytes, which is not a whole number of {ty} elements")]
    RawSize {
        /// Which.
        path: String,
        /// Its size.
        bytes: usize,
        /// The buffer's type.
        ty: Element,
    },
    /// A mistake in the launch file or on the command line.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// The PTX file has errors; the diagnostics say which.
    #[error("{path} has errors")]
    Ptx {
        /// Which.
        path: String,
        /// Its text.
        source_text: String,
        /// All diagnostics.
        diagnostics: Vec<Diagnostic>,
    },
    /// The machine cannot run this.
    #[error("{0}")]
    Machine(String),
    /// The machine is sound and the launch is too, but this machine does not run this kernel.
    #[error("{0}")]
    Refused(String),
    /// A launch did not complete; the device says why.
    #[error("kernel `{kernel}` did not complete: {ending}")]
    Stopped {
        /// Kernel.
        kernel: String,
        /// How it ended.
        ending: &'static str,
    },
    /// The run was told to stop; it can be resumed from the checkpoint, if one could be written.
    #[error("the run was stopped")]
    Interrupted {
        /// The checkpoint, or why there is none.
        checkpoint: Result<PathBuf, String>,
    },
    /// The module or kernel cannot be run.
    #[error(transparent)]
    Load(#[from] LoadError),
}
