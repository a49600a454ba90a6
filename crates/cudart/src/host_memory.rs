//! Memory that host code and kernels share, at the same address for both: pinned and managed allocations.
//!
//! Addresses must not differ from run to run, or caches would behave differently: they come from a range that nothing
//! else uses, one behind the other.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Where the range starts.
const START: u64 = 0x2000_0000_0000;
/// Room between allocations, in which an access is found to be outside.
const GUARD: u64 = 64 << 10;
const PAGE: u64 = 4096;

/// The allocations there are: address and bytes.
#[derive(Debug)]
pub(crate) struct HostMemory {
    next: u64,
    list: BTreeMap<u64, usize>,
}

impl Default for HostMemory {
    fn default() -> Self {
        Self { next: START, list: BTreeMap::new() }
    }
}

impl HostMemory {
    /// Allocates zeroed bytes.
    pub(crate) fn alloc(&mut self, bytes: u64) -> Result<&'static mut [u8]> {
        let size = bytes.max(1).next_multiple_of(PAGE);
        let length = usize::try_from(size).map_err(|_| Error::MEMORY_ALLOCATION)?;
        let at = self.next as usize;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a new mapping where there is none; the kernel refuses to replace one.
        let found = unsafe {
            libc::mmap(std::ptr::without_provenance_mut(at), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if found == libc::MAP_FAILED || found.addr() != at {
            return Err(Error::MEMORY_ALLOCATION);
        }
        self.next += size + GUARD;
        self.list.insert(at as u64, length);
        // SAFETY: the mapping has these bytes, all zero, and stays until it is freed, before which the device forgets it.
        Ok(unsafe { std::slice::from_raw_parts_mut(found.cast(), bytes as usize) })
    }

    /// Whether an allocation starts here.
    pub(crate) fn starts_at(&self, address: u64) -> bool {
        self.list.contains_key(&address)
    }

    /// Frees an allocation, of which nothing may be in use any more.
    pub(crate) fn free(&mut self, address: u64) {
        if let Some(length) = self.list.remove(&address) {
            // SAFETY: it was mapped here with this length, and the device has forgotten it.
            unsafe { libc::munmap(std::ptr::without_provenance_mut(address as usize), length) };
        }
    }
}
