//! The lanes of a warp as splits, and the convergence barriers at which they wait for each other.

use raddle_exec::decode::Ends;
use raddle_exec::op::NO_PC;
use raddle_exec::splits::Group;
use serde::{Deserialize, Serialize};

/// Rounds of a waiting loop in a row, with no lane leaving, after which all lanes are let go that wait for lanes
/// inside.
const LONG: u32 = 1024;

/// What a split does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// It can run.
    Ready,
    /// It waits at a barrier of the thread block.
    Barrier(u8),
    /// It waits for lanes of its warp, at the same operation or at any of this kind.
    Sync { wanted: u32, anywhere: bool },
}

/// Lanes with a program counter of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Split {
    pub pc: u32,
    pub mask: u32,
    /// Calls it is inside of.
    pub depth: u32,
    pub state: State,
    /// The convergence barrier its lanes come to next.
    barrier: Option<usize>,
}

/// A convergence barrier: lanes that have diverged wait here until all of them have come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Convergence {
    pc: u32,
    depth: u32,
    /// Lanes that take part; none when it is free.
    members: u32,
    /// Those of them that have come.
    waiting: u32,
    /// Those that were inside a waiting loop when they diverged: others may still be inside because of them.
    inside: u32,
    /// Those that waited when another member last went round a waiting loop.
    seen: u32,
    /// The barrier that lanes come to after it.
    outer: Option<usize>,
}

impl Convergence {
    fn is_at(&self, pc: u32, depth: u32) -> bool {
        (self.pc, self.depth) == (pc, depth)
    }
}

/// The lanes of a warp.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Parts {
    /// Lanes that have not ended.
    pub live: u32,
    /// The last one that is ready runs.
    pub splits: Vec<Split>,
    /// Places of barriers that are free are used again.
    barriers: Vec<Convergence>,
    /// Rounds of waiting loops since lanes last left one.
    rounds: u32,
    /// Lanes that were let go since last asked.
    let_go: u32,
}

impl Parts {
    /// These lanes at the start of the kernel.
    pub(super) fn new(mask: u32) -> Self {
        let start = Split { pc: 0, mask, depth: 0, state: State::Ready, barrier: None };
        Self { live: mask, splits: vec![start], barriers: Vec::new(), rounds: 0, let_go: 0 }
    }

    /// Splits and convergence barriers.
    pub(super) fn count(&self) -> usize {
        self.splits.len() + self.barriers.iter().filter(|b| b.members != 0).count()
    }

    /// The split that runs.
    pub(super) fn running(&self) -> Option<usize> {
        self.splits.iter().rposition(|s| s.state == State::Ready)
    }

    /// Where lanes of a split wait for others next, or [`NO_PC`].
    pub(super) fn meeting(&self, split: usize) -> u32 {
        self.splits[split].barrier.map_or(NO_PC, |b| self.barriers[b].pc)
    }

    /// Whether a split has come to its convergence barrier.
    pub(super) fn is_there(&self, split: usize) -> bool {
        let Split { pc, depth, barrier, .. } = self.splits[split];
        barrier.is_some_and(|b| self.barriers[b].is_at(pc, depth))
    }

    /// A split has come to its convergence barrier and waits there, or continues with the others when it was the last.
    pub(super) fn arrive(&mut self, split: usize) {
        let Split { mask, barrier, .. } = self.splits.remove(split);
        if let Some(barrier) = barrier {
            self.barriers[barrier].waiting |= mask;
        }
        self.settle();
    }

    /// A split diverges: each group continues at its own place, the last one first, those that jump back last. They
    /// wait for each other at `meeting`. `is_inside` says that they are inside a waiting loop.
    pub(super) fn diverge(&mut self, split: usize, groups: &[Group], meeting: u32, is_inside: bool) {
        let old = self.splits.remove(split);
        let barrier = self.barrier_at(&old, meeting);
        if let Some(barrier) = barrier.filter(|_| is_inside) {
            self.barriers[barrier].inside |= old.mask;
        }
        for &Group { pc, mask, depth } in groups.iter().filter(|g| g.mask != 0) {
            match barrier.map(|b| &mut self.barriers[b]) {
                Some(here) if here.is_at(pc, depth) => here.waiting |= mask,
                _ => {
                    let goes_back = depth == old.depth && pc <= old.pc;
                    let place = if goes_back { 0 } else { self.splits.len() };
                    self.splits.insert(place, Split { pc, mask, depth, state: State::Ready, barrier });
                }
            }
        }
        self.settle();
    }

    /// Lanes leave a waiting loop.
    pub(super) fn leave(&mut self) {
        self.rounds = 0;
    }

    /// The barrier for a split that diverges and reconverges at `pc`: the one it comes to anyway, or a new one.
    fn barrier_at(&mut self, split: &Split, pc: u32) -> Option<usize> {
        let outer = split.barrier;
        if pc == NO_PC || outer.is_some_and(|b| self.barriers[b].is_at(pc, split.depth)) {
            return outer;
        }
        let new = Convergence { pc, depth: split.depth, members: split.mask, waiting: 0, inside: 0, seen: 0, outer };
        let free = self.barriers.iter().position(|b| b.members == 0);
        let place = free.unwrap_or(self.barriers.len());
        match free {
            Some(place) => self.barriers[place] = new,
            None => self.barriers.push(new),
        }
        Some(place)
    }

    /// Lanes of a split end. Nobody waits for them any more.
    pub(super) fn exit(&mut self, split: usize, mask: u32) {
        self.live &= !mask;
        self.splits[split].mask &= !mask;
        if self.splits[split].mask == 0 {
            self.splits.remove(split);
        }
        self.barriers.iter_mut().for_each(|b| b.members &= !mask);
        self.settle();
    }

