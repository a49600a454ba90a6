//! What the library in a program's process tells those who run the program as a point of an experiment.

use raddle_cuda::names;
use raddle_lab::program_file::Counts;
use raddle_lab::record::KernelCounts;
use raddle_runtime::outcome::Launched;
use raddle_runtime::{Error, Problem};
use std::path::PathBuf;

/// What has been counted until now, and the folder it goes to.
pub struct CountsWriter {
    folder: PathBuf,
    counts: Counts,
}

impl CountsWriter {
    /// Nothing yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, counts: Counts::default() }
    }

    /// A kernel was launched.
    pub fn launched(&mut self, launched: &Launched) {
        KernelCounts::count(&mut self.counts.kernels, launched);
        if let Some(stop) = &launched.stop {
            let (kernel, ending) = (names::readable(&launched.kernel), stop.name());
            self.counts.failed.get_or_insert(format!("kernel `{kernel}` did not complete: {ending}"));
        }
    }

    /// A kernel could not be launched, or a module not be used.
    pub fn refused(&mut self, what: &str, error: &Error) {
        match error {
            Error::Refused(why) => self.counts.refused.get_or_insert_with(|| why.clone()),
            other => self.counts.failed.get_or_insert_with(|| format!("{what}: {other}")),
        };
    }

    /// Writes it down in a file of this process.
    pub fn write(&self) -> Result<(), Problem> {
        let path = self.folder.join(format!("{}.json", std::process::id()));
        let cannot = |error: std::io::Error| Problem::new(format!("cannot write {}: {error}", path.display()));
        let text = serde_json::to_string(&self.counts).map_err(|error| cannot(error.into()))?;
        std::fs::write(&path, text).map_err(cannot)
    }
}
