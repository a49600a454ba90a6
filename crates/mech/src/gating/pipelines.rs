//! Schemes with one switch for all lanes of an SP's integer or floating-point pipelines: `conventional` and `blackout`.

use super::power::{Power, Times};
use raddle_sim::config::MachineConfig;
use raddle_sim::kernel::{Pipe, TimedOp};
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Cause, Census, Entry, Gating, GatingView, Shape};
use raddle_sim::sm::lanes::LaneCounters;

/// A scheme that gates whole pipelines. If they stay gated until break-even, the SPs take turns.
pub struct ByPipeline {
    power: Power,
    /// Pipelines stayed powered because of what warps have decoded.
    undecided: bool,
}

saved!(ByPipeline { values: undecided; parts: power });

impl ByPipeline {
    /// Everything powered; `held` says that what is gated stays gated until break-even.
    pub(super) fn new(times: Times, machine: &MachineConfig, held: bool) -> Self {
        let mut power = Power::new(times, machine, false);
        power.held = held;
        Self { power, undecided: false }
    }
}

/// Whether SPs take turns and the pipelines of this type are gated in another one.
fn is_off_elsewhere(power: &Power, sp: usize, pipe: Pipe) -> bool {
    power.held && (0..power.sps()).any(|other| other != sp && power.is_off(other, pipe))
}

/// The least idle cycles before gating, whatever warps there are.
fn least_patience(power: &Power, sp: usize, pipe: Pipe, _: usize) -> Option<u32> {
    Some(if is_off_elsewhere(power, sp, pipe) { 0 } else { power.times.idle_detect })
}

impl Gating for ByPipeline {
    fn tick(&mut self, view: &GatingView<'_>) {
        self.power.begin(view.now);
        self.power.settle(view.now);
        let mut census: Option<Census> = None;
        let mut undecided = false;
        self.power.gate(view.now, |power, sp, pipe, group| {
            if is_off_elsewhere(power, sp, pipe) {
                let census = census.get_or_insert_with(view.census);
                if census.active[pipe as usize] > 0 {
                    undecided = true;
                    return None;
                }
            }
            least_patience(power, sp, pipe, group)
        });
        self.undecided = undecided;
    }

    fn may_issue(&self, _: Cycle, op: &TimedOp, _: u32) -> Result<(), Cause> {
        match op.pipe() {
            Some(pipe) if !self.power.has_any(pipe, u32::MAX) => Err(Cause::Gated),
            _ => Ok(()),
        }
    }

    fn wants_to_issue(&mut self, now: Cycle, op: &TimedOp, _: u32) {
        if let Some(pipe) = op.pipe() {
            self.power.want_any(pipe, u32::MAX, now);
        }
    }

    fn issued(&mut self, _: Cycle, op: &TimedOp, _: u32) -> Shape {
        if let Some(pipe) = op.pipe() {
            self.power.coming(pipe, u32::MAX);
        }
        Shape::PLAIN
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
        self.power.next_due(now, least_patience)
    }

    fn is_undecided(&self) -> bool {
        self.undecided
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
