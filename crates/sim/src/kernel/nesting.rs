//! How deep in branches operations are.

use raddle_exec::op::{Class, NONE, Op};
use raddle_ptx::analysis::components;
use std::collections::BTreeMap;

/// For each operation, the number of branches around it at which threads can diverge and have not reconverged. Called
/// functions start at 0.
///
/// What follows a branch is walked up to where its threads reconverge. Branches of one cycle that reconverge at the same
/// place have the same operations behind them, so one walk does for all of them.
pub(super) fn nesting(ops: &[Op]) -> Vec<u16> {
    let mut walk = Walk { ops, seen: vec![0; ops.len()], stamp: 0, reached: Vec::new() };
    let mut nesting = vec![0u16; ops.len()];
    let mut by_end: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (branch, op) in (0..).zip(ops).filter(|(_, op)| may_diverge(op)) {
        by_end.entry(op.reconverge).or_default().push(branch);
    }
    for (end, branches) in by_end {
        for (branch, count) in walk.cycles(&branches, end) {
            walk.from(&[branch], end);
            for pc in &walk.reached {
                nesting[*pc as usize] = nesting[*pc as usize].saturating_add(count);
            }
        }
    }
    nesting
}

fn may_diverge(op: &Op) -> bool {
    op.class == Class::Branch && op.guard != NONE && !op.uniform
}

struct Walk<'o> {
    ops: &'o [Op],
    /// The walk that has seen an operation last.
    seen: Vec<u32>,
    stamp: u32,
    /// What the last walk has reached.
    reached: Vec<u32>,
}

impl Walk<'_> {
    /// Reaches what lies behind branches, up to `end`.
    fn from(&mut self, branches: &[u32], end: u32) {
        self.stamp += 1;
        self.reached.clear();
        let mut open: Vec<u32> = branches.iter().flat_map(|branch| self.behind(*branch)).collect();
        while let Some(pc) = open.pop() {
            if pc == end || self.seen[pc as usize] == self.stamp {
                continue;
            }
            self.seen[pc as usize] = self.stamp;
            self.reached.push(pc);
            open.extend(self.behind(pc));
        }
    }

    /// Where threads can be after an operation, in the same function.
    fn behind(&self, pc: u32) -> impl Iterator<Item = u32> + use<> {
        let op = &self.ops[pc as usize];
        let (jumps, falls) = match op.class {
            Class::Branch => (true, op.guard != NONE),
            Class::BranchTable | Class::Return => (false, false),
            Class::Exit | Class::Trap => (false, op.guard != NONE),
            _ => (false, true),
        };
        let count = self.ops.len();
        let both = [jumps.then_some(op.target), falls.then_some(pc + 1)];
        both.into_iter().flatten().filter(move |pc| (*pc as usize) < count)
    }

    /// Branches with the same end: one of each cycle, with the number of branches in it, and those in none.
    fn cycles(&mut self, branches: &[u32], end: u32) -> Vec<(u32, u16)> {
        if let [one] = branches {
            return vec![(*one, 1)];
        }
        self.from(branches, end);
        self.reached.sort_unstable();
        let reached = &self.reached;
        let number = |pc: u32| reached.binary_search(&pc).ok().and_then(|at| u32::try_from(at).ok());
        let succs: Vec<Vec<u32>> = reached.iter().map(|pc| self.behind(*pc).filter_map(number).collect()).collect();
        let component = components(&succs);
        let of = |branch: u32| number(branch).map(|at| component[at as usize]);
        let stays = |branch: u32| {
            let own = of(branch);
            own.is_some() && self.behind(branch).any(|next| of(next) == own)
        };
        let mut found: Vec<(u32, u16)> = Vec::new();
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        for branch in branches {
            let cycle = of(*branch).filter(|_| stays(*branch));
            match cycle.and_then(|cycle| known.get(&cycle)) {
                Some(at) => found[*at].1 = found[*at].1.saturating_add(1),
                None => {
                    known.extend(cycle.map(|cycle| (cycle, found.len())));
                    found.push((*branch, 1));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_body;
    use super::*;
    use raddle_exec::Program;
    use std::fmt::Write;

    /// Blocks that end in a branch each, to the block that `target` says.
    fn tangle(count: u32, mut target: impl FnMut(u32) -> u32) -> Program {
        let mut body = ".reg .pred %p;\nmov.u32 %r0, %tid.x;\n".to_owned();
        for i in 0..count {
            let _ = writeln!(body, "L{i}: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, {i};\n@%p bra L{};", target(i));
        }
        of_body(1, &body)
    }

    /// By one walk for each branch.
    fn one_by_one(ops: &[Op]) -> Vec<u16> {
        let mut walk = Walk { ops, seen: vec![0; ops.len()], stamp: 0, reached: Vec::new() };
        let mut nesting = vec![0; ops.len()];
        for (branch, op) in (0..).zip(ops).filter(|(_, op)| may_diverge(op)) {
            walk.from(&[branch], op.reconverge);
            walk.reached.iter().for_each(|pc| nesting[*pc as usize] += 1);
        }
        nesting
    }

    #[test]
    fn cycles_count_as_their_branches_do() {
        let mut state = 7u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut deep = 0;
        for round in 0..300 {
            let count = 2 + random(40);
            let near = if round % 2 == 0 { count } else { 6 };
            let program = tangle(count, |i| (i + random(near)).saturating_sub(random(near)).min(count - 1));
            let found = nesting(&program.ops);
            assert_eq!(found, one_by_one(&program.ops), "round {round}");
            deep += usize::from(found.iter().any(|nesting| *nesting > 5));
        }
        assert!(deep > 100, "{deep} programs are nested");
    }

    #[test]
    fn a_tangle_is_walked_a_few_times() {
        let count = 20_000;
        let program = tangle(count, |i| (i * 7919 + 13) % count);
        let ops = &program.ops;
        let mut walk = Walk { ops, seen: vec![0; ops.len()], stamp: 0, reached: Vec::new() };
        let branches: Vec<u32> = (0..).zip(ops).filter(|(_, op)| may_diverge(op)).map(|(pc, _)| pc).collect();
        let end = ops[branches[0] as usize].reconverge;
        let branches: Vec<u32> = branches.into_iter().filter(|pc| ops[*pc as usize].reconverge == end).collect();
        assert!(branches.len() > 19_000, "{} branches reconverge at one place", branches.len());
        assert!(walk.cycles(&branches, end).len() < 100);
    }
}
