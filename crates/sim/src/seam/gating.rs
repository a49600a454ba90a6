//! The gating seam: which lanes are powered, and how an instruction uses them.

use super::Cause;
use crate::kernel::{Pipe, TimedOp};
use crate::packet::Cycle;
use crate::saved::Saved;
use crate::sm::lanes::LaneCounters;

/// How an instruction goes through its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Passes through the unit; each occupies it for the usual time.
    pub passes: u32,
    /// Extra cycles of latency.
    pub extra_latency: u32,
    /// Lanes of the SP that it uses in all passes together.
    pub lanes: u32,
}

impl Shape {
    /// The shape of an instruction without gating.
    pub const PLAIN: Self = Self { passes: 1, extra_latency: 0, lanes: 0 };
}

impl Default for Shape {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// The warps of an SM by the pipelines of their next instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Warps whose next decoded instruction goes to a pipeline of this kind, by [`Pipe`].
    pub buffered: [u32; 2],
    /// Those of them that wait for nothing but a result of an arithmetic unit.
    pub active: [u32; 2],
}

/// What a gating scheme may look at.
pub struct GatingView<'a> {
    /// Now.
    pub now: Cycle,
    /// Counts the warps; call it only when the result matters, because it takes time.
    pub census: &'a dyn Fn() -> Census,
}

/// An instruction at the entry to an SP.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Now.
    pub now: Cycle,
    /// The SP.
    pub sp: usize,
    /// The kind of pipeline that the instruction needs.
    pub pipe: Pipe,
    /// The instruction.
    pub op: &'a TimedOp,
    /// How it passes through the SP, as [`Gating::issued`] said.
    pub shape: Shape,
}

impl Entry<'_> {
    /// The first cycle in which it is no longer in the pipeline.
    #[must_use]
    pub fn leaves(&self) -> Cycle {
        self.now + Cycle::from((self.op.timing.latency + self.shape.extra_latency).max(1))
    }

    /// The cycle in which the pipeline accepts the next instruction.
    #[must_use]
    pub fn next(&self) -> Cycle {
        self.now + Cycle::from((self.op.timing.interval * self.shape.passes).max(1))
    }
}

/// Which lanes are powered. One object per SM.
///
/// In every cycle that is run, the SM calls `tick` first. For a picked warp, it requests the lanes (`wants_to_issue`)
/// and asks whether they are powered (`may_issue`, which changes nothing). If the warp issues, `issued` follows. In
/// every cycle in which its instruction is at the entry to an SP, the SM does the same with `wants_to_enter` and
/// `may_enter`; `entered` follows once. For instructions that do not go to the SPs, only `issued` is called.
pub trait Gating: Send {
    /// Whether it may ever refuse, change or count an instruction; if not, the SM does not ask.
    fn is_active(&self) -> bool {
        true
    }

    /// A cycle begins.
    fn tick(&mut self, view: &GatingView<'_>) {
        let _ = view;
    }

    /// Whether an instruction may be issued now for the lanes of `mask`.
    ///
    /// # Errors
    /// The cause to charge when it may not.
    fn may_issue(&self, now: Cycle, op: &TimedOp, mask: u32) -> Result<(), Cause> {
        let _ = (now, op, mask);
        Ok(())
    }

    /// An instruction that could issue now requests the lanes of `mask`.
    fn wants_to_issue(&mut self, now: Cycle, op: &TimedOp, mask: u32) {
        let _ = (now, op, mask);
    }

    /// An instruction is issued for the lanes of `mask`; returns how it is executed.
    fn issued(&mut self, now: Cycle, op: &TimedOp, mask: u32) -> Shape {
        let _ = (now, op, mask);
        Shape::PLAIN
    }

    /// Whether an instruction may enter an SP that has room for it.
    fn may_enter(&self, entry: &Entry<'_>) -> bool {
        let _ = entry;
        true
    }

    /// An instruction at the entry to an SP that has room for it requests its lanes.
    fn wants_to_enter(&mut self, entry: &Entry<'_>) {
        let _ = entry;
    }

    /// An instruction has entered an SP.
    fn entered(&mut self, entry: &Entry<'_>) {
        let _ = entry;
    }

    /// When it next acts on its own, if nothing else happens. The SM does not sleep past this time.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let _ = now;
        None
    }

    /// Whether it has postponed a decision because of the instructions that warps have decoded. The SM then does not
    /// sleep until these have changed and the scheme has been asked again.
    fn is_undecided(&self) -> bool {
        false
    }

    /// Cycles `from` to `to` passed without an instruction.
    fn skip(&mut self, from: Cycle, to: Cycle) {
        let _ = (from, to);
    }

    /// What the lanes did in the first `cycles` cycles since the first call, by [`Pipe`], for schemes that keep an
    /// account. The states of a lane must add up to its cycles. Nothing was issued after these cycles.
    fn lanes(&self, cycles: Cycle) -> Option<[LaneCounters; 2]> {
        let _ = cycles;
        None
    }

    /// The values of the counters that it declares in its [`MechanismInfo`](super::MechanismInfo), in that order. Asked
    /// once, at the end of a launch; values of several objects are added up.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Its state, for checkpoints ([`saved!`](crate::saved!)). A type without fields has none. A type with fields that
    /// does not return them here cannot be used in runs with checkpoints.
    fn saved(&mut self) -> Option<&mut dyn Saved> {
        None
    }
}
