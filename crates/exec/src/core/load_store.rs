//! Loads and stores in every state space.

use super::{Core, LaneFault, Lanes, lanes_in};
use crate::fault::FaultKind;
use crate::lanes::{LANES, Regs};
use crate::memory::{AccessError, DeviceMemory, Region, region};
use crate::op::{Bank, MemSpace, Op};

/// Little-endian bytes as an integer; zero when they are not all there.
#[inline]
pub(super) fn raw(bytes: &[u8], offset: usize, count: u8) -> u64 {
    let Some(slice) = bytes.get(offset..offset + usize::from(count)) else { return 0 };
    let mut word = [0; 8];
    word[..usize::from(count)].copy_from_slice(slice);
    u64::from_le_bytes(word)
}

/// A loaded element as its register holds it.
#[inline]
pub(super) fn extend(raw: u64, bytes: u8, signed: bool, register_bits: u8) -> u64 {
    let shift = 64 - 8 * u32::from(bytes);
    let wide = if signed { ((raw << shift).cast_signed() >> shift).cast_unsigned() } else { raw };
    if register_bits == 16 { wide & 0xffff } else { wide }
}

/// The address of each lane; inactive lanes get the first active lane's, so that all are alike.
#[inline]
pub(super) fn addresses(regs: &Regs<'_>, op: &Op, mask: u32) -> [u64; LANES] {
    let mut out = [0; LANES];
    if op.access.wide_address {
        let base = regs.plane64(op.s[0]);
        for (lane, out) in out.iter_mut().enumerate() {
            *out = base[lane].wrapping_add(op.aux);
        }
    } else {
        let base = regs.plane32(op.s[0]);
        for (lane, out) in out.iter_mut().enumerate() {
            *out = u64::from(base[lane]).wrapping_add(op.aux);
        }
    }
    if mask != u32::MAX {
        let first = out[mask.trailing_zeros() as usize & 31];
        for (lane, out) in out.iter_mut().enumerate() {
            let inactive = u64::from(mask >> lane & 1).wrapping_sub(1);
            *out = *out & !inactive | first & inactive;
        }
    }
    out
}

/// Lowest and highest address, and the bits set in any.
#[inline]
fn extent(addresses: &[u64; LANES]) -> (u64, u64, u64) {
    let (mut low, mut high, mut any) = (u64::MAX, 0, 0);
    for a in addresses {
        low = low.min(*a);
        high = high.max(*a);
        any |= a;
    }
    (low, high, any)
}

fn memory_fault(lane: usize, text: String) -> LaneFault {
    LaneFault { lane, kind: FaultKind::Memory(text) }
}

pub(super) fn access_fault(lane: usize, error: &AccessError) -> LaneFault {
    memory_fault(lane, error.to_string())
}

/// Checks that every lane's access lies inside `size` bytes and is aligned; names the first that
/// is not.
fn check_flat(addresses: &[u64; LANES], mask: u32, bytes: u64, size: u64, what: &str) -> Result<(), LaneFault> {
    let (_, high, any) = extent(addresses);
    if any & (bytes - 1) == 0 && high.checked_add(bytes).is_some_and(|end| end <= size) {
        return Ok(());
    }
    for lane in lanes_in(mask) {
        let a = addresses[lane];
        if a & (bytes - 1) != 0 {
            let text = format!("misaligned access: {what} address {a:#x} is not a multiple of {bytes}");
            return Err(memory_fault(lane, text));
        }
        if a.checked_add(bytes).is_none_or(|end| end > size) {
            let text = format!("{what} access of {bytes} bytes at {a:#x} is outside its {size} bytes");
            return Err(memory_fault(lane, text));
        }
    }
    Ok(())
}

