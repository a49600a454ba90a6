//! What a memory instruction does when it issues: its effect on registers and memory, and the requests it makes.

use super::coalesce::{Rules, bank_cycles, coalesce};
use super::collector::InstId;
use super::issue::Issuing;
use super::{Build, Sm};
use crate::kernel::MemKind;
use raddle_exec::core::{Home, LaneFault, lanes_in};
use raddle_exec::memory::{Global, Region, region};
use raddle_exec::op::{Class, MemSpace};
use raddle_ptx::num::fit;

/// Where local memory is in the address space of the timing model: below the heap, as in GPGPU-Sim.
const LOCAL_BASE: u64 = 0x1F88_0000;

/// What the lanes of an instruction touch.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// By lane; those in local memory as the timing model lays it out.
    pub addresses: [u64; 32],
    /// Lanes by where their addresses point.
    pub spaces: Spaces,
    /// A line of the constant cache that all of them read.
    pub fixed: Option<u64>,
}

/// Lanes of an access by where their addresses point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spaces {
    /// Global memory.
    pub global: u32,
    /// Shared memory.
    pub shared: u32,
    /// Local memory.
    pub local: u32,
    /// Constants and parameters.
    pub constant: u32,
    /// Textures.
    pub texture: u32,
}

impl Footprint {
    /// What some of the lanes touch, if they do.
    pub(super) fn of_lanes(&self, lanes: u32) -> Option<Self> {
        let Spaces { global, shared, local, constant, texture } = self.spaces;
        let [global, shared, local, constant, texture] =
            [global, shared, local, constant, texture].map(|all| all & lanes);
        let spaces = Spaces { global, shared, local, constant, texture };
        (lanes != 0).then_some(Self { spaces, ..*self })
    }
}

