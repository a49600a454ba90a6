//! Parts of a warp that have separated, and where they meet again.
//!
//! The order is that of a reconvergence stack: the part made last runs first. Unlike a stack, any
//! part may run when the others wait, so that threads of one warp that wait for each other at a
//! barrier all get there.

use crate::op::NO_PC;

/// No join.
const NO_JOIN: u32 = u32::MAX;

/// What a part of a warp does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can run.
    Ready,
    /// It waits at a barrier of the thread block.
    Barrier(u8),
    /// It waits for these lanes of its warp.
    Sync(u32),
}

/// A part of a warp with a program counter of its own.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// Next operation.
    pub pc: u32,
    /// Lanes.
    pub mask: u32,
    /// Calls it is inside of.
    pub depth: u32,
    /// What it does.
    pub state: State,
    /// Number of the join it comes to.
    pub join: u32,
}

/// Lanes that go the same way.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Where they go.
    pub pc: u32,
    /// The lanes.
    pub mask: u32,
    /// Calls they are inside of.
    pub depth: u32,
}

/// A place where parts of a warp meet again.
#[derive(Clone, Copy, Debug)]
struct Join {
    pc: u32,
    depth: u32,
    /// Lanes to wait for.
    expected: u32,
    /// Lanes that have come.
    arrived: u32,
    /// The join of what goes on here.
    parent: u32,
}

/// A warp as parts.
#[derive(Clone, Debug)]
pub struct Splits {
    /// Lanes it starts with.
    all: u32,
    /// Lanes that have not exited.
    pub live: u32,
    /// The last one runs first.
    pub splits: Vec<Split>,
    joins: Vec<Join>,
}

impl Splits {
    /// A warp of these lanes at the start of the kernel.
    #[must_use]
    pub fn new(mask: u32) -> Self {
        let mut warp = Self { all: mask, live: mask, splits: Vec::new(), joins: Vec::new() };
        warp.restart();
        warp
    }

    /// Puts all lanes back to the start of the kernel.
    pub fn restart(&mut self) {
        self.live = self.all;
        self.joins.clear();
        self.splits.clear();
        self.splits.push(Split { pc: 0, mask: self.all, depth: 0, state: State::Ready, join: NO_JOIN });
    }

    /// Whether every lane has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.splits.is_empty() && self.joins.is_empty()
    }

    /// The part to run next.
    #[must_use]
    pub fn ready(&self) -> Option<usize> {
        self.splits.iter().rposition(|s| s.state == State::Ready)
    }

    /// Where a part joins others, and at which call depth.
    #[must_use]
    pub fn join_of(&self, split: usize) -> (u32, u32) {
        match self.joins.get(self.splits[split].join as usize) {
            Some(j) => (j.pc, j.depth),
            None => (NO_PC, 0),
        }
    }

    /// A part has come to its join: it waits there, or goes on when it was the last.
    pub fn arrive(&mut self, split: usize) {
        let s = self.splits.remove(split);
        self.joins[s.join as usize].arrived |= s.mask;
        self.settle();
    }

    /// Parts a split: each group of lanes goes to its own place and call depth, the last group
    /// first. They meet at `reconverge`, unless the split joins others there anyway.
    pub fn diverge(&mut self, split: usize, groups: &[Group], reconverge: u32) {
        let old = self.splits.remove(split);
        let mut join = old.join;
        let outer = self.joins.get(join as usize);
        let same = outer.is_some_and(|j| j.pc == reconverge && j.depth == old.depth);
        if reconverge != NO_PC && !same {
            join = self.joins.len() as u32;
            let expected = old.mask;
            self.joins.push(Join { pc: reconverge, depth: old.depth, expected, arrived: 0, parent: old.join });
        }
        for &Group { pc, mask, depth } in groups.iter().filter(|g| g.mask != 0) {
            match self.joins.get_mut(join as usize) {
                Some(j) if j.pc == pc && j.depth == depth => j.arrived |= mask,
                _ => self.splits.push(Split { pc, mask, depth, state: State::Ready, join }),
            }
        }
        self.settle();
    }

    /// Lanes end.
    pub fn exit(&mut self, split: usize, mask: u32) {
        self.live &= !mask;
        self.splits[split].mask &= !mask;
        if self.splits[split].mask == 0 {
            self.splits.remove(split);
        }
        for join in &mut self.joins {
            join.expected &= !mask;
        }
        self.settle();
    }

    /// Lets go on what has come together.
    fn settle(&mut self) {
        // Joins made later are inside those made earlier.
        for index in (0..self.joins.len()).rev() {
            let join = self.joins[index];
            if join.expected == join.arrived && join.expected != 0 {
                self.joins[index].expected = 0;
                self.joins[index].arrived = 0;
                let parent = self.joins.get(join.parent as usize).copied();
                if let Some(p) = parent
                    && p.pc == join.pc
                    && p.depth == join.depth
                {
                    self.joins[join.parent as usize].arrived |= join.arrived;
                } else {
                    let state = State::Ready;
                    let (pc, mask, depth) = (join.pc, join.arrived, join.depth);
                    self.splits.push(Split { pc, mask, depth, state, join: join.parent });
                }
            }
        }
        while self.joins.last().is_some_and(|j| j.expected == 0) {
            self.joins.pop();
        }
    }

    /// Gives the other parts a turn.
    pub fn rotate(&mut self) {
        self.splits.rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(w: &mut Splits, split: usize, groups: [(u32, u32); 2], reconverge: u32) {
        let groups = groups.map(|(pc, mask)| Group { pc, mask, depth: 0 });
        w.diverge(split, &groups, reconverge);
    }

    #[test]
    fn a_branch_parts_and_meets() {
        let mut w = Splits::new(0b1111);
        part(&mut w, 0, [(5, 0b0011), (9, 0b1100)], 20);
        assert_eq!((w.splits[w.ready().unwrap()].pc, w.splits.len()), (9, 2));
        w.arrive(1);
        assert_eq!(w.splits.len(), 1);
        w.arrive(0);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (20, 0b1111));
        assert!(w.joins.is_empty());
    }

    #[test]
    fn a_loop_does_not_pile_up_joins() {
        let mut w = Splits::new(0b1111);
        // Lane by lane leaves the loop at 3 whose exit is 10.
        part(&mut w, 0, [(10, 0b0001), (3, 0b1110)], 10);
        part(&mut w, 0, [(10, 0b0010), (3, 0b1100)], 10);
        part(&mut w, 0, [(10, 0b0100), (3, 0b1000)], 10);
        assert_eq!(w.joins.len(), 1);
        w.arrive(0);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (10, 0b1111));
    }

    #[test]
    fn lanes_that_exit_are_not_waited_for() {
        let mut w = Splits::new(0b11);
        part(&mut w, 0, [(5, 0b01), (9, 0b10)], 20);
        w.exit(1, 0b10);
        w.arrive(0);
        assert_eq!((w.splits[0].pc, w.splits[0].mask), (20, 0b01));
        w.exit(0, 0b01);
        assert!(w.is_done());
    }
}
