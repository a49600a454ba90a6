//! A warp of the functional machine.

use crate::core::{Home, Lanes};
use crate::lanes::LANES;
use crate::splits::Splits;
use std::sync::Arc;

/// A thread per lane.
pub(super) type Homes = Arc<[Home; LANES]>;

/// A warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub(super) row: u32,
    /// First lane of the warp in its row.
    pub(super) base: u32,
    /// A thread per lane, when they are not the row's.
    pub(super) homes: Option<Homes>,
    /// Its splits.
    pub(super) parts: Splits,
    pub(super) patience: Patience,
}

/// Atomics of a turn.
const ATOMICS: u32 = 100;

/// How long threads have waited to reconverge with others that do not come, perhaps because those wait for them, as for
/// a lock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    /// Turns that others have used up meanwhile.
    turns: u32,
    /// The threads that waited after the last one.
    waiting: u32,
    /// Whether others have used atomics meanwhile, as those who wait for a lock do.
    has_atomics: bool,
    /// Atomics in this turn.
    atomics: u32,
    /// Threads have been let go, and the warp has not come together since.
    pub(super) is_spinning: bool,
}

impl Patience {
    /// The warp has executed an atomic. Whether that is enough for a turn: it may be spinning.
    pub(super) fn count_atomic(&mut self) -> bool {
        self.has_atomics = true;
        self.atomics += 1;
        self.atomics >= ATOMICS
    }

    /// Turns after which threads are let go. A long loop is not a reason: programs rely on warps that reconverge.
    fn limit(self) -> u32 {
        match (self.is_spinning, self.has_atomics) {
            (true, _) => 1,
            (false, true) => 4,
            (false, false) => 20,
        }
    }
}

impl Warp {
    pub(super) fn new(row: u32, base: u32, mask: u32, homes: Option<Homes>) -> Self {
        Self { row, base, homes, parts: Splits::new(mask), patience: Patience::default() }
    }

    /// Its turn is over, and it could have continued: other splits get theirs.
    pub(super) fn end_turn(&mut self) {
        let (waiting, patience) = (self.parts.waiting(), &mut self.patience);
        patience.atomics = 0;
        if waiting == 0 || waiting != patience.waiting {
            let is_spinning = patience.is_spinning && (waiting != 0 || self.parts.splits.len() > 1);
            *patience = Patience { waiting, is_spinning, ..Patience::default() };
        } else {
            patience.turns += 1;
        }
        if waiting != 0 && patience.turns >= patience.limit() {
            self.parts.let_go();
            *patience = Patience { is_spinning: true, ..Patience::default() };
        }
        self.parts.rotate();
    }

    /// Puts all threads back to the start of the kernel.
    pub(super) fn restart(&mut self) {
        self.parts.restart();
        self.patience = Patience::default();
    }

    /// Whose registers the warp works on, given its own homes (taken out so that the warp may
    /// change meanwhile).
    pub(super) fn lanes(row: u32, homes: Option<&Homes>) -> Lanes<'_> {
        homes.map_or(Lanes::Row(row), |h| Lanes::Gathered(h))
    }
}
