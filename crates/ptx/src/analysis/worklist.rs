//! Instructions that must be looked at again because a register they depend on has changed.
//!
//! Going over the whole function until nothing changes is simple, but takes as many rounds as the longest chain against
//! the order of the text.

use super::BitSet;
use crate::ir::{Function, Inst, RegId};
use std::collections::VecDeque;

/// A queue of instructions, each in it at most once, and who waits for which register.
pub(super) struct Worklist {
    queue: VecDeque<u32>,
    queued: BitSet,
    /// Instructions that wait for each register.
    waiting: Vec<Vec<u32>>,
}

impl Worklist {
    /// All instructions in the order of the text. `for_each` calls back with the registers an instruction waits for;
    /// numbers below `bound`.
    pub(super) fn new(
        function: &Function,
        bound: usize,
        mut for_each: impl FnMut(&Inst, &mut dyn FnMut(usize)),
    ) -> Self {
        let count = function.insts.len();
        let mut list = Self {
            queue: VecDeque::with_capacity(count),
            queued: BitSet::new(count),
            waiting: vec![Vec::new(); bound],
        };
        for (id, inst) in function.insts() {
            list.add(id.0);
            for_each(inst, &mut |reg| list.waiting[reg].push(id.0));
        }
        list
    }

    /// Those that write a register wait for it: what is known flows from results to operands.
    pub(super) fn backwards(function: &Function) -> Self {
        Self::new(function, function.regs.len(), |inst, f| inst.for_each_def(|r: RegId| f(r.index())))
    }

    /// Those that read a register wait for it: what is known flows from operands to results.
    pub(super) fn forwards(function: &Function) -> Self {
        Self::new(function, function.regs.len(), |inst, f| inst.for_each_use(|r: RegId| f(r.index())))
    }

    /// The next instruction to look at.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let inst = self.queue.pop_front()? as usize;
        self.queued.remove(inst);
        Some(inst)
    }

    /// Something has become known about a register.
    pub(super) fn changed(&mut self, reg: usize) {
        for i in 0..self.waiting[reg].len() {
            self.add(self.waiting[reg][i]);
        }
    }

    fn add(&mut self, inst: u32) {
        if self.queued.insert(inst as usize) {
            self.queue.push_back(inst);
        }
    }
}
