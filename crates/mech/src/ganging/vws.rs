//! Variable warp sizing.
//!
//! # What it models
//! The warp ganging unit. The warps of 32 neighbouring threads start as one gang. The gang needs one fetch for all its
//! warps and issues in lockstep, so its accesses reach memory as one access. When the control flow of its warps
//! diverges, warps at the same place form a smaller gang. A warp that is alone continues on its own in its slice. Gangs
//! have priority over single warps.
//!
//! # Source
//! VWS paper (ISCA 2015), sections 4.2 to 4.5.
//!
//! # Parameters
//! `order`, `gangs`, `split`, `reform` and `wait`. The default is the paper's I-VWS; E-VWS has `reform` set to
//! `opportunistic`.
//!
//! # Simplifications
//! In each cycle, instructions are fetched for as many gangs as may issue, if the instruction cache has enough ports. The
//! paper has one fetch scheduler for gangs and does not say how often it is asked. A gang splits one cycle after the
//! places of its warps are known. A warp that leaves a gang keeps its decoded instructions.
//!
//! # Counters
//! `gang_issues`, `gang_insts`, `gang_time`, `gang_splits` and `gang_joins`. `stall_mechanism` counts slots in which a
//! warp of a gang could issue but its gang could not.

use super::parting::{self, Split};
use super::waiting::Waiting;
use raddle_exec::Program;
use raddle_sim::config::MachineConfig;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Gang, GangTable, GangView, Ganging, GangingView, MechanismInfo, Place, Seam, slices_in};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Ganging,
    name: "vws",
    summary: "variable warp sizing: narrow warps form gangs as long as their control flow is the same",
    source: "VWS paper (ISCA 2015), section 4",
    counters: &[],
    refuses: &[],
};

/// Which gang comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The one of most warps; of equal ones the last one issued, then the one that came first.
    #[default]
    Bgto,
    /// The last one issued, then the one that came first.
    Gto,
    /// In turn.
    Lrr,
    /// The one at the lowest program counter.
    Lpc,
    /// The one of fewest warps; of equal ones as `bgto`.
    Lgto,
}

/// How the parts of an original gang merge again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Never.
    #[default]
    None,
    /// When parts of an original gang happen to be at the same operation. In each cycle one original gang is examined,
    /// in turn, and two of its parts merge.
    Opportunistic,
    /// The same, and parts also wait for each other at reconvergence points.
    Sync,
}

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which gang comes first: `bgto`, `gto`, `lrr`, `lpc` or `lgto`.
    pub order: Order,
    /// The most gangs that issue in a cycle.
    #[schemars(range(min = 1, max = 64))]
    pub gangs: u32,
    /// What happens when the warps of a gang get their data at different times: `none`, `group` or `impatient`.
    pub split: Split,
    /// How parts of an original gang merge again: `none`, `opportunistic` or `sync`.
    pub reform: Join,
    /// The most cycles that parts of a gang wait for each other at reconvergence points, with `reform = "sync"`.
    #[schemars(range(min = 0, max = 100_000))]
    pub wait: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { order: Order::Bgto, gangs: 2, split: Split::None, reform: Join::None, wait: 10 }
    }
}

/// The ganging unit.
pub struct Vws {
    config: Config,
    /// The gang that issued last; of those of one cycle the first.
    last: Option<Gang>,
    waiting: Waiting,
}

saved!(Vws { values: last; parts: waiting; fixed: config });

impl Vws {
    /// Nothing issued yet.
    #[must_use]
    pub fn new(config: Config, _: &MachineConfig) -> Self {
        Self { config, last: None, waiting: Waiting::default() }
    }

    /// Parts of an original gang that have come to a reconvergence point wait for the others.
    fn hold(&mut self, gangs: &mut GangTable, set: usize, view: &GangingView<'_>) {
        let whole = gangs.parts(set).len() <= 1;
        for slice in 0..gangs.slices() {
            let warp = gangs.warp(set, slice);
            let info = view.table.get(warp);
            if info.valid && info.blocked.is_none() && !whole {
                let until = view.now + Cycle::from(self.config.wait);
                self.waiting.comes(gangs, warp, info.pc, view.issued[warp.index()], until);
            } else {
                gangs.hold(warp, false);
            }
        }
    }

    /// Merges two parts of an original gang; in each cycle one original gang is examined, in turn.
    fn join(gangs: &mut GangTable, view: &GangingView<'_>) {
        let set = (view.now % gangs.sets() as Cycle) as usize;
        let Some(alike) = alike(gangs, set, view) else { return };
        gangs.set_parts(set, parting::join(gangs.parts(set), alike));
        if gangs.parts(set).len() == 1 {
            (0..gangs.slices()).for_each(|slice| gangs.hold(gangs.warp(set, slice), false));
        }
    }
}

/// Two parts of an original gang at the same operation, of warps that do not wait.
fn alike(gangs: &GangTable, set: usize, view: &GangingView<'_>) -> Option<[u8; 2]> {
    parting::alike(gangs.parts(set), |slice| {
        let info = view.table.get(gangs.warp(set, slice));
        info.blocked.is_none().then_some(info.pc)
    })
}

