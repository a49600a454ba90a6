//! Global memory: allocations at fixed addresses, bounds known for each.
//!
//! Each allocation is one zeroed vector. The operating system hands out its pages when they are
//! first touched, so a large buffer of which little is used costs what is used: that is the sparse
//! page store, and the fast path is an offset into a slice.

use crate::saved;
use crate::saved::{Pass, Saved};
use raddle_ptx::num::fit;

/// Where the heap starts; the same place the reference simulator uses, so that cache sets and
/// memory channels come out alike.
pub const HEAP_BASE: u64 = 0xC000_0000;
/// Allocations start at multiples of this.
const GRAIN: u64 = 256;
/// Room that is left after allocations to find accesses past their end.
const GUARD: u64 = 64 << 10;
/// The most bytes of all allocations together: more than any device simulated here has.
pub const MAX_DEVICE_BYTES: u64 = 8 << 30;

/// One allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Name for messages.
    pub name: String,
    data: Vec<u8>,
    /// One bit per byte that has been written; only kept when asked for.
    written: Option<Vec<u64>>,
}

impl Saved for Allocation {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        let Self { base, name, data, written } = self;
        pass.same(base)?;
        pass.same(name)?;
        pass.bytes(data)?;
        written.visit(pass)
    }
}

/// Why memory cannot be allocated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocError {
    /// More than a device has.
    #[error(
        "`{name}` has {bytes} bytes, and {taken} are taken; a device has {MAX_DEVICE_BYTES}, that is {} GiB",
        MAX_DEVICE_BYTES >> 30
    )]
    TooLarge {
        /// Of what.
        name: String,
        /// Bytes wanted.
        bytes: u64,
        /// Bytes allocated before.
        taken: u64,
    },
    /// More than the host gives.
    #[error("`{name}` has {bytes} bytes, for which the host has no memory")]
    NoMemory {
        /// Of what.
        name: String,
        /// Bytes wanted.
        bytes: u64,
    },
}

/// Why an access cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// No allocation holds all of it.
    Outside {
        /// Address.
        address: u64,
        /// Bytes wanted.
        bytes: u64,
        /// Name, first address and size of the closest allocation.
        nearest: Option<(String, u64, u64)>,
    },
    /// The address is not a multiple of the access size.
    Misaligned {
        /// Address.
        address: u64,
        /// Bytes wanted.
        bytes: u32,
    },
    /// The bytes were never written (reported on request).
    NeverWritten {
        /// Address.
        address: u64,
    },
}

impl std::fmt::Display for AccessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside { address, bytes, nearest } => {
                write!(f, "access of {bytes} bytes at {address:#x} is outside every allocation")?;
                if let Some((name, base, size)) = nearest {
                    let end = base + size;
                    if *address >= end {
                        write!(f, " ({} bytes past the end of `{name}`, {base:#x}..{end:#x})", address - end)?;
                    } else if *address < *base {
                        write!(f, " ({} bytes before `{name}`, {base:#x}..{end:#x})", base - address)?;
                    } else {
                        write!(f, " (crosses the end of `{name}`, {base:#x}..{end:#x})")?;
                    }
                }
                Ok(())
            }
            Self::Misaligned { address, bytes } => {
                write!(f, "misaligned access: {address:#x} is not a multiple of {bytes}")
            }
            Self::NeverWritten { address } => write!(f, "read of memory never written at {address:#x}"),
        }
    }
}

/// Global memory.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    /// By ascending address.
    allocations: Vec<Allocation>,
    next: u64,
    /// Bytes left free after every allocation.
    gap: u64,
    track_writes: bool,
}

saved!(DeviceMemory { parts: allocations; fixed: next, gap, track_writes });

impl Default for DeviceMemory {
    fn default() -> Self {
        Self { allocations: Vec::new(), next: HEAP_BASE, gap: 0, track_writes: false }
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
        self.track_writes = true;
    }

    /// Whether reads of bytes never written are reported.
    #[must_use]
    pub fn tracks_writes(&self) -> bool {
        self.track_writes
    }

    /// From now on, leaves room after every allocation, so that an access past its end is not one to the next.
    pub fn guard(&mut self) {
        self.gap = GUARD;
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
        let name = name.into();
        let taken = self.allocations.iter().map(Allocation::len).sum();
        if bytes > MAX_DEVICE_BYTES - taken {
            return Err(AllocError::TooLarge { name, bytes, taken });
        }
        let data = zeroes(bytes);
        let written = self.track_writes.then(|| zeroes(bytes.div_ceil(64)));
        let (Some(data), Some(written)) = (data, written.map_or(Some(None), |bits| bits.map(Some))) else {
            return Err(AllocError::NoMemory { name, bytes });
        };
        let base = self.next;
        self.next += bytes.max(1).next_multiple_of(GRAIN) + self.gap;
        self.allocations.push(Allocation { base, name, data, written });
        Ok(base)
    }

