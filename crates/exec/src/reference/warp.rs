//! Instructions that threads of a warp execute together.
//!
//! With `.sync`, a thread waits until every thread its member mask names and that has not exited waits
//! at the same instruction (`bar.warp.sync`: at any of its kind). The older forms and `activemask`
//! have no such list: they wait until no thread of the warp can run, then the threads at the
//! instruction that comes first in the program continue, with those present.

use super::Machine;
use super::integer::{cut, number};
use super::step::{Done, Step, low_mask};
use super::thread::{Cta, State, Thread};
use crate::{Fault, FaultKind};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::low32;
use std::cmp::Reverse;
use std::ops::Range;

/// A wait for other threads of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collective {
    /// Lanes named by the member mask; `None` for the older forms.
    members: Option<u32>,
    /// `bar.warp.sync`, which meets others of its kind anywhere.
    barrier: bool,
}

/// What one lane brings along.
struct Lane {
    /// Index in the block.
    thread: usize,
    lane: u32,
    value: u64,
    /// Second and third operand of `shfl`.
    b: u64,
    c: u64,
}

impl Step<'_> {
    fn collective(&self) -> Done<Collective> {
        let inst = self.inst;
        let members = match inst.has(Word::Sync) {
            // All lanes of the warp.
            true if inst.matrix().is_some() => Some(low32(low_mask(self.env.options.warp_width))),
            // The mask is the last operand of all of them.
            true => {
                let width = self.env.options.warp_width;
                let members = low32(self.value(inst.operands.len() - 1, Type::U32)? & low_mask(width));
                let own = self.thread.index % width;
                if members & 1 << own == 0 {
                    return Err(FaultKind::not_a_member(own, members));
                }
                Some(members)
            }
            false => None,
        };
        Ok(Collective { members, barrier: inst.opcode == Opcode::Bar || inst.opcode == Opcode::Barrier })
    }

    /// Reads the operands of this thread.
    fn lane(&self, thread: usize) -> Done<Lane> {
        let lane = self.thread.index % self.env.options.warp_width;
        let (mut value, mut b, mut c) = (0, 0, 0);
        match self.inst.opcode {
            Opcode::Vote => value = self.value(1, Type::Pred)?,
            Opcode::Match | Opcode::Redux => value = self.value(1, self.inst.ty())?,
            Opcode::Shfl => {
                value = self.value(1, Type::B32)?;
                b = self.value(2, Type::U32)?;
                c = self.value(3, Type::U32)?;
            }
            _ => {}
        }
        Ok(Lane { thread, lane, value, b, c })
    }

    /// Writes the result of this thread and continues.
    fn finish_collective(&mut self, own: &Lane, all: &[Lane]) {
        match self.inst.opcode {
            Opcode::Vote => self.vote(all),
            Opcode::Shfl => self.shuffle(own, all),
            Opcode::Match => self.matching(own, all),
            Opcode::Redux => self.reduce(all),
            Opcode::Activemask => self.write(0, Type::B32, lanes(all, |_| true)),
            Opcode::Elect => {
                let leader = all.iter().map(|l| l.lane).min().unwrap_or(own.lane);
                self.write(0, Type::B32, leader.into());
                self.write_second(own.lane == leader);
            }
            _ => {}
        }
        self.leave_collective();
    }

    /// Continues after a warp instruction.
    pub(super) fn leave_collective(&mut self) {
        self.thread.state = State::Ready;
        self.thread.pc += 1;
    }

    fn vote(&mut self, all: &[Lane]) {
        let count = all.iter().filter(|l| l.value != 0).count();
        let result = match self.inst.first_of(&[Word::All, Word::Any, Word::Uni, Word::Ballot]) {
            Some(Word::All) => u64::from(count == all.len()),
            Some(Word::Any) => u64::from(count > 0),
            Some(Word::Uni) => u64::from(count == 0 || count == all.len()),
            _ => lanes(all, |l| l.value != 0),
        };
        self.write(0, self.inst.ty(), result);
    }

    fn shuffle(&mut self, own: &Lane, all: &[Lane]) {
        let mode = self.inst.first_of(&[Word::Up, Word::Down, Word::Bfly, Word::Idx]);
        let (source, in_range) = source_lane(mode, own, self.env.options.warp_width);
        // The ISA leaves open what a lane gives that takes no part: here it gives 0.
        let value = all.iter().find(|l| l.lane == source).map_or(0, |l| l.value);
        self.write(0, Type::B32, value);
        self.write_second(in_range);
    }

    fn matching(&mut self, own: &Lane, all: &[Lane]) {
        let equal = lanes(all, |l| l.value == own.value);
        if self.inst.has(Word::Any) {
            self.write(0, Type::B32, equal);
        } else {
            let every = all.iter().all(|l| l.value == own.value);
            self.write(0, Type::B32, if every { equal } else { 0 });
            self.write_second(every);
        }
    }

    fn reduce(&mut self, all: &[Lane]) {
        let ty = self.inst.ty();
        let numbers = || all.iter().map(|l| number(l.value, ty));
        let bits = || all.iter().map(|l| l.value);
        let names = [Word::Add, Word::Min, Word::Max, Word::And, Word::Or, Word::Xor];
        let result = match self.inst.first_of(&names) {
            Some(Word::Add) => cut(numbers().sum(), 32),
            Some(Word::Min) => cut(numbers().min().unwrap_or(0), 32),
            Some(Word::Max) => cut(numbers().max().unwrap_or(0), 32),
            Some(Word::And) => bits().fold(low_mask(32), |a, b| a & b),
            Some(Word::Or) => bits().fold(0, |a, b| a | b),
            _ => bits().fold(0, |a, b| a ^ b),
        };
        self.write(0, ty, result);
    }
}

