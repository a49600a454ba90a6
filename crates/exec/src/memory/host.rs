//! Memory of the host that kernels see at its own address.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes that belong to host code and to kernels. They are a pointer rather than a slice, as host code may use them
/// between launches: they are borrowed for an access at a time.
#[derive(Debug)]
pub struct HostBytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the bytes are plain memory, and who made this says that they are there on every thread.
#[allow(unsafe_code)]
unsafe impl Send for HostBytes {}
// SAFETY: as above; to write them takes the value for oneself.
#[allow(unsafe_code)]
unsafe impl Sync for HostBytes {}

impl HostBytes {
    /// Takes `len` bytes from `start`.
    ///
    /// # Safety
    /// They must be there and be initialised until the value is dropped, and no other `HostBytes` may have any of them.
    /// While a launch or a copy uses them, no other thread may write them.
    #[allow(unsafe_code)]
    #[must_use]
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }

    /// Where they start.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.start.addr().get() as u64
    }
}

impl Deref for HostBytes {
    type Target = [u8];

    #[inline]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are there and no thread writes them during an access, as `new` was told.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for HostBytes {
    #[inline]
    #[allow(unsafe_code)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and there is no other `HostBytes` of them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::DeviceMemory;

    #[test]
    #[allow(unsafe_code)]
    fn host_code_and_kernels_use_the_same_bytes_in_turn() {
        let mut bytes = [0u32; 16];
        let start = NonNull::from(&mut bytes).cast::<u8>();
        // SAFETY: the array outlives the memory, and is used through this pointer only.
        let shared = unsafe { HostBytes::new(start, 64) };
        let address = shared.address();
        let mut memory = DeviceMemory::new();
        memory.map("shared", shared);
        memory.write(address + 4, &[1, 2, 3, 4]).unwrap();
        // SAFETY: inside the array, and no access is under way.
        unsafe { start.as_ptr().add(8).write(9) };
        let mut back = [0; 6];
        memory.read(address + 4, &mut back).unwrap();
        assert_eq!(back, [1, 2, 3, 4, 9, 0]);
        assert!(memory.free(address));
        drop(memory);
        assert_eq!(bytes[1], u32::from_le_bytes([1, 2, 3, 4]));
    }
}
