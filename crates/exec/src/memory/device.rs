//! Global memory: allocations at fixed addresses, bounds known for each.
//!
//! Each allocation is one zeroed vector. The operating system allocates its pages when they are
//! first touched, so a large buffer of which little is used costs only what is used. That is the
//! sparse page store; the fast path is an offset into a slice. Memory that a program shares with its
//! kernels is not copied: an allocation can also be bytes of the host, at the host's address.
//!
//! Addresses are not used twice. A pointer that dangles is found, and messages say to what it pointed.

use super::written::{Written, zeroes};
use super::{AccessError, AllocError, HostBytes};
use crate::saved;
use crate::saved::{Pass, Saved};
use raddle_ptx::num::fit;
use std::collections::VecDeque;
use std::ops::Range;

/// Where the heap starts; the same place the reference simulator uses, so that cache sets and
/// memory channels come out alike.
pub const HEAP_BASE: u64 = 0xC000_0000;
/// Allocations start at multiples of this.
const GRAIN: u64 = 256;
/// Room that is left after allocations to find accesses past their end.
const GUARD: u64 = 64 << 10;
/// The most bytes of all allocations together: more than any device simulated here has.
pub const MAX_DEVICE_BYTES: u64 = 8 << 30;

/// Freed allocations that are remembered for messages.
const REMEMBERED: usize = 4096;

/// The bytes of an allocation.
#[derive(Debug)]
enum Bytes {
    Own(Vec<u8>),
    /// Memory that host code uses too.
    Host(HostBytes),
}

/// A copy is nobody else's.
impl Clone for Bytes {
    fn clone(&self) -> Self {
        Self::Own(self.to_vec())
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Host(bytes) => bytes,
        }
    }
}

impl std::ops::DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Host(bytes) => bytes,
        }
    }
}

/// One allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Name for messages.
    pub name: String,
    data: Bytes,
    /// Bytes it had before it was freed; it has none now.
    freed: Option<u64>,
    /// Which bytes have been written; only kept when asked for.
    written: Option<Written>,
}

impl Saved for Allocation {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        let Self { base, name, data, written, freed } = self;
        pass.same(base)?;
        pass.same(name)?;
        pass.same(freed)?;
        pass.bytes(data)?;
        written.visit(pass)
    }
}

/// Global memory.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    /// In the order they were made; those that were freed keep their places for a while.
    allocations: Vec<Allocation>,
    /// First addresses of those that are not freed, ascending, each with its place in `allocations`.
    order: Vec<(u64, usize)>,
    /// Places of freed ones, the oldest first.
    freed: VecDeque<usize>,
    /// Bytes of all that are not freed.
    taken: u64,
    next: u64,
    /// Bytes left free after every allocation.
    gap: u64,
    unwritten: Unwritten,
    reserve: Option<Reserve>,
}

/// Asked before addresses up to this one are used, where others might use them too: whether they are free.
pub type Reserve = fn(u64) -> bool;

/// What is to be known of bytes that nobody has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unwritten {
    #[default]
    Ignored,
    /// To read them is a fault.
    Refused,
    /// They are known to whoever asks.
    Noted,
}

saved!(DeviceMemory { parts: allocations; fixed: order, freed, taken, next, gap, unwritten, reserve });

impl Default for DeviceMemory {
    fn default() -> Self {
        let (allocations, order, freed) = (Vec::new(), Vec::new(), VecDeque::new());
        Self {
            allocations,
            order,
            freed,
            taken: 0,
            next: HEAP_BASE,
            gap: 0,
            unwritten: Unwritten::default(),
            reserve: None,
        }
    }
}

impl DeviceMemory {
    /// Empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on, remembers which bytes of new allocations have been written, so that reading
    /// others can be reported.
    pub fn track_writes(&mut self) {
        self.unwritten = Unwritten::Refused;
    }

    /// From now on, remembers which bytes of new allocations the host has written. What kernels write is told by
    /// whoever took it ([`Self::take_written`]).
    pub fn note_writes(&mut self) {
        self.unwritten = Unwritten::Noted;
    }

    /// Whether reads of bytes never written are reported.
    #[must_use]
    pub fn tracks_writes(&self) -> bool {
        self.unwritten == Unwritten::Refused
    }

    /// Takes away what is known of written bytes, by first address, ascending. They count as written until it is given
    /// back.
    pub fn take_written(&mut self) -> Vec<(u64, Written)> {
        if self.unwritten != Unwritten::Noted {
            return Vec::new();
        }
        let take = |(base, index): &(u64, usize)| Some((*base, self.allocations[*index].written.take()?));
        self.order.iter().filter_map(take).collect()
    }

