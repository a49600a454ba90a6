//! Memory that host code and kernels share, at the same address for both: pinned and managed allocations.
//!
//! Addresses must not differ from run to run, or caches would behave differently: they come from a range that nothing
//! else uses, one after the other. A process may have some 65,000 mappings. Therefore the room between allocations is
//! out of reach only as long as there are few.

use crate::addresses::{reserve_shared, shared_start};
use crate::error::{Error, Result};
use raddle_exec::memory::{HostBytes, MAX_DEVICE_BYTES};
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Room between allocations, in which an access is found to be outside.
const GUARD: u64 = 64 << 10;
const PAGE: u64 = 4096;
/// Allocations that are mappings of their own.
const MOST_APART: usize = 8192;

/// An allocation.
#[derive(Debug)]
struct Block {
    bytes: usize,
    /// Those it was asked for with.
    flags: u32,
    /// Whether it is a mapping of its own.
    is_apart: bool,
}

/// The allocations there are, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct HostMemory {
    next: Option<u64>,
    list: BTreeMap<u64, Block>,
}

fn pointer(address: u64) -> *mut libc::c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl HostMemory {
    /// Allocates zeroed bytes, no more at once than the device has: what the host has differs from host to host.
    pub(crate) fn alloc(&mut self, bytes: u64, flags: u32) -> Result<HostBytes> {
        if bytes > MAX_DEVICE_BYTES {
            return Err(Error::MEMORY_ALLOCATION);
        }
        let at = self.next.map_or_else(shared_start, Ok)?;
        let size = bytes.max(1).checked_next_multiple_of(PAGE);
        let end = size.and_then(|size| at.checked_add(size)).ok_or(Error::MEMORY_ALLOCATION)?;
        let next = end.checked_add(GUARD).filter(|next| reserve_shared(*next)).ok_or(Error::MEMORY_ALLOCATION)?;
        // Neighbours without a gap are one mapping.
        let is_apart = self.list.len() < MOST_APART;
        let from = if is_apart { at } else { at - GUARD };
        let length = (end - from) as usize;
        // SAFETY: these addresses are ours and their bytes in no use: they are given once.
        let is_there = unsafe { libc::mprotect(pointer(from), length, libc::PROT_READ | libc::PROT_WRITE) } == 0;
        if !is_there {
            return Err(Error::MEMORY_ALLOCATION);
        }
        if !is_apart {
            // Of small allocations far apart, a huge page would be mostly unused.
            // SAFETY: as above; this is only how the bytes are stored.
            unsafe { libc::madvise(pointer(from), length, libc::MADV_NOHUGEPAGE) };
        }
        self.next = Some(next);
        let bytes = usize::try_from(bytes).map_err(|_| Error::MEMORY_ALLOCATION)?;
        self.list.insert(at, Block { bytes: (end - at) as usize, flags, is_apart });
        let start = NonNull::new(pointer(at).cast()).ok_or(Error::MEMORY_ALLOCATION)?;
        // SAFETY: the bytes are there, all zero, until they are freed, before which the device forgets them. No other
        // allocation has them. Host code leaves them alone while kernels run.
        Ok(unsafe { HostBytes::new(start, bytes) })
    }

    /// The flags of the allocation that starts at an address.
    pub(crate) fn flags(&self, address: u64) -> Option<u32> {
        self.list.get(&address).map(|block| block.flags)
    }

    /// Frees an allocation, of which nothing may be in use any more.
    pub(crate) fn free(&mut self, address: u64) {
        let Some(Block { bytes, is_apart, .. }) = self.list.remove(&address) else { return };
        // SAFETY: they were allocated here, and the device has forgotten them; host code that still uses them reads zeros
        // or is ended by a signal.
        unsafe {
            libc::madvise(pointer(address), bytes, libc::MADV_DONTNEED);
            if is_apart {
                libc::mprotect(pointer(address), bytes, libc::PROT_NONE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * PAGE as usize
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps memory at an address")]
    fn addresses_are_one_after_the_other_however_many_there_are() {
        let mut memory = HostMemory::default();
        const ALL: u64 = 70_000;
        let base = memory.alloc(10, 0).unwrap().address();
        let before = resident();
        let each = PAGE + GUARD;
        for number in 1..ALL {
            let mut bytes = memory.alloc(1 + number % PAGE, 0).unwrap();
            assert_eq!(bytes.address(), base + number * each);
            if number % 8 == 0 {
                assert_eq!(bytes[0], 0);
                bytes[0] = 1;
            }
        }
        let touched = resident() - before;
        assert!(touched < ALL as usize * PAGE as usize, "{touched}");
        (0..ALL).for_each(|number| memory.free(base + number * each));
        let left = resident().saturating_sub(before);
        assert!(left < touched / 2, "{left} of {touched}");
        let last = memory.alloc(1, 4).unwrap().address();
        assert_eq!(last, base + ALL * each, "no address is used twice");
        assert_eq!([memory.flags(last), memory.flags(base)], [Some(4), None]);
        for bytes in [MAX_DEVICE_BYTES + 1, u64::MAX - 5000, u64::MAX] {
            assert_eq!(memory.alloc(bytes, 0).err(), Some(Error::MEMORY_ALLOCATION));
        }
    }
}
