//! The splits of a diverged warp, and where they reconverge.
//!
//! The order is that of a reconvergence stack: the split made last runs first. Unlike with a stack, any split may run
//! when the others wait, so that threads of one warp that wait for each other at a barrier all get there.
//!
//! Splits may also reconverge earlier, at a likely-convergence point. A split that gathers there takes in those that
//! arrive, and runs when no split is left above it.
//!
//! The user decides what a set of threads is: the lanes of a warp, or all threads of a block.

use crate::core::lanes_in;
use crate::decode::Ends;
use crate::op::NO_PC;
use raddle_ptx::num::fit;

/// No join, no split that gathers.
const NONE: u32 = u32::MAX;

/// A set of threads.
pub trait Threads: Copy + PartialEq + std::fmt::Debug {
    /// No thread.
    const NOBODY: Self;

    /// Whether there is none.
    fn is_empty(self) -> bool {
        self == Self::NOBODY
    }

    /// Those of both.
    #[must_use]
    fn with(self, others: Self) -> Self;

    /// Those that are not among `others`.
    #[must_use]
    fn without(self, others: Self) -> Self;
}

impl Threads for u32 {
    const NOBODY: Self = 0;

    #[inline]
    fn with(self, others: Self) -> Self {
        self | others
    }

    #[inline]
    fn without(self, others: Self) -> Self {
        self & !others
    }
}

/// What a split does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum State {
    /// It can run.
    Ready,
    /// It waits at a barrier of the thread block.
    Barrier(u8),
    /// It waits for these lanes of its warp.
    Sync(u32),
    /// It takes in splits that come to its place, under this number.
    Gathers(u32),
}

/// A part of a diverged warp with its own program counter.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Split<M = u32> {
    /// Next operation.
    pub pc: u32,
    /// Threads.
    pub mask: M,
    /// Calls it is inside of.
    pub depth: u32,
    /// What it does.
    pub state: State,
    /// Number of the join it comes to.
    pub join: u32,
    /// Number of the split that gathers it at its likely-convergence point.
    likely: u32,
}

impl<M: Threads> Split<M> {
    fn can_run(&self) -> bool {
        match self.state {
            State::Ready => true,
            State::Gathers(_) => !self.mask.is_empty(),
            State::Barrier(_) | State::Sync(_) => false,
        }
    }
}

/// Threads that take the same path.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Group<M = u32> {
    /// Where they go.
    pub pc: u32,
    /// The threads.
    pub mask: M,
    /// Calls they are inside of.
    pub depth: u32,
}

/// Adds the lanes of `active` to `groups`, those with the same target together.
pub fn add_by_target(groups: &mut Vec<Group>, active: u32, targets: &[u32; 32], depth: u32) {
    let start = groups.len();
    for lane in lanes_in(active) {
        match groups[start..].iter_mut().find(|group| group.pc == targets[lane]) {
            Some(group) => group.mask |= 1 << lane,
            None => groups.push(Group { pc: targets[lane], mask: 1 << lane, depth }),
        }
    }
}

/// Where threads that diverge at a branch reconverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Meeting {
    /// At the latest; [`NO_PC`] when nowhere.
    pub surely: u32,
    /// Probably, and before that; [`NO_PC`] when nowhere.
    pub likely: u32,
}

impl Meeting {
    /// At one place only.
    #[must_use]
    pub fn at(surely: u32) -> Self {
        Self { surely, likely: NO_PC }
    }
}

/// A place where splits of a warp reconverge.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Join<M> {
    pc: u32,
    depth: u32,
    /// Threads to wait for.
    expected: M,
    /// Threads that have come.
    arrived: M,
    /// The next join of the split that continues here.
    parent: u32,
    /// The number of the split that gathers the one that continues here.
    likely: u32,
}

/// A warp as splits.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Splits<M = u32> {
    /// Threads it starts with.
    all: M,
    /// Threads that have not exited.
    pub live: M,
    /// The last one runs first.
    pub splits: Vec<Split<M>>,
    joins: Vec<Join<M>>,
    /// Splits that gather.
    gathering: u32,
    /// Number of the next split that gathers.
    next: u32,
}

