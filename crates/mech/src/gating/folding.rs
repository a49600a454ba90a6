//! Warp folding: warps in two halves on half of the lanes, which leaves the other half without power.
//!
//! # What it models
//! Lanes form clusters of four. An instruction is folded when, in each cluster, the threads of the upper lanes enter
//! an initiation interval behind the others, on the lower lanes; its results are written together, when the second
//! half has come. The upper lanes then have nothing to do and are gated. Every lane has a switch of its own, of the
//! integer pipeline and of the floating-point one.
//!
//! Time is cut into phases. At the start of each the type, integer or floating point, that fewer warps have as their
//! next decoded instruction is the minority; the minority is folded for the first 70 % of the phase, the other type
//! for the first 40 %. When the phase before issued 90 % or more of what the SPs can take while everything is folded,
//! nothing is folded in this one.
//! While a type is folded the upper lanes are gated in their first idle cycle, otherwise lanes wait for idle-detect.
//!
//! A warp with threads in only one half enters once, on the lower lanes. Memory and special functions are never
//! folded. The two extra stages of the pipeline, for shifting threads to other lanes and back, are paid by all
//! instructions of the SPs.
//!
//! With `shift` threads move to the lowest lanes of their cluster, whether folded or not.
//!
//! An instruction wants its lanes when it issues. With `wake = "execute"` it issues at once: its lanes wake while its operands
//! are collected, and it is held at the entry to its SP if they are not there by then. With `wake = "issue"` the warp is held
//! instead, and operands are collected after waking.
//!
//! With `adaptive = false` folding never pauses: this is folding applied naively.
//!
//! # Source
//! Abdel-Majeed et al., Origami, ICS 2016, sections 3.1, 3.3 and 3.4; `shift` is section 3.2. That lanes matter where an
//! instruction enters its SP is section 3.4: warps are folded at the beginning of the EX stage, behind the collection of operands;
//! hence `wake = "execute"`. The pause is the adaptive folding of section 3.1.1, which says that warps folded too naively
//! cost time. Section 4.3 calls the bar of warp folding without the scheduler naive and gives the adaptive policy as the
//! reason why Origami is faster: `adaptive = false` is that reading of the bar.
//!
//! # Parameters
//! The times of the switches, where an instruction waits for its lanes, the length of a phase, the shares of it that are
//! folded, whether and when folding pauses, extra stages, lane shifting.
//!
//! # Simplifications
//! Which maximum the 90 % are of the paper does not say. All issue slots cannot be meant: its `backprop` and `heartwall`
//! are paused most of the time, and issue nowhere near two instructions a cycle. What folded SPs can take, half an
//! instruction a cycle each, is what folding must stay below to cost nothing. Instructions of all types count, as in
//! the paper. The folded part of a phase is its beginning; phases begin at multiples of their length. Of equally many warps,
//! integer is the majority. An SP with fewer than four lanes is one cluster. Whether an instruction is folded is
//! settled when it issues. An instruction that finds lanes of all SPs without power wakes those of the SP that has all
//! soonest.
//!
//! # Counters
//! Those of the groups `int` and `fp`, `folded` among them, and `stall_gated` with `wake = "issue"`; instructions held at the
//! entry to an SP show as `stall_sp_busy` and `stall_arithmetic_dependence`.

use super::power::{Power, Times, lanes_of};
use raddle_sim::config::MachineConfig;
use raddle_sim::kernel::{Pipe, TimedOp};
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Cause, Entry, Gating, GatingView, MechanismInfo, Seam, Shape};
use raddle_sim::sm::lanes::LaneCounters;
use raddle_sim::sm::units::HORIZON;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Gating,
    name: "folding",
    summary: "warps are folded onto half of the lanes, and lanes are gated one by one",
    source: "Abdel-Majeed et al., ICS 2016",
    counters: &[],
    refuses: &[],
};

/// Lanes are folded in clusters of four, or both of two.
pub(super) fn fits(machine: &MachineConfig) -> Result<(), String> {
    let lanes = machine.sm.units.sp_lanes;
    if lanes == 2 || lanes.is_multiple_of(4) {
        return Ok(());
    }
    Err(format!(
        "`folding` folds clusters of four lanes, and `sm.units.sp_lanes` is {lanes}; it must be 2 or a multiple of 4"
    ))
}