/// The warps of an original gang that could issue, and those that wait for memory.
fn ready_and_waiting(gangs: &GangTable, set: usize, view: &GangingView<'_>) -> (u8, u8) {
    let first = gangs.warp(set, 0).index();
    let places = &view.places[first..first + gangs.slices()];
    let mask = |is: fn(&Place) -> bool| places.iter().rev().fold(0, |mask, place| mask << 1 | u8::from(is(place)));
    (mask(|place| place.is_ready()), mask(|place| *place == Place::MemoryDependence))
}

/// Where a gang stands in a round.
fn place(gang: Gang) -> u64 {
    u64::from(gang.set) * 8 + u64::from(gang.mask.trailing_zeros())
}

impl Ganging for Vws {
    fn start_launch(&mut self, program: &Program, warps: usize) {
        if self.config.reform == Join::Sync {
            self.waiting = Waiting::new(program, warps);
        }
    }

    fn moved(&mut self, gangs: &mut GangTable, set: usize, view: &GangingView<'_>) {
        let mut parts = *gangs.parts(set);
        for slice in slices_in(parts.all()) {
            let info = view.table.get(gangs.warp(set, slice));
            if !info.valid || info.ended {
                parts.remove(1 << slice);
            }
        }
        let parts = parting::by_place(&parts, |slice| {
            let info = view.table.get(gangs.warp(set, slice));
            (info.pc, info.blocked.is_some())
        });
        gangs.set_parts(set, parts);
        if self.config.reform == Join::Sync {
            self.hold(gangs, set, view);
        }
    }

    fn tick(&mut self, gangs: &mut GangTable, view: &GangingView<'_>) {
        if self.config.reform != Join::None {
            self.waiting.let_go(gangs, view.now);
            Self::join(gangs, view);
        }
        if self.config.split == Split::None {
            return;
        }
        for set in 0..gangs.sets() {
            if !gangs.parts(set).gangs().is_empty() {
                let (ready, waiting) = ready_and_waiting(gangs, set, view);
                gangs.set_parts(set, parting::by_memory(gangs.parts(set), ready, waiting, self.config.split));
            }
        }
    }

    fn next_event(&self, gangs: &GangTable, _: Cycle) -> Option<Cycle> {
        self.waiting.next_release(gangs)
    }

    fn can_change(&self, gangs: &GangTable, view: &GangingView<'_>) -> bool {
        let (joins, splits) = (self.config.reform != Join::None, self.config.split != Split::None);
        let would_split = |set| {
            let (ready, waiting) = ready_and_waiting(gangs, set, view);
            parting::parted_by_memory(gangs.parts(set), ready, waiting).is_some()
        };
        let would_change = |set| joins && alike(gangs, set, view).is_some() || splits && would_split(set);
        (joins || splits) && (0..gangs.sets()).any(would_change)
    }

    fn per_cycle(&self) -> usize {
        self.config.gangs as usize
    }

    fn rank(&self, view: &GangView) -> u64 {
        let last = self.last.map(place);
        let greedy = || if last == Some(place(view.gang)) { 0 } else { view.age + 1 };
        let size = u64::from(view.gang.size());
        match self.config.order {
            Order::Bgto => (8 - size) << 56 | greedy(),
            Order::Gto => greedy(),
            Order::Lrr => place(view.gang).wrapping_sub(last.map_or(0, |last| last + 1)) & 0xFF_FFFF,
            Order::Lpc => u64::from(view.pc) << 32 | (view.age & 0xFFFF_FFFF),
            Order::Lgto => size << 56 | greedy(),
        }
    }

    fn issued(&mut self, gang: Gang, nth: usize) {
        if nth == 0 {
            self.last = Some(gang);
        }
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn order(order: Order, gangs: &[(u16, u8, u32)], last: Option<(u16, u8)>) -> Vec<usize> {
        let machine = Machine::load(Source::Preset("vws-sm"), &[] as &[&str]).unwrap().config;
        let mut vws = Vws::new(Config { order, ..Config::default() }, &machine);
        if let Some((set, mask)) = last {
            vws.issued(Gang { set, mask }, 0);
        }
        let view = |n: usize| {
            let (set, mask, pc) = gangs[n];
            GangView { gang: Gang { set, mask }, pc, age: u64::from(set) }
        };
        let mut order: Vec<usize> = (0..gangs.len()).collect();
        order.sort_by_key(|n| vws.rank(&view(*n)));
        order
    }

    #[test]
    fn orders_of_gangs() {
        let gangs = [(0, 0b11, 9), (1, 0xff, 7), (2, 0xff, 5), (3, 0b111, 3)];
        assert_eq!(order(Order::Bgto, &gangs, None), [1, 2, 3, 0]);
        assert_eq!(order(Order::Bgto, &gangs, Some((2, 0xff))), [2, 1, 3, 0]);
        assert_eq!(order(Order::Gto, &gangs, Some((2, 0xff))), [2, 0, 1, 3]);
        assert_eq!(order(Order::Lrr, &gangs, Some((1, 0xff))), [2, 3, 0, 1]);
        assert_eq!(order(Order::Lpc, &gangs, None), [3, 2, 1, 0]);
        assert_eq!(order(Order::Lgto, &gangs, None), [0, 3, 1, 2]);
    }
}
