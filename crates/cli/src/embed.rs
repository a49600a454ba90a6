//! What a program that embeds Raddle shows as the command line does: errors, summaries, profiles, pictures.
//!
//! The Python package is one. It prints nothing by itself: everything here is a text or a value.

use crate::exec::host::loaders;
use crate::exit::Failure;
use crate::profile::Profiled;
use crate::render::{self, Text};
use crate::run::launches::Launches;
use crate::run::{cuda, stop};
use crate::source_files::{SourceFiles, folder_of};
use crate::sources::Sources;
use crate::{fill, run};
use raddle_lab::experiment::Files;
use raddle_lab::lanes;
use raddle_runtime::device::Setup;
use raddle_runtime::issue_record::IssueRecord;
use raddle_runtime::outcome::{Launched, Stop};
use raddle_runtime::timing::Watch;
use raddle_runtime::{Error, Outcome, Plan, PtxFile, Session, profile};
use raddle_sim::config::{Machine, Problem};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub use crate::run::cuda::kernel;
pub use raddle_cuda::names::short as short_name;

/// Without the colours that the command line shows on a terminal.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// An error, with the place in the PTX or launch file where there is one.
#[must_use]
pub fn error(error: Error) -> String {
    plain(&render::failure(&Failure::from(error)).unwrap_or_default())
}

/// An error of an experiment; places in it are those of `text`, the experiment.
#[must_use]
pub fn lab_error(error: raddle_lab::Error, name: &str, text: &str) -> String {
    let failure = Failure::of_lab(error, Some((name.to_owned(), text.to_owned())));
    plain(&render::failure(&failure).unwrap_or_default())
}

/// What is wrong with a machine.
#[must_use]
pub fn machine_error(problems: Vec<Problem>) -> String {
    plain(&render::failure(&Failure::Machine { problems, file: None }).unwrap_or_default())
}

/// Why a launch did not complete.
#[must_use]
pub fn stopped(ending: &Stop, ptx: &PtxFile) -> String {
    plain(&stop::text(ending, &Text::new(&ptx.path, &ptx.source), ptx))
}

/// The workloads of an experiment that are files, relative to a folder. Their programs are run: a program that embeds Raddle runs
/// code of their own anyway.
#[must_use]
pub fn files(folder: &Path) -> Files {
    Files::with_loaders(folder, loaders(true))
}

/// Compiles the kernels of a CUDA file to PTX.
///
/// # Errors
/// When there is no compiler, or the file does not compile.
pub fn compile(path: &Path) -> Result<PtxFile, Error> {
    cuda::compile(path)
}

/// The same for a file in a folder that errors and listings are not to name, such as a temporary one.
///
/// # Errors
/// As [`compile`].
pub fn compile_in(folder: &Path, path: &Path) -> Result<PtxFile, Error> {
    cuda::compile_in(Some(folder), path)
}

/// Launches with what they ran.
pub struct Shown<'a> {
    /// The module of their kernels.
    pub ptx: &'a PtxFile,
    /// Name and text of what it was compiled from, where that is at hand.
    pub cuda: Option<(&'a str, &'a str)>,
    /// The machine, if there was one.
    pub machine: Option<&'a Machine>,
    /// The launches.
    pub launches: &'a [Launched],
}

impl Shown<'_> {
    fn launches(&self) -> Launches<'_> {
        Launches { ptx: self.ptx, machine: self.machine, launches: self.launches, sampled: None }
    }

    /// The summary that `raddle run` prints.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut lines = self.launches().lines_by_kernel();
        if let Some(machine) = self.machine
            && let Some(full) = fill::fullness(&machine.config, self.launches)
        {
            lines.extend(fill::lines(&full, &machine.config, None, false));
        }
        lines.join("\n")
    }

    /// Everything about each launch, as `raddle run --json` has it.
    #[must_use]
    pub fn json(&self) -> Vec<Value> {
        self.launches().json()
    }

    /// How issue slots were used: name, and how many.
    #[must_use]
    pub fn slots(&self) -> Vec<(String, u64)> {
        let timed: Vec<_> = self.launches.iter().filter_map(|launched| launched.timed.as_deref()).collect();
        let figures = run::figures::Figures::sum(&timed);
        let slots = figures.map(|figures| run::figures::slots(&figures.sm.sm)).unwrap_or_default();
        slots.into_iter().map(|(name, slots, _)| (name, slots)).collect()
    }

    /// Files may be below the folder of the module, or below the current one if the module has no file.
    fn sources(&self) -> Sources {
        let files = SourceFiles::below([folder_of(Path::new(&self.ptx.path))]);
        Sources::new(self.ptx, self.cuda, Arc::new(files))
    }

    fn profiled(&self) -> Option<Profiled> {
        let machine = &self.machine?.config;
        let kernels = profile::kernels(self.launches);
        let sources = Arc::new(self.sources());
        (!kernels.is_empty()).then(|| Profiled::new(&self.ptx.path, machine, kernels, |_| Arc::clone(&sources)))
    }

    /// The profile by source lines, as `raddle profile --json` has it; none of launches without one.
    #[must_use]
    pub fn profile(&self) -> Option<Value> {
        Some(self.profiled()?.json())
    }

    /// The same as text, with so many lines of each kernel.
    #[must_use]
    pub fn profile_text(&self, top: u32) -> Option<String> {
        Some(self.profiled()?.top(top))
    }

    /// What the lanes of an SM did, as a picture in SVG.
    #[must_use]
    pub fn lanes(&self, record: &IssueRecord) -> Option<String> {
        let width = self.machine?.config.sm.warp_width;
        let sources = self.sources();
        let timed = self.launches.first()?.timed.as_ref()?;
        let labels: BTreeMap<u32, _> = timed.pcs.iter().map(|count| (count.pc, sources.label(count))).collect();
        let drawing = lanes::drawing(&record.issued, width, &labels);
        Some(raddle_lab::svg::svg(&drawing, true))
    }
}

/// Runs a launch file with this text, and gives its module and what came out. Errors are texts with their places.
///
/// # Errors
/// When it cannot be run.
pub fn launch_file(path: &Path, text: &str, setup: &Setup) -> Result<(PtxFile, Outcome), String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let run = || {
        let mut plan = Plan::from_toml(text, folder)?;
        let ptx = cuda::module(&mut plan)?;
        let outcome = Session::new(&plan, &ptx, setup)?.run(Watch::default())?;
        Ok((ptx, outcome))
    };
    run().map_err(|error: Error| {
        let file = Some(Box::new((path.display().to_string(), text.to_owned())));
        plain(&render::failure(&Failure::Runtime { error, file }).unwrap_or_default())
    })
}