/// Where an instruction waits for lanes without power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wake {
    /// At the entry to its SP: lanes wake while its operands are collected.
    #[default]
    Execute,
    /// Its warp does not issue before: operands are collected when the lanes have power.
    Issue,
}

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FoldingConfig {
    /// Idle cycles before lanes are gated.
    #[schemars(range(min = 1, max = 100_000))]
    pub idle_detect: u32,
    /// Cycles without power that make up for switching off and on.
    #[schemars(range(min = 0, max = 100_000))]
    pub break_even: u32,
    /// Cycles from being wanted to having power.
    #[schemars(range(min = 0, max = 100_000))]
    pub wake_up: u32,
    /// Where an instruction waits for its lanes: `execute` (at the entry to its SP, lanes wake while operands are collected) or
    /// `issue` (its warp does not issue before).
    pub wake: Wake,
    /// Cycles of a phase.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub phase: u32,
    /// Percent of a phase in which the type with fewer instructions is folded.
    #[schemars(range(min = 0, max = 100))]
    pub minority: u32,
    /// Percent of a phase in which the other type is folded.
    #[schemars(range(min = 0, max = 100))]
    pub majority: u32,
    /// Folding pauses after a busy phase; without it, it is naive.
    pub adaptive: bool,
    /// Issued instructions of a phase from which on the next does not fold, in percent of what the SPs take when everything
    /// is folded.
    #[schemars(range(min = 0, max = 1000))]
    pub pause: u32,
    /// Extra stages of the pipelines.
    #[schemars(range(min = 0, max = 16))]
    pub stages: u32,
    /// Threads move to the lowest lanes of their cluster.
    pub shift: bool,
}

impl Default for FoldingConfig {
    fn default() -> Self {
        let Times { idle_detect, break_even, wake_up } = Times::default();
        Self {
            idle_detect,
            break_even,
            wake_up,
            wake: Wake::default(),
            phase: 300,
            minority: 70,
            majority: 40,
            adaptive: true,
            pause: 90,
            stages: 2,
            shift: false,
        }
    }
}

/// Lanes of a cluster.
const CLUSTER: u32 = 4;

/// Where threads go inside clusters of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Lanes of each.
    size: u32,
    /// The lower lanes of each.
    lower: u32,
}

impl Clusters {
    /// Of an SP with so many lanes.
    #[must_use]
    pub fn new(lanes: u32) -> Self {
        let size = CLUSTER.min(lanes).max(1);
        // Of a single lane there is no upper half.
        let is_lower = |lane: &u32| size == 1 || lane % size < size / 2;
        Self { size, lower: (0..32).filter(is_lower).fold(0, |mask, lane| mask | 1 << lane) }
    }

    /// The threads of a warp in their two halves: those of the lower lanes of each cluster, and those of the upper ones, moved
    /// to the lower.
    #[must_use]
    pub fn halves(self, mask: u32) -> [u32; 2] {
        [mask & self.lower, (mask & !self.lower) >> (self.size / 2)]
    }

    /// The threads of each cluster moved to its lowest lanes.
    #[must_use]
    pub fn shifted(self, mask: u32) -> u32 {
        let low = |bits: u32| ((1u64 << bits) - 1) as u32;
        let shift = |first: u32| low((mask >> first & low(self.size)).count_ones()) << first;
        (0..32).step_by(self.size as usize).fold(0, |moved, first| moved | shift(first))
    }
}

/// What is folded when.
struct Plan {
    config: FoldingConfig,
    clusters: Clusters,
    /// Lanes of an SP.
    lanes: usize,
    /// The phase it is for.
    phase: Cycle,
    /// Cycles of the phase that are folded, by type.
    folded: [u32; 2],
}

saved!(Plan { values: phase, folded; fixed: config, clusters, lanes });

impl Plan {
    fn number(&self, now: Cycle) -> Cycle {
        now / Cycle::from(self.config.phase)
    }

    /// Whether instructions of a type are folded now.
    fn folds(&self, pipe: Pipe, now: Cycle) -> bool {
        now % Cycle::from(self.config.phase) < Cycle::from(self.folded[pipe as usize])
    }

    /// How an instruction for these threads is executed.
    fn shape(&self, now: Cycle, pipe: Pipe, op: &TimedOp, mask: u32) -> Shape {
        let timing = op.timing;
        let placed = if self.config.shift { self.clusters.shifted(mask) } else { mask };
        let fits = timing.latency + timing.interval + self.config.stages + 8 < HORIZON as u32;
        let [first, second] = if fits && self.folds(pipe, now) { self.clusters.halves(placed) } else { [placed, 0] };
        let folded = first != 0 && second != 0;
        Shape {
            passes: 1 + u32::from(folded),
            extra_latency: self.config.stages + if folded { timing.interval } else { 0 },
            lanes: lanes_of(first | second, self.lanes),
        }
    }

