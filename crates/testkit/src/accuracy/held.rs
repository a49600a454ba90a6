//! Runs the model was not calibrated with: kernels of `tests/reference/gtx480-held`, workloads at size `tiny`, and kernels of
//! `tests/reference/gtx480-textures`.

use super::{Counts, Row};
use crate::reference;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::outcome::Launched;
use raddle_runtime::timing::{TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, Plan, PtxFile, Session};
use raddle_workloads::{Request, Size};
use serde_json::Value;

/// Kernels that were made to take causes apart. They do not count in a mean.
const TAKEN_APART: [&str; 10] = [
    "int_quot",
    "inplace",
    "column_part",
    "column_fit",
    "column_160",
    "column_192",
    "byte_rows",
    "byte_rows80",
    "byte_rows_var",
    "byte_var80",
];

/// A run of the reference.
#[derive(Clone, Debug)]
pub struct Held {
    /// A launch file of this name, or a workload.
    pub kernel: String,
    /// Issue scheduler.
    pub scheduler: String,
    /// The folder of its set.
    folder: &'static str,
    /// What it measured.
    measured: Value,
}

/// All of them that read no textures.
#[must_use]
pub fn held() -> Vec<Held> {
    runs_of("gtx480-held")
}

/// Kernels that read textures.
#[must_use]
pub fn textures() -> Vec<Held> {
    runs_of("gtx480-textures")
}

fn runs_of(folder: &'static str) -> Vec<Held> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = reference::rows_of(folder, "results.json");
    let run =
        |row: Value| Held { kernel: text(&row, "kernel"), scheduler: text(&row, "scheduler"), folder, measured: row };
    rows.into_iter().map(run).collect()
}

impl Held {
    /// Whether it was chosen before any result was seen, and counts in a mean.
    #[must_use]
    pub fn counts(&self) -> bool {
        !TAKEN_APART.contains(&self.kernel.as_str())
    }

    /// Cycles the reference took, of all launches.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.measured["cycles"].as_u64().unwrap_or(0)
    }

    /// Launches of it.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.measured["launches"].as_u64().unwrap_or(0)
    }

    /// Runs it on the reference machine.
    ///
    /// # Panics
    /// When it cannot be run, or a workload computes something wrong: that is what is tested.
    #[must_use]
    pub fn measure(&self) -> Row {
        let machine = crate::timing::gtx480(&self.scheduler, &[""; 0]);
        let engine = EngineOptions { engine: Engine::Timing, warp_width: machine.sm.warp_width };
        let is_file = self.measured["set"] != "workload";
        // The registers of a workload, and of most kernels, are what the PTX says.
        let textures = self.measured["set"] == "textures";
        let registers = self.measured["registers"].as_u64().filter(|_| textures).map(|n| n as u32);
        let timing = Some(Box::new(TimingOptions { registers, ..TimingOptions::new(machine) }));
        // No two threads of those write one word, so memory must be what the reference interpreter makes of it.
        let setup = Setup::new(RunOptions { engine, timing, check: textures, ..RunOptions::default() });
        let launches = if is_file { self.run_file(&setup) } else { self.run_workload(&setup) };
        let number = |key: &str| self.measured[key].as_u64().unwrap_or(0);
        let mut ours = Counts::default();
        for launched in &launches {
            let result = &launched.timed.as_ref().unwrap_or_else(|| panic!("{}: no time", self.kernel)).result;
            let (total, l2) = (result.total(), result.l2_total());
            ours.cycles += result.cycles;
            ours.warp_insts += total.sm.warp_insts;
            ours.thread_insts += total.sm.thread_insts;
            let add =
                |sum: &mut [u64; 2], more: [u64; 2]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            add(&mut ours.l1d, [total.l1d.accesses, total.l1d.misses]);
            add(&mut ours.l2, [l2.accesses, l2.misses + l2.sector_misses]);
            add(&mut ours.l1t, [total.l1t.accesses, total.l1t.misses]);
        }
        Row {
            name: self.kernel.clone(),
            scheduler: self.scheduler.clone(),
            single_warp: false,
            ours,
            theirs: Counts {
                cycles: number("cycles"),
                warp_insts: number("warp_insts"),
                thread_insts: number("thread_insts"),
                l1d: [number("l1d_accesses"), number("l1d_misses")],
                l2: [number("l2_accesses"), number("l2_misses")],
                l1t: [number("l1t_accesses"), number("l1t_misses")],
            },
        }
    }

    fn run_file(&self, setup: &Setup) -> Vec<Launched> {
        let path = reference::folder_of(self.folder).join("kernels").join(format!("{}.toml", self.kernel));
        let failed = |error: raddle_runtime::Error| -> ! { panic!("{}: {error}", path.display()) };
        let (plan, _) = Plan::from_file(&path).unwrap_or_else(|e| failed(e));
        let ptx = PtxFile::read(&plan.module).unwrap_or_else(|e| failed(e));
        let mut session = Session::new(&plan, &ptx, setup).unwrap_or_else(|e| failed(e));
        let outcome = session.run(Watch::default()).unwrap_or_else(|e| failed(e));
        assert!(outcome.memory.is_none_or(|memory| memory.is_equal()), "{}: wrong values", self.kernel);
        outcome.launches
    }

    fn run_workload(&self, setup: &Setup) -> Vec<Launched> {
        let name = &self.kernel;
        let workload = raddle_workloads::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        let module = workload.module().unwrap_or_else(|e| panic!("{name}: {e}"));
        let ran = workload.run(&module, setup, Watch::default(), &Request::new(Size::Tiny));
        let ran = ran.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(ran.wrong.is_none(), "{name}: {:?}", ran.wrong);
        ran.launches
    }
}