/// The mask of the lanes for which `f` holds.
fn lanes(all: &[Lane], f: impl Fn(&Lane) -> bool) -> u64 {
    all.iter().filter(|l| f(l)).fold(0, |mask, l| mask | 1 << l.lane)
}

/// The lane `shfl` reads from, and whether it was in range. Lanes beyond a narrower warp are not.
fn source_lane(mode: Option<Word>, own: &Lane, width: u32) -> (u32, bool) {
    let lane = own.lane;
    let (b, clamp, segment) = (low32(own.b) & 31, low32(own.c) & 31, low32(own.c >> 8) & 31);
    let least = lane & segment;
    let bound = least | clamp & !segment;
    let last = bound.min(width - 1);
    let (source, in_range) = match mode {
        Some(Word::Up) => {
            let source = lane.wrapping_sub(b);
            (source, lane >= b && source >= bound)
        }
        Some(Word::Down) => (lane + b, lane + b <= last),
        Some(Word::Bfly) => (lane ^ b, lane ^ b <= last),
        _ => {
            let source = least | b & !segment;
            (source, source <= last)
        }
    };
    if in_range { (source, true) } else { (lane, false) }
}

impl Machine<'_> {
    /// Thread `t` is at a warp instruction.
    pub(super) fn wait_for_warp(&mut self, cta: &mut Cta, t: usize) -> Result<(), Fault> {
        let step = self.step(cta, t);
        match step.collective() {
            Ok(collective) => {
                step.thread.state = State::Collective(collective);
                Ok(())
            }
            Err(kind) => Err(step.fault(kind)),
        }
    }

    /// Executes the warp instructions of one warp that can be; says whether there were any.
    pub(super) fn collectives(&mut self, cta: &mut Cta, warp: Range<usize>) -> Result<bool, Fault> {
        if !cta.threads[warp.clone()].iter().any(|t| matches!(t.state, State::Collective(_))) {
            return Ok(false);
        }
        for t in warp.clone() {
            if let Some(group) = complete_group(cta, &warp, t) {
                self.execute_together(cta, &group)?;
                return Ok(true);
            }
        }
        let runnable = cta.threads[warp.clone()].iter().any(|t| t.state == State::Ready);
        if runnable {
            return Ok(false);
        }
        let legacy = |t: &usize| matches!(cta.threads[*t].state, State::Collective(Collective { members: None, .. }));
        let place = |t: &usize| {
            let thread = &cta.threads[*t];
            (Reverse(thread.callers.len()), thread.func, thread.pc)
        };
        let waiting: Vec<usize> = warp.filter(legacy).collect();
        let Some(first) = waiting.iter().map(place).min() else { return Ok(false) };
        let group: Vec<usize> = waiting.into_iter().filter(|t| place(t) == first).collect();
        self.execute_together(cta, &group)?;
        Ok(true)
    }

    fn execute_together(&mut self, cta: &mut Cta, group: &[usize]) -> Result<(), Fault> {
        if self.step(cta, group[0]).inst.matrix().is_some() {
            return self.matrix(cta, group);
        }
        let mut all = Vec::with_capacity(group.len());
        for &t in group {
            let step = self.step(cta, t);
            match step.lane(t) {
                Ok(lane) => all.push(lane),
                Err(kind) => return Err(step.fault(kind)),
            }
        }
        for own in &all {
            self.step(cta, own.thread).finish_collective(own, &all);
        }
        Ok(())
    }

    /// What a thread at a warp instruction waits for, in words.
    pub(super) fn collective_wait(&self, cta: &Cta, thread: &Thread, wait: &Collective) -> String {
        let width = self.env.options.warp_width;
        let warp = thread.index / width;
        let Some(members) = wait.members else { return format!("warp {warp} to stop running") };
        let first = (warp * width) as usize;
        let missing = (0..width).filter(|lane| {
            let other = cta.threads.get(first + *lane as usize);
            members >> lane & 1 == 1 && other.is_some_and(|o| o.state != State::Exited && !meets(thread, o))
        });
        let mask = missing.fold(0u32, |mask, lane| mask | 1 << lane);
        format!("lanes {mask:#x} of warp {warp} (member mask {members:#x})")
    }
}

