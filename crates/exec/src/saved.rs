//! State that can be written down and read back: what checkpoints are made of.
//!
//! A part lists its fields once, with [`saved!`](crate::saved!), and a [`Pass`] over it writes them or reads them back
//! into a part that was made for the same machine, kernel and launch. What follows from these (configuration,
//! references) is therefore not written. The list is exhaustive: a field that is added and forgotten does not compile.
//!
//! ```
//! use raddle_exec::saved;
//! use raddle_exec::saved::{Pass, Saved};
//!
//! struct Queue { most: usize, waiting: Vec<u32> }
//! saved!(Queue { values: waiting; fixed: most });
//!
//! let mut bytes = Vec::new();
//! Queue { most: 4, waiting: vec![7, 8] }.visit(&mut Pass::writing(&mut bytes))?;
//! let mut queue = Queue { most: 4, waiting: Vec::new() };
//! queue.visit(&mut Pass::reading(&bytes))?;
//! assert_eq!(queue.waiting, [7, 8]);
//! # Ok::<(), raddle_exec::saved::Error>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write};

/// Why state cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host does not take it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not what was written, or was written of something else.
    #[error("{0}")]
    Damaged(&'static str),
    /// A mechanism has state and does not say which.
    #[error("{0} does not say how its state is saved")]
    Unsaved(String),
}

impl From<postcard::Error> for Error {
    fn from(error: postcard::Error) -> Self {
        match error {
            postcard::Error::SerializeBufferFull => io::Error::other("it cannot be written").into(),
            postcard::Error::DeserializeUnexpectedEnd => Self::Damaged("it ends too early"),
            _ => Self::Damaged("a value in it makes no sense"),
        }
    }
}

/// A part of the machine whose state can be saved.
pub trait Saved {
    /// Writes its state, or reads it back.
    ///
    /// # Errors
    /// When it cannot be written, or what is read does not fit.
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error>;
}

/// One way over the state of a machine: everything is written, or everything is read, in the same order.
pub struct Pass<'a>(Way<'a>);

enum Way<'a> {
    /// With room for a value, as bytes do not go there one by one.
    Write(&'a mut dyn Write, Vec<u8>),
    Read(&'a [u8]),
}

/// Bytes that are left out together where they are all zero.
const PAGE: usize = 4096;

impl<'a> Pass<'a> {
    /// Writes.
    pub fn writing(to: &'a mut dyn Write) -> Self {
        Self(Way::Write(to, Vec::new()))
    }

    /// Reads.
    #[must_use]
    pub fn reading(from: &'a [u8]) -> Self {
        Self(Way::Read(from))
    }

    /// Whether it reads.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        matches!(self.0, Way::Read(_))
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self.0 {
            Way::Read(rest) => rest,
            Way::Write(..) => &[],
        }
    }

    /// A value, whatever its size.
    ///
    /// # Errors
    /// When it cannot be written or read.
    pub fn value<T: Serialize + DeserializeOwned>(&mut self, value: &mut T) -> Result<(), Error> {
        match &mut self.0 {
            Way::Write(to, room) => {
                room.clear();
                *room = postcard::to_extend(value, std::mem::take(room))?;
                to.write_all(room)?;
            }
            Way::Read(from) => (*value, *from) = postcard::take_from_bytes(from)?,
        }
        Ok(())
    }

    /// Something that both have to have, such as a length.
    ///
    /// # Errors
    /// When what is read is something else.
    pub fn same<T: Serialize + DeserializeOwned + PartialEq + Clone>(&mut self, value: &T) -> Result<(), Error> {
        let mut found = value.clone();
        self.value(&mut found)?;
        if found == *value { Ok(()) } else { Err(Error::Damaged("it was written of something else")) }
    }

    /// Bytes, of which there are as many as when they were written. Pages of zeros cost nothing.
    ///
    /// # Errors
    /// When they cannot be written or read.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.same(&bytes.len())?;
        let is_zero = |page: &[u8]| page.iter().all(|byte| *byte == 0);
        let mut used: Vec<bool> = bytes.chunks(PAGE).map(|page| !is_zero(page)).collect();
        self.value(&mut used)?;
        if used.len() != bytes.len().div_ceil(PAGE) {
            return Err(Error::Damaged("it was written of something else"));
        }
        for (page, is_used) in bytes.chunks_mut(PAGE).zip(used) {
            match &mut self.0 {
                Way::Write(to, _) if is_used => to.write_all(page)?,
                Way::Read(from) if is_used => {
                    let (own, rest) = from.split_at_checked(page.len()).ok_or(Error::Damaged("it ends too early"))?;
                    page.copy_from_slice(own);
                    *from = rest;
                }
                // A page that is not touched takes no memory of the host.
                Way::Read(_) if !is_zero(page) => page.fill(0),
                _ => {}
            }
        }
        Ok(())
    }

    /// A list that is as long as when it was written.
    ///
    /// # Errors
    /// When an element cannot be written or read.
    pub fn list<T: Saved + Default>(&mut self, list: &mut Vec<T>) -> Result<(), Error> {
        let mut count = list.len();
        self.value(&mut count)?;
        if let Way::Read(from) = self.0 {
            if count > from.len() {
                return Err(Error::Damaged("it ends too early"));
            }
            list.clear();
            list.resize_with(count, T::default);
        }
        list.iter_mut().try_for_each(|part| part.visit(self))
    }
}

