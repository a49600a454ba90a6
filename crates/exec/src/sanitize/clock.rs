//! Who knows of whom: which accesses of other threads are ordered before what a thread does next.
//!
//! Every block counts epochs; one ends whenever threads of it synchronise. An access carries the epoch it was made in. A thread
//! knows a list of (threads, epoch): whatever those threads did up to that epoch is ordered before it. Most of it is common to
//! the block, since barriers order all its threads alike.

use std::sync::Arc;

/// Lanes of a row of 32 threads.
const ROW: u32 = 32;

/// All that some threads did up to an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// A row of 32 threads, counted through the grid; or a block, when `lanes` is 0: all its threads.
    pub(super) row: u32,
    pub(super) lanes: u32,
    pub(super) epoch: u32,
}

impl Known {
    /// Whether this says all that another says.
    fn covers(&self, other: &Self) -> bool {
        let is_wide = self.lanes == other.lanes || (other.lanes != 0 && self.lanes & other.lanes == other.lanes);
        self.row == other.row && (self.lanes == 0) == (other.lanes == 0) && is_wide && self.epoch >= other.epoch
    }
}

/// Adds to what is known.
pub(super) fn join(list: &mut Vec<Known>, more: &[Known]) {
    for known in more {
        if !list.iter().any(|old| old.covers(known)) {
            list.retain(|old| !known.covers(old));
            list.push(*known);
        }
    }
}

/// An access that is remembered: by which lanes of a row, when, and where in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) row: u32,
    pub(super) lanes: u32,
    /// 0: there is none.
    pub(super) epoch: u32,
    pub(super) pc: u32,
}

/// A thread that does something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Me {
    /// Its row, counted through the grid.
    pub(super) row: u32,
    pub(super) bit: u32,
    /// Its number in the block.
    pub(super) thread: u32,
}

/// What a fence of a thread orders.
#[derive(Clone, Debug)]
struct Fence {
    epoch: u32,
    barrier: u32,
    known: Option<Arc<Vec<Known>>>,
    is_wide: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    known: Option<Arc<Vec<Known>>>,
    fence: Option<Box<Fence>>,
}

/// The clocks of a resident block.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    pub(super) block: u32,
    rows: u32,
    /// The epoch.
    pub(super) now: u32,
    /// All threads know of each other up to this epoch.
    barrier: u32,
    /// What all threads know of other blocks.
    others: Arc<Vec<Known>>,
    threads: Vec<Thread>,
    /// By barrier: who has come to it, and what they know.
    pending: Vec<Vec<Known>>,
}

impl Clocks {
    pub(super) fn new(block: u32, threads: u32) -> Self {
        let rows = threads.div_ceil(ROW);
        let list = vec![Thread::default(); (rows * ROW) as usize];
        Self { block, rows, now: 1, threads: list, ..Self::default() }
    }

    /// The thread in a lane of a row of this block.
    pub(super) fn me(&self, row: u32, lane: u8) -> Me {
        Me { row: self.block * self.rows + row, bit: 1 << lane, thread: row * ROW + u32::from(lane) }
    }

    /// The lanes of an access that are not ordered before what a thread does now.
    #[inline]
    pub(super) fn unknown(&self, me: &Me, stamp: &Stamp) -> u32 {
        let mut left = if stamp.row == me.row { stamp.lanes & !me.bit } else { stamp.lanes };
        let block = stamp.row / self.rows;
        if left == 0 || (block == self.block && stamp.epoch <= self.barrier) {
            return 0;
        }
        let own = self.threads[me.thread as usize].known.iter().flat_map(|list| list.iter());
        for known in own.chain(self.others.iter()).filter(|known| stamp.epoch <= known.epoch) {
            match known.lanes {
                0 if known.row == block => return 0,
                lanes if lanes != 0 && known.row == stamp.row => left &= !lanes,
                _ => {}
            }
        }
        left
    }

    /// Threads come to a barrier, and wait there or do not.
    pub(super) fn arrive(&mut self, number: u32, threads: &[Me], waits: bool) {
        let index = number as usize;
        if self.pending.len() <= index {
            self.pending.resize_with(index + 1, Vec::new);
        }
        let now = self.now;
        let mut arrived = Vec::new();
        for me in threads {
            arrived.push(Known { row: me.row, lanes: me.bit, epoch: now });
            if let Some(list) = &self.threads[me.thread as usize].known {
                join(&mut arrived, list);
            }
        }
        join(&mut self.pending[index], &merged(&arrived));
        self.now += u32::from(!waits);
    }

    /// A barrier is complete; `waiting` leave it. All threads of the block have come, or as many as were asked for.
    pub(super) fn complete(&mut self, number: u32, is_whole: bool, waiting: &[Me]) {
        let Some(pending) = self.pending.get_mut(number as usize).map(std::mem::take) else { return };
        if is_whole {
            let rows = self.block * self.rows..(self.block + 1) * self.rows;
            let mut others = (*self.others).clone();
            let is_other = |known: &&Known| match known.lanes {
                0 => known.row != self.block,
                _ => !rows.contains(&known.row),
            };
            let fresh: Vec<Known> = pending.iter().filter(is_other).copied().collect();
            if !fresh.is_empty() {
                join(&mut others, &fresh);
                self.others = Arc::new(others);
            }
            self.barrier = self.now;
            self.threads.iter_mut().for_each(|thread| thread.known = None);
        } else {
            self.learn(waiting, &pending);
        }
        self.now += 1;
    }

