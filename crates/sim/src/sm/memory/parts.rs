//! Whom a request serves: an instruction of one warp, or those of several slices that reach the load-store unit as one.
//!
//! What the slices have for it in a cycle becomes one access of up to 32 threads, put together as if a wide warp had
//! made it. An instruction that belongs to no warp, the carrier, sends its requests. Each request is a [`Part`], which
//! knows the instructions it serves; an instruction is done when all its parts have come, whatever the others wait for.
//!
//! On a machine with one slice there are no parts: a request serves one instruction (of a load) or warp (of a store).

use super::super::build::Build;
use super::super::datapath::Datapath;
use super::super::in_flight::InFlightTable;
use super::super::in_flight::InstId;
use super::super::shared::Shared;
use super::access::make_requests;
use super::access_events::tell;
use super::coalesce::Access;
use super::served::{Load, Store};
use crate::kernel::{MemKind, TimedOp};
use crate::packet::Cycle;
use crate::seam::WarpId;
use raddle_ptx::num::fit;

/// The number of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct PartId(pub(super) u32);

/// A request and whom it serves.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Part {
    /// Warps and their instructions; the latter are done before the acknowledgement of a store comes.
    members: Vec<(WarpId, InstId)>,
    pc: u32,
    /// Replies to come.
    left: u32,
    /// When the instructions were issued.
    at: Cycle,
}

/// The requests that have not been answered, by number.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Parts {
    all: Vec<Part>,
    free: Vec<PartId>,
}

/// Whether two instructions can be one access.
fn are_alike(a: &TimedOp, b: &TimedOp) -> bool {
    let bytes = |op: &TimedOp| (u32::from(op.bytes) * u32::from(op.count)).min(4);
    (a.mem, a.bypass_l1, bytes(a)) == (b.mem, b.bypass_l1, bytes(b))
        && !matches!(a.mem, MemKind::Atomic | MemKind::Fence)
}

impl Parts {
    fn get(&self, part: PartId) -> &Part {
        &self.all[part.0 as usize]
    }

    fn get_mut(&mut self, part: PartId) -> &mut Part {
        &mut self.all[part.0 as usize]
    }

    fn add(&mut self) -> PartId {
        self.free.pop().unwrap_or_else(|| {
            self.all.push(Part::default());
            PartId(fit(self.all.len() - 1))
        })
    }

    fn release(&mut self, part: PartId) {
        self.get_mut(part).members.clear();
        self.free.push(part);
    }

    /// A request was not made after all.
    #[inline]
    pub(super) fn forget(&mut self, load: Load) {
        if let Load::Part(part) = load {
            self.release(part);
        }
    }

