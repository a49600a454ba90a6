//! How the warps of a gang issue an instruction: at once, or one after the other in the same cycle.

use super::super::build::Build;
use super::super::issue::path::Path;
use super::super::shared::{Issuing, Shared};
use super::{Gangs, accept};
use crate::kernel::UnitKind;
use crate::seam::{Cause, Gang, slices_in};
use raddle_exec::op::Class;

/// Why the gating scheme does not let a gang issue; it is asked for every warp, which wants its lanes.
pub(super) fn veto<B: Build>(gangs: &Gangs, path: &mut Path<'_, '_, B>, gang: Gang) -> Option<Cause> {
    if !path.power.is_active::<B>() {
        return None;
    }
    let veto = |veto, slice| path.power.veto(path.on, gangs.member(gang, slice), path.now).or(veto);
    slices_in(gang.mask).fold(None, veto)
}

/// Issues up to so many instructions of a gang, all its warps in lockstep.
pub(super) fn issue_gang<B: Build>(gangs: &Gangs, path: &mut Path<'_, '_, B>, gang: Gang, per_warp: u32) {
    for n in 0..per_warp {
        let (set, on) = (usize::from(gang.set), &*path.on);
        let first = gangs.place(on, set, gang.mask.trailing_zeros() as usize);
        let together = slices_in(gang.mask).all(|slice| gangs.place(on, set, slice) == first);
        assert!(together || n > 0, "the warps of a gang are not at the same operation: {gang:?}");
        if n > 0 {
            let ready = gangs.ready_bits(on, set) & gang.mask == gang.mask;
            let accepted = accept::<B>(path.datapath, gang.mask, on.op(first.0).unit);
            if !together || !ready || !accepted || veto(gangs, path, gang).is_some() {
                break;
            }
        }
        path.on.account.counters.gang_issues += 1;
        path.on.account.counters.gang_insts += u64::from(gang.mask.count_ones());
        if executes_together(gangs, path.on, gang) {
            if !issue_together(gangs, path, gang, n == 0) {
                return;
            }
            continue;
        }
        for slice in slices_in(gang.mask) {
            if !path.issue(gangs.member(gang, slice), n == 0) {
                return;
            }
        }
    }
}

/// Whether the instruction of a gang can be executed once for all its lanes: they are of one row, and it does nothing
/// but compute, load or store.
#[inline]
fn executes_together<B: Build>(gangs: &Gangs, on: &Shared<'_, B>, gang: Gang) -> bool {
    let pc = gangs.view(on, usize::from(gang.set), gang.mask).pc;
    !on.warps.regroups()
        && match on.facts.kernel.program.ops[pc as usize].class {
            Class::Alu => on.op(pc).unit != UnitKind::Mem,
            Class::Load | Class::Store => true,
            _ => false,
        }
}

/// Executes the instruction of a gang once; each warp then continues on its own. False when that ended the run.
fn issue_together<B: Build>(gangs: &Gangs, path: &mut Path<'_, '_, B>, gang: Gang, first: bool) -> bool {
    let on = &mut *path.on;
    let leader = gangs.member(gang, gang.mask.trailing_zeros() as usize);
    let (pc, row) = (on.warps.get(leader).pc, on.warps.get(leader).row);
    let op = &on.facts.kernel.program.ops[pc as usize];
    let mask = slices_in(gang.mask).fold(0, |all, slice| all | on.warps.get(gangs.member(gang, slice)).mask);
    let lanes = on.warps.lanes(leader);
    let active = on.threads.core.guarded(op, lanes, mask);
    let whole = Issuing { warp: leader, op, pc, mask, active, now: path.now, memory: path.memory };
    let touches = match on.threads.touch_or_compute::<B>(&on.facts, whole, lanes) {
        Ok(touches) => touches,
        Err(fault) => {
            on.threads.fail(pc, lanes, fault, path.now);
            return false;
        }
    };
    for slice in slices_in(gang.mask) {
        let warp = gangs.member(gang, slice);
        let mask = path.on.warps.get(warp).mask;
        let one = Issuing { warp, mask, active: active & mask, ..whole };
        let inst = path.enter(one, path.on.op(pc), row, first);
        if touches {
            *path.on.insts.get_mut(inst).footprint = path.on.threads.footprint.of_lanes(active & mask);
        }
        path.on.warps.go_behind(warp);
    }
    true
}
