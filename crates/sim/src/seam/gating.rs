//! The gating seam: which lanes have power, and how an instruction uses them.

use super::Cause;
use crate::kernel::{Pipe, TimedOp};
use crate::packet::Cycle;
use crate::saved::Saved;
use crate::sm::lanes::LaneCounters;

/// How an instruction goes through its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Times the unit is occupied as long as usual.
    pub passes: u32,
    /// Extra cycles of latency.
    pub extra_latency: u32,
    /// Lanes of the SP it uses, of all passes together.
    pub lanes: u32,
}

impl Shape {
    /// An instruction as it is without gating.
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
    /// Counts the warps; worth asking only when it matters.
    pub census: &'a dyn Fn() -> Census,
}

/// An instruction at the door of an SP.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Now.
    pub now: Cycle,
    /// The SP.
    pub sp: usize,
    /// Its pipelines the instruction needs.
    pub pipe: Pipe,
    /// The instruction.
    pub op: &'a TimedOp,
    /// How it goes through, as [`Gating::issued`] said.
    pub shape: Shape,
}

impl Entry<'_> {
    /// The cycle in which nothing of it is in the pipeline any more.
    #[must_use]
    pub fn leaves(&self) -> Cycle {
        self.now + Cycle::from((self.op.timing.latency + self.shape.extra_latency).max(1))
    }

    /// The cycle in which the pipeline takes the next.
    #[must_use]
    pub fn next(&self) -> Cycle {
        self.now + Cycle::from((self.op.timing.interval * self.shape.passes).max(1))
    }
}

/// Which lanes are powered. One object per SM.
///
/// In every cycle that is run the SM calls `tick` first. For a warp that was picked it says what lanes it wants
/// (`wants_to_issue`) and asks whether they have power (`may_issue`, which changes nothing); `issued` follows if it issues. In
/// every cycle its instruction then stands at the door of an SP it does the same (`wants_to_enter`, `may_enter`), and `entered`
/// follows once. What does not go to the SPs is told of by `issued` only.
pub trait Gating: Send {
    /// Whether it may ever refuse, change or count an instruction; when not, the SM does not ask.
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

    /// An instruction would be issued now: it wants the lanes of `mask`.
    fn wants_to_issue(&mut self, now: Cycle, op: &TimedOp, mask: u32) {
        let _ = (now, op, mask);
    }

    /// An instruction is issued for the lanes of `mask`: how it is executed.
    fn issued(&mut self, now: Cycle, op: &TimedOp, mask: u32) -> Shape {
        let _ = (now, op, mask);
        Shape::PLAIN
    }

    /// Whether an instruction may enter an SP that has room for it.
    fn may_enter(&self, entry: &Entry<'_>) -> bool {
        let _ = entry;
        true
    }

    /// An instruction stands at the door of an SP that has room for it: it wants its lanes.
    fn wants_to_enter(&mut self, entry: &Entry<'_>) {
        let _ = entry;
    }

    /// An instruction has entered an SP.
    fn entered(&mut self, entry: &Entry<'_>) {
        let _ = entry;
    }

    /// When it next acts on its own, if nothing else happens: the SM does not sleep past it.
    fn next_event(&self, now: Cycle) -> Option<Cycle> {
        let _ = now;
        None
    }

    /// Whether it has left something undecided because of what warps there are: the SM then does not sleep before it
    /// has been asked again, once these have changed.
    fn is_undecided(&self) -> bool {
        false
    }

    /// Cycles `from` to `to` passed without an instruction.
    fn skip(&mut self, from: Cycle, to: Cycle) {
        let _ = (from, to);
    }

    /// What the lanes did in the first `cycles` cycles since the first call, by [`Pipe`], for schemes that keep account.
    /// The states of a lane must sum up to its cycles; nothing was issued since.
    fn lanes(&self, cycles: Cycle) -> Option<[LaneCounters; 2]> {
        let _ = cycles;
        None
    }

    /// The values of the counters that it declares in its [`MechanismInfo`](super::MechanismInfo), in that order. Asked
    /// once, at the end of a launch; values of several objects are added up.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Its state, for checkpoints ([`saved!`](crate::saved!)). A type without fields needs none; one with fields that does not
    /// say what they are is not run where checkpoints are asked for.
    fn saved(&mut self) -> Option<&mut dyn Saved> {
        None
    }
}