    /// Idle cycles before a lane is gated, by type and lane.
    fn patience(&self, now: Cycle) -> impl Fn(&Power, usize, Pipe, usize) -> Option<u32> {
        let folds = Pipe::ALL.map(|pipe| self.folds(pipe, now));
        let (lower, idle_detect) = (self.clusters.lower, self.config.idle_detect);
        move |_, _, pipe, lane| {
            let is_upper = lower >> lane & 1 == 0;
            Some(if is_upper && folds[pipe as usize] { 1 } else { idle_detect })
        }
    }
}

/// The scheme.
pub struct Folding {
    power: Power,
    plan: Plan,
    /// Instructions issued in the phase.
    issued: u64,
    /// Instructions the SPs take in a phase when everything is folded.
    most: u64,
}

saved!(Folding { values: issued; parts: power, plan; fixed: most });

impl Folding {
    /// Everything on, nothing folded.
    #[must_use]
    pub fn new(config: FoldingConfig, machine: &MachineConfig) -> Self {
        let FoldingConfig { idle_detect, break_even, wake_up, phase, .. } = config;
        let most = u64::from(phase) * u64::from(machine.sm.sps() * machine.sm.slices.max(1)) / 2;
        let power = Power::new(Times { idle_detect, break_even, wake_up }, machine, true);
        let lanes = power.lanes();
        let clusters = Clusters::new(lanes as u32);
        Self { power, plan: Plan { config, clusters, lanes, phase: Cycle::MAX, folded: [0; 2] }, issued: 0, most }
    }

    /// Starts a phase, if it is a new one.
    fn begin_phase(&mut self, view: &GatingView<'_>) {
        let number = self.plan.number(view.now);
        if number == self.plan.phase {
            return;
        }
        // In a phase that was slept through nothing was issued.
        let issued = if self.plan.phase.wrapping_add(1) == number { self.issued } else { 0 };
        self.issued = 0;
        let config = &self.plan.config;
        let mut folded = [0; 2];
        if !config.adaptive || issued * 100 < self.most * u64::from(config.pause) {
            let [int, fp] = (view.census)().buffered;
            let cycles = |percent: u32| config.phase * percent / 100;
            let (minor, major) = (cycles(config.minority), cycles(config.majority));
            folded = if int >= fp { [major, minor] } else { [minor, major] };
        }
        (self.plan.phase, self.plan.folded) = (number, folded);
    }
}

impl Gating for Folding {
    fn tick(&mut self, view: &GatingView<'_>) {
        self.power.begin(view.now);
        self.power.settle(view.now);
        self.begin_phase(view);
        self.power.gate(view.now, self.plan.patience(view.now));
    }

    fn may_issue(&self, now: Cycle, op: &TimedOp, mask: u32) -> Result<(), Cause> {
        if self.plan.config.wake == Wake::Execute {
            // They wake while it collects its operands.
            return Ok(());
        }
        let Some(pipe) = op.pipe() else { return Ok(()) };
        let lanes = self.plan.shape(now, pipe, op, mask).lanes;
        if self.power.has_any(pipe, lanes) { Ok(()) } else { Err(Cause::Gated) }
    }

    fn wants_to_issue(&mut self, now: Cycle, op: &TimedOp, mask: u32) {
        if let Some(pipe) = op.pipe() {
            self.power.want_any(pipe, self.plan.shape(now, pipe, op, mask).lanes, now);
        }
    }

    fn issued(&mut self, now: Cycle, op: &TimedOp, mask: u32) -> Shape {
        self.issued += 1;
        let Some(pipe) = op.pipe() else { return Shape::PLAIN };
        let shape = self.plan.shape(now, pipe, op, mask);
        self.power.coming(pipe, shape.lanes);
        shape
    }

    fn may_enter(&self, entry: &Entry<'_>) -> bool {
        self.power.may_enter(entry)
    }

    fn wants_to_enter(&mut self, entry: &Entry<'_>) {
        self.power.wants_to_enter(entry);
    }

    fn entered(&mut self, entry: &Entry<'_>) {
        self.power.entered(entry);
    }

    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let plan = &self.plan;
        let due = self.power.next_due(now, plan.patience(now));
        // The next phase may be less patient with lanes that are idle by then.
        let is_new = plan.number(now) != plan.phase;
        let next = if is_new { now } else { (plan.number(now) + 1) * Cycle::from(plan.config.phase) };
        let next = self.power.has_some().then_some(next);
        due.into_iter().chain(next).min()
    }

    fn skip(&mut self, from: Cycle, _: Cycle) {
        self.power.begin(from);
    }

    fn lanes(&self, cycles: Cycle) -> Option<[LaneCounters; 2]> {
        Some(self.power.account(cycles))
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
