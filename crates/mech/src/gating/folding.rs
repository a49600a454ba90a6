//! Warp folding: the two halves of a warp run on half of the lanes, so the other half can be gated.
//!
//! # What it models
//! Lanes form clusters of four. When an instruction is folded, all its threads use the lower lanes of their clusters:
//! the threads of the upper lanes enter one initiation interval after the others. The results are written together,
//! when the second half is done. The upper lanes then have nothing to do and are gated. Every lane has two switches,
//! one for its integer and one for its floating-point pipeline.
//!
//! Time is divided into phases. At the start of a phase, each warp is counted by the type of its next decoded
//! instruction, integer or floating point. The type with fewer warps is the minority. The minority is folded for the
//! first 70 % of the phase, the other type for the first 40 %. Nothing is folded if the phase before was busy: if it
//! issued at least 90 % of what the SPs can accept while everything is folded. While a type is folded, its upper lanes
//! are gated in their first idle cycle; otherwise lanes wait for idle-detect.
//!
//! A warp with threads in only one half enters once, on the lower lanes. Memory and special functions are never folded.
//! Two extra pipeline stages move threads to other lanes and back; all instructions of the SPs pay for them. With
//! `shift`, threads move to the lowest lanes of their cluster, whether folded or not.
//!
//! An instruction requests its lanes when it issues. With `wake = "execute"` it issues at once, and its lanes wake
//! while its operands are collected. If the lanes are not awake by then, the instruction is held at the entry to its
//! SP. With `wake = "issue"` its warp is held instead, and operands are collected after waking. With `adaptive = false`
//! folding never pauses; this is naive folding.
//!
//! # Source
//! Abdel-Majeed et al., Origami, ICS 2016, sections 3.1, 3.3 and 3.4; `shift` is section 3.2. Section 3.4 says that
//! warps are folded at the beginning of the EX stage, after the collection of operands. So an instruction needs its
//! lanes where it enters its SP; hence `wake = "execute"`. The pause is the adaptive folding of section 3.1.1, which
//! says that naive folding costs time. Section 4.3 calls warp folding without the scheduler naive, and gives the
//! adaptive policy as the reason why Origami is faster. `adaptive = false` follows this reading of the bar for
//! warp folding.
//!
//! # Parameters
//! The times of the switches, where an instruction waits for its lanes, the length of a phase, the folded shares of a
//! phase, whether and when folding pauses, the extra stages, and lane shifting.
//!
//! # Simplifications
//! The paper does not say of which maximum the 90 % are. It cannot mean all issue slots: its `backprop` and `heartwall`
//! are paused most of the time, but issue far fewer than two instructions a cycle. Here it is what folded SPs can
//! accept, half an instruction a cycle each. Folding costs nothing as long as a phase issues less than that.
//! Instructions of all types count, as in the paper.
//!
//! The folded part of a phase is its beginning; phases begin at multiples of their length. If both types have equally
//! many warps, integer is the majority. An SP with fewer than four lanes is one cluster. Whether an instruction is
//! folded is decided when it issues. If an instruction finds its lanes gated in all SPs, it wakes those of the SP that
//! will have all of them soonest.
//!
//! # Counters
//! Those of the groups `int` and `fp`, including `folded`; and `stall_gated` with `wake = "issue"`. Instructions held
//! at the entry to an SP show as `stall_sp_busy` and `stall_arithmetic_dependence`.

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

/// Where an instruction waits for gated lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wake {
    /// At the entry to its SP: lanes wake while its operands are collected.
    #[default]
    Execute,
    /// At issue: its warp issues, and operands are collected, when the lanes are awake.
    Issue,
}

/// Parameters.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FoldingConfig {
    /// Idle cycles before lanes are gated.
    #[schemars(range(min = 1, max = 100_000))]
    pub idle_detect: u32,
    /// Gated cycles whose saving equals the cost of switching.
    #[schemars(range(min = 0, max = 100_000))]
    pub break_even: u32,
    /// Cycles from request to power.
    #[schemars(range(min = 0, max = 100_000))]
    pub wake_up: u32,
    /// Where an instruction waits for its lanes: at the entry to its SP (`execute`) or before it issues (`issue`).
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
    /// Whether folding pauses after a busy phase; `false` is naive folding.
    pub adaptive: bool,
    /// Instructions of a phase, in percent of what fully folded SPs accept, that pause folding in the next phase.
    #[schemars(range(min = 0, max = 1000))]
    pub pause: u32,
    /// Extra stages of the pipelines.
    #[schemars(range(min = 0, max = 16))]
    pub stages: u32,
    /// Whether threads move to the lowest lanes of their cluster.
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

    /// The threads of a warp in their two halves: those of the lower lanes of each cluster, and those of the upper
    /// ones, moved to the lower.
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
    /// Instructions the SPs accept in a phase when everything is folded.
    most: u64,
}

saved!(Folding { values: issued; parts: power, plan; fixed: most });

impl Folding {
    /// Everything powered, nothing folded.
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
