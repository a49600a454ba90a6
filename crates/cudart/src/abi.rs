//! What C hands over. Pointers from outside are followed here and nowhere else: each type says what the interface
//! promises of it.

use crate::error::{Error, Result};
use std::ffi::{CStr, c_char};
use std::ops::Range;

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

    /// The address so many bytes on, if there is one.
    pub(crate) fn plus(self, bytes: Size) -> Result<Self> {
        self.0.checked_add(bytes.wide()).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// The addresses of so many bytes, if they do not wrap.
    pub(crate) fn range(self, bytes: Size) -> Result<Range<u64>> {
        Ok(self.0..self.plus(bytes)?.0)
    }

    /// A copy of bytes of the host. Null has none.
    ///
    /// # Safety
    /// So many bytes must be there, unless the address is null.
    pub(crate) unsafe fn read(self, bytes: usize) -> Result<Vec<u8>> {
        let mut copy = vec![0; bytes];
        if bytes > 0 {
            if self == Self::NULL {
                return Err(Error::INVALID_VALUE);
            }
            // SAFETY: the caller says that the bytes are there, and those of the copy are new.
            unsafe { std::ptr::copy_nonoverlapping(self.bytes(), copy.as_mut_ptr(), bytes) };
        }
        Ok(copy)
    }

    /// Writes bytes of the host.
    ///
    /// # Safety
    /// There must be room for them, and they must not be among `bytes`, to which there is a reference.
    pub(crate) unsafe fn write(self, bytes: &[u8]) {
        if !bytes.is_empty() {
            // SAFETY: the caller says that the bytes are there, and are others.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.bytes(), bytes.len()) };
        }
    }

    /// As a pointer to bytes of the host.
    pub(crate) fn bytes(self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0 as usize)
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
        unsafe { std::slice::from_raw_parts(self.bytes(), bytes) }
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
        unsafe { std::slice::from_raw_parts_mut(self.bytes(), bytes) }
    }
}

/// A size or a count that a program states, in bytes, rows or elements. It may be any number: arithmetic on it is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Size(usize);

impl Size {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1);

    pub(crate) const fn new(value: usize) -> Self {
        Self(value)
    }

    /// As a length of something that is there.
    pub(crate) const fn get(self) -> usize {
        self.0
    }

    /// As a size for the device.
    pub(crate) const fn wide(self) -> u64 {
        self.0 as u64
    }

    pub(crate) const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// At least one, for dimensions that may be left out.
    pub(crate) fn or_one(self) -> Self {
        self.max(Self::ONE)
    }

    /// The sum, if it is a size.
    #[allow(dead_code, reason = "part of the arithmetic of sizes")]
    pub(crate) fn plus(self, other: Self) -> Result<Self> {
        self.0.checked_add(other.0).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// The product, if it is a size.
    pub(crate) fn times(self, other: Self) -> Result<Self> {
        self.0.checked_mul(other.0).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// The next multiple, if it is a size.
    pub(crate) fn rounded_up(self, multiple: usize) -> Result<Self> {
        self.0.checked_next_multiple_of(multiple).map(Self).ok_or(Error::INVALID_VALUE)
    }

    /// The number, where the device counts in 32 bits.
    pub(crate) fn narrow(self) -> Result<u32> {
        u32::try_from(self.0).map_err(|_| Error::INVALID_VALUE)
    }
}

/// Where a result goes: null, or a place for a `T` that belongs to the caller.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Nothing is wanted.
    pub(crate) const NULL: Self = Self(std::ptr::null_mut());

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The address, from which it can be made again.
    pub(crate) fn address(&self) -> Pointer {
        Pointer(self.0.expose_provenance() as u64)
    }

    /// Refuses null before a call changes anything, where a result must be wanted.
    pub(crate) fn check(&self) -> Result {
        if self.is_null() { Err(Error::INVALID_VALUE) } else { Ok(()) }
    }

    /// Puts the result there.
    pub(crate) fn put(&self, value: T) -> Result {
        self.put_at(0, value)
    }

    /// Puts an element of a list there.
    pub(crate) fn put_at(&self, index: usize, value: T) -> Result {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the interface says that it points to a `T` of the caller's, who waits for us, or to a list that has this
        // element. It need not be aligned for us.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }

    /// The same where nothing may be wanted.
    pub(crate) fn put_if_wanted(&self, value: T) {
        let _ = self.put(value);
    }
}

impl<T> From<Pointer> for Out<T> {
    fn from(at: Pointer) -> Self {
        Self(at.bytes().cast())
    }
}

/// Where an argument is: null, or a `T` of the caller's.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> From<Pointer> for In<T> {
    fn from(address: Pointer) -> Self {
        Self(std::ptr::with_exposed_provenance(address.0 as usize))
    }
}

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

/// A value that is read and then replaced.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct InOut<T>(*mut T);

impl<T: Copy> InOut<T> {
    pub(crate) fn get(&self) -> Result<T> {
        In(self.0.cast_const()).get()
    }

