//! The ganging seam: which warps of different slices go in lock-step.

use crate::saved::Saved;

/// Warps of one original gang that go together. An original gang is the warps of 32 neighbouring threads, one in each
/// slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Gang {
    /// Number of the original gang: it holds the warps from `set` times the number of slices on.
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

/// What a ganging unit may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GangView {
    /// The gang.
    pub gang: Gang,
    /// Next operation.
    pub pc: u32,
    /// When its first warp came to the SM: a number that grows with every warp.
    pub age: u64,
}

/// What happens when the warps of a gang get their data from memory at different times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemorySplit {
    /// They wait for each other.
    #[default]
    None,
    /// Those that got it together go on as a gang of their own.
    Group,
    /// All go on alone.
    Impatient,
}

/// How warps of an original gang come together again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reform {
    /// Never.
    #[default]
    None,
    /// When they happen to be at the same operation. One original gang is looked at in a cycle, in turn, and two of its
    /// parts become one.
    Opportunistic,
    /// The same, and where branches meet they wait this many cycles for each other.
    Sync(u32),
}

/// Which warps of different slices go in lock-step. One object per SM.
pub trait Ganging: Send {
    /// Whether there are gangs at all.
    fn is_active(&self) -> bool {
        true
    }

    /// Gangs that issue in a cycle at most.
    fn per_cycle(&self) -> usize;

    /// Which gang goes first: the one of lowest rank.
    fn rank(&self, gang: &GangView) -> u64;

    /// A gang has issued, the `nth` of this cycle.
    fn issued(&mut self, gang: Gang, nth: usize) {
        let _ = (gang, nth);
    }

    /// What memory does to gangs.
    fn memory_split(&self) -> MemorySplit {
        MemorySplit::None
    }

    /// Whether gangs come together again.
    fn reform(&self) -> Reform {
        Reform::None
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