    /// All allocations by ascending address.
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
        let index = self.allocations.partition_point(|a| a.base <= address).wrapping_sub(1);
        if let Some(a) = self.allocations.get(index) {
            let offset = address - a.base;
            if offset.saturating_add(bytes) <= a.data.len() as u64 {
                return Ok((index, fit(offset)));
            }
        }
        Err(self.outside(address, bytes))
    }

    #[cold]
    fn outside(&self, address: u64, bytes: u64) -> AccessError {
        let distance = |a: &Allocation| {
            let end = a.base + a.data.len() as u64;
            if address < a.base { a.base - address } else { address.saturating_sub(end) }
        };
        let nearest = self.allocations.iter().min_by_key(|a| distance(a));
        let nearest = nearest.map(|a| (a.name.clone(), a.base, a.data.len() as u64));
        AccessError::Outside { address, bytes, nearest }
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

    /// Remembers that bytes have been written, when that is tracked.
    #[inline]
    pub fn mark_written(&mut self, index: usize, offset: usize, bytes: usize) {
        if let Some(bits) = &mut self.allocations[index].written {
            for i in offset..offset + bytes {
                bits[i / 64] |= 1 << (i % 64);
            }
        }
    }

    /// The first of these bytes that has never been written, when that is tracked.
    #[must_use]
    #[inline]
    pub fn first_unwritten(&self, index: usize, offset: usize, bytes: usize) -> Option<usize> {
        let bits = self.allocations[index].written.as_ref()?;
        (offset..offset + bytes).find(|i| bits[i / 64] >> (i % 64) & 1 == 0)
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

/// Zeroes that take memory when they are first touched; none when the host has no room. Nothing both asks and leaves the
/// pages alone, so that room is asked for and given back before.
fn zeroes<T: Clone + Default>(count: u64) -> Option<Vec<T>> {
    let count = usize::try_from(count).ok()?;
    Vec::<T>::new().try_reserve_exact(count).ok()?;
    Some(vec![T::default(); count])
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

    /// Its bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_left_free() {
        let mut memory = DeviceMemory::new();
        let first = memory.alloc("a", 1).unwrap();
        memory.leave(0);
        memory.leave(257);
        assert_eq!(memory.alloc("b", 1).unwrap() - first, 3 * GRAIN);
    }

    #[test]
    fn an_access_past_the_end_does_not_reach_the_next_allocation() {
        let mut m = DeviceMemory::new();
        m.guard();
        let (a, b) = (m.alloc("a", 256).unwrap(), m.alloc("b", 256).unwrap());
        assert!(m.find(a + 252, 4).is_ok() && m.find(b, 4).is_ok());
        for past in [256, 4096, GUARD] {
            let error = m.find(a + past, 4).unwrap_err().to_string();
            assert!(error.contains("outside every allocation"), "{past}: {error}");
        }
    }

    #[test]
    fn allocations_are_256_bytes_apart_and_bounded_to_the_byte() {
        let mut m = DeviceMemory::new();
        let a = m.alloc("a", 10).unwrap();
        let b = m.alloc("b", 4).unwrap();
        assert_eq!((a, b), (HEAP_BASE, HEAP_BASE + 256));
        assert!(m.find(a + 6, 4).is_ok());
        let error = m.find(a + 8, 4).unwrap_err().to_string();
        assert!(error.contains("crosses the end of `a`"), "{error}");
        let error = m.find(16, 4).unwrap_err().to_string();
        assert!(error.contains("before `a`"), "{error}");
    }

    #[test]
    fn a_huge_buffer_costs_only_what_is_touched() {
        let mut m = DeviceMemory::new();
        let a = m.alloc("huge", 1 << 33).unwrap();
        m.write(a + (1 << 32), &[1, 2, 3]).unwrap();
        let mut back = [0; 4];
        m.read(a + (1 << 32), &mut back).unwrap();
        assert_eq!(back, [1, 2, 3, 0]);
    }

    #[test]
    fn more_than_a_device_has_is_refused() {
        let mut m = DeviceMemory::new();
        let error = m.alloc("a", u64::MAX).unwrap_err().to_string();
        assert_eq!(
            error,
            "`a` has 18446744073709551615 bytes, and 0 are taken; a device has 8589934592, that is 8 GiB"
        );
        let first = m.alloc("b", 1).unwrap();
        assert_eq!(first, HEAP_BASE, "what was refused takes no place");
        let error = m.alloc("c", MAX_DEVICE_BYTES).unwrap_err();
        assert_eq!(error, AllocError::TooLarge { name: "c".to_owned(), bytes: MAX_DEVICE_BYTES, taken: 1 });
        m.alloc("c", MAX_DEVICE_BYTES - 1).unwrap();
    }

    #[test]
    fn unwritten_bytes_are_found_when_tracked() {
        let mut m = DeviceMemory::new();
        m.track_writes();
        let a = m.alloc("a", 64).unwrap();
        m.write(a, &[0; 6]).unwrap();
        assert!(m.check_read(a, 4).is_ok());
        assert_eq!(m.check_read(a + 4, 4), Err(AccessError::NeverWritten { address: a + 6 }));
        assert_eq!(m.check_read(a + 2, 4), Err(AccessError::Misaligned { address: a + 2, bytes: 4 }));
    }
}
