//! Loads and stores in every state space.

use super::{Core, Issue, LaneFault, Lanes, lanes_in};
use crate::fault::FaultKind;
use crate::lanes::{LANES, Regs, leveled};
use crate::memory::{AccessError, DeviceMemory, Global, Region, StoreLog, region};
use crate::op::{Bank, Class, MemSpace, Op};
use raddle_ptx::num::{fit, low32};

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
#[inline(always)]
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

leveled! {
    /// The address of each lane, as [`addresses`].
    fn lane_addresses(regs: &Regs<'_>, op: &Op, mask: u32, out: &mut [u64; LANES]) -> () {
        *out = addresses(regs, op, mask);
    }
}

/// The offset of each lane from `base`, when all of them are inside `size` bytes and aligned to
/// the size of the access.
#[inline(always)]
fn offsets(addresses: &[u64; LANES], op: &Op, base: u64, size: usize) -> Option<[u32; LANES]> {
    let total = u64::from(op.access.bytes) * u64::from(op.access.count);
    // Offsets are compared as one maximum: an address below the base wraps to a huge offset.
    let (mut high, mut any) = (0, 0);
    let mut offsets = [0; LANES];
    for (offset, address) in offsets.iter_mut().zip(addresses) {
        let wide = address.wrapping_sub(base);
        high |= wide >> 32;
        any |= address;
        *offset = low32(wide);
    }
    let mut last = 0;
    for offset in &offsets {
        last = last.max(*offset);
    }
    let inside = high == 0 && u64::from(last) + total <= size as u64;
    (inside && any & (total - 1) == 0).then_some(offsets)
}

leveled! {
    /// Loads every lane from one slice that starts at address `base`; false when some lane is
    /// outside or misaligned.
    fn load_flat(
        regs: &mut Regs<'_>, op: &Op, mask: u32, addresses: &[u64; LANES], base: u64, data: &[u8],
    ) -> bool {
        let Some(offsets) = offsets(addresses, op, base, data.len()) else { return false };
        let access = op.access;
        let plain = access.register_bits == access.bytes * 8;
        for n in 0..usize::from(access.count) {
            let at = n * usize::from(access.bytes);
            match (access.bytes, op.d_bank[n]) {
                (4, Bank::R32) if plain => regs.set32(op.d[n], &words(data, &offsets, at), mask),
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
                        _ => regs.set32(op.d[n], &offsets.map(|o| low32(value(o))), mask),
                    }
                }
            }
        }
        true
    }
}

/// Lanes that [`words`] looks at together.
const TOGETHER: usize = LANES / 2;

/// A 32-bit word for each lane; half a warp that wants words side by side, or one word, takes one copy.
#[inline(always)]
fn words(data: &[u8], offsets: &[u32; LANES], at: usize) -> [u32; LANES] {
    let mut out = [0; LANES];
    // Offsets are multiples of four, so they index whole words.
    let (all, _) = data.as_chunks::<4>();
    for (out, offsets) in out.as_chunks_mut::<TOGETHER>().0.iter_mut().zip(offsets.as_chunks::<TOGETHER>().0) {
        let (mut apart, mut unequal) = (0, 0);
        for (lane, offset) in offsets.iter().enumerate() {
            apart |= offset ^ offsets[0].wrapping_add(low32(4 * lane as u64));
            unequal |= offset ^ offsets[0];
        }
        let first = (offsets[0] as usize + at) / 4;
        if apart == 0
            && let Some(row) = all.get(first..first + TOGETHER)
        {
            for (out, bytes) in out.iter_mut().zip(row) {
                *out = u32::from_le_bytes(*bytes);
            }
        } else if unequal == 0
            && let Some(word) = all.get(first)
        {
            *out = [u32::from_le_bytes(*word); TOGETHER];
        } else {
            for (out, offset) in out.iter_mut().zip(offsets) {
                if let Some(word) = all.get((*offset as usize + at) / 4) {
                    *out = u32::from_le_bytes(*word);
                }
            }
        }
    }
    out
}

