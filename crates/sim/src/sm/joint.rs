//! Memory instructions of several slices meet the load-store unit as one.
//!
//! What the slices have for it in a cycle becomes one access of up to 32 threads, put together as if a wide warp had made it.
//! An instruction that belongs to no warp, the carrier, hands out its requests. Each request is a [`Part`], which knows the
//! instructions it serves; an instruction is done when all its parts have come, whatever the others wait for.

use super::coalesce::Access;
use super::collector::InstId;
use super::memory_op::{Footprint, Spaces};
use super::{Build, Sm};
use crate::kernel::{MemKind, TimedOp, UnitKind};
use crate::packet::Cycle;
use crate::seam::WarpId;
use raddle_ptx::num::fit;

/// Marks tokens that are numbers of parts.
pub(super) const PART: u32 = 1 << 30;

/// A request and whom it serves.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Warps and their instructions; the latter are done before the acknowledgement of a store comes.
    members: Vec<(WarpId, InstId)>,
    pc: u32,
    /// Replies to come.
    left: u32,
    /// When the instructions were issued.
    at: Cycle,
}

/// The requests that have not been answered, by number.
#[derive(Debug, Default)]
pub(super) struct Parts {
    all: Vec<Part>,
    free: Vec<u32>,
}

impl Parts {
    fn get(&self, token: u32) -> &Part {
        &self.all[(token & (PART - 1)) as usize]
    }

    fn get_mut(&mut self, token: u32) -> &mut Part {
        &mut self.all[(token & (PART - 1)) as usize]
    }

    fn add(&mut self) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Part::default());
            fit(self.all.len() - 1)
        });
        number | PART
    }

    /// Forgets one.
    pub(super) fn release(&mut self, token: u32) {
        self.get_mut(token).members.clear();
        self.free.push(token & (PART - 1));
    }
}

impl Footprint {
    /// Adds what another instruction touches.
    fn add(&mut self, other: &Self) {
        let Spaces { global, shared, local, constant, texture } = other.spaces;
        let lanes = global | shared | local | constant | texture;
        raddle_exec::core::lanes_in(lanes).for_each(|lane| self.addresses[lane] = other.addresses[lane]);
        let own = &mut self.spaces;
        own.global |= global;
        own.shared |= shared;
        own.local |= local;
        own.constant |= constant;
        own.texture |= texture;
    }

    /// Whether both go the same way through the unit.
    fn goes_with(&self, other: &Self) -> bool {
        let kinds = |spaces: &Spaces| {
            let Spaces { global, shared, local, constant, texture } = *spaces;
            [global, shared, local, constant, texture].map(|lanes| lanes != 0)
        };
        self.fixed == other.fixed && kinds(&self.spaces) == kinds(&other.spaces)
    }
}

/// Whether two instructions can be one access.
fn are_alike(a: &TimedOp, b: &TimedOp) -> bool {
    let bytes = |op: &TimedOp| (u32::from(op.bytes) * u32::from(op.count)).min(4);
    (a.mem, a.bypass_l1, bytes(a)) == (b.mem, b.bypass_l1, bytes(b))
        && !matches!(a.mem, MemKind::Atomic | MemKind::Fence)
}