    /// Takes what the slices have for the load-store unit: the instruction that was issued first, and all that can go
    /// with it.
    pub(super) fn take_joint<B: Build>(&mut self, on: &mut Shared<'_, B>, datapath: &mut Datapath) -> Option<InstId> {
        let heads = (0..datapath.slices()).filter_map(|slice| datapath.memory_head::<B>(slice));
        let first = heads.min_by_key(|inst| on.insts.get(*inst).at)?;
        let carrier = on.insts.alloc();
        let entry = on.insts.get(first);
        let (warp, pc, at, work_first) = (entry.warp, entry.pc, entry.at, entry.footprint.is_none());
        let leading = on.op(pc);
        let mut all = *entry.footprint.as_ref();
        let mut members = std::mem::take(&mut on.insts.get_mut(carrier).members);
        for slice in 0..datapath.slices() {
            let Some(inst) = datapath.memory_head::<B>(slice) else { continue };
            let entry = on.insts.get(inst);
            let goes = inst == first
                || are_alike(leading, on.op(entry.pc))
                    && match (&all, entry.footprint.as_ref()) {
                        (Some(all), Some(own)) => all.goes_with(own),
                        _ => true,
                    };
            if !goes {
                continue;
            }
            datapath.take_memory::<B>(slice);
            let own = on.insts.get_mut(inst).footprint.take();
            match (&mut all, own) {
                (Some(all), Some(own)) => all.add(&own),
                (None, own) => all = own,
                _ => {}
            }
            members.push(inst);
        }
        let entry = on.insts.get_mut(carrier);
        (entry.warp, entry.pc, entry.at, entry.pending) = (warp, pc, at, 0);
        (entry.bank_cycles, entry.bank_steps) = (1, 1);
        (entry.shared, entry.local, entry.gathered) = (false, false, false);
        entry.members = members;
        if let Some(all) = all {
            make_requests(&on.facts, &mut on.account, on.insts.get_mut(carrier), &all);
            if on.account.hears_accesses() {
                tell(on, carrier, &all, None);
            }
        } else if work_first {
            // An atomic has its requests already.
            let own = on.insts.get_mut(first);
            let (mut accesses, mut work) = (std::mem::take(&mut own.accesses), std::mem::take(&mut own.work));
            let entry = on.insts.get_mut(carrier);
            entry.accesses.append(&mut accesses);
            entry.work.append(&mut work);
            let own = on.insts.get_mut(first);
            (own.accesses, own.work) = (accesses, work);
        }
        for n in 0..on.insts.get(carrier).members.len() {
            let member = on.insts.get(carrier).members[n];
            let lanes = on.insts.get(member).issued;
            let served = on.insts.get(carrier).accesses.iter().map(|a| u32::from(a.lanes & lanes != 0)).sum();
            on.insts.get_mut(member).pending = served;
        }
        on.account.counters.slice_accesses += 1;
        on.account.counters.slice_access_insts += on.insts.get(carrier).members.len() as u64;
        Some(carrier)
    }

    /// The part that a request of a carrier with this many replies is; `None` of any other instruction.
    #[inline]
    pub(super) fn part(
        &mut self,
        insts: &InFlightTable,
        inst: InstId,
        access: &Access,
        replies: u32,
    ) -> Option<PartId> {
        let carrier = insts.get(inst);
        if carrier.members.is_empty() {
            return None;
        }
        let number = self.add();
        let part = self.get_mut(number);
        (part.pc, part.left, part.at) = (carrier.pc, replies, carrier.at);
        for member in &carrier.members {
            let entry = insts.get(*member);
            if entry.issued & access.lanes != 0 {
                part.members.push((WarpId(entry.warp), *member));
            }
        }
        Some(number)
    }

    /// Whom a request of a load with this many replies serves.
    #[inline]
    pub(super) fn load(&mut self, insts: &InFlightTable, inst: InstId, access: &Access, replies: u32) -> Load {
        self.part(insts, inst, access, replies).map_or(Load::Inst(inst), Load::Part)
    }

    /// Calls `f` with each warp that a request of a store serves.
    #[inline]
    pub(super) fn for_each_warp(&self, store: Store, mut f: impl FnMut(WarpId)) {
        match store {
            Store::Warp(warp) => f(warp),
            Store::Part(part) => self.get(part).members.iter().for_each(|(warp, _)| f(*warp)),
        }
    }

    /// Calls `f` with each warp that a request of a load serves.
    pub(super) fn for_each_reader(&self, insts: &InFlightTable, load: Load, f: &mut dyn FnMut(WarpId)) {
        match load {
            Load::Inst(inst) => f(WarpId(insts.get(inst).warp)),
            Load::Part(part) => self.get(part).members.iter().for_each(|(warp, _)| f(*warp)),
        }
    }

    /// What writes its result, for the register banks: a warp and an operation.
    pub(super) fn writer<B: Build>(&self, on: &Shared<'_, B>, load: Load) -> (WarpId, u32) {
        match load {
            Load::Inst(inst) => {
                let entry = on.insts.get(inst);
                (WarpId(entry.warp), entry.pc)
            }
            Load::Part(part) => {
                let part = self.get(part);
                (part.members.first().map_or(WarpId(0), |m| m.0), part.pc)
            }
        }
    }

    /// When the instructions of a request were issued.
    pub(super) fn issued_at(&self, insts: &InFlightTable, load: Load) -> Cycle {
        match load {
            Load::Inst(inst) => insts.get(inst).at,
            Load::Part(part) => self.get(part).at,
        }
    }

