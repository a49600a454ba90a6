//! Gating-aware two levels: the active set is served by the type of the next instruction.
//!
//! # What it models
//! The scheduler has the active set of `two-level` and orders it by the type of each warp's next instruction. Integer
//! instructions come first, then memory, then special functions, and floating point last. Integer and floating point
//! swap places when no warp of the active set has an instruction of the first type and some warp has one of the last.
//! So the pipelines of one type are used for a while, and those of the other type stay idle long enough to be gated.
//!
//! # Source
//! Abdel-Majeed et al., Warped Gates, MICRO 2013, as the Origami paper (ICS 2016) describes and compares it.
//!
//! # Parameters
//! The size of the active set.
//!
//! # Simplifications
//! The paper was not at hand, so two points are our own reading: the order of memory and special functions in the
//! middle, and that a swap needs the first type to be absent. Inside a type, warps are served in turn. Each scheduler
//! swaps on its own.
//!
//! # Counters
//! Its own counters say how often warps enter and leave the active set. The metric `short-bubbles` of the pipelines
//! shows the effect.

use super::active_set::{ActiveConfig, ActiveCounters, ActiveSet};
use raddle_sim::config::MachineConfig;
use raddle_sim::kernel::{Pipe, UnitKind};
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use raddle_sim::stats::Counters;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "gates",
    summary: "gating-aware two levels: warps of one instruction type are served together",
    source: "Abdel-Majeed et al., MICRO 2013",
    counters: ActiveCounters::INFO,
    refuses: &[],
};

/// Which type of instruction comes first.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct TypeOrder {
    first: Pipe,
}

impl TypeOrder {
    /// Integers.
    pub(super) fn new() -> Self {
        Self { first: Pipe::Int }
    }

    /// The place of a warp's next instruction among the four types.
    pub(super) fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> u8 {
        match view.op(warp).map(|op| (op.unit, op.pipe())) {
            Some((_, Some(pipe))) => {
                if pipe == self.first {
                    0
                } else {
                    3
                }
            }
            Some((UnitKind::Mem, _)) => 1,
            _ => 2,
        }
    }

    /// The types swap places when the first is absent among these warps and the last is not.
    pub(super) fn settle(&mut self, view: &SchedulerView<'_>, warps: impl Iterator<Item = WarpId> + Clone) {
        let mut ranks = warps.map(|w| self.rank(view, w));
        if !ranks.clone().any(|rank| rank == 0) && ranks.any(|rank| rank == 3) {
            self.first = if self.first == Pipe::Int { Pipe::Fp } else { Pipe::Int };
        }
    }
}

/// The scheduler.
pub struct Gates {
    set: ActiveSet,
    types: TypeOrder,
}

saved!(Gates { values: types; parts: set });

impl Gates {
    /// Nothing active, integers first.
    #[must_use]
    pub fn new(config: ActiveConfig, _: &MachineConfig) -> Self {
        Self { set: ActiveSet::new(config.active), types: TypeOrder::new() }
    }
}

impl IssueScheduler for Gates {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        self.set.by_rank(order, |w| self.types.rank(view, w));
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.set.settle(view);
        self.types.settle(view, self.set.active.iter().copied());
        let warps = self.set.active.iter().copied().filter(|w| eligible.contains(*w));
        warps.min_by_key(|w| self.types.rank(view, *w))
    }

    fn issued(&mut self, _: &SchedulerView<'_>, warp: WarpId) {
        self.set.issued(warp);
    }

    fn warp_changed(&mut self, warp: WarpId, present: bool) {
        self.set.changed(warp, present);
    }

    fn counters(&self) -> Vec<u64> {
        self.set.counters.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
