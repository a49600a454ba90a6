//! The slots of an SM's warps: which are in use, since when, and what was issued from them.

use crate::saved;
use crate::seam::{WarpId, WarpSet};

/// The slots.
pub(in super::super) struct Slots {
    /// Warps of each scheduler that are in use.
    used: Vec<WarpSet>,
    ages: Vec<u64>,
    next_age: u64,
    issued: Vec<u64>,
    issued_threads: Vec<u64>,
}

saved!(Slots { values: used, ages, next_age, issued, issued_threads });

impl Slots {
    /// All free; slot `n` is of scheduler `n` modulo their number.
    pub(super) fn new(slots: usize, schedulers: usize) -> Self {
        Self {
            used: vec![WarpSet::new(slots); schedulers],
            ages: vec![0; slots],
            next_age: 0,
            issued: vec![0; slots],
            issued_threads: vec![0; slots],
        }
    }

    /// A slot is used by a warp that was not there before, or not any more.
    pub(super) fn set_used(&mut self, warp: WarpId, used: bool) {
        if used {
            self.ages[warp.index()] = self.next_age;
            self.next_age += 1;
            self.issued[warp.index()] = 0;
            self.issued_threads[warp.index()] = 0;
        }
        let scheduler = warp.index() % self.used.len();
        self.used[scheduler].set(warp, used);
    }

    /// Whether a slot is used.
    pub(super) fn is_used(&self, warp: WarpId) -> bool {
        self.used[warp.index() % self.used.len()].contains(warp)
    }

    /// A warp issues an instruction that is counted for this many threads.
    #[inline]
    pub(in super::super) fn count(&mut self, warp: WarpId, threads: u64) {
        self.issued[warp.index()] += 1;
        self.issued_threads[warp.index()] += threads;
    }

    /// Warps of a scheduler that are in use.
    #[inline]
    pub(in super::super) fn used(&self, scheduler: usize) -> &WarpSet {
        &self.used[scheduler]
    }

    /// Schedulers.
    #[inline]
    pub(in super::super) fn schedulers(&self) -> usize {
        self.used.len()
    }

    /// When each warp came: a number that grows with every warp.
    #[inline]
    pub(in super::super) fn ages(&self) -> &[u64] {
        &self.ages
    }

    /// Instructions every warp has issued.
    #[inline]
    pub(in super::super) fn issued(&self) -> &[u64] {
        &self.issued
    }

    /// The same for one, by warp and by thread.
    pub(in super::super) fn issued_by(&self, warp: WarpId) -> (u64, u64) {
        (self.issued[warp.index()], self.issued_threads[warp.index()])
    }
}