impl<M: Threads> Splits<M> {
    /// A warp of these threads at the start of the kernel.
    #[must_use]
    pub fn new(mask: M) -> Self {
        let mut warp = Self { all: mask, live: mask, splits: Vec::new(), joins: Vec::new(), gathering: 0, next: 0 };
        warp.restart();
        warp
    }

    /// Puts all threads back to the start of the kernel.
    pub fn restart(&mut self) {
        self.live = self.all;
        self.joins.clear();
        self.splits.clear();
        self.gathering = 0;
        let state = State::Ready;
        self.splits.push(Split { pc: 0, mask: self.all, depth: 0, state, join: NONE, likely: NONE });
    }

    /// Whether every thread has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.splits.is_empty() && self.joins.is_empty()
    }

    /// Entries that a reconvergence stack would have: the splits, and the joins where they reconverge.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.splits.len() + self.joins.len()
    }

    /// Whether a split can run.
    #[must_use]
    pub fn can_run(&self) -> bool {
        self.splits.iter().any(Split::can_run)
    }

    /// The split to run next. A split that gathers is next when no other is above it, or when all of those wait.
    pub fn ready(&mut self) -> Option<usize> {
        if self.gathering == 0 {
            return self.splits.iter().rposition(|s| s.state == State::Ready);
        }
        while let Some(top) = self.splits.last()
            && matches!(top.state, State::Gathers(_))
            && top.mask.is_empty()
        {
            self.splits.pop();
            self.gathering -= 1;
        }
        let found = self.splits.iter().rposition(Split::can_run)?;
        if self.splits[found].state != State::Ready {
            self.splits[found].state = State::Ready;
            self.gathering -= 1;
        }
        Some(found)
    }

    /// Where a split joins others, and at which call depth.
    #[inline]
    #[must_use]
    pub fn join_of(&self, split: usize) -> (u32, u32) {
        match self.joins.get(self.splits[split].join as usize) {
            Some(j) => (j.pc, j.depth),
            None => (NO_PC, 0),
        }
    }

    /// Where a split is gathered, and at which call depth, if another split gathers it.
    #[inline]
    #[must_use]
    pub fn likely_of(&self, split: usize) -> Option<(u32, u32)> {
        if self.gathering == 0 {
            return None;
        }
        self.gatherer(self.splits[split].likely).map(|n| (self.splits[n].pc, self.splits[n].depth))
    }

    /// The split that gathers under a number.
    fn gatherer(&self, number: u32) -> Option<usize> {
        self.splits.iter().position(|s| s.state == State::Gathers(number))
    }

    /// Whether a split at `pc` has to stop there to reconverge with others.
    #[inline]
    #[must_use]
    pub fn meets(&self, split: usize, pc: u32, depth: u32) -> bool {
        self.join_of(split) == (pc, depth) || self.likely_of(split) == Some((pc, depth))
    }

    /// The next place after `pc`, without branches between, where a split may reconverge with others.
    #[inline]
    #[must_use]
    pub fn next_meeting(&self, split: usize, pc: u32) -> u32 {
        let (join, _) = self.join_of(split);
        match self.likely_of(split) {
            Some((likely, _)) if likely > pc && (likely < join || join <= pc) => likely,
            _ => join,
        }
    }

    /// A split has come to where it reconverges with others: it waits there, or continues when it was the last.
    pub fn arrive(&mut self, split: usize) {
        let s = self.splits[split];
        if self.join_of(split) == (s.pc, s.depth) {
            self.splits.remove(split);
            let join = &mut self.joins[s.join as usize];
            join.arrived = join.arrived.with(s.mask);
        } else if let Some(gatherer) = self.gatherer(s.likely) {
            self.splits[gatherer].mask = self.splits[gatherer].mask.with(s.mask);
            self.splits.remove(split);
        }
        self.settle();
    }

    /// Divides a split: each of these continues with the same reconvergence points. Returns the first of them; the last
    /// runs first.
    pub fn divide(&mut self, split: usize, into: impl IntoIterator<Item = (Group<M>, State)>) -> usize {
        let old = self.splits.remove(split);
        let start = self.splits.len();
        let parts = into.into_iter().filter(|(group, _)| !group.mask.is_empty());
        self.splits.extend(parts.map(|(Group { pc, mask, depth }, state)| Split { pc, mask, depth, state, ..old }));
        start
    }

    /// A split diverges: each group of threads goes to its own place and call depth, the last group first. They
    /// reconverge at `meeting`, unless the split joins others there anyway.
    pub fn diverge(&mut self, split: usize, groups: &[Group<M>], meeting: Meeting) {
        let old = self.splits.remove(split);
        let (mut join, mut likely) = (old.join, old.likely);
        let outer = self.joins.get(join as usize);
        let same = outer.is_some_and(|j| j.pc == meeting.surely && j.depth == old.depth);
        if meeting.surely != NO_PC && !same {
            join = fit(self.joins.len());
            let (pc, depth, expected, parent) = (meeting.surely, old.depth, old.mask, old.join);
            self.joins.push(Join { pc, depth, expected, arrived: M::NOBODY, parent, likely });
            // The threads are expected here: nobody outside may take them in before.
            likely = NONE;
        }
        if meeting.likely != NO_PC && meeting.likely != meeting.surely {
            let carried = self.gatherer(likely).map(|n| (self.splits[n].pc, self.splits[n].depth));
            if carried != Some((meeting.likely, old.depth)) {
                let (pc, state) = (meeting.likely, State::Gathers(self.next));
                self.splits.push(Split { pc, mask: M::NOBODY, depth: old.depth, state, join, likely });
                likely = self.next;
                self.next += 1;
                self.gathering += 1;
            }
        }
        for &Group { pc, mask, depth } in groups.iter().filter(|g| !g.mask.is_empty()) {
            match self.joins.get_mut(join as usize) {
                Some(j) if j.pc == pc && j.depth == depth => j.arrived = j.arrived.with(mask),
                _ => {
                    let gatherer = if self.gathering == 0 { None } else { self.gatherer(likely) };
                    match gatherer.map(|n| &mut self.splits[n]) {
                        Some(g) if (g.pc, g.depth) == (pc, depth) => g.mask = g.mask.with(mask),
                        _ => self.splits.push(Split { pc, mask, depth, state: State::Ready, join, likely }),
                    }
                }
            }
        }
        self.settle();
    }

    /// Threads end.
    pub fn exit(&mut self, split: usize, mask: M) {
        self.live = self.live.without(mask);
        self.splits[split].mask = self.splits[split].mask.without(mask);
        if self.splits[split].mask.is_empty() {
            self.splits.remove(split);
        }
        for join in &mut self.joins {
            join.expected = join.expected.without(mask);
        }
        self.settle();
    }

    /// Lets splits continue that are complete.
    fn settle(&mut self) {
        // Joins made later are inside those made earlier.
        for index in (0..self.joins.len()).rev() {
            let join = self.joins[index];
            if join.expected == join.arrived && !join.expected.is_empty() {
                self.joins[index].expected = M::NOBODY;
                self.joins[index].arrived = M::NOBODY;
                let parent = self.joins.get(join.parent as usize).copied();
                if let Some(p) = parent
                    && p.pc == join.pc
                    && p.depth == join.depth
                {
                    let outer = &mut self.joins[join.parent as usize];
                    outer.arrived = outer.arrived.with(join.arrived);
                } else {
                    let (pc, mask, depth) = (join.pc, join.arrived, join.depth);
                    let (join, likely) = (join.parent, join.likely);
                    self.splits.push(Split { pc, mask, depth, state: State::Ready, join, likely });
                }
            }
        }
        while self.joins.last().is_some_and(|j| j.expected.is_empty()) {
            self.joins.pop();
        }
        if self.gathering > 0 {
            self.drop_idle();
        }
    }

    /// Drops splits that have gathered nothing and to which no split will come.
    fn drop_idle(&mut self) {
        for n in (0..self.splits.len()).rev() {
            let State::Gathers(number) = self.splits[n].state else { continue };
            let awaited =
                self.splits.iter().any(|s| s.likely == number) || self.joins.iter().any(|j| j.likely == number);
            if self.splits[n].mask.is_empty() && !awaited {
                self.splits.remove(n);
                self.gathering -= 1;
            }
        }
    }

    /// The outermost join at which threads wait for others.
    fn waiting_join(&self) -> Option<usize> {
        self.joins.iter().position(|join| !join.arrived.is_empty())
    }

    /// The threads that wait there.
    #[must_use]
    pub fn waiting(&self) -> M {
        self.waiting_join().map_or(M::NOBODY, |join| self.joins[join].arrived)
    }

    /// Lets the threads that wait there continue alone: those they wait for may be waiting for them.
    pub fn let_go(&mut self) {
        let Some(mut index) = self.waiting_join() else { return };
        let Join { pc, depth, arrived, .. } = self.joins[index];
        // Where nested branches reconverge at one place, they have come to all of these joins.
        while let Some(join) = self.joins.get_mut(index)
            && (join.pc, join.depth) == (pc, depth)
        {
            join.expected = join.expected.without(arrived);
            join.arrived = join.arrived.without(arrived);
            let (parent, likely) = (join.parent, join.likely);
            match self.joins.get(parent as usize) {
                Some(outer) if (outer.pc, outer.depth) == (pc, depth) => index = parent as usize,
                _ => {
                    let state = State::Ready;
                    self.splits.push(Split { pc, mask: arrived, depth, state, join: parent, likely });
                    break;
                }
            }
        }
    }

    /// Lets threads exit that have reached the exit and wait there to reconverge, when no split can run: a barrier may
    /// be waiting for them. False when there are none.
    pub fn let_end(&mut self, ends: &Ends) -> bool {
        let waits_to_end = self.waiting_join().is_some_and(|join| ends.contains(self.joins[join].pc));
        if waits_to_end {
            self.let_go();
        }
        waits_to_end
    }

    /// Gives the other splits a turn, if there are any: the warp may just have ended.
    pub fn rotate(&mut self) {
        if !self.splits.is_empty() {
            self.splits.rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(w: &mut Splits, split: usize, groups: [(u32, u32); 2], reconverge: u32) {
        let groups = groups.map(|(pc, mask)| Group { pc, mask, depth: 0 });
        w.diverge(split, &groups, Meeting::at(reconverge));
    }

    /// A split comes to where it reconverges with others.
    fn come(w: &mut Splits, split: usize, pc: u32) {
        w.splits[split].pc = pc;
        w.arrive(split);
    }

    #[test]
    fn a_branch_parts_and_meets() {
        let mut w = Splits::new(0b1111);
        part(&mut w, 0, [(5, 0b0011), (9, 0b1100)], 20);
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits.len()), (9, 2));
        come(&mut w, 1, 20);
        assert_eq!(w.splits.len(), 1);
        come(&mut w, 0, 20);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (20, 0b1111));
        assert!(w.joins.is_empty());
    }

    #[test]
    fn who_is_let_go_is_not_waited_for() {
        let mut w = Splits::new(0b1111);
        part(&mut w, 0, [(5, 0b0011), (9, 0b1100)], 20);
        // Inside, and to the same place.
        part(&mut w, 1, [(9, 0b0100), (20, 0b1000)], 20);
        assert_eq!(w.waiting(), 0b1000);
        w.let_go();
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask, w.waiting()), (20, 0b1000, 0));
        w.exit(top, 0b1000);
        let last = w.splits.iter().position(|s| s.mask == 0b0100).unwrap();
        come(&mut w, last, 20);
        come(&mut w, 0, 20);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (20, 0b0111));
        assert!(w.joins.is_empty());
    }

    #[test]
    fn a_warp_that_ends_with_its_turn_has_no_other_parts() {
        let mut w = Splits::new(0b1111);
        w.exit(0, 0b1111);
        w.rotate();
        assert!(w.is_done());
    }

    #[test]
    fn a_loop_does_not_pile_up_joins() {
        let mut w = Splits::new(0b1111);
        // Lane by lane leaves the loop at 3 whose exit is 10.
        part(&mut w, 0, [(10, 0b0001), (3, 0b1110)], 10);
        part(&mut w, 0, [(10, 0b0010), (3, 0b1100)], 10);
        part(&mut w, 0, [(10, 0b0100), (3, 0b1000)], 10);
        assert_eq!(w.joins.len(), 1);
        come(&mut w, 0, 10);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (10, 0b1111));
    }

    #[test]
    fn lanes_that_exit_are_not_waited_for() {
        let mut w = Splits::new(0b11);
        part(&mut w, 0, [(5, 0b01), (9, 0b10)], 20);
        w.exit(1, 0b10);
        come(&mut w, 0, 20);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (20, 0b01));
        w.exit(0, 0b01);
        assert!(w.is_done());
    }

    #[test]
    fn parts_meet_where_it_is_likely() {
        // Lane 0 goes to 1, the others to 3, where lane 1 goes to 5 and the rest leaves for 7.
        let meeting = Meeting { surely: 7, likely: 5 };
        let group = |pc, mask| Group { pc, mask, depth: 0 };
        let mut w = Splits::new(0b1111_u32);
        w.diverge(0, &[group(1, 0b0001), group(3, 0b1110)], meeting);
        assert_eq!(w.depth(), 4, "what continues at 7, the split that gathers at 5, both sides");
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.next_meeting(top, 3), w.next_meeting(top, 5)), (3, 5, 7));
        w.diverge(top, &[group(4, 0b1100), group(5, 0b0010)], meeting);
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask), (4, 0b1100));
        come(&mut w, top, 7);
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask), (1, 0b0001));
        assert!(w.meets(top, 5, 0) && !w.meets(top, 2, 0));
        come(&mut w, top, 5);
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask), (5, 0b0011), "both run what is behind 5 together");
        come(&mut w, top, 7);
        assert_eq!((w.splits.len(), w.splits[0].pc, w.splits[0].mask), (1, 7, 0b1111));
        assert_eq!(w.gathering, 0);
    }

    #[test]
    fn a_part_is_not_gathered_outside_of_its_join() {
        let group = |pc, mask| Group { pc, mask, depth: 0 };
        let mut w = Splits::new(0b111_u32);
        w.diverge(0, &[group(9, 0b001), group(1, 0b110)], Meeting { surely: 9, likely: 5 });
        let top = w.ready().unwrap();
        // What reconverges at 2, by way of 5, has to be whole there.
        w.diverge(top, &[group(3, 0b010), group(5, 0b100)], Meeting::at(2));
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask, w.likely_of(top)), (5, 0b100, None));
        come(&mut w, top, 2);
        let top = w.ready().unwrap();
        come(&mut w, top, 2);
        let top = w.ready().unwrap();
        assert_eq!((w.splits[top].pc, w.splits[top].mask, w.likely_of(top)), (2, 0b110, Some((5, 0))));
    }

    #[test]
    fn nobody_waits_for_those_who_only_may_come() {
        let meeting = Meeting { surely: 7, likely: 5 };
        let group = |pc, mask| Group { pc, mask, depth: 0 };
        let mut w = Splits::new(0b11_u32);
        w.diverge(0, &[group(1, 0b01), group(5, 0b10)], meeting);
        let top = w.ready().unwrap();
        // The split above waits at a barrier: the one that gathers continues without it.
        w.splits[top].state = State::Barrier(0);
        let next = w.ready().unwrap();
        assert_eq!((w.splits[next].pc, w.splits[next].mask, w.gathering), (5, 0b10, 0));
        w.splits[top].state = State::Ready;
        assert_eq!(w.likely_of(top), None);
    }
}
