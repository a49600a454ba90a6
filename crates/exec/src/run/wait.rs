//! Waiting: barriers of a thread block, and operations for which the lanes of a warp come together.

use super::warp::Warp;
use super::{Block, Ran, Runner};
use crate::core::{Arrival, Lanes};
use crate::decode::BarrierOp;
use crate::memory::Global;
use crate::op::Class;
use crate::sanitize::Who;
use crate::splits::{Group, Meeting, Split, State};
use raddle_ptx::num::fit;

impl Runner<'_, '_> {
    pub(super) fn collective(&mut self, warp: &mut Warp, split: usize, active: u32) -> Ran<()> {
        let s = warp.parts.splits[split];
        let op = &self.program.ops[s.pc as usize];
        let homes = warp.homes.clone();
        let lanes = Warp::lanes(warp.row, homes.as_ref());
        let members = match self.core.members(op, lanes, active) {
            Ok(members) => members,
            Err(fault) => return Err(Box::new(self.core.fault(s.pc, lanes, fault))),
        };
        let wanted = members << warp.base & warp.parts.live;
        if wanted & !s.mask != 0 {
            warp.parts.splits[split].state = State::Sync(wanted);
            return self.release_syncs(warp);
        }
        self.together(s.pc, lanes, active, warp.base)?;
        warp.parts.splits[split].pc = s.pc + 1;
        Ok(())
    }

    /// Executes an operation of a whole warp for lanes that have come together.
    fn together(&mut self, pc: u32, lanes: Lanes<'_>, active: u32, base: u32) -> Ran<()> {
        let op = &self.program.ops[pc as usize];
        if op.class == Class::Matrix && active != 0 {
            let mut moved = Vec::new();
            let wanted = self.sanitizer.is_some().then_some(&mut moved);
            let done = self.core.matrix(&mut Global::Direct(self.memory), op, lanes, active, wanted);
            done.map_err(|fault| Box::new(self.core.fault(pc, lanes, fault)))?;
            self.show_moved(pc, lanes, active, &moved);
            return Ok(());
        }
        self.core.collective(op, lanes, active, base);
        if let (true, Some(sanitizer)) = (active != 0, &mut self.sanitizer) {
            let slot = self.core.slot_of(lanes, active);
            let first_row = self.core.cta_rows(slot).0;
            sanitizer.together(&Who { lanes, mask: active, slot, first_row }, pc);
        }
        Ok(())
    }

    /// Executes warp-wide operations whose members have all come.
    pub(super) fn release_syncs(&mut self, warp: &mut Warp) -> Ran<()> {
        while let Some(group) = self.complete_sync(warp) {
            let homes = warp.homes.clone();
            let lanes = Warp::lanes(warp.row, homes.as_ref());
            let pc = warp.parts.splits[group[0]].pc;
            let together = group.iter().fold(0, |m, i| m | warp.parts.splits[*i].mask);
            let active = self.core.guarded(&self.program.ops[pc as usize], lanes, together);
            self.together(pc, lanes, active, warp.base)?;
            for i in group {
                warp.parts.splits[i].pc += 1;
                warp.parts.splits[i].state = State::Ready;
            }
        }
        Ok(())
    }

    /// Parts of a warp that wait for each other and have all come.
    fn complete_sync(&self, warp: &Warp) -> Option<Vec<usize>> {
        let ops = &self.program.ops;
        let is_barrier = |pc: u32| ops[pc as usize].is_warp_barrier();
        for s in &warp.parts.splits {
            let State::Sync(wanted) = s.state else { continue };
            // `bar.warp.sync` counts wherever it stands, the others must be the same instruction.
            let together = |o: &Split| {
                let same = o.pc == s.pc || is_barrier(s.pc) && is_barrier(o.pc);
                matches!(o.state, State::Sync(_)) && same
            };
            let group: Vec<usize> = (0..warp.parts.splits.len()).filter(|i| together(&warp.parts.splits[*i])).collect();
            let here = group.iter().fold(0, |m, i| m | warp.parts.splits[*i].mask);
            if wanted & warp.parts.live & !here == 0 {
                return Some(group.into_iter().filter(|i| warp.parts.splits[*i].mask & wanted != 0).collect());
            }
        }
        None
    }