    /// Gives back what was taken, of the allocations that are still there.
    pub fn give_written(&mut self, written: Vec<(u64, Written)>) {
        for (base, bits) in written {
            if let Ok(at) = self.order.binary_search_by_key(&base, |(base, _)| *base) {
                self.allocations[self.order[at].1].written = Some(bits);
            }
        }
    }

    /// From now on, leaves room after every allocation, so that an access past its end is not one to the next.
    pub fn guard(&mut self) {
        self.gap = GUARD;
    }

    /// From now on, asks whether addresses are free.
    pub fn reserve_with(&mut self, reserve: Reserve) {
        self.reserve = Some(reserve);
    }

    /// Whether an allocation has some of these addresses.
    #[must_use]
    pub fn overlaps(&self, addresses: &Range<u64>) -> bool {
        let before = self.order.partition_point(|(base, _)| *base < addresses.end);
        let last = before.checked_sub(1).map(|at| self.order[at]);
        last.is_some_and(|(base, index)| base + self.allocations[index].len() > addresses.start)
    }

    /// Leaves at least this many bytes free before the next allocation.
    pub fn leave(&mut self, bytes: u64) {
        self.next += bytes.next_multiple_of(GRAIN);
    }

    /// Reserves `bytes` zeroed bytes and returns their address, a multiple of 256.
    ///
    /// # Errors
    /// When they are more than a device has room for, or the host has no memory.
    pub fn alloc(&mut self, name: impl Into<String>, bytes: u64) -> Result<u64, AllocError> {
        let (name, taken) = (name.into(), self.taken);
        if bytes > MAX_DEVICE_BYTES - taken {
            return Err(AllocError::TooLarge { name, bytes, taken });
        }
        let end = self.next.checked_add(bytes.max(1).next_multiple_of(GRAIN) + self.gap);
        let Some(end) = end.filter(|end| self.reserve.is_none_or(|reserve| reserve(*end))) else {
            return Err(AllocError::NoAddresses { name, bytes });
        };
        let data = zeroes(bytes);
        let written = (self.unwritten != Unwritten::Ignored).then(|| Written::none_of(bytes));
        let (Some(data), Some(written)) = (data, written.map_or(Some(None), |bits| bits.map(Some))) else {
            return Err(AllocError::NoMemory { name, bytes });
        };
        let base = self.next;
        self.next = end;
        self.taken += bytes;
        self.place(Allocation { base, name, data: Bytes::Own(data), freed: None, written });
        Ok(base)
    }

    /// Makes bytes of the host an allocation. Kernels see them at the host's address, as host code does. They count as
    /// written, and not as memory of the device.
    pub fn map(&mut self, name: impl Into<String>, bytes: HostBytes) {
        let base = bytes.address();
        let (name, data) = (name.into(), Bytes::Host(bytes));
        self.place(Allocation { base, name, data, freed: None, written: None });
    }

    /// Adds an allocation, in the place of one that was freed long ago if there are many.
    fn place(&mut self, allocation: Allocation) {
        let base = allocation.base;
        let at = self.order.partition_point(|(other, _)| *other < base);
        let index = match self.freed.pop_front_if(|_| self.allocations.len() > REMEMBERED) {
            Some(index) => {
                self.allocations[index] = allocation;
                index
            }
            None => {
                self.allocations.push(allocation);
                self.allocations.len() - 1
            }
        };
        self.order.insert(at, (base, index));
    }

    /// Frees the allocation that starts at `address`; says whether there was one.
    pub fn free(&mut self, address: u64) -> bool {
        let Ok(at) = self.order.binary_search_by_key(&address, |(base, _)| *base) else { return false };
        let (_, index) = self.order.remove(at);
        let allocation = &mut self.allocations[index];
        // What is at an address of the host afterwards, the host decides.
        let own = if allocation.is_host() { 0 } else { allocation.len() };
        self.taken -= own;
        (allocation.data, allocation.written) = (Bytes::Own(Vec::new()), None);
        allocation.freed = Some(own);
        self.freed.push_back(index);
        true
    }

    /// Bytes of device memory that are allocated.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The allocation that has a byte at this address.
    #[must_use]
    pub fn holder(&self, address: u64) -> Option<&Allocation> {
        self.find(address, 1).ok().map(|(index, _)| &self.allocations[index])
    }

    /// All allocations in the order they were made; freed ones have no bytes.
    #[must_use]
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The number of the allocation that holds `bytes` bytes at `address`, and the offset in it.
    ///
    /// # Errors
    /// When no allocation holds all of them.
    #[inline]
    pub fn find(&self, address: u64, bytes: u32) -> Result<(usize, usize), AccessError> {
        self.find_all(address, u64::from(bytes))
    }