    pub(crate) fn put(&self, value: T) -> Result {
        Out(self.0).put(value)
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

/// A function of the host that is called with its data. It may throw: the exception then ends the process in ours, which
/// nothing can leave by one.
pub(crate) type HostFunction = Option<unsafe extern "C-unwind" fn(Pointer)>;

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

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_exec::memory::{DeviceMemory, HostBytes};
    use std::ptr::NonNull;

    #[test]
    fn arithmetic_on_sizes_does_not_wrap() {
        let [most, seven] = [usize::MAX, 7].map(Size::new);
        assert_eq!(seven.plus(seven), Ok(Size::new(14)));
        assert_eq!(seven.times(seven), Ok(Size::new(49)));
        assert_eq!([seven.rounded_up(7), seven.rounded_up(512)], [Ok(seven), Ok(Size::new(512))]);
        assert_eq!([seven.narrow(), Size::new(u32::MAX as usize).narrow()], [Ok(7), Ok(u32::MAX)]);
        assert_eq!([Size::ZERO.or_one(), seven.or_one()], [Size::ONE, seven]);
        for wrong in [most.plus(Size::ONE), most.times(Size::new(2)), most.rounded_up(512)] {
            assert_eq!(wrong, Err(Error::INVALID_VALUE));
        }
        assert_eq!(Size::new(1 << 32).narrow(), Err(Error::INVALID_VALUE));
    }

    /// A pointer as C has it: only its number is known.
    fn handed_over<T>(to: &mut T) -> Pointer {
        Pointer(std::ptr::from_mut(to).expose_provenance() as u64)
    }

    #[test]
    fn bytes_of_the_program_are_read_and_written_in_place() {
        let mut bytes = [1u8, 2, 3, 4, 5, 6];
        let at = handed_over(&mut bytes);
        // SAFETY: all of it is inside of the array, which is used through this address only.
        unsafe {
            assert_eq!(at.add(1).read(3), Ok(vec![2, 3, 4]));
            at.add(4).write(&[9]);
            at.add(5).host_mut(1)[0] = 7;
            assert_eq!(at.host(6), [1, 2, 3, 4, 9, 7]);
        }
    }

    #[test]
    fn null_has_no_bytes() {
        // SAFETY: nothing is read or written.
        unsafe {
            assert_eq!((Pointer::NULL.read(0), Pointer::NULL.read(1)), (Ok(Vec::new()), Err(Error::INVALID_VALUE)));
            Pointer::NULL.write(&[]);
            assert!(Pointer::NULL.host(0).is_empty() && Pointer::NULL.host_mut(0).is_empty());
        }
        assert_eq!(Out::from(Pointer::NULL).put(1u8), Err(Error::INVALID_VALUE));
        assert_eq!(Out::<u8>::NULL.check(), Err(Error::INVALID_VALUE));
        assert_eq!(In::<u8>::from(Pointer::NULL).get(), Err(Error::INVALID_VALUE));
        assert_eq!(Name::at(Pointer::NULL).text(), Err(Error::INVALID_VALUE));
    }

    #[test]
    fn arguments_and_results_need_not_be_aligned() {
        let mut bytes = [0u64; 4];
        let at = handed_over(&mut bytes).add(1);
        let (out, list) = (Out::<u64>::from(at), In::<u64>::from(at));
        assert_eq!((out.put(5), out.put_at(2, 6)), (Ok(()), Ok(())));
        assert_eq!([list.get(), list.at(1), list.at(2)], [Ok(5), Ok(0), Ok(6)]);
        let count = InOut::<u64>(at.bytes().cast());
        assert_eq!((count.put(8), count.get()), (Ok(()), Ok(8)));
        assert_eq!((out.address(), list.address()), (at, at.0));
    }

    #[test]
    fn a_name_ends_at_its_zero() {
        let mut text = *b"copy\0rest";
        let at = handed_over(&mut text);
        assert_eq!(Name::at(at).text().as_deref(), Ok("copy"));
        assert_eq!(Name::at(at.add(4)).text().as_deref(), Ok(""));
    }

    #[test]
    fn kernels_use_memory_of_the_program_by_its_address() {
        let mut bytes = [0u8; 8];
        let at = handed_over(&mut bytes);
        // SAFETY: the array outlives the memory, and is used through its address only.
        let shared = unsafe { HostBytes::new(NonNull::new(at.bytes()).unwrap(), 8) };
        let mut memory = DeviceMemory::new();
        memory.map("shared", shared);
        memory.write(at.0 + 2, &[1, 2]).unwrap();
        assert_eq!(In::<[u8; 3]>::from(at.add(1)).get(), Ok([0, 1, 2]));
        Out::from(at.add(3)).put(9u8).unwrap();
        let mut back = [0; 4];
        memory.read(at.0 + 1, &mut back).unwrap();
        assert_eq!(back, [0, 1, 9, 0]);
    }

    #[test]
    fn ranges_of_addresses_do_not_wrap() {
        let end = Pointer(u64::MAX - 7);
        assert_eq!(end.range(Size::new(7)), Ok(u64::MAX - 7..u64::MAX));
        assert_eq!(end.plus(Size::new(8)), Err(Error::INVALID_VALUE));
        assert_eq!(Pointer(16).range(Size::new(usize::MAX)), Err(Error::INVALID_VALUE));
    }
}
