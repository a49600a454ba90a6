//! The ganging seam: which warps of different slices issue in lockstep.

use super::{GangTable, Parts, Place, WarpTable};
use crate::packet::Cycle;
use crate::saved::Saved;
use raddle_exec::Program;

/// Warps of one original gang that issue together. An original gang has the warps of 32 neighbouring threads, one in
/// each slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Gang {
    /// Number of the original gang. Its first warp has the number `set` times the number of slices.
    pub set: u16,
    /// Slices whose warps are in it.
    pub mask: u8,
}

impl Gang {
    /// Warps in it.
    #[must_use]
    pub fn size(self) -> u32 {
        self.mask.count_ones()
    }
}

/// A gang that could issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GangView {
    /// The gang.
    pub gang: Gang,
    /// Next operation.
    pub pc: u32,
    /// When its first warp came to the SM: a number that grows with every warp.
    pub age: u64,
}

/// What a ganging unit may look at when it forms gangs: the warps of the SM, by number ([`GangTable::warp`]).
pub struct GangingView<'a> {
    /// Now.
    pub now: Cycle,
    /// Where every warp is, whether it waits, and whether it has ended.
    pub table: &'a WarpTable,
    /// What every warp could do next, or why it cannot.
    pub places: &'a [Place],
    /// Instructions each warp has issued.
    pub issued: &'a [u64],
}

/// Which warps of different slices issue in lockstep. One object per SM.
///
/// The [`GangTable`] says which warps form a gang; the SM reads it, and only this object changes it. Of the gangs whose
/// warps are all ready and not held back, the SM picks the one of lowest [`rank`](Ganging::rank). The gang issues for
/// all of its warps in the same cycle, and one fetch serves all of them. The schedulers of the slices issue the warps
/// that are in no gang and not held back.
///
/// The warps of a gang are always at the same operation: before the SM looks for a gang to issue, it has called
/// [`moved`](Ganging::moved) for every set with a warp that branched, began to wait, or ended. An SM in which nothing
/// moves sleeps; [`next_event`](Ganging::next_event) and [`can_change`](Ganging::can_change) keep it from sleeping over
/// a change.
pub trait Ganging: Send {
    /// Whether there are gangs at all; if not, the SM does not ask.
    fn is_active(&self) -> bool {
        true
    }

    /// A launch of a kernel begins, on an SM with this many warps.
    fn start_launch(&mut self, program: &Program, warps: usize) {
        let _ = (program, warps);
    }

    /// A block has come, with warps in these slices of a set that was empty.
    fn start(&mut self, gangs: &mut GangTable, set: usize, mask: u8) {
        gangs.set_parts(set, Parts::whole(mask));
    }

    /// Warps of a set have moved, wait, or have ended. A gang whose warps are no longer at the same operation splits,
    /// and warps that have ended leave their gang. Called in every cycle before gangs issue, and after everybody has
    /// issued.
    fn moved(&mut self, gangs: &mut GangTable, set: usize, view: &GangingView<'_>);

    /// A cycle in which gangs may issue; called once, after [`moved`](Ganging::moved).
    fn tick(&mut self, gangs: &mut GangTable, view: &GangingView<'_>) {
        let _ = (gangs, view);
    }

    /// When it next acts on its own, if nothing else happens. The SM does not sleep past this time.
    fn next_event(&self, gangs: &GangTable, now: Cycle) -> Option<Cycle> {
        let _ = (gangs, now);
        None
    }

    /// Whether it may act in one of the next cycles because of where warps are, although none of them moves. The SM
    /// does not sleep then.
    fn can_change(&self, gangs: &GangTable, view: &GangingView<'_>) -> bool {
        let _ = (gangs, view);
        false
    }

    /// The most gangs that issue in a cycle.
    fn per_cycle(&self) -> usize;

    /// The rank of a gang; the gang of lowest rank comes first.
    fn rank(&self, gang: &GangView) -> u64;

    /// A gang has issued, the `nth` of this cycle.
    fn issued(&mut self, gang: Gang, nth: usize) {
        let _ = (gang, nth);
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
