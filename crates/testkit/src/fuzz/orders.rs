//! What a kernel does under the reference interpreter, if that does not depend on the order of its threads.

use crate::engine::Engine;
use crate::kernel_file::{self, Run, Test};
use raddle_exec::reference::{self, Options, Order};
use raddle_exec::{DeviceMemory, FaultKind, Report, RunError};
use raddle_ptx::Module;
use raddle_ptx::ir::{Inst, Operand};
use raddle_ptx::isa::{Opcode, Type, Word};
use std::sync::Arc;

/// Words whose value is a matter of when and where a thread runs.
const SCHEDULED: &[&str] = &["%clock", "%globaltimer", "activemask", "raddle.", "// unordered:"];

/// Orders in which a kernel is run again before it counts as free of races.
const ORDERS: u64 = 400;

/// One launch of a kernel file.
pub(super) struct Kernel<'t> {
    pub(super) source: &'t str,
    pub(super) module: Arc<Module>,
    pub(super) run: Run,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    /// The kind of fault.
    Fault(&'static str),
    /// The limit of instructions or cycles was reached.
    Limit,
    /// It was not started.
    Refused,
}

/// A launch that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Every allocation, if it completed.
    pub(super) memory: Vec<Vec<u8>>,
    /// What a fault said.
    pub(super) text: String,
}

impl Outcome {
    pub(super) fn new(result: Result<Report, RunError>, memory: &DeviceMemory) -> Self {
        match result {
            Ok(_) => Self { ending: Ending::Completed, memory: contents(memory), text: String::new() },
            Err(RunError::Fault(fault)) => Self::fault(&fault.kind),
            Err(RunError::Load(error)) => Self::ended(Ending::Refused, error.to_string()),
        }
    }

    pub(super) fn fault(kind: &FaultKind) -> Self {
        Self::ended(ending(kind), kind.to_string())
    }

    pub(super) fn ended(ending: Ending, text: String) -> Self {
        Self { ending, memory: Vec::new(), text }
    }

    /// Whether it is deadlocked.
    pub(super) fn is_deadlock(&self) -> bool {
        self.ending == Ending::Fault("deadlock")
    }

    /// What is different, if something is.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.ending != other.ending {
            let show = |o: &Self| format!("{:?} {}", o.ending, o.text);
            return Some(format!("{:?} instead of {:?}\n{}\n{}", other.ending, self.ending, show(other), show(self)));
        }
        let pairs = self.memory.iter().zip(&other.memory).enumerate();
        let (number, (a, b)) = pairs.into_iter().find(|(_, (a, b))| a != b)?;
        let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
        let word = |bytes: &[u8]| format!("{:02x?}", &bytes[at & !7..bytes.len().min((at & !7) + 8)]);
        Some(format!("memory differs\nallocation {number} byte {at}: {} instead of {}", word(b), word(a)))
    }
}

fn ending(kind: &FaultKind) -> Ending {
    Ending::Fault(match kind {
        FaultKind::Memory(_) => "memory",
        FaultKind::Trap => "trap",
        FaultKind::Assert(_) => "assertion",
        FaultKind::UninitialisedRegister(_) => "register",
        FaultKind::StackOverflow => "stack",
        FaultKind::BadTarget(_) => "target",
        FaultKind::Undefined(_) => "undefined",
        FaultKind::Deadlock(_) => "deadlock",
        FaultKind::InstructionLimit(_) => return Ending::Limit,
        FaultKind::Interrupted => "interrupted",
    })
}

pub(super) fn contents(memory: &DeviceMemory) -> Vec<Vec<u8>> {
    memory.allocations().iter().map(|a| a.data().to_vec()).collect()
}

impl<'t> Kernel<'t> {
    /// One of the launches of a file.
    pub(super) fn new(source: &'t str, choice: u64) -> Result<Self, String> {
        let (module, mut runs) = kernel_file::read(source)?;
        let at = (choice % runs.len() as u64) as usize;
        Ok(Self { source, module, run: runs.swap_remove(at) })
    }

