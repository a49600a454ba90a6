//! Waiting loops: those whose end depends on what other threads do.
//!
//! A loop is the stretch of operations between a branch that jumps back and its target. It waits when one of its branches that can
//! leave it depends on what an atomic gives or on a load that asks for what other threads have written: a volatile, relaxed
//! or acquiring one, one past the L1, or any load in a loop with a fence. What depends on such a value is followed through
//! registers, through the thread's own memory and through branches inside the loop. Every way round the loop that has such
//! an operation takes a branch back over it, so no such loop is overlooked for the order of its blocks.

use raddle_exec::Program;
use raddle_exec::op::{Class, NONE};
use raddle_ptx::ir::{Function, Inst, RegId, Space};
use raddle_ptx::isa::{Opcode, Word};

/// A branch back to the head of such a loop.
const GOES_ROUND: u8 = 1;
/// An operation inside one.
const INSIDE: u8 = 2;
/// Who jumps leaves one.
const JUMP_LEAVES: u8 = 4;
/// Who does not jump leaves one.
const OTHERS_LEAVE: u8 = 8;

/// Modifiers of loads that ask for what other threads have written.
const STRONG: [Word; 6] = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Mmio, Word::Cv, Word::Cg];

/// The waiting loops of a program.
#[derive(Debug, Default)]
pub(super) struct WaitingLoops {
    /// What each operation does in them.
    marks: Vec<u8>,
}

impl WaitingLoops {
    /// Finds them.
    pub(super) fn new(program: &Program) -> Self {
        let mut marks = vec![0; program.ops.len()];
        for (end, op) in program.ops.iter().enumerate() {
            let start = op.target as usize;
            if op.class != Class::Branch || start > end || !(Loop { program, start, end }).waits() {
                continue;
            }
            marks[end] |= GOES_ROUND | if op.guard == NONE { 0 } else { OTHERS_LEAVE };
            for (pc, inside) in program.ops[start..=end].iter().enumerate() {
                let leaves = inside.class == Class::Branch && !(start..=end).contains(&(inside.target as usize));
                marks[start + pc] |= INSIDE | if leaves { JUMP_LEAVES } else { 0 };
            }
        }
        Self { marks }
    }

    /// Whether the branch at `pc` jumps back to the head of one.
    pub(super) fn goes_round(&self, pc: u32) -> bool {
        self.marks[pc as usize] & GOES_ROUND != 0
    }

    /// Whether the operation at `pc` is inside one.
    pub(super) fn is_inside(&self, pc: u32) -> bool {
        self.marks[pc as usize] & INSIDE != 0
    }

    /// Whether lanes leave one at `pc`, where those of `taken` jump and `others` do not.
    pub(super) fn leaves(&self, pc: u32, taken: u32, others: u32) -> bool {
        let has = |mark| self.marks[pc as usize] & mark != 0;
        has(JUMP_LEAVES) && taken != 0 || has(OTHERS_LEAVE) && others != 0
    }
}

/// A loop that is looked at.
struct Loop<'p> {
    program: &'p Program,
    start: usize,
    end: usize,
}

/// What depends on other threads.
struct Known {
    registers: Vec<bool>,
    /// Memory of the thread.
    own_memory: bool,
}

impl Known {
    fn reads(&self, inst: &Inst) -> bool {
        let mut any = false;
        inst.for_each_use(|register: RegId| any |= self.registers[register.index()]);
        any || self.own_memory && is_load(inst) && is_own(inst)
    }

    /// What the instruction writes depends on other threads, too; whether that is news.
    fn add(&mut self, inst: &Inst) -> bool {
        let mut news = false;
        inst.for_each_def(|register| news |= !std::mem::replace(&mut self.registers[register.index()], true));
        if matches!(inst.opcode, Opcode::St | Opcode::Call) && is_own(inst) {
            news |= !std::mem::replace(&mut self.own_memory, true);
        }
        news
    }
}

fn is_load(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::Ld | Opcode::Ldu)
}

/// Whether an access may be one to the thread's own memory. Arguments and results of calls are in it.
fn is_own(inst: &Inst) -> bool {
    !matches!(inst.space(), Some(Space::Global | Space::Shared | Space::Const))
}

/// Whether an instruction gives what other threads have done. `is_fenced` says that there is a fence around it.
fn is_source(inst: &Inst, is_fenced: bool) -> bool {
    match inst.opcode {
        Opcode::Atom => true,
        Opcode::Ld | Opcode::Ldu => {
            let is_shared = !matches!(inst.space(), Some(Space::Param | Space::Const | Space::Local));
            is_shared && (is_fenced || inst.first_of(&STRONG).is_some())
        }
        _ => false,
    }
}

fn inst_at(program: &Program, pc: usize) -> (&Function, &Inst) {
    let origin = program.origins[pc];
    let function = program.image.module.func(origin.func);
    (function, &function.insts[origin.inst.index()])
}

impl Loop<'_> {
    fn insts(&self) -> impl Iterator<Item = (usize, &Inst)> {
        let own = (self.start..=self.end).filter(|pc| !self.program.ops[*pc].hidden);
        own.map(|pc| (pc, inst_at(self.program, pc).1))
    }

    /// Whether a called function may give what other threads have done.
    fn calls_give(&self) -> bool {
        let own = self.program.origins[self.start].func;
        let others = (0..self.program.ops.len()).filter(|pc| self.program.origins[*pc].func != own);
        others.into_iter().any(|pc| is_source(inst_at(self.program, pc).1, false))
    }

    fn waits(&self) -> bool {
        let is_fenced = self.insts().any(|(_, inst)| matches!(inst.opcode, Opcode::Membar | Opcode::Fence));
        let has_call = self.insts().any(|(_, inst)| inst.opcode == Opcode::Call);
        let calls_give = has_call && self.calls_give();
        let gives = |inst: &Inst| is_source(inst, is_fenced) || calls_give && inst.opcode == Opcode::Call;
        if !self.insts().any(|(_, inst)| gives(inst)) {
            return false;
        }
        let registers = vec![false; inst_at(self.program, self.start).0.regs.len()];
        let mut known = Known { registers, own_memory: false };
        loop {
            let mut news = false;
            // Up to here it depends on other threads which operations a thread comes to.
            let mut chosen = 0;
            for (pc, inst) in self.insts() {
                let depends = known.reads(inst) || pc < chosen;
                let op = &self.program.ops[pc];
                if depends && op.class == Class::Branch {
                    if self.can_leave(pc) {
                        return true;
                    }
                    chosen = chosen.max(op.reconverge as usize);
                }
                if depends || gives(inst) {
                    news |= known.add(inst);
                }
            }
            if !news {
                return false;
            }
        }
    }

    /// Whether it may depend on this branch that threads leave the loop: it is not one around operations of the loop.
    fn can_leave(&self, pc: usize) -> bool {
        let op = &self.program.ops[pc];
        let (target, meeting) = (op.target as usize, op.reconverge as usize);
        let is_around = pc < target && target <= meeting && meeting <= self.end;
        op.guard != NONE && !is_around || !(self.start..=self.end).contains(&target)
    }
}
