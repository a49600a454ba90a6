//! The way of an instruction that issues: it is counted, its registers are reserved, it goes to its operand collector, and
//! its threads execute it, all in the cycle in which it issues.

use super::super::blocks::Blocks;
use super::super::build::Build;
use super::super::datapath::Datapath;
use super::super::in_flight::InstId;
use super::super::memory::access;
use super::super::power::Power;
use super::super::shared::{Issuing, Shared};
use crate::event::EventKind;
use crate::kernel::{MemKind, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::{Outcome, WarpId};
use raddle_exec::core::{Effect, LaneFault};
use raddle_exec::memory::DeviceMemory;
use raddle_exec::op::Class;

/// What an instruction that issues goes through.
pub(in super::super) struct Path<'a, 'k, B> {
    pub(in super::super) on: &'a mut Shared<'k, B>,
    pub(in super::super) blocks: &'a mut Blocks,
    pub(in super::super) datapath: &'a mut Datapath,
    pub(in super::super) power: &'a mut Power,
    pub(in super::super) memory: &'a DeviceMemory,
    pub(in super::super) now: Cycle,
}

impl<B: Build> Path<'_, '_, B> {
    /// Whether a thread has done something it must not.
    pub(in super::super) fn has_fault(&self) -> bool {
        self.on.threads.fault.is_some()
    }

    /// Issues the instruction a warp is at, the first in its slot or another one; false when that ended the run.
    #[inline(always)]
    pub(in super::super) fn issue(&mut self, warp: WarpId, first: bool) -> bool {
        let pc = self.on.warps.get(warp).pc;
        let Err(fault) = self.try_issue(warp, pc, first) else { return true };
        self.on.threads.fail(pc, self.on.warps.lanes(warp), fault, self.now);
        false
    }

    #[inline]
    fn try_issue(&mut self, warp: WarpId, pc: u32, first: bool) -> Result<(), LaneFault> {
        let on = &mut *self.on;
        let info = on.warps.get(warp);
        let (mask, row) = (info.mask, info.row);
        let op = &on.facts.kernel.program.ops[pc as usize];
        let timed = on.op(pc);
        let active = on.threads.core.guarded(op, on.warps.lanes(warp), mask);
        let issuing = Issuing { warp, op, pc, mask, active, now: self.now, memory: self.memory };
        let inst = self.enter(issuing, timed, row, first);
        if timed.unit == UnitKind::Mem && (B::PLAIN || op.class != Class::Matrix) {
            if timed.mem == MemKind::Fence {
                self.on.warps.front_mut(warp).begin_fence();
            }
            access::execute(self.on, inst, issuing, !B::PLAIN && self.datapath.slices() > 1)?;
            self.on.warps.go_behind_memory(warp);
        } else {
            self.execute(issuing, inst)?;
        }
        self.on.threads.take_output(self.now);
        Ok(())
    }

    /// An instruction enters the machine: it is counted, its registers are reserved, it goes to its collector.
    #[inline(always)]
    pub(in super::super) fn enter(&mut self, issuing: Issuing<'_>, timed: &TimedOp, row: u32, first: bool) -> InstId {
        let Issuing { warp, op, pc, mask, active, now, .. } = issuing;
        let on = &mut *self.on;
        on.account.enters(pc, mask, now, first);
        if !op.hidden {
            let threads = u64::from(active.count_ones());
            on.account.issues(pc, timed.unit, threads);
            on.charge_lanes(warp, pc, mask, active);
            on.warps.slots.count(warp, threads);
            on.emit_slot(now, EventKind::Issue { warp: warp.0, pc, at: mask, lanes: active });
        }
        let inst = on.insts.alloc();
        let entry = on.insts.get_mut(inst);
        (entry.warp, entry.pc, entry.issued, entry.row, entry.at) = (warp.0, pc, mask, row, now);
        (entry.pending, entry.bank_cycles, entry.bank_steps) = (0, 1, 1);
        (entry.shared, entry.local) = (false, false);
        on.warps.enter(warp, timed, entry);
        if !B::PLAIN {
            entry.shape = self.power.issued::<B>(timed, active, now);
        }
        self.datapath.push::<B>(warp, timed.unit, inst);
        inst
    }

    /// Executes an instruction that is not a memory instruction, and what it means for control flow.
    #[inline]
    fn execute(&mut self, issuing: Issuing<'_>, inst: InstId) -> Result<(), LaneFault> {
        let Issuing { warp, op, pc, mask, active, now, .. } = issuing;
        let on = &mut *self.on;
        match op.class {
            Class::Branch => {
                on.account.counters.branches += 1;
                on.account.counters.divergent_branches += u64::from(active != 0 && active != mask);
                if let Some(row) = on.account.row(pc) {
                    let way = match active {
                        0 => &mut row.not_taken,
                        all if all == mask => &mut row.taken,
                        _ => &mut row.diverged,
                    };
                    *way += 1;
                }
                on.warps.go_on(warp, Outcome::Branch { taken: active, op });
            }
            Class::Exit => self.blocks.barriers_mut().exit(on, issuing),
            Class::Barrier if active != 0 => self.blocks.barriers_mut().barrier(on, warp, (pc, op), active, now)?,
            Class::Warp | Class::Matrix => self.blocks.barriers_mut().warp_wide(on, issuing, inst)?,
            _ => {
                if op.class == Class::Clock {
                    on.threads.core.set_clock(now);
                }
                let effect = on.threads.perform(issuing, on.warps.lanes(warp))?;
                let depth = match effect {
                    Effect::Next => {
                        if !B::PLAIN {
                            self.blocks.barriers_mut().set_thread_index(on, warp, op, pc, active);
                        }
                        on.warps.go_behind(warp);
                        return Ok(());
                    }
                    Effect::Scatter => 0,
                    Effect::Depth(by) => by,
                };
                let targets = *on.threads.core.targets();
                on.warps.go_on(warp, Outcome::Scatter { active, targets: &targets, depth, op });
            }
        }
        Ok(())
    }
}
