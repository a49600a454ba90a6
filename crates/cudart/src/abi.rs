//! What C hands over. Pointers from outside are followed here and nowhere else: each type says what the interface
//! promises of it.

use crate::error::{Error, Result};
use std::ffi::{CStr, c_char};

/// An address, of the host or of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Pointer(pub(crate) u64);

impl Pointer {
    pub(crate) const NULL: Self = Self(0);

    /// The address so many bytes on.
    pub(crate) fn add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Bytes of the host to read.
    ///
    /// # Safety
    /// So many bytes must be there, and nobody may write them while they are used.
    pub(crate) unsafe fn host<'a>(self, bytes: usize) -> &'a [u8] {
        if bytes == 0 {
            return &[];
        }
        // SAFETY: the caller says that the bytes are there.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.0 as usize), bytes) }
    }

    /// Bytes of the host to write.
    ///
    /// # Safety
    /// So many bytes must be there, and nobody else may use them at the same time.
    pub(crate) unsafe fn host_mut<'a>(self, bytes: usize) -> &'a mut [u8] {
        if bytes == 0 {
            return &mut [];
        }
        // SAFETY: the caller says that the bytes are there and ours.
        unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(self.0 as usize), bytes) }
    }
}

/// Where a result goes: null, or a place for a `T` that belongs to the caller.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Puts the result there.
    pub(crate) fn put(&self, value: T) -> Result {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the interface says that it points to a `T` of the caller's, who waits for us. It need not be aligned for us.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// The same where nothing may be wanted.
    pub(crate) fn put_if_wanted(&self, value: T) {
        let _ = self.put(value);
    }
}

/// Where an argument is: null, or a `T` of the caller's.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    pub(crate) fn get(&self) -> Result<T> {
        self.at(0)
    }

    /// An element of a list.
    pub(crate) fn at(&self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the interface says that it points to a `T`, or to a list that has this element.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The address.
    pub(crate) fn address(&self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

/// A name: null, or a text that ends in a zero.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Name(*const c_char);

impl Name {
    /// The text that starts at an address.
    pub(crate) fn at(address: Pointer) -> Self {
        Self(std::ptr::with_exposed_provenance(address.0 as usize))
    }

    pub(crate) fn text(&self) -> Result<String> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the interface says that it ends in a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// A text for the caller, that is there for ever.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl From<&'static str> for Text {
    /// The text must end in a zero.
    fn from(text: &'static str) -> Self {
        debug_assert!(text.ends_with('\0'));
        Self(text.as_ptr().cast())
    }
}

/// A function of the host that is called with its data.
pub(crate) type HostFunction = Option<unsafe extern "C" fn(Pointer)>;

/// Sizes in three directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

impl Dim3 {
    pub(crate) fn list(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}