leveled! {
    /// Stores the lanes of `mask`, lowest first, to one slice that starts at address `base`; false
    /// when some lane is outside or misaligned.
    fn store_flat(
        regs: &Regs<'_>, op: &Op, mask: u32, addresses: &[u64; LANES], base: u64, data: &mut [u8],
    ) -> bool {
        let Some(offsets) = offsets(addresses, op, base, data.len()) else { return false };
        let bytes = usize::from(op.access.bytes);
        for n in 0..usize::from(op.access.count) {
            let source = op.s[n + 1];
            let place = |lane: usize| offsets[lane] as usize + n * bytes;
            if op.s_bank[n + 1] == Bank::R64 {
                let plane = regs.plane64(source);
                for lane in lanes_in(mask) {
                    data[place(lane)..][..bytes].copy_from_slice(&plane[lane].to_le_bytes()[..bytes]);
                }
            } else if bytes == 4 {
                let plane = regs.plane32(source);
                for lane in lanes_in(mask) {
                    data[place(lane)..][..4].copy_from_slice(&plane[lane].to_le_bytes());
                }
            } else {
                let plane = regs.plane32(source);
                for lane in lanes_in(mask) {
                    data[place(lane)..][..bytes].copy_from_slice(&plane[lane].to_le_bytes()[..bytes]);
                }
            }
        }
        true
    }
}

/// As [`store_flat`], but the stores go to a log.
fn store_logged(
    regs: &Regs<'_>,
    op: &Op,
    mask: u32,
    addresses: &[u64; LANES],
    (base, size): (u64, usize),
    log: &mut StoreLog,
) -> bool {
    let Some(offsets) = offsets(addresses, op, base, size) else { return false };
    let bytes = op.access.bytes;
    for n in 0..usize::from(op.access.count) {
        let (source, at) = (op.s[n + 1], base + n as u64 * u64::from(bytes));
        if op.s_bank[n + 1] == Bank::R64 {
            let plane = regs.plane64(source);
            lanes_in(mask).for_each(|lane| log.push(at + u64::from(offsets[lane]), bytes, plane[lane]));
        } else {
            let plane = regs.plane32(source);
            lanes_in(mask).for_each(|lane| log.push(at + u64::from(offsets[lane]), bytes, u64::from(plane[lane])));
        }
    }
    true
}

fn memory_fault(lane: usize, text: String) -> LaneFault {
    LaneFault { lane, kind: FaultKind::Memory(text) }
}

pub(super) fn access_fault(lane: usize, error: &AccessError) -> LaneFault {
    memory_fault(lane, error.to_string())
}

/// Checks that an access is aligned; whether it lies inside `size` bytes.
fn is_inside(lane: usize, address: u64, bytes: u64, size: u64, what: &str) -> Result<bool, LaneFault> {
    if address & (bytes - 1) != 0 {
        let text = format!("misaligned access: {what} address {address:#x} is not a multiple of {bytes}");
        return Err(memory_fault(lane, text));
    }
    Ok(address.checked_add(bytes).is_some_and(|end| end <= size))
}

/// Whether a load may take its bytes from memory as it is: no store in the log is near.
#[inline]
fn reads_image(memory: &Global<'_>, addresses: &[u64; LANES], mask: u32) -> bool {
    if memory.image().tracks_writes() {
        return false;
    }
    let Some(log) = memory.pending() else { return true };
    !lanes_in(mask).any(|lane| log.may_touch(addresses[lane]))
}