/// Whether two threads wait at the same instruction with the same members.
fn meets(a: &Thread, b: &Thread) -> bool {
    let (State::Collective(x), State::Collective(y)) = (&a.state, &b.state) else { return false };
    x == y && (x.barrier || (a.func, a.pc) == (b.func, b.pc))
}

/// The threads that continue together with `t`, when all its members are there.
fn complete_group(cta: &Cta, warp: &Range<usize>, t: usize) -> Option<Vec<usize>> {
    let thread = &cta.threads[t];
    let State::Collective(Collective { members: Some(members), .. }) = thread.state else { return None };
    let is_member = |other: usize| members >> (other - warp.start) & 1 == 1;
    let all_there = warp
        .clone()
        .filter(|other| is_member(*other) && cta.threads[*other].state != State::Exited)
        .all(|other| meets(thread, &cta.threads[other]));
    all_there.then(|| warp.clone().filter(|o| is_member(*o) && meets(thread, &cta.threads[*o])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(mode: Word, lane: u32, b: u64, c: u64, width: u32) -> (u32, bool) {
        source_lane(Some(mode), &Lane { thread: 0, lane, value: 0, b, c }, width)
    }

    #[test]
    fn shuffles_stay_in_their_segment() {
        assert_eq!(source(Word::Up, 3, 1, 0, 32), (2, true));
        assert_eq!(source(Word::Up, 0, 1, 0, 32), (0, false));
        assert_eq!(source(Word::Down, 31, 1, 31, 32), (31, false));
        // Segments of eight lanes.
        assert_eq!(source(Word::Up, 8, 1, 0x1800, 32), (8, false));
        assert_eq!(source(Word::Down, 7, 1, 0x181f, 32), (7, false));
        assert_eq!(source(Word::Idx, 13, 2, 0x181f, 32), (10, true));
        assert_eq!(source(Word::Bfly, 5, 4, 0x1f, 32), (1, true));
        // A narrower warp ends earlier.
        assert_eq!(source(Word::Down, 7, 1, 31, 8), (7, false));
        assert_eq!(source(Word::Idx, 1, 9, 31, 8), (1, false));
    }
}
