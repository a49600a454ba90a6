//! The order in which warps came to the SM, kept as bits.

use raddle_sim::saved;
use raddle_sim::seam::{SchedulerView, WarpId, WarpSet};

/// Warps this is kept for; of larger ones ages are compared.
const WARPS: usize = u64::BITS as usize;

/// The order in which warps came.
pub(super) struct Arrivals {
    /// Of each warp, those that came before it.
    older: [u64; WARPS],
    present: u64,
}

saved!(Arrivals { values: present; parts: older });

impl Arrivals {
    /// Nobody has come.
    pub(super) fn new() -> Self {
        Self { older: [0; WARPS], present: 0 }
    }

    /// A warp came, or its slot was freed.
    pub(super) fn changed(&mut self, warp: WarpId, present: bool) {
        if warp.index() >= WARPS {
            return;
        }
        let bit = 1 << warp.index();
        self.present &= !bit;
        self.older.iter_mut().for_each(|older| *older &= !bit);
        if present {
            self.older[warp.index()] = self.present;
            self.present |= bit;
        }
    }

    /// The member of a set that came first.
    pub(super) fn first(&self, view: &SchedulerView<'_>, set: &WarpSet) -> Option<WarpId> {
        if set.word_count() > 1 {
            return set.iter().min_by_key(|warp| view.age[warp.index()]);
        }
        self.first_of(set.word(0))
    }

    /// The same for a set as bits.
    #[inline]
    fn first_of(&self, set: u64) -> Option<WarpId> {
        let mut left = set;
        let mut first = None;
        while left != 0 {
            let warp = left.trailing_zeros() as usize % WARPS;
            first = Some(WarpId(warp as u16));
            left &= self.older[warp];
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_any_set_is_found() {
        let mut arrivals = Arrivals::new();
        let came = [5, 0, 63, 7, 2, 31];
        came.iter().for_each(|warp| arrivals.changed(WarpId(*warp), true));
        // 0 leaves, and another warp takes its slot.
        arrivals.changed(WarpId(0), false);
        arrivals.changed(WarpId(0), true);
        let order = [5, 63, 7, 2, 31, 0];
        for (n, first) in order.iter().enumerate() {
            let set: u64 = order[n..].iter().fold(0, |set, warp| set | 1 << warp);
            assert_eq!(arrivals.first_of(set), Some(WarpId(*first)));
        }
    }
}
