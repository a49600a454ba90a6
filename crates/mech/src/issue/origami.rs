//! The Origami scheduler: by the type of the next instruction, then by whether all lanes are active.
//!
//! # What it models
//! The scheduler has the active set and the types of `gates`. Inside a type, it divides the warps into two groups:
//! those with all lanes active, and those with fewer. At the start of each phase, it chooses the group with more warps;
//! that group comes first during the phase. So lanes that are inactive in the other group's warps stay idle for longer.
//! A group chosen for `most_phases` phases in a row gives way to the other group, if that has a warp.
//!
//! # Source
//! Abdel-Majeed et al., Origami, ICS 2016, sections 3.2 and 3.3.
//!
//! # Parameters
//! The size of the active set, the length of a phase, and how many phases in a row a group can be chosen.
//!
//! # Simplifications
//! Phases begin at multiples of their length. The groups are counted in the active set, when the first warp of a phase
//! is picked. Groups apply to all instructions, including those of memory and special functions. Lane shifting belongs
//! to the gating scheme: `folding` with `shift`.
//!
//! # Counters
//! Its own counters say how often warps enter and leave the active set.

use super::active_set::{ActiveCounters, ActiveSet};
use super::gates::TypeOrder;
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId, WarpSet};
use raddle_sim::stats::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Issue,
    name: "origami",
    summary: "two levels, ordered by instruction type and by whether all lanes are active",
    source: "Abdel-Majeed et al., ICS 2016",
    counters: ActiveCounters::INFO,
    refuses: &[],
};

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OrigamiConfig {
    /// Warps in the active set of each scheduler.
    #[schemars(range(min = 1, max = 1024))]
    pub active: u32,
    /// Cycles of a phase.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub phase: u32,
    /// The most phases in a row for which the same group is chosen.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most_phases: u32,
}

impl Default for OrigamiConfig {
    fn default() -> Self {
        Self { active: 8, phase: 300, most_phases: 2 }
    }
}

/// The scheduler.
pub struct Origami {
    set: ActiveSet,
    types: TypeOrder,
    config: OrigamiConfig,
    /// Lanes of a warp with all active.
    width: u32,
    /// The phase the group was chosen for.
    phase: Option<Cycle>,
    /// The group of warps with all lanes active comes first.
    full_first: bool,
    /// Phases in a row it has been so.
    chosen: u32,
}

saved!(Origami { values: types, phase, full_first, chosen; parts: set; fixed: config, width });

impl Origami {
    /// Nothing active.
    #[must_use]
    pub fn new(config: OrigamiConfig, machine: &MachineConfig) -> Self {
        let (set, width) = (ActiveSet::new(config.active), machine.sm.warp_width);
        Self { set, types: TypeOrder::new(), config, width, phase: None, full_first: true, chosen: 0 }
    }

    fn is_full(&self, view: &SchedulerView<'_>, warp: WarpId) -> bool {
        view.table.get(warp).mask.count_ones() == self.width
    }

    fn rank(&self, view: &SchedulerView<'_>, warp: WarpId) -> u8 {
        2 * self.types.rank(view, warp) + u8::from(self.is_full(view, warp) != self.full_first)
    }

    /// Chooses the group of a phase that begins.
    fn choose(&mut self, view: &SchedulerView<'_>) {
        let phase = view.now / Cycle::from(self.config.phase.max(1));
        if self.phase == Some(phase) {
            return;
        }
        self.phase = Some(phase);
        let full = self.set.active.iter().filter(|w| self.is_full(view, **w)).count();
        let fewer = self.set.active.len() - full;
        let mut full_first = full >= fewer;
        let other = if self.full_first { fewer } else { full };
        if self.chosen >= self.config.most_phases && full_first == self.full_first && other > 0 {
            full_first = !full_first;
        }
        self.chosen = if full_first == self.full_first { self.chosen + 1 } else { 1 };
        self.full_first = full_first;
    }
}

impl IssueScheduler for Origami {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        self.set.by_rank(order, |w| self.rank(view, w));
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, _: &mut Vec<WarpId>) -> Option<WarpId> {
        self.set.settle(view);
        self.types.settle(view, self.set.active.iter().copied());
        self.choose(view);
        let warps = self.set.active.iter().copied().filter(|w| eligible.contains(*w));
        warps.min_by_key(|w| self.rank(view, *w))
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