impl<B: Build> Sm<'_, B> {
    /// Executes a memory instruction for the lanes of `active`. Its requests are made at once, or with those of the other
    /// slices when it comes to the load-store unit.
    pub(super) fn memory_op(&mut self, inst: InstId, issuing: Issuing<'_>) -> Result<(), LaneFault> {
        if issuing.op.class == Class::Atomic && self.is_global_atomic(issuing) {
            return self.global_atomic(inst, issuing);
        }
        let Some(footprint) = self.touch(issuing)? else { return Ok(()) };
        if self.slices.len() > 1 {
            *self.insts.get_mut(inst).footprint = Some(footprint);
        } else {
            self.make_requests(inst, &footprint);
        }
        Ok(())
    }

    /// Whether an atomic is executed at the memory partitions.
    fn is_global_atomic(&mut self, issuing: Issuing<'_>) -> bool {
        let Issuing { warp, op, pc, active, .. } = issuing;
        if active == 0 {
            return false;
        }
        let addresses = self.core.addresses(op, self.table.lanes(warp), active);
        spaces(self.op(pc).space, &addresses, active).global != 0
    }

    /// Executes an instruction that computes, loads or stores; what it touches, unless that is nothing.
    pub(super) fn touch_or_compute(&mut self, issuing: Issuing<'_>) -> Result<Option<Footprint>, LaneFault> {
        if issuing.op.class == Class::Alu { self.perform(issuing).map(|()| None) } else { self.touch(issuing) }
    }

    /// Executes a memory instruction; what it touches, unless that is nothing.
    #[inline(always)]
    fn touch(&mut self, issuing: Issuing<'_>) -> Result<Option<Footprint>, LaneFault> {
        let Issuing { warp, op, pc, active, now, .. } = issuing;
        let timed = self.op(pc);
        if timed.mem == MemKind::Texture {
            return self.texture_op(issuing).map(Some);
        }
        if timed.mem == MemKind::Fence || active == 0 {
            return self.perform(issuing).map(|()| None);
        }
        if let Some(address) = timed.fixed_address {
            let spaces = Spaces { constant: active, ..Spaces::default() };
            let footprint = Footprint { addresses: [address; 32], spaces, fixed: Some(address) };
            return self.perform(issuing).map(|()| Some(footprint));
        }
        let mut addresses = self.core.addresses(op, self.table.lanes(warp), active);
        let spaces = spaces(timed.space, &addresses, active);
        self.perform(issuing)?;
        if timed.mem == MemKind::Store {
            self.log.end_group(now);
        }
        if spaces.local != 0 {
            let lanes = self.table.lanes(warp);
            for lane in lanes_in(spaces.local) {
                let offset = match timed.space {
                    MemSpace::Local => addresses[lane],
                    _ => addresses[lane] - raddle_exec::memory::LOCAL_WINDOW,
                };
                addresses[lane] = self.local_address(lanes.home(lane), offset);
            }
        }
        Ok(Some(Footprint { addresses, spaces, fixed: None }))
    }

    /// Where a byte of a thread's local memory is: words of the same offset lie side by side, those of the threads of a block
    /// first, then of the blocks in the same place of all SMs, then of their next places.
    fn local_address(&self, home: Home, offset: u64) -> u64 {
        let rows = u64::from(self.rows_per_cta);
        let row = u64::from(home.row.saturating_sub(1));
        let (place, row) = (row / rows, row % rows);
        let block = place * u64::from(self.config.gpu.sms) + u64::from(self.id);
        let thread = (block * rows + row) * 32 + u64::from(home.lane);
        LOCAL_BASE + offset / 4 * self.local_stride + thread * 4
    }

    /// The requests of what an instruction touches.
    pub(super) fn make_requests(&mut self, inst: InstId, footprint: &Footprint) {
        let Footprint { addresses, spaces, fixed } = footprint;
        let entry = self.insts.get_mut(inst);
        let timed = &self.kernel.ops[entry.pc as usize];
        if let Some(address) = *fixed {
            let (bytes, lanes) = (self.config.sm.l1c.line, spaces.constant);
            entry.accesses.push(super::coalesce::Access { address, bytes, lanes, byte_mask: u128::MAX });
            return;
        }
        if spaces.shared != 0 {
            let config = &self.config.sm.shared;
            entry.bank_cycles = bank_cycles(addresses, spaces.shared, config.banks, config.groups);
            self.counters.shared_accesses += 1;
        }
        let is_write = timed.mem == MemKind::Store;
        let lane_bytes = u32::from(timed.bytes) * u32::from(timed.count);
        let (coalescing, sector) = (self.config.sm.coalescing, self.config.l2.sector);
        if spaces.texture != 0 {
            let segment = self.config.sm.l1t.line;
            let rules = Rules { coalescing, lane_bytes: 4, segment, sector, exclusive: false, is_write };
            coalesce(rules, addresses, spaces.texture, &mut entry.accesses);
            self.counters.texture_loads += entry.accesses.len() as u64;
        }
        if spaces.constant != 0 {
            let segment = self.config.sm.l1c.line;
            let rules = Rules { coalescing, lane_bytes: 4, segment, sector, exclusive: false, is_write };
            coalesce(rules, addresses, spaces.constant, &mut entry.accesses);
        }
        if spaces.global != 0 {
            let past = timed.bypass_l1 || self.config.sm.l1d.sets == 0;
            let segment = if past { sector } else { self.config.sm.l1d.line.min(self.config.l2.line) };
            let rules = Rules { coalescing, lane_bytes, segment, sector, exclusive: false, is_write };
            coalesce(rules, addresses, spaces.global, &mut entry.accesses);
            let count = entry.accesses.len() as u64;
            *(if is_write { &mut self.counters.global_stores } else { &mut self.counters.global_loads }) += count;
        } else if spaces.local != 0 {
            entry.local = true;
            let segment = if self.config.sm.l1d.sets == 0 { sector } else { self.config.sm.l1d.line };
            let rules = Rules { coalescing, lane_bytes: 4, segment, sector, exclusive: false, is_write };
            for word in 0..lane_bytes.div_ceil(4) {
                let own = addresses.map(|address| address + u64::from(word) * self.local_stride);
                coalesce(rules, &own, spaces.local, &mut entry.accesses);
            }
            let count = entry.accesses.len() as u64;
            *(if is_write { &mut self.counters.local_stores } else { &mut self.counters.local_loads }) += count;
        }
        entry.shared = spaces.shared != 0 && entry.accesses.is_empty();
    }

    /// What the instruction does to registers and memory.
    fn perform(&mut self, issuing: Issuing<'_>) -> Result<(), LaneFault> {
        let global = &mut Global::Logged(issuing.memory, &mut self.log);
        let lanes = self.table.lanes(issuing.warp);
        self.core.execute(global, issuing.op, lanes, issuing.active).map(|_| ())
    }

    /// Texture fetches, each texture by itself. Texels of one byte count as the word they are in.
    fn texture_op(&mut self, issuing: Issuing<'_>) -> Result<Footprint, LaneFault> {
        let Issuing { warp, op, active, .. } = issuing;
        let texels = self.core.texels(op, self.table.lanes(warp), active);
        self.perform(issuing)?;
        let (mut addresses, mut spaces) = ([0; 32], Spaces::default());
        for lane in lanes_in(active) {
            if let Some(texel) = texels[lane] {
                addresses[lane] = texel & !3;
                spaces.texture |= 1 << lane;
            }
        }
        Ok(Footprint { addresses, spaces, fixed: None })
    }

    /// Global atomics are executed at the memory partition: the requests carry what to do.
    fn global_atomic(&mut self, inst: InstId, issuing: Issuing<'_>) -> Result<(), LaneFault> {
        let Issuing { warp, op, active, memory, .. } = issuing;
        let lanes = self.table.lanes(warp);
        let mut all = self.insts.spare_work.pop().unwrap_or_default();
        let global = &mut Global::Logged(memory, &mut self.log);
        let prepared = self.core.prepare_atomic(global, op, lanes, active, &mut all);
        let rules = Rules {
            coalescing: self.config.sm.coalescing,
            lane_bytes: u32::from(op.access.bytes),
            segment: self.config.l2.sector,
            sector: self.config.l2.sector,
            exclusive: true,
            is_write: false,
        };
        let mut accesses = std::mem::take(&mut self.insts.get_mut(inst).accesses);
        coalesce(rules, &all.address, all.mask, &mut accesses);
        for access in &accesses {
            let mut part = self.insts.spare_work.pop().unwrap_or_default();
            part.clone_from(&all);
            part.mask = access.lanes;
            self.insts.get_mut(inst).work.push(part);
        }
        let count: u32 = fit(accesses.len());
        self.counters.atomics += u64::from(count);
        self.fronts[warp.index()].atomics += count;
        self.insts.get_mut(inst).accesses = accesses;
        self.insts.spare_work.push(all);
        prepared
    }
}

fn spaces(space: MemSpace, addresses: &[u64; 32], active: u32) -> Spaces {
    let mut found = Spaces::default();
    match space {
        MemSpace::Global => found.global = active,
        MemSpace::Shared => found.shared = active,
        MemSpace::Local => found.local = active,
        MemSpace::Const | MemSpace::Param => found.constant = active,
        MemSpace::Generic => {
            for lane in lanes_in(active) {
                let set = match region(addresses[lane]) {
                    Region::Global(_) => &mut found.global,
                    Region::Shared(_) => &mut found.shared,
                    Region::Local(_) => &mut found.local,
                    Region::Const(_) | Region::Param(_) => &mut found.constant,
                };
                *set |= 1 << lane;
            }
            // Constant data reached through a generic address come through the data cache.
            found.global |= std::mem::take(&mut found.constant);
        }
    }
    found
}