    /// A split lets the others that are ready run first.
    pub(super) fn give_way(&mut self, split: usize) {
        let split = self.splits.remove(split);
        self.splits.insert(0, split);
    }

    /// Opens the barriers at which everybody waits.
    fn settle(&mut self) {
        while let Some(n) = self.barriers.iter().position(|b| b.members != 0 && b.members == b.waiting) {
            let Convergence { pc, depth, members: mask, inside, outer, .. } = self.barriers[n];
            (self.barriers[n].members, self.barriers[n].waiting) = (0, 0);
            match outer.map(|o| &mut self.barriers[o]) {
                Some(outer) if outer.is_at(pc, depth) => {
                    outer.waiting |= mask;
                    outer.inside |= inside;
                }
                _ => self.splits.push(Split { pc, mask, depth, state: State::Ready, barrier: outer }),
            }
        }
        if self.barriers.iter().all(|b| b.members == 0) {
            self.barriers.clear();
            self.rounds = 0;
        }
    }

    /// Lanes that wait at a barrier continue without the others, which no longer wait for them either.
    fn let_go(&mut self, barrier: usize, lanes: u32) {
        let Convergence { pc, depth, .. } = self.barriers[barrier];
        let mut next = Some(barrier);
        // Where nested branches reconverge at one place, the lanes have come to all of these barriers.
        while let Some(here) = next.map(|n| &mut self.barriers[n]).filter(|b| b.is_at(pc, depth)) {
            here.members &= !lanes;
            here.waiting &= !lanes;
            here.inside &= !lanes;
            next = here.outer;
        }
        self.rounds = 0;
        self.let_go += lanes.count_ones();
        self.splits.push(Split { pc, mask: lanes, depth, state: State::Ready, barrier: next });
        self.settle();
    }

    /// Lanes that were let go since this was last asked.
    pub(super) fn take_let_go(&mut self) -> u64 {
        std::mem::take(&mut self.let_go).into()
    }

    /// Lanes go round a waiting loop, perhaps because of others that were inside and now wait for them. Those are let
    /// go when they have waited for two rounds.
    pub(super) fn go_round(&mut self, lanes: u32) {
        self.rounds += 1;
        let inside = self.splits.iter().find(|s| s.mask & lanes != 0).and_then(|s| s.barrier);
        let mut next = inside;
        while let Some(n) = next {
            let here = &mut self.barriers[n];
            let (waiting, seen) = (here.waiting & here.inside, here.seen);
            (here.seen, next) = (waiting, here.outer);
            if waiting & seen != 0 {
                self.let_go(n, waiting);
                return;
            }
        }
        if self.rounds >= LONG {
            let mut chain = std::iter::successors(inside, |n| self.barriers[*n].outer);
            if let Some(n) = chain.find(|n| self.barriers[*n].waiting != 0) {
                self.let_go(n, self.barriers[n].waiting);
            }
        }
    }

    /// Lets lanes continue that wait at a convergence barrier, when no split can run: at the end of the kernel, because
    /// a barrier of the block may wait for them; and where others of the warp wait for them at a warp-wide operation.
    /// False when there are none.
    pub(super) fn unblock(&mut self, ends: &Ends) -> bool {
        let wanted = self.splits.iter().fold(0, |all, s| match s.state {
            State::Sync { wanted, .. } => all | wanted,
            _ => all,
        });
        let at_end = self.barriers.iter().position(|b| b.waiting != 0 && ends.contains(b.pc));
        let found = at_end.or_else(|| self.barriers.iter().position(|b| b.waiting & wanted != 0));
        if let Some(n) = found {
            self.let_go(n, self.barriers[n].waiting);
        }
        found.is_some()
    }

    /// Splits that waited continue after their operation, those at one place as one. The running split keeps running.
    pub(super) fn release(&mut self, mut is_free: impl FnMut(&Split) -> bool) {
        let mut place = 0;
        for n in 0..self.splits.len() {
            if is_free(&self.splits[n]) {
                let split = self.splits.remove(n);
                self.splits.insert(place, Split { pc: split.pc + 1, state: State::Ready, ..split });
                place += 1;
            }
        }
        let alike = |a: &Split, b: &Split| {
            (a.state, b.state) == (State::Ready, State::Ready)
                && (a.pc, a.depth, a.barrier) == (b.pc, b.depth, b.barrier)
        };
        for n in (0..place).rev() {
            let split = self.splits[n];
            if let Some(other) = self.splits[n + 1..].iter_mut().rev().find(|o| alike(&split, o)) {
                other.mask |= split.mask;
                self.splits.remove(n);
            }
        }
    }

    /// Lanes that wait at the same warp-wide operation and whose partners have all come: the operation and the lanes.
    pub(super) fn complete_sync(&self) -> Option<(u32, u32)> {
        let sync =
            |s: &Split| if let State::Sync { wanted, anywhere } = s.state { Some((wanted, anywhere)) } else { None };
        self.splits.iter().find_map(|split| {
            let (wanted, anywhere) = sync(split)?;
            let together = |o: &&Split| sync(o).is_some_and(|(_, any)| o.pc == split.pc || anywhere && any);
            let here = self.splits.iter().filter(together).fold(0, |lanes, o| lanes | o.mask);
            // With the one that waits even where it does not name itself: it continues once those it names are gone.
            let named = wanted | split.mask;
            let taken = self.splits.iter().filter(together).filter(|o| o.mask & named != 0);
            (wanted & self.live & !here == 0).then(|| (split.pc, taken.fold(0, |lanes, o| lanes | o.mask)))
        })
    }
}