    pub(super) fn test(&self, width: u32) -> Test<'_> {
        Test { module: &self.module, source: self.source, run: &self.run, width }
    }

    /// Runs it on an engine.
    pub(super) fn run_on(&self, engine: Engine, width: u32, limit: u64) -> Result<Outcome, String> {
        let mut ready = self.test(width).prepare()?;
        ready.launch.max_thread_insts = Some(limit);
        let result = engine.run(&ready.image, &ready.layout, &ready.launch, &mut ready.memory, width);
        Ok(Outcome::new(result, &ready.memory))
    }

    fn interpret(&self, options: &Options, limit: u64, report_uninitialised: bool) -> Result<Outcome, String> {
        let mut ready = self.test(options.warp_width).prepare()?;
        ready.launch.max_thread_insts = Some(limit);
        ready.launch.report_uninitialised = report_uninitialised;
        let result = reference::run(&ready.image, &ready.layout, &ready.launch, &mut ready.memory, options);
        Ok(Outcome::new(result.map_err(RunError::from), &ready.memory))
    }

    /// What is different from what is expected, if that means something.
    pub(super) fn difference(&self, expected: &Outcome, found: &Outcome) -> Option<String> {
        let faults = |o: &Outcome| matches!(o.ending, Ending::Fault(_));
        let is_alone = self.run.grid.iter().chain(&self.run.block).product::<u32>() == 1;
        let says_nothing = found.ending == Ending::Refused
            // Several threads may have different faults, and any may be the first.
            || faults(expected) && faults(found) && !is_alone
            // Some threads have a fault, others never end.
            || faults(expected) && found.ending == Ending::Limit
            // Threads that wait for a lock may take their turns in vain for long.
            || found.ending == Ending::Limit && self.insts().any(|inst| inst.opcode == Opcode::Atom)
            // Lanes named by an operation of a warp that do not come.
            || (found.is_deadlock() || expected.is_deadlock()) && self.warp_operations().next().is_some();
        if says_nothing { None } else { expected.difference(found) }
    }

    /// Whether some order of threads leads to something else than what is expected. Finds most races, and takes a while.
    pub(super) fn has_race(&self, expected: &Outcome, width: u32, limit: u64) -> bool {
        (0..ORDERS).any(|number| {
            let (quantum, order) = ([1, 2, 5, 11, 2000][number as usize % 5], Order::Mixed(number));
            let options = Options { warp_width: width, quantum, order, ..Options::default() };
            let other = self.interpret(&options, limit, false);
            other.is_ok_and(|other| other.ending != expected.ending || other.memory != expected.memory)
        })
    }

    fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.module.functions.iter().flat_map(|function| &function.insts)
    }

    /// Whether a barrier waits for a number of threads. Which ones come first is then a matter of order.
    fn counts_at_barriers(&self) -> bool {
        let counts = |inst: &Inst| match inst.opcode {
            Opcode::Bar | Opcode::Barrier if inst.has(Word::Red) => inst.operands.len() > 3,
            Opcode::Bar | Opcode::Barrier => inst.operands.len() > 1,
            _ => false,
        };
        self.insts().any(counts)
    }

    /// Whether lanes that can part look at others of their warp without waiting for them: what they see depends on who is there.
    fn asks_who_is_there(&self) -> bool {
        let looks = |inst: &Inst| matches!(inst.opcode, Opcode::Shfl | Opcode::Vote) && !inst.has(Word::Sync);
        let parts = |inst: &Inst| inst.opcode == Opcode::Brx || inst.opcode == Opcode::Bra && inst.guard.is_some();
        self.insts().any(looks) && self.insts().any(parts)
    }

    /// The operations for which lanes of a warp come together.
    fn warp_operations(&self) -> impl Iterator<Item = &Inst> {
        let is_warp = |inst: &&Inst| match inst.opcode {
            Opcode::Shfl | Opcode::Vote | Opcode::Match | Opcode::Redux | Opcode::Elect => inst.has(Word::Sync),
            Opcode::Bar => inst.has(Word::Warp),
            _ => false,
        };
        self.insts().filter(is_warp)
    }

    /// Whether all operations of a warp name every lane. Those that leave their own lane out mean nothing.
    fn names_all_lanes(&self) -> bool {
        let all = |o: Option<&Operand>| matches!(o, Some(Operand::Imm(imm)) if imm.bits(Type::U32) == 0xffff_ffff);
        self.warp_operations().all(|inst| all(inst.operands.last()))
    }

    /// What it does under the interpreter: none if that depends on the order of threads, on their place, on what was
    /// never written, or if it takes too long. With how often it was run for that.
    pub(super) fn expected(&self, width: u32, limit: u64) -> Result<(Option<Outcome>, u64), String> {
        let forward = Options { warp_width: width, ..Options::default() };
        let first = self.interpret(&forward, limit, false)?;
        let is_scheduled = SCHEDULED.iter().any(|word| self.source.contains(word));
        if first.ending == Ending::Limit
            || is_scheduled
            || self.asks_who_is_there()
            || !self.names_all_lanes()
            || self.counts_at_barriers()
        {
            return Ok((None, 1));
        }
        if self.interpret(&forward, limit, true)? != first {
            return Ok((None, 2));
        }
        let steady = self.is_steady(&first, width, limit)?;
        Ok((steady.then_some(first), 5))
    }

    /// Whether it does the same in some other orders.
    fn is_steady(&self, first: &Outcome, width: u32, limit: u64) -> Result<bool, String> {
        let forward = Options { warp_width: width, ..Options::default() };
        let others = [
            Options { quantum: 1, ..forward.clone() },
            Options { order: Order::Reverse, ..forward.clone() },
            Options { quantum: 3, order: Order::Mixed(1), ..forward },
        ];
        for options in &others {
            let other = self.interpret(options, limit, false)?;
            if first.ending != other.ending || first.memory != other.memory {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a kernel that had no race before lines were taken away has none now, and reads nothing that was never
    /// written, but for shared memory. Quick: it looks at a few orders only.
    pub(super) fn is_sound(&self, width: u32, limit: u64) -> Result<bool, String> {
        let forward = Options { warp_width: width, ..Options::default() };
        let first = self.interpret(&forward, limit, false)?;
        let strict = self.interpret(&forward, limit, true)?;
        let reads_unwritten = strict.ending != first.ending && !strict.text.contains("shared");
        Ok(first.ending != Ending::Limit && !reads_unwritten && self.is_steady(&first, width, limit)?)
    }
}