    /// The instruction a reply with atomic work belongs to.
    pub(super) fn owner(&self, load: Load) -> Option<InstId> {
        match load {
            Load::Inst(inst) => Some(inst),
            Load::Part(part) => self.get(part).members.first().map(|m| m.1),
        }
    }

    /// A part of a load has come; the last one ends the instruction, unless it is `current` and still sends requests.
    pub(super) fn came<B: Build>(&mut self, on: &mut Shared<'_, B>, load: Load, current: Option<InstId>) {
        let number = match load {
            Load::Inst(inst) => {
                let entry = on.insts.get_mut(inst);
                entry.pending -= 1;
                if entry.pending == 0 && current != Some(inst) {
                    on.complete(inst);
                }
                return;
            }
            Load::Part(part) => part,
        };
        let part = self.get_mut(number);
        part.left -= 1;
        if part.left > 0 {
            return;
        }
        for (_, inst) in &part.members {
            let entry = on.insts.get_mut(*inst);
            entry.pending -= 1;
            if entry.pending == 0 {
                if let Some(carrier) = current {
                    on.insts.get_mut(carrier).members.retain(|m| m != inst);
                }
                on.complete(*inst);
            }
        }
        self.release(number);
    }

    /// A request hit in a cache that takes no time.
    pub(super) fn hit(&mut self, insts: &mut InFlightTable, load: Load) {
        match load {
            Load::Inst(inst) => insts.get_mut(inst).pending -= 1,
            Load::Part(part) => {
                self.get(part).members.iter().for_each(|(_, inst)| insts.get_mut(*inst).pending -= 1);
                self.release(part);
            }
        }
    }

    /// A store has been acknowledged.
    pub(super) fn store_acknowledged<B: Build>(&mut self, on: &mut Shared<'_, B>, store: Store) {
        self.for_each_warp(store, |warp| {
            on.warps.front_mut(warp).stores -= 1;
            on.warps.refresh(warp);
        });
        if let Store::Part(number) = store {
            let part = self.get_mut(number);
            part.left -= 1;
            if part.left == 0 {
                self.release(number);
            }
        }
    }

    /// A store of this many sectors will not be acknowledged: it stays in the data cache, or no store is.
    pub(super) fn store_kept<B: Build>(&mut self, on: &mut Shared<'_, B>, store: Store, sectors: u32) {
        self.for_each_warp(store, |warp| on.warps.front_mut(warp).stores -= sectors);
        if let Store::Part(part) = store {
            self.for_each_warp(store, |warp| on.warps.refresh(warp));
            self.release(part);
        }
    }

    /// A carrier has sent all requests: its instructions are done, or wait for their parts.
    pub(super) fn leave<B: Build>(&mut self, on: &mut Shared<'_, B>, carrier: InstId) {
        let is_store = on.op_of(carrier).mem == MemKind::Store;
        let members = std::mem::take(&mut on.insts.get_mut(carrier).members);
        for inst in &members {
            if is_store {
                on.warps.complete_store(on.insts.get(*inst));
                on.insts.release(*inst);
            } else if on.insts.get(*inst).pending == 0 {
                on.complete(*inst);
            }
        }
        let entry = on.insts.get_mut(carrier);
        entry.members = members;
        if entry.pending == 0 {
            on.insts.release(carrier);
        }
    }

    /// A request of a carrier has passed the tags of the data cache.
    pub(super) fn looked_up(&self, insts: &mut InFlightTable, carrier: InstId, current: Option<InstId>) {
        let entry = insts.get_mut(carrier);
        entry.pending -= 1;
        if entry.pending == 0 && current != Some(carrier) {
            insts.release(carrier);
        }
    }

    /// A load from shared memory is done, of one instruction or of all that a carrier represents.
    pub(super) fn done<B: Build>(&mut self, on: &mut Shared<'_, B>, inst: InstId) {
        if !on.insts.is_carrier(inst) {
            on.complete(inst);
            return;
        }
        let members = std::mem::take(&mut on.insts.get_mut(inst).members);
        members.iter().for_each(|inst| on.complete(*inst));
        on.insts.get_mut(inst).members = members;
        on.insts.release(inst);
    }
}
