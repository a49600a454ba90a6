//! What programs hold of a device: buffers, and arguments of launches.

use crate::element::Element;
use crate::plan::ArgValue;
use crate::value::Value;
use std::marker::PhantomData;

/// Elements in device memory. It is a handle: copies of it mean the same memory.
#[derive(Debug)]
pub struct Buffer<T> {
    pub(super) index: usize,
    pub(super) len: usize,
    pub(super) element: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument of a launch: a buffer or a number. Types are compared with what the kernel declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg(pub(super) ArgValue);

impl Arg {
    /// Bytes of a parameter passed by value, such as a structure.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self(ArgValue::Bytes(bytes))
    }

    /// A number as text, of whatever type the parameter has.
    #[must_use]
    pub fn number(text: String) -> Self {
        Self(ArgValue::Number(text))
    }

    /// A number of this type, as bits. A pointer is one of 64 bits.
    #[must_use]
    pub fn bits(element: Element, bits: u64) -> Self {
        Self(ArgValue::Scalar(element, bits))
    }
}

impl<T> From<Buffer<T>> for Arg {
    fn from(buffer: Buffer<T>) -> Self {
        Self(ArgValue::Buffer(buffer.index))
    }
}

impl<T: Value> From<T> for Arg {
    fn from(value: T) -> Self {
        Self(ArgValue::Scalar(T::ELEMENT, value.bits()))
    }
}