    pub(super) fn barrier(&mut self, block: &mut Block, index: usize, split: usize, active: u32) -> Ran<()> {
        let warp = &mut block.warps[index];
        let s = warp.parts.splits[split];
        let op = &self.program.ops[s.pc as usize];
        let homes = warp.homes.clone();
        let lanes = Warp::lanes(warp.row, homes.as_ref());
        let mut arrivals = std::mem::take(self.arrivals);
        if let Err(fault) = self.core.arrivals(op, lanes, active, &mut arrivals) {
            return Err(Box::new(self.core.fault(s.pc, lanes, fault)));
        }
        for arrival in &arrivals {
            self.core.arrive(block.slot, op, lanes, arrival);
            if let Some(sanitizer) = &mut self.sanitizer {
                let first_row = self.core.cta_rows(block.slot).0;
                let who = Who { lanes, mask: arrival.mask, slot: block.slot, first_row };
                let waits = op.variant != BarrierOp::Arrive as u8;
                sanitizer.arrive(&who, arrival.number, waits);
            }
        }
        if op.variant == BarrierOp::Arrive as u8 {
            warp.parts.splits[split].pc = s.pc + 1;
        } else if let [Arrival { number, mask, .. }] = arrivals[..]
            && mask == s.mask
        {
            warp.parts.splits[split].state = State::Barrier(fit(number));
        } else {
            // Lanes whose guard is false do not wait, and those at different barriers wait apart.
            let mut parts = vec![Group { pc: s.pc + 1, mask: s.mask & !active, depth: s.depth }];
            parts.extend(arrivals.iter().map(|a| Group { pc: s.pc, mask: a.mask, depth: s.depth }));
            warp.parts.diverge(split, &parts, Meeting::at(s.pc + 1));
            for &Arrival { number, mask, .. } in &arrivals {
                if let Some(part) = warp.parts.splits.iter_mut().find(|p| p.pc == s.pc && p.mask == mask) {
                    part.state = State::Barrier(fit(number));
                }
            }
        }
        *self.arrivals = arrivals;
        self.release_barriers(block);
        Ok(())
    }

    /// Lets go everyone at barriers that are complete.
    pub(super) fn release_barriers(&mut self, block: &mut Block) {
        while let Some((number, barrier)) = self.core.complete_barrier(block.slot) {
            self.tell_complete(block, number, barrier.expected.is_none());
            for warp in &mut block.warps {
                let homes = warp.homes.clone();
                let lanes = Warp::lanes(warp.row, homes.as_ref());
                for s in warp.parts.splits.iter_mut().filter(|s| s.state == State::Barrier(number)) {
                    let op = &self.program.ops[s.pc as usize];
                    self.core.leave_barrier(&barrier, op, lanes, s.mask);
                    s.state = State::Ready;
                    s.pc += 1;
                }
            }
        }
    }

    /// Tells the sanitizer of a barrier that is complete, while those who wait there still do.
    fn tell_complete(&mut self, block: &Block, number: u8, is_whole: bool) {
        let Some(sanitizer) = &mut self.sanitizer else { return };
        let first_row = self.core.cta_rows(block.slot).0;
        let mut waiting = Vec::new();
        for warp in &block.warps {
            let lanes = Warp::lanes(warp.row, warp.homes.as_ref());
            let here = warp.parts.splits.iter().filter(|s| s.state == State::Barrier(number));
            waiting.extend(here.map(|s| (Who { lanes, mask: s.mask, slot: block.slot, first_row }, s.pc)));
        }
        let ended = self.core.live_threads(block.slot) < self.launch.threads_per_cta();
        sanitizer.complete(block.slot, u32::from(number), is_whole, &waiting, ended);
    }
}
