//! Which warps are in gangs, which wait for others where branches meet, and which may issue by themselves.

use crate::kernel::TimedKernel;
use crate::packet::Cycle;
use crate::saved;
use crate::seam::{Reform, WarpId, WarpSet};

/// The warps of an SM, as far as gangs are concerned.
pub(super) struct Members {
    /// In a gang.
    ganged: WarpSet,
    /// May issue by themselves: in no gang, and not held.
    free: WarpSet,
    /// Wait for others where branches meet, and until when.
    held: WarpSet,
    until: Vec<Cycle>,
    /// Instructions a warp had issued when it last began to wait.
    waited: Vec<u64>,
    /// Operations where branches meet, if that is where warps wait.
    meets: Vec<bool>,
}

saved!(Members { values: ganged, free, held, until, waited; fixed: meets });

impl Members {
    /// Nobody is in a gang.
    pub(super) fn new(kernel: &TimedKernel<'_>, reform: Reform, slots: usize) -> Self {
        let mut free = WarpSet::new(slots);
        free.words_mut().fill(u64::MAX);
        let mut meets = Vec::new();
        if matches!(reform, Reform::Sync(_)) {
            meets = vec![false; kernel.ops.len() + 1];
            for op in &kernel.program.ops {
                if let Some(meets) = meets.get_mut(op.reconverge as usize) {
                    *meets = true;
                }
            }
        }
        let (until, waited) = (vec![0; slots], vec![0; slots]);
        Self { ganged: WarpSet::new(slots), free, held: WarpSet::new(slots), until, waited, meets }
    }

    /// Warps in a gang.
    #[inline]
    pub(super) fn ganged(&self) -> &WarpSet {
        &self.ganged
    }

    /// Warps that may issue by themselves.
    #[inline]
    pub(super) fn free(&self) -> &WarpSet {
        &self.free
    }

    /// Warps that wait for others.
    #[inline]
    pub(super) fn held(&self) -> &WarpSet {
        &self.held
    }

    /// A warp is in a gang, or in none.
    pub(super) fn set_ganged(&mut self, warp: WarpId, ganged: bool) {
        self.ganged.set(warp, ganged);
        self.free.set(warp, !ganged && !self.held.contains(warp));
    }

    /// A warp waits where branches meet, or no more.
    fn set_held(&mut self, warp: WarpId, held: bool) {
        self.held.set(warp, held);
        self.free.set(warp, !held && !self.ganged.contains(warp));
    }

    /// A warp waits for nobody.
    pub(super) fn release(&mut self, warp: WarpId) {
        self.set_held(warp, false);
    }

    /// A warp is at an operation, with others of its original gang elsewhere, and has issued so many instructions: it waits up to
    /// `until` if branches meet there, once for each time it comes.
    pub(super) fn comes(&mut self, warp: WarpId, pc: u32, issued: u64, until: Cycle) {
        if !self.meets[pc as usize] {
            self.release(warp);
        } else if !self.held.contains(warp) && self.waited[warp.index()] != issued {
            self.until[warp.index()] = until;
            self.waited[warp.index()] = issued;
            self.set_held(warp, true);
        }
    }

    /// Nobody waits longer than it should.
    pub(super) fn let_go(&mut self, now: Cycle) {
        for n in 0..self.held.word_count() {
            let mut word = self.held.word(n);
            while word != 0 {
                let warp = WarpId::at(n * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
                if self.until[warp.index()] <= now {
                    self.release(warp);
                }
            }
        }
    }

    /// When somebody has waited long enough.
    pub(super) fn next_release(&self) -> Option<Cycle> {
        self.held.iter().map(|warp| self.until[warp.index()]).min()
    }
}