    /// Threads of a warp wait for each other.
    pub(super) fn meet(&mut self, threads: &[Me]) {
        let now = self.now;
        let mut all = Vec::new();
        for me in threads {
            all.push(Known { row: me.row, lanes: me.bit, epoch: now });
        }
        let mut all = merged(&all);
        for me in threads {
            if let Some(list) = &self.threads[me.thread as usize].known {
                join(&mut all, list);
            }
        }
        self.learn(threads, &all);
        self.now += 1;
    }

    fn learn(&mut self, threads: &[Me], more: &[Known]) {
        let fresh = Arc::new(more.to_vec());
        for me in threads {
            let known = &mut self.threads[me.thread as usize].known;
            match known {
                None => *known = Some(Arc::clone(&fresh)),
                Some(list) if more.iter().all(|new| list.iter().any(|old| old.covers(new))) => {}
                Some(list) => {
                    let mut own = (**list).clone();
                    join(&mut own, more);
                    *known = Some(if own.len() == more.len() { Arc::clone(&fresh) } else { Arc::new(own) });
                }
            }
        }
    }

    /// Threads execute a fence, for all threads of the grid or of the block.
    pub(super) fn fence(&mut self, threads: &[Me], is_wide: bool) {
        let (epoch, barrier) = (self.now, self.barrier);
        for me in threads {
            let thread = &mut self.threads[me.thread as usize];
            thread.fence = Some(Box::new(Fence { epoch, barrier, known: thread.known.clone(), is_wide }));
        }
        self.now += 1;
    }

    /// What a thread tells whoever sees its next write, and whether threads of other blocks learn it.
    pub(super) fn release(&self, me: &Me) -> Option<(bool, Vec<Known>)> {
        let fence = self.threads[me.thread as usize].fence.as_ref()?;
        let mut list = (*self.others).clone();
        join(&mut list, &[Known { row: me.row, lanes: me.bit, epoch: fence.epoch }]);
        if fence.barrier > 0 {
            join(&mut list, &[Known { row: self.block, lanes: 0, epoch: fence.barrier }]);
        }
        fence.known.iter().for_each(|known| join(&mut list, known));
        Some((fence.is_wide, list))
    }

    /// A thread sees what another has told.
    pub(super) fn acquire(&mut self, me: &Me, list: &[Known]) {
        self.learn(&[*me], list);
    }
}

/// Lanes of one row and epoch as one.
fn merged(list: &[Known]) -> Vec<Known> {
    let mut out: Vec<Known> = Vec::new();
    for known in list {
        match out.iter_mut().find(|old| old.row == known.row && old.epoch == known.epoch && old.lanes != 0) {
            Some(old) if known.lanes != 0 => old.lanes |= known.lanes,
            _ => out.push(*known),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(me: Me, epoch: u32) -> Stamp {
        Stamp { row: me.row, lanes: me.bit, epoch, pc: 0 }
    }

    #[test]
    fn a_barrier_orders_a_block_and_a_meeting_its_lanes() {
        let mut clocks = Clocks::new(3, 64);
        let (a, b, c) = (clocks.me(0, 0), clocks.me(0, 1), clocks.me(1, 0));
        assert_ne!(clocks.unknown(&b, &stamp(a, 1)), 0);
        clocks.meet(&[a, b]);
        assert_eq!(clocks.unknown(&b, &stamp(a, 1)), 0, "they have met");
        assert_ne!(clocks.unknown(&b, &stamp(a, 2)), 0, "not what came after");
        assert_ne!(clocks.unknown(&c, &stamp(a, 1)), 0, "another was not there");
        clocks.arrive(0, &[a, b, c], true);
        clocks.complete(0, true, &[]);
        assert_eq!(clocks.unknown(&c, &stamp(a, 2)), 0);
        assert_ne!(clocks.unknown(&c, &stamp(a, 3)), 0);
    }

    #[test]
    fn a_fence_and_an_atomic_order_blocks() {
        let (mut from, mut to) = (Clocks::new(0, 32), Clocks::new(1, 32));
        let (a, b, reader) = (from.me(0, 0), from.me(0, 1), to.me(0, 5));
        from.arrive(0, &[a, b], true);
        from.complete(0, true, &[a, b]);
        assert!(from.release(&a).is_none(), "without a fence nothing is told");
        from.fence(&[a], true);
        let (is_wide, list) = from.release(&a).unwrap();
        assert!(is_wide);
        assert_ne!(to.unknown(&reader, &stamp(b, 1)), 0);
        to.acquire(&reader, &list);
        assert_eq!(to.unknown(&reader, &stamp(b, 1)), 0, "what was before the barrier");
        assert_eq!(to.unknown(&reader, &stamp(a, 2)), 0, "what the thread did before its fence");
        assert_ne!(to.unknown(&reader, &stamp(b, 2)), 0);
        to.arrive(0, &[reader], true);
        to.complete(0, true, &[reader]);
        assert_eq!(to.unknown(&to.me(0, 9), &stamp(a, 2)), 0, "the block has it from its thread");
    }

    #[test]
    fn a_barrier_of_some_orders_those_who_wait() {
        let mut clocks = Clocks::new(0, 64);
        let (producer, consumer, third) = (clocks.me(0, 0), clocks.me(1, 0), clocks.me(1, 1));
        clocks.arrive(1, &[producer], false);
        clocks.arrive(1, &[consumer], true);
        clocks.complete(1, false, &[consumer]);
        assert_eq!(clocks.unknown(&consumer, &stamp(producer, 1)), 0);
        assert_ne!(clocks.unknown(&consumer, &stamp(producer, 2)), 0, "after it has arrived");
        assert_ne!(clocks.unknown(&producer, &stamp(consumer, 1)), 0, "who only arrives learns nothing");
        assert_ne!(clocks.unknown(&third, &stamp(producer, 1)), 0);
    }
}