impl Core<'_> {
    pub(super) fn load(
        &mut self,
        memory: &DeviceMemory,
        op: &Op,
        row: u32,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<(), LaneFault> {
        let addresses = addresses(&self.regs(row), op, mask);
        let total = u64::from(op.access.bytes) * u64::from(op.access.count);
        match op.access.space {
            MemSpace::Global => {
                let (low, high, any) = extent(&addresses);
                let index = self.allocation(memory, low);
                if let Some((base, data)) = index
                    && low >= base
                    && high - base + total <= data.len() as u64
                    && any & (total - 1) == 0
                    && !memory.tracks_writes()
                {
                    let mut offsets = [0; LANES];
                    for (offset, a) in offsets.iter_mut().zip(&addresses) {
                        *offset = (a - base) as u32;
                    }
                    if data.len() < u32::MAX as usize {
                        load_flat(&mut self.regs(row), op, data, &offsets, mask);
                        return Ok(());
                    }
                }
                self.load_slow(memory, op, row, lanes, mask, &addresses)
            }
            MemSpace::Shared => {
                let cta = self.cta_of(lanes, mask);
                let Some(cta) = cta else { return self.load_slow(memory, op, row, lanes, mask, &addresses) };
                let shared = std::mem::take(&mut self.ctas[cta as usize].shared);
                let checked = check_flat(&addresses, mask, total, shared.len() as u64, "shared memory");
                if checked.is_ok() {
                    load_flat(&mut self.regs(row), op, &shared, &addresses.map(|a| a as u32), mask);
                }
                self.ctas[cta as usize].shared = shared;
                checked
            }
            _ => self.load_slow(memory, op, row, lanes, mask, &addresses),
        }
    }

    /// The allocation that holds `address`, trying the last one first.
    fn allocation<'m>(&mut self, memory: &'m DeviceMemory, address: u64) -> Option<(u64, &'m [u8])> {
        let all = memory.allocations();
        let holds = |i: usize| all.get(i).is_some_and(|a| address.wrapping_sub(a.base) < a.len());
        if !holds(self.last_allocation) {
            self.last_allocation = memory.find(address, 1).ok()?.0;
        }
        all.get(self.last_allocation).map(|a| (a.base, a.data()))
    }

    /// The thread block all lanes belong to; `None` when they belong to several.
    fn cta_of(&self, lanes: Lanes<'_>, mask: u32) -> Option<u32> {
        match lanes {
            Lanes::Row(row) => Some(self.rows[row as usize].cta),
            Lanes::Gathered(homes) => {
                let mut ctas = lanes_in(mask).map(|l| self.rows[homes[l].row as usize].cta);
                let first = ctas.next()?;
                ctas.all(|c| c == first).then_some(first)
            }
        }
    }

    /// Lane by lane, any space.
    fn load_slow(
        &mut self,
        memory: &DeviceMemory,
        op: &Op,
        row: u32,
        lanes: Lanes<'_>,
        mask: u32,
        addresses: &[u64; LANES],
    ) -> Result<(), LaneFault> {
        let access = op.access;
        for lane in lanes_in(mask) {
            let total = u32::from(access.bytes) * u32::from(access.count);
            let place = self.locate(memory, access.space, addresses[lane], total, lanes, lane, false)?;
            for n in 0..usize::from(access.count) {
                let raw = self.peek(memory, place, n as u64 * u64::from(access.bytes), access.bytes);
                let value = extend(raw, access.bytes, access.signed, access.register_bits);
                self.put(row, op.d[n], op.d_bank[n], lane, value);
            }
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        memory: &mut DeviceMemory,
        op: &Op,
        row: u32,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<(), LaneFault> {
        let addresses = addresses(&self.regs(row), op, mask);
        let access = op.access;
        let total = u64::from(access.bytes) * u64::from(access.count);
        match access.space {
            MemSpace::Global if !memory.tracks_writes() => {
                let (low, high, any) = extent(&addresses);
                let found = self.allocation(memory, low).map(|(base, data)| (base, data.len() as u64));
                if let Some((base, size)) = found
                    && high - base + total <= size
                    && any & (total - 1) == 0
                {
                    let data = memory.bytes_mut(self.last_allocation);
                    let offsets = addresses.map(|a| (a - base) as usize);
                    store_flat(&self.regs(row), op, data, &offsets, mask);
                    return Ok(());
                }
            }
            MemSpace::Shared => {
                if let Some(cta) = self.cta_of(lanes, mask) {
                    let mut shared = std::mem::take(&mut self.ctas[cta as usize].shared);
                    let checked = check_flat(&addresses, mask, total, shared.len() as u64, "shared memory");
                    if checked.is_ok() {
                        store_flat(&self.regs(row), op, &mut shared, &addresses.map(|a| a as usize), mask);
                    }
                    self.ctas[cta as usize].shared = shared;
                    return checked;
                }
            }
            _ => {}
        }
        for lane in lanes_in(mask) {
            let place = self.locate(memory, access.space, addresses[lane], total as u32, lanes, lane, true)?;
            for n in 0..usize::from(access.count) {
                let value = self.get(row, op.s[n + 1], op.s_bank[n + 1], lane);
                self.poke(memory, place, n as u64 * u64::from(access.bytes), access.bytes, value);
            }
        }
        Ok(())
    }

    /// Where one lane's access goes, checked.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn locate(
        &self,
        memory: &DeviceMemory,
        space: MemSpace,
        address: u64,
        bytes: u32,
        lanes: Lanes<'_>,
        lane: usize,
        write: bool,
    ) -> Result<Place, LaneFault> {
        let target = match space {
            MemSpace::Generic => region(address),
            MemSpace::Global => Region::Global(address),
            MemSpace::Shared => Region::Shared(address),
            MemSpace::Local => Region::Local(address),
            MemSpace::Const => Region::Const(address),
            MemSpace::Param => Region::Param(address),
        };
        let home = lanes.home(lane);
        let cta = self.rows[home.row as usize].cta;
        let (what, size, offset) = match target {
            Region::Global(address) => {
                let found = if write { memory.check_write(address, bytes) } else { memory.check_read(address, bytes) };
                let (index, offset) = found.map_err(|e| access_fault(lane, &e))?;
                return Ok(Place::Global(index, offset));
            }
            Region::Shared(o) => ("shared memory", self.ctas[cta as usize].shared.len() as u64, o),
            Region::Local(o) => ("local memory", self.rows[home.row as usize].local.bytes(), o),
            Region::Const(o) => ("constant memory", self.program.image.const_bank.len() as u64, o),
            Region::Param(o) => ("parameter", self.launch.params.len() as u64, o),
        };
        let mut one = [offset; LANES];
        one[lane] = offset;
        check_flat(&one, 1 << lane, u64::from(bytes), size, what)?;
        if write && matches!(target, Region::Const(_) | Region::Param(_)) {
            return Err(memory_fault(lane, format!("{what} cannot be written")));
        }
        Ok(match target {
            Region::Shared(o) => Place::Shared(cta, o as usize),
            Region::Local(o) => Place::Local(home.row, home.lane, o),
            Region::Const(o) => Place::Const(o as usize),
            Region::Param(o) | Region::Global(o) => Place::Param(o as usize),
        })
    }

    pub(super) fn peek(&self, memory: &DeviceMemory, place: Place, at: u64, bytes: u8) -> u64 {
        let flat = |data: &[u8], offset: usize| raw(data, offset + at as usize, bytes);
        match place {
            Place::Global(index, offset) => flat(memory.bytes(index), offset),
            Place::Shared(cta, offset) => flat(&self.ctas[cta as usize].shared, offset),
            Place::Const(offset) => flat(&self.program.image.const_bank, offset),
            Place::Param(offset) => flat(&self.launch.params, offset),
            Place::Local(row, lane, offset) => {
                self.rows[row as usize].local.read(offset + at, bytes, usize::from(lane))
            }
        }
    }

    pub(super) fn poke(&mut self, memory: &mut DeviceMemory, place: Place, at: u64, bytes: u8, value: u64) {
        let flat = |data: &mut [u8], offset: usize| {
            let start = offset + at as usize;
            let count = usize::from(bytes);
            data[start..start + count].copy_from_slice(&value.to_le_bytes()[..count]);
        };
        match place {
            Place::Global(index, offset) => {
                flat(memory.bytes_mut(index), offset);
                memory.mark_written(index, offset + at as usize, usize::from(bytes));
            }
            Place::Shared(cta, offset) => flat(&mut self.ctas[cta as usize].shared, offset),
            Place::Local(row, lane, offset) => {
                self.rows[row as usize].local.write(offset + at, bytes, usize::from(lane), value);
            }
            Place::Const(_) | Place::Param(_) => {}
        }
    }

    /// One lane of a register.
    pub(super) fn get(&mut self, row: u32, slot: u16, bank: Bank, lane: usize) -> u64 {
        let regs = self.regs(row);
        match bank {
            Bank::R64 => regs.plane64(slot)[lane],
            Bank::Pred => u64::from(regs.pred(slot) >> lane & 1),
            _ => u64::from(regs.plane32(slot)[lane]),
        }
    }

    /// Writes one lane of a register.
    pub(super) fn put(&mut self, row: u32, slot: u16, bank: Bank, lane: usize, value: u64) {
        if slot == crate::op::NONE {
            return;
        }
        let mut regs = self.regs(row);
        match bank {
            Bank::R64 => regs.r64[usize::from(slot)][lane] = value,
            Bank::Pred => regs.set_pred(slot, (value as u32 & 1) << lane, 1 << lane),
            _ => regs.r32[usize::from(slot)][lane] = value as u32,
        }
    }
}

