//! What came out of launches.

use crate::error;
use pyo3::prelude::*;
use raddle_cli::embed::Shown;
use raddle_lab::record::{KernelCounts, total};
use raddle_runtime::issue_record::IssueRecord;
use raddle_runtime::outcome::Launched;
use raddle_runtime::{Problem, PtxFile};
use raddle_sim::config::Machine;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One launch or several, with everything that was counted.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct Run {
    pub launches: Vec<Launched>,
    pub ptx: Arc<PtxFile>,
    /// Name and text of what the PTX was compiled from.
    pub cuda: Option<(String, String)>,
    /// The machine, if there was one.
    pub machine: Option<Arc<Machine>>,
    pub record: Option<IssueRecord>,
    /// Outputs that were compared and are right.
    pub checked: usize,
}

/// Cycles, launches and counters of kernels together.
pub fn totals(kernels: &[KernelCounts]) -> BTreeMap<String, u64> {
    let own = kernels.iter().flat_map(|kernel| kernel.counters.keys());
    let names = own.cloned().chain(["cycles", "launches"].map(str::to_owned));
    names.map(|name| (name.clone(), total(kernels, &name))).collect()
}

impl Run {
    fn shown(&self) -> Shown<'_> {
        Shown {
            ptx: &self.ptx,
            cuda: self.cuda.as_ref().map(|(name, text)| (name.as_str(), text.as_str())),
            machine: self.machine.as_deref(),
            launches: &self.launches,
        }
    }
}

#[pymethods]
impl Run {
    /// Name, launches, cycles and counters of every kernel.
    fn kernels(&self) -> Vec<(String, u64, u64, BTreeMap<String, u64>)> {
        let counts = KernelCounts::of(&self.launches).into_iter();
        counts.map(|of| (of.kernel, of.launches, of.cycles, of.counters)).collect()
    }

    /// Every counter of all kernels together, with cycles and launches.
    fn counters(&self) -> BTreeMap<String, u64> {
        totals(&KernelCounts::of(&self.launches))
    }

    /// Cycles of all launches.
    #[getter]
    fn cycles(&self) -> u64 {
        self.launches.iter().filter_map(|launched| launched.timed.as_ref()).map(|timed| timed.result.cycles).sum()
    }

    /// Warp-instructions and thread-instructions of all launches.
    #[getter]
    fn insts(&self) -> (u64, u64) {
        let sum = |pick: fn(&Launched) -> u64| self.launches.iter().map(pick).sum();
        (sum(|launched| launched.report.warp_insts), sum(|launched| launched.report.thread_insts))
    }

    #[getter]
    fn launches(&self) -> usize {
        self.launches.len()
    }

    #[getter]
    fn checked(&self) -> usize {
        self.checked
    }

    /// Lanes of a warp and megahertz of the cores of the machine, if there was one.
    #[getter]
    fn machine(&self) -> Option<(u32, u32)> {
        self.machine.as_ref().map(|machine| (machine.config.sm.warp_width, machine.config.clock.core))
    }

    /// What the kernels printed.
    #[getter]
    fn output(&self) -> String {
        self.launches.iter().map(|launched| launched.report.output.as_str()).collect()
    }

    /// Seconds that the launches took on this machine.
    #[getter]
    fn seconds(&self) -> f64 {
        self.launches.iter().map(|launched| launched.wall.as_secs_f64()).sum()
    }

    /// How issue slots were used.
    fn slots(&self) -> Vec<(String, u64)> {
        self.shown().slots()
    }

    /// The summary for people.
    fn summary(&self) -> String {
        self.shown().summary()
    }

    /// Everything about every launch, as JSON.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.shown().json()).map_err(|e| error::problem(Problem::new(e.to_string())))
    }

    /// The profile by source lines, as JSON.
    fn profile(&self) -> Option<String> {
        self.shown().profile().map(|profile| profile.to_string())
    }

    /// The profile for people.
    fn profile_text(&self, top: u32) -> Option<String> {
        self.shown().profile_text(top)
    }

    /// A picture of what lanes did, in SVG.
    fn lanes(&self) -> Option<String> {
        let record = self.record.as_ref().filter(|record| !record.issued.is_empty())?;
        self.shown().lanes(record)
    }
}
