//! Barriers of a thread block.
//!
//! Threads are counted one by one. A barrier without a count waits for every thread of the block that
//! has not exited. A barrier with a count works on whole warps, as its count is a multiple of the
//! warp width: once a thread of a warp has arrived, lanes of that warp that have exited or never
//! existed count as arrived.
//!
//! One more barrier is where the threads of a virtual block wait for its next logical index. Those that wait there have
//! left the logical block, and count as exited at the others.

use super::Machine;
use super::step::{Done, Step};
use super::thread::{Cta, State};
use crate::{Fault, FaultKind};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::{fit, low32};

/// Barriers per block that programs name by their numbers.
const NAMED: usize = 16;

/// The barrier at which threads wait for the next logical block.
const NEXT_BLOCK: usize = NAMED;

/// All barriers of a block.
pub(super) const BARRIERS: usize = NAMED + 1;

/// One barrier, between two releases.
#[derive(Default)]
pub(super) struct Barrier {
    /// Threads that wait.
    waiting: Vec<usize>,
    /// All threads that arrived, including those that have continued.
    arrived: Vec<usize>,
    /// Threads to wait for; `None` means all of the block.
    expected: Option<u32>,
    /// Threads that gave a predicate to a reduction, and how many of these were true.
    predicates: (u32, u32),
}

/// What one thread asks of a barrier.
struct Arrival {
    index: usize,
    expected: Option<u32>,
    /// The thread continues at once.
    passes: bool,
    predicate: Option<bool>,
}

impl Step<'_> {
    fn arrival(&self) -> Done<Arrival> {
        let inst = self.inst;
        if inst.opcode == Opcode::Raddle {
            return Ok(Arrival { index: NEXT_BLOCK, expected: None, passes: false, predicate: None });
        }
        let reduces = inst.has(Word::Red);
        // d, a, {b}, p for a reduction; a, {b} otherwise.
        let first = usize::from(reduces);
        let last = inst.operands.len() - usize::from(reduces);
        let number = self.value(first, Type::U32)?;
        let count = if first + 1 < last { low32(self.value(first + 1, Type::U32)?) } else { 0 };
        if number >= NAMED as u64 {
            return Err(FaultKind::BadTarget(format!("barrier {number} does not exist; they are numbered 0 to 15")));
        }
        let predicate = if reduces { Some(self.predicate(last)?) } else { None };
        let expected = Some(count).filter(|n| *n > 0);
        Ok(Arrival { index: fit(number), expected, passes: inst.has(Word::Arrive), predicate })
    }

    /// Ends the wait at a barrier: writes the result of a reduction and continues.
    fn leave_barrier(&mut self, (given, held): (u32, u32), block: u64) {
        let ty = self.inst.ty();
        if self.inst.opcode == Opcode::Raddle {
            self.write(0, ty, block.min(u32::MAX.into()));
        }
        if self.inst.has(Word::Red) {
            let result = match self.inst.first_of(&[Word::Popc, Word::And, Word::Or]) {
                Some(Word::And) => u32::from(held == given),
                Some(Word::Or) => u32::from(held > 0),
                _ => held,
            };
            self.write(0, ty, result.into());
        }
        self.thread.state = State::Ready;
        self.thread.pc += 1;
    }
}

impl Barrier {
    /// How many threads count as arrived, and how many must.
    fn tally(&self, cta: &Cta, width: usize) -> (usize, usize) {
        let exited = |t: usize| matches!(cta.threads[t].state, State::Exited | State::Barrier(NEXT_BLOCK));
        let all = 0..cta.threads.len();
        match self.expected {
            None => {
                let gone = all.clone().filter(|t| exited(*t) && !self.arrived.contains(t)).count();
                (self.arrived.len() + gone, all.len())
            }
            Some(expected) => {
                let lanes = all.len().next_multiple_of(width);
                let present = |t: usize| self.arrived.iter().any(|a| a / width == t / width);
                let absent = |t: usize| t >= all.len() || exited(t) && !self.arrived.contains(&t);
                let filled = (0..lanes).filter(|t| absent(*t) && present(*t)).count();
                (self.arrived.len() + filled, expected as usize)
            }
        }
    }
}

impl Machine<'_> {
    /// Thread `t` is at a barrier instruction.
    pub(super) fn arrive(&mut self, cta: &mut Cta, t: usize) -> Result<(), Fault> {
        let step = self.step(cta, t);
        let arrival = match step.arrival() {
            Ok(arrival) => arrival,
            Err(kind) => return Err(step.fault(kind)),
        };
        if arrival.passes {
            step.thread.pc += 1;
        } else {
            step.thread.state = State::Barrier(arrival.index);
        }
        let barrier = &mut cta.barriers[arrival.index];
        if barrier.arrived.is_empty() {
            barrier.expected = arrival.expected;
        }
        barrier.arrived.push(t);
        if !arrival.passes {
            barrier.waiting.push(t);
        }
        if let Some(predicate) = arrival.predicate {
            barrier.predicates.0 += 1;
            barrier.predicates.1 += u32::from(predicate);
        }
        // Who leaves a logical block may be what its barriers waited for.
        if arrival.index == NEXT_BLOCK { self.release_barriers(cta) } else { self.release(cta, arrival.index) }
    }

    /// An exit may be what a barrier waited for.
    pub(super) fn release_barriers(&mut self, cta: &mut Cta) -> Result<(), Fault> {
        (0..BARRIERS).try_for_each(|i| self.release(cta, i))
    }

    fn release(&mut self, cta: &mut Cta, index: usize) -> Result<(), Fault> {
        let barrier = &cta.barriers[index];
        // The cheap test first: most arrivals are not the last one.
        let most = barrier.expected.map_or(cta.threads.len(), |n| n as usize);
        let width = self.env.options.warp_width as usize;
        let left = cta.barriers[NEXT_BLOCK].waiting.len();
        if barrier.arrived.is_empty() || barrier.arrived.len() + cta.exited + left + width < most {
            return Ok(());
        }
        let (arrived, expected) = barrier.tally(cta, width);
        if arrived >= expected {
            let done = std::mem::take(&mut cta.barriers[index]);
            let block = cta.next_block;
            if index == NEXT_BLOCK {
                cta.next_block += self.env.launch.ctas();
            }
            if index == NEXT_BLOCK || self.env.launch.ends_logical_block(index) {
                cta.shared.clear();
            }
            for t in done.waiting {
                self.step(cta, t).leave_barrier(done.predicates, block);
            }
        }
        Ok(())
    }

    /// What threads at a barrier wait for, in words.
    pub(super) fn barrier_wait(&self, cta: &Cta, index: usize) -> String {
        let (arrived, expected) = cta.barriers[index].tally(cta, self.env.options.warp_width as usize);
        format!("barrier {index}, where {arrived} of {expected} threads have arrived")
    }
}