impl<T: Saved> Saved for [T] {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        pass.same(&self.len())?;
        self.iter_mut().try_for_each(|part| part.visit(pass))
    }
}

impl<T: Saved, const N: usize> Saved for [T; N] {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        self.as_mut_slice().visit(pass)
    }
}

/// As many parts as the machine has, each in its place.
impl<T: Saved> Saved for Vec<T> {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        self.as_mut_slice().visit(pass)
    }
}

impl<T: Saved + ?Sized> Saved for Box<T> {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        (**self).visit(pass)
    }
}

/// A part that the machine has or has not.
impl<T: Saved> Saved for Option<T> {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        pass.same(&self.is_some())?;
        self.iter_mut().try_for_each(|part| part.visit(pass))
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        self.0.visit(pass)?;
        self.1.visit(pass)
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl Saved for $number {
            fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
                pass.value(self)
            }
        })+
    };
}
numbers!(bool, u8, u16, u32, u64, u128, usize);

/// Says how the state of a type is saved, field by field. Fields listed as `values` are written as they are and may
/// change their length. Those listed as `parts` are [`Saved`](crate::saved::Saved) themselves and as many as the
/// machine has. Those listed as `lists` are lists of parts and may change their length. Those listed as `fixed` follow
/// from machine, kernel and launch. A type with parameters has them in front: `saved!(impl['k] Part<'k> { … })`.
#[macro_export]
macro_rules! saved {
    (@values $pass:ident, $field:ident) => { $pass.value($field)?; };
    (@parts $pass:ident, $field:ident) => { $crate::saved::Saved::visit($field, $pass)?; };
    (@lists $pass:ident, $field:ident) => { $pass.list($field)?; };
    (@fixed $pass:ident, $field:ident) => { let _ = $field; };
    (impl[$($params:tt)*] $type:ty { $($kind:ident: $($field:ident),+);* $(;)? }) => {
        impl<$($params)*> $crate::saved::Saved for $type {
            fn visit(&mut self, pass: &mut $crate::saved::Pass<'_>) -> Result<(), $crate::saved::Error> {
                let Self { $($($field,)+)* } = self;
                let _ = &pass;
                $($($crate::saved!(@$kind pass, $field);)+)*
                Ok(())
            }
        }
    };
    ($type:ty { $($rest:tt)* }) => { $crate::saved!(impl[] $type { $($rest)* }); };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bank {
        size: usize,
        rows: Vec<u32>,
        units: [u8; 40],
    }
    saved!(Bank { values: rows; parts: units; fixed: size });

    fn bank(rows: &[u32], unit: u8) -> Bank {
        Bank { size: 3, rows: rows.to_vec(), units: [unit; 40] }
    }

    #[test]
    fn a_part_is_read_back_into_a_fresh_one() {
        let mut bytes = Vec::new();
        bank(&[1, 2, 300], 7).visit(&mut Pass::writing(&mut bytes)).unwrap();
        let mut fresh = bank(&[9], 0);
        let mut pass = Pass::reading(&bytes);
        fresh.visit(&mut pass).unwrap();
        assert_eq!((fresh.size, fresh.rows, fresh.units), (3, vec![1, 2, 300], [7; 40]));
        assert!(pass.rest().is_empty());
    }

    #[test]
    fn whatever_is_read_ends_with_an_error_and_not_with_a_panic() {
        let mut bytes = Vec::new();
        bank(&[1, 2, 300], 7).visit(&mut Pass::writing(&mut bytes)).unwrap();
        for length in 0..bytes.len() {
            assert!(bank(&[], 0).visit(&mut Pass::reading(&bytes[..length])).is_err());
        }
        // A length of 2^63 takes no memory.
        let long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(bank(&[], 0).visit(&mut Pass::reading(&long)).is_err());
        assert!(Pass::reading(&long).list(&mut Vec::<u8>::new()).is_err());
        assert!(Pass::reading(&long).bytes(&mut [0; 9]).is_err());
    }

    #[test]
    fn pages_of_zeros_are_left_out() {
        let mut memory = vec![0; 3 * PAGE + 5];
        memory[PAGE + 1] = 1;
        memory[3 * PAGE + 4] = 2;
        let mut bytes = Vec::new();
        Pass::writing(&mut bytes).bytes(&mut memory).unwrap();
        assert!(bytes.len() < PAGE + 20);
        let mut other = vec![9; memory.len()];
        Pass::reading(&bytes).bytes(&mut other).unwrap();
        assert_eq!(other, memory);
        assert!(Pass::reading(&bytes).bytes(&mut other[1..]).is_err());
    }
}