/// A checked place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Allocation and offset.
    Global(usize, usize),
    /// Thread block and offset.
    Shared(u32, usize),
    /// Row, lane and offset.
    Local(u32, u8, u64),
    /// Offset in the constant bank.
    Const(usize),
    /// Offset in the parameters.
    Param(usize),
}

/// Loads every lane from one slice; all offsets are in bounds and aligned.
fn load_flat(regs: &mut Regs<'_>, op: &Op, data: &[u8], offsets: &[u32; LANES], mask: u32) {
    let access = op.access;
    let plain = access.register_bits == access.bytes * 8;
    for n in 0..usize::from(access.count) {
        let at = n * usize::from(access.bytes);
        match (access.bytes, op.d_bank[n]) {
            (4, Bank::R32) if plain => {
                let mut out = [0; LANES];
                for (out, offset) in out.iter_mut().zip(offsets) {
                    let start = *offset as usize + at;
                    if let Some(bytes) = data.get(start..start + 4) {
                        *out = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    }
                }
                regs.set32(op.d[n], &out, mask);
            }
            (8, Bank::R64) => {
                let out = offsets.map(|offset| raw(data, offset as usize + at, 8));
                regs.set64(op.d[n], &out, mask);
            }
            (bytes, bank) => {
                let value = |offset: u32| {
                    extend(raw(data, offset as usize + at, bytes), bytes, access.signed, access.register_bits)
                };
                match bank {
                    Bank::R64 => regs.set64(op.d[n], &offsets.map(value), mask),
                    _ => regs.set32(op.d[n], &offsets.map(|o| value(o) as u32), mask),
                }
            }
        }
    }
}

/// Stores the lanes of `mask`, lowest first, to one slice; all offsets are in bounds.
fn store_flat(regs: &Regs<'_>, op: &Op, data: &mut [u8], offsets: &[usize; LANES], mask: u32) {
    let access = op.access;
    let bytes = usize::from(access.bytes);
    for n in 0..usize::from(access.count) {
        let at = n * bytes;
        let source = op.s[n + 1];
        if op.s_bank[n + 1] == Bank::R64 {
            let plane = regs.plane64(source);
            for lane in lanes_in(mask) {
                let start = offsets[lane] + at;
                data[start..start + bytes].copy_from_slice(&plane[lane].to_le_bytes()[..bytes]);
            }
        } else if bytes == 4 {
            let plane = regs.plane32(source);
            for lane in lanes_in(mask) {
                let start = offsets[lane] + at;
                data[start..start + 4].copy_from_slice(&plane[lane].to_le_bytes());
            }
        } else {
            let plane = regs.plane32(source);
            for lane in lanes_in(mask) {
                let start = offsets[lane] + at;
                data[start..start + bytes].copy_from_slice(&plane[lane].to_le_bytes()[..bytes]);
            }
        }
    }
}