impl Core<'_> {
    /// Loads, stores or does an atomic; `addresses` are then those of the lanes.
    pub(super) fn load_store_or_atomic(
        &mut self,
        memory: &mut Global<'_>,
        issue: Issue<'_>,
        addresses: &mut [u64; LANES],
    ) -> Result<(), LaneFault> {
        lane_addresses(self.program.level, &self.file.row(issue.row), issue.op, issue.mask, addresses);
        match issue.op.class {
            Class::Load => self.load(memory, issue, addresses),
            Class::Atomic => self.atomic(memory, issue, addresses),
            _ => self.store(memory, issue, addresses),
        }
    }

    fn load(&mut self, memory: &Global<'_>, issue: Issue<'_>, addresses: &[u64; LANES]) -> Result<(), LaneFault> {
        let Issue { op, lanes, row, mask } = issue;
        let level = self.program.level;
        let done = match op.access.space {
            MemSpace::Global if reads_image(memory, addresses, mask) => {
                self.nearest_allocation(memory.image(), addresses, mask);
                let found = memory.image().allocations().get(self.last_allocation);
                found.is_some_and(|a| load_flat(level, &mut self.file.row(row), op, mask, addresses, a.base, a.data()))
            }
            MemSpace::Shared => self.cta_of(lanes, mask).is_some_and(|cta| {
                load_flat(level, &mut self.file.row(row), op, mask, addresses, 0, &self.ctas[cta as usize].shared)
            }),
            _ => false,
        };
        if done { Ok(()) } else { self.load_slow(memory, issue, addresses) }
    }

    /// Makes the allocation of the first active lane the one to try.
    #[inline]
    fn nearest_allocation(&mut self, memory: &DeviceMemory, addresses: &[u64; LANES], mask: u32) {
        let address = addresses[mask.trailing_zeros() as usize & 31];
        let last = memory.allocations().get(self.last_allocation);
        if last.is_none_or(|a| address.wrapping_sub(a.base) >= a.len())
            && let Ok((index, _)) = memory.find(address, 1)
        {
            self.last_allocation = index;
        }
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
    fn load_slow(&mut self, memory: &Global<'_>, issue: Issue<'_>, addresses: &[u64; LANES]) -> Result<(), LaneFault> {
        let Issue { op, row, mask, .. } = issue;
        let access = op.access;
        for lane in lanes_in(mask) {
            let total = u32::from(access.bytes) * u32::from(access.count);
            let place = self.locate(memory, issue, lane, addresses[lane], total)?;
            for n in 0..usize::from(access.count) {
                let raw = self.peek(memory, place, n as u64 * u64::from(access.bytes), access.bytes);
                let value = extend(raw, access.bytes, access.signed, access.register_bits);
                self.file.put(row, op.d[n], op.d_bank[n], lane, value);
            }
        }
        Ok(())
    }

    fn store(&mut self, memory: &mut Global<'_>, issue: Issue<'_>, addresses: &[u64; LANES]) -> Result<(), LaneFault> {
        let Issue { op, lanes, row, mask } = issue;
        let level = self.program.level;
        let done = match op.access.space {
            MemSpace::Global if !memory.image().tracks_writes() => {
                self.nearest_allocation(memory.image(), addresses, mask);
                let found = memory.image().allocations().get(self.last_allocation);
                let (base, size) = found.map_or((0, 0), |a| (a.base, a.data().len()));
                match memory {
                    Global::Direct(memory) if size > 0 => {
                        let data = memory.bytes_mut(self.last_allocation);
                        store_flat(level, &self.file.row(row), op, mask, addresses, base, data)
                    }
                    Global::Logged(_, log) => store_logged(&self.file.row(row), op, mask, addresses, (base, size), log),
                    Global::Direct(_) => false,
                }
            }
            MemSpace::Shared => self.cta_of(lanes, mask).is_some_and(|cta| {
                store_flat(level, &self.file.row(row), op, mask, addresses, 0, &mut self.ctas[cta as usize].shared)
            }),
            _ => false,
        };
        if done { Ok(()) } else { self.store_slow(memory, issue, addresses) }
    }

    fn store_slow(
        &mut self,
        memory: &mut Global<'_>,
        issue: Issue<'_>,
        addresses: &[u64; LANES],
    ) -> Result<(), LaneFault> {
        let Issue { op, row, mask, .. } = issue;
        let access = op.access;
        let total = u32::from(access.bytes) * u32::from(access.count);
        for lane in lanes_in(mask) {
            let place = self.locate(memory, issue, lane, addresses[lane], total)?;
            for n in 0..usize::from(access.count) {
                let value = self.file.get(row, op.s[n + 1], op.s_bank[n + 1], lane);
                self.poke(memory, place, n as u64 * u64::from(access.bytes), access.bytes, value);
            }
        }
        Ok(())
    }

    /// Where one lane's access of `bytes` bytes goes, checked.
    pub(super) fn locate(
        &self,
        memory: &Global<'_>,
        issue: Issue<'_>,
        lane: usize,
        address: u64,
        bytes: u32,
    ) -> Result<Place, LaneFault> {
        let op = issue.op;
        let write = match op.class {
            Class::Load => false,
            Class::Matrix => op.access.writes,
            _ => true,
        };
        self.locate_in(memory, issue, (op.access.space, write), (lane, address), bytes)
    }

    /// The same for a read or write of a state space.
    pub(super) fn locate_in(
        &self,
        memory: &Global<'_>,
        issue: Issue<'_>,
        (space, write): (MemSpace, bool),
        (lane, address): (usize, u64),
        bytes: u32,
    ) -> Result<Place, LaneFault> {
        let lanes = issue.lanes;
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
                let image = memory.image();
                // What is in the log has been written, though memory does not know it yet.
                let unchecked = write || memory.pending().is_some_and(|log| log.may_touch(address));
                let found =
                    if unchecked { image.check_write(address, bytes) } else { image.check_read(address, bytes) };
                return match found {
                    Ok((index, offset)) => Ok(Place::Global(index, offset)),
                    Err(error @ AccessError::Outside { .. }) if !write => {
                        self.excuse(issue, lane, || error.to_string())
                    }
                    Err(error) => Err(access_fault(lane, &error)),
                };
            }
            Region::Shared(o) => ("shared memory", self.ctas[cta as usize].shared.len() as u64, o),
            Region::Local(o) => ("local memory", self.rows[home.row as usize].local.bytes(), o),
            Region::Const(o) => ("constant memory", self.program.image.const_bank.len() as u64, o),
            Region::Param(o) => ("parameter", self.launch.params.len() as u64, o),
        };
        if !is_inside(lane, offset, u64::from(bytes), size, what)? {
            let text = || format!("{what} access of {bytes} bytes at {offset:#x} is outside its {size} bytes");
            return if write { Err(memory_fault(lane, text())) } else { self.excuse(issue, lane, text) };
        }
        if write && matches!(target, Region::Const(_) | Region::Param(_)) {
            return Err(memory_fault(lane, format!("{what} cannot be written")));
        }
        Ok(match target {
            Region::Shared(o) => Place::Shared(cta, fit(o)),
            Region::Local(o) => Place::Local(home.row, home.lane, o),
            Region::Const(o) => Place::Const(fit(o)),
            Region::Param(o) | Region::Global(o) => Place::Param(fit(o)),
        })
    }

    /// A read outside of memory, which gives zero if the launch notes such reads, and is a fault otherwise.
    #[cold]
    pub(super) fn excuse(
        &self,
        Issue { op, lanes, .. }: Issue<'_>,
        lane: usize,
        text: impl FnOnce() -> String,
    ) -> Result<Place, LaneFault> {
        match (&self.launch.outside_reads, self.program.instruction_of(op)) {
            (Some(reads), Some(at)) => {
                reads.add(self.thread_id(lanes.home(lane)), at, text);
                Ok(Place::Nowhere)
            }
            _ => Err(memory_fault(lane, text())),
        }
    }

    pub(super) fn peek(&self, memory: &Global<'_>, place: Place, at: u64, bytes: u8) -> u64 {
        let flat = |data: &[u8], offset: usize| raw(data, offset + fit::<usize, _>(at), bytes);
        match place {
            Place::Global(index, offset) => {
                let value = flat(memory.image().bytes(index), offset);
                let address = memory.image().allocations()[index].base + offset as u64 + at;
                memory.pending().map_or(value, |log| log.patch(address, bytes, value))
            }
            Place::Shared(cta, offset) => flat(&self.ctas[cta as usize].shared, offset),
            Place::Const(offset) => flat(&self.program.image.const_bank, offset),
            Place::Param(offset) => flat(&self.launch.params, offset),
            Place::Nowhere => 0,
            Place::Local(row, lane, offset) => {
                self.rows[row as usize].local.read(offset + at, bytes, usize::from(lane))
            }
        }
    }

    pub(super) fn poke(&mut self, memory: &mut Global<'_>, place: Place, at: u64, bytes: u8, value: u64) {
        let flat = |data: &mut [u8], offset: usize| {
            let start = offset + fit::<usize, _>(at);
            let count = usize::from(bytes);
            data[start..start + count].copy_from_slice(&value.to_le_bytes()[..count]);
        };
        match place {
            Place::Global(index, offset) => memory.store(index, offset + fit::<usize, _>(at), bytes, value),
            Place::Shared(cta, offset) => flat(&mut self.ctas[cta as usize].shared, offset),
            Place::Local(row, lane, offset) => {
                self.rows[row as usize].local.write(offset + at, bytes, usize::from(lane), value);
            }
            Place::Const(_) | Place::Param(_) | Place::Nowhere => {}
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
    /// Outside, where reads give zero.
    Nowhere,
}