impl<B: Build> Sm<'_, B> {
    /// Takes what the slices have for the load-store unit: the instruction that was issued first, and all that can go
    /// with it.
    pub(super) fn take_memory(&mut self) -> Option<InstId> {
        if self.slices.len() == 1 {
            return self.slices.get(0).collector.take(UnitKind::Mem);
        }
        let heads = (0..self.slices.len()).filter_map(|slice| self.slices.memory_head(slice));
        let first = heads.min_by_key(|inst| self.insts.get(*inst).at)?;
        let carrier = self.insts.alloc();
        let entry = self.insts.get(first);
        let (warp, pc, at, work_first) = (entry.warp, entry.pc, entry.at, entry.footprint.is_none());
        let leading = self.op(pc);
        let mut all = *entry.footprint.as_ref();
        let mut members = std::mem::take(&mut self.insts.get_mut(carrier).members);
        for slice in 0..self.slices.len() {
            let Some(inst) = self.slices.memory_head(slice) else { continue };
            let entry = self.insts.get(inst);
            let goes = inst == first
                || are_alike(leading, self.op(entry.pc))
                    && match (&all, entry.footprint.as_ref()) {
                        (Some(all), Some(own)) => all.goes_with(own),
                        _ => true,
                    };
            if !goes {
                continue;
            }
            self.slices.get(slice).collector.take(UnitKind::Mem);
            let own = self.insts.get_mut(inst).footprint.take();
            match (&mut all, own) {
                (Some(all), Some(own)) => all.add(&own),
                (None, own) => all = own,
                _ => {}
            }
            members.push(inst);
        }
        let entry = self.insts.get_mut(carrier);
        (entry.warp, entry.pc, entry.at, entry.pending) = (warp, pc, at, 0);
        (entry.bank_cycles, entry.shared, entry.local, entry.gathered) = (1, false, false, false);
        entry.members = members;
        if let Some(all) = all {
            self.make_requests(carrier, &all);
        } else if work_first {
            // An atomic has its requests already.
            let own = self.insts.get_mut(first);
            let (mut accesses, mut work) = (std::mem::take(&mut own.accesses), std::mem::take(&mut own.work));
            let entry = self.insts.get_mut(carrier);
            entry.accesses.append(&mut accesses);
            entry.work.append(&mut work);
            let own = self.insts.get_mut(first);
            (own.accesses, own.work) = (accesses, work);
        }
        for n in 0..self.insts.get(carrier).members.len() {
            let member = self.insts.get(carrier).members[n];
            let lanes = self.insts.get(member).issued;
            let served = self.insts.get(carrier).accesses.iter().map(|a| u32::from(a.lanes & lanes != 0)).sum();
            self.insts.get_mut(member).pending = served;
        }
        self.counters.slice_accesses += 1;
        self.counters.slice_access_insts += self.insts.get(carrier).members.len() as u64;
        Some(carrier)
    }

    /// Whether an instruction stands for those of several slices.
    #[inline]
    pub(super) fn is_carrier(&self, inst: InstId) -> bool {
        !self.insts.get(inst).members.is_empty()
    }

    /// The token of a request with this many replies: the number of a part for a carrier, else what `own` says.
    pub(super) fn token(&mut self, inst: InstId, access: &Access, replies: u32, own: u32) -> u32 {
        let carrier = self.insts.get(inst);
        if carrier.members.is_empty() {
            return own;
        }
        let token = self.parts.add();
        let part = self.parts.get_mut(token);
        (part.pc, part.left, part.at) = (carrier.pc, replies, carrier.at);
        for member in &carrier.members {
            let entry = self.insts.get(*member);
            if entry.issued & access.lanes != 0 {
                part.members.push((WarpId(entry.warp), *member));
            }
        }
        token
    }

    /// Calls `f` with the front end of each warp that a request serves: of a part, or of one warp.
    pub(super) fn for_each_front(&mut self, token: u32, mut f: impl FnMut(&mut super::state::Front)) {
        if token & PART == 0 {
            f(&mut self.fronts[token as usize]);
            return;
        }
        for (warp, _) in &self.parts.get(token).members {
            f(&mut self.fronts[warp.index()]);
        }
    }

    /// What writes its result, for the register banks: a warp and an operation.
    pub(super) fn writer(&self, token: u32) -> (u16, u32) {
        if token & PART == 0 {
            let entry = self.insts.get(token);
            return (entry.warp, entry.pc);
        }
        let part = self.parts.get(token);
        (part.members.first().map_or(0, |m| m.0.0), part.pc)
    }

    /// When the instructions of a request were issued.
    pub(super) fn issued_at(&self, token: u32) -> Cycle {
        if token & PART == 0 { self.insts.get(token).at } else { self.parts.get(token).at }
    }

    /// The instruction a reply with atomic work belongs to.
    pub(super) fn owner(&self, token: u32) -> InstId {
        if token & PART == 0 { token } else { self.parts.get(token).members.first().map_or(0, |m| m.1) }
    }

    /// A reply to a part of a load has come.
    pub(super) fn joint_part_came(&mut self, token: u32) {
        let part = self.parts.get_mut(token);
        part.left -= 1;
        if part.left > 0 {
            return;
        }
        let members = std::mem::take(&mut part.members);
        for (_, inst) in &members {
            let entry = self.insts.get_mut(*inst);
            entry.pending -= 1;
            if entry.pending == 0 {
                if let Some(carrier) = self.ldst.current {
                    self.insts.get_mut(carrier).members.retain(|m| m != inst);
                }
                self.complete(*inst);
            }
        }
        self.parts.get_mut(token).members = members;
        self.parts.release(token);
    }

    /// A request of a carrier hit in a cache that takes no time.
    pub(super) fn joint_hit(&mut self, token: u32) {
        for n in 0..self.parts.get(token).members.len() {
            let (_, inst) = self.parts.get(token).members[n];
            self.insts.get_mut(inst).pending -= 1;
        }
        self.parts.release(token);
    }

    /// A store of a part has been acknowledged.
    pub(super) fn store_acknowledged(&mut self, token: u32) {
        if token & PART == 0 {
            self.fronts[token as usize].stores -= 1;
            self.refresh(WarpId::at(token as usize));
            return;
        }
        let part = self.parts.get_mut(token);
        part.left -= 1;
        let done = part.left == 0;
        for n in 0..self.parts.get(token).members.len() {
            let (warp, _) = self.parts.get(token).members[n];
            self.fronts[warp.index()].stores -= 1;
            self.refresh(warp);
        }
        if done {
            self.parts.release(token);
        }
    }

    /// A store of this many sectors will not be acknowledged: it stays in the data cache, or no store is.
    pub(super) fn store_kept(&mut self, token: u32, sectors: u32) {
        self.for_each_front(token, |front| front.stores -= sectors);
        if token & PART == 0 {
            return;
        }
        for n in 0..self.parts.get(token).members.len() {
            self.refresh(self.parts.get(token).members[n].0);
        }
        self.parts.release(token);
    }

    /// A carrier has handed out all requests: its instructions are done, or wait for their parts.
    pub(super) fn joint_leaves(&mut self, carrier: InstId) {
        let is_store = self.op(self.insts.get(carrier).pc).mem == MemKind::Store;
        let members = std::mem::take(&mut self.insts.get_mut(carrier).members);
        for inst in &members {
            if is_store {
                let warp = WarpId(self.insts.get(*inst).warp);
                self.fronts[warp.index()].in_flight -= 1;
                self.insts.release(*inst);
                self.refresh(warp);
            } else if self.insts.get(*inst).pending == 0 {
                self.complete(*inst);
            }
        }
        self.insts.get_mut(carrier).members = members;
        self.release_carrier(carrier);
    }

    /// A request of a carrier has passed the tags of the data cache.
    pub(super) fn joint_looked_up(&mut self, carrier: InstId) {
        self.insts.get_mut(carrier).pending -= 1;
        if self.ldst.current != Some(carrier) {
            self.release_carrier(carrier);
        }
    }

    fn release_carrier(&mut self, carrier: InstId) {
        if self.insts.get(carrier).pending == 0 {
            self.insts.release(carrier);
        }
    }

    /// The loads from shared memory of a carrier are done.
    pub(super) fn joint_done(&mut self, carrier: InstId) {
        let members = std::mem::take(&mut self.insts.get_mut(carrier).members);
        members.iter().for_each(|inst| self.complete(*inst));
        self.insts.get_mut(carrier).members = members;
        self.insts.release(carrier);
    }
}