    /// The same for any number of bytes.
    #[inline]
    fn find_all(&self, address: u64, bytes: u64) -> Result<(usize, usize), AccessError> {
        let at = self.order.partition_point(|(base, _)| *base <= address).wrapping_sub(1);
        if let Some(&(base, index)) = self.order.get(at) {
            let offset = address - base;
            if offset.saturating_add(bytes) <= self.allocations[index].data.len() as u64 {
                return Ok((index, fit(offset)));
            }
        }
        Err(self.outside(address, bytes))
    }

    #[cold]
    fn outside(&self, address: u64, bytes: u64) -> AccessError {
        let distance = |a: &&Allocation| {
            let end = a.base + a.data.len() as u64;
            if address < a.base { a.base - address } else { address.saturating_sub(end) }
        };
        let was_in = |a: &&Allocation| a.freed.is_some_and(|size| (a.base..a.base + size).contains(&address));
        let (gone, there) =
            (self.allocations.iter().find(was_in), self.allocations.iter().filter(|a| a.freed.is_none()));
        let nearest = gone.or_else(|| there.min_by_key(distance));
        let nearest = nearest.map(|a| (a.name.clone(), a.base, a.freed.unwrap_or(a.data.len() as u64)));
        AccessError::Outside { address, bytes, nearest, freed: gone.is_some() }
    }

    /// The bytes of one allocation.
    #[must_use]
    #[inline]
    pub fn bytes(&self, index: usize) -> &[u8] {
        &self.allocations[index].data
    }

    /// The bytes of one allocation, to be written. Does not mark them as written: call
    /// [`Self::mark_written`] for the part that is.
    #[inline]
    pub fn bytes_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.allocations[index].data
    }

    /// Counts the allocation at an address as written, whatever is in it.
    pub fn count_as_written(&mut self, address: u64) {
        if let Ok((index, _)) = self.find(address, 0) {
            self.allocations[index].written = None;
        }
    }

    /// Remembers that bytes have been written, when that is tracked.
    #[inline]
    pub fn mark_written(&mut self, index: usize, offset: usize, bytes: usize) {
        if let Some(written) = &mut self.allocations[index].written {
            written.mark(offset, bytes);
        }
    }

    /// The first of these bytes that has never been written, when to read it is a fault.
    #[must_use]
    #[inline]
    pub fn first_unwritten(&self, index: usize, offset: usize, bytes: usize) -> Option<usize> {
        self.allocations[index].written.as_ref().filter(|_| self.tracks_writes())?.first_missing(offset, bytes)
    }

    /// Reads bytes for the host: writes are not checked for.
    ///
    /// # Errors
    /// When no allocation holds all of them.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), AccessError> {
        if into.is_empty() {
            return Ok(());
        }
        let (index, offset) = self.find_all(address, into.len() as u64)?;
        into.copy_from_slice(&self.allocations[index].data[offset..offset + into.len()]);
        Ok(())
    }

    /// Writes bytes from the host.
    ///
    /// # Errors
    /// When no allocation holds all of them.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), AccessError> {
        if from.is_empty() {
            return Ok(());
        }
        let (index, offset) = self.find_all(address, from.len() as u64)?;
        self.allocations[index].data[offset..offset + from.len()].copy_from_slice(from);
        self.mark_written(index, offset, from.len());
        Ok(())
    }

    /// Checks that `bytes` bytes at `address` can be read by a kernel: inside an allocation,
    /// aligned, and written before if that is tracked.
    ///
    /// # Errors
    /// When they cannot.
    pub fn check_read(&self, address: u64, bytes: u32) -> Result<(usize, usize), AccessError> {
        let (index, offset) = self.check_write(address, bytes)?;
        match self.first_unwritten(index, offset, bytes as usize) {
            None => Ok((index, offset)),
            Some(at) => Err(AccessError::NeverWritten { address: address + (at - offset) as u64 }),
        }
    }

    /// Checks that `bytes` bytes at `address` can be written by a kernel.
    ///
    /// # Errors
    /// When they cannot.
    pub fn check_write(&self, address: u64, bytes: u32) -> Result<(usize, usize), AccessError> {
        if !address.is_multiple_of(u64::from(bytes)) {
            return Err(AccessError::Misaligned { address, bytes });
        }
        self.find(address, bytes)
    }
}

impl Allocation {
    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Whether its bytes are the host's too.
    #[must_use]
    pub fn is_host(&self) -> bool {
        matches!(self.data, Bytes::Host(_))
    }

    /// Its bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

#[cfg(test)]
mod tests;
