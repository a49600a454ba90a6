//! Files of elements: `.npy` and raw little-endian bytes.

use crate::element::Element;
use crate::error::{Error, Problem};
use crate::input;
use crate::npy::{Dtype, Npy};
use raddle_ptx::isa::{Kind, Type};
use std::fs;
use std::path::{Path, PathBuf};

/// How a file holds its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy's format.
    Npy,
    /// The bytes as they lie in memory.
    Raw,
}

/// A file of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Where.
    pub path: PathBuf,
    /// How.
    pub format: Format,
}

impl DataFile {
    /// A `.npy` file.
    #[must_use]
    pub fn npy(path: &str) -> Self {
        Self { path: path.into(), format: Format::Npy }
    }

    /// A file of raw bytes.
    #[must_use]
    pub fn raw(path: &str) -> Self {
        Self { path: path.into(), format: Format::Raw }
    }

    /// The format the ending of the name says: `.npy`, or else raw.
    #[must_use]
    pub fn by_ending(path: &str) -> Self {
        if path.ends_with(".npy") { Self::npy(path) } else { Self::raw(path) }
    }

    /// The same file, a relative path counted from `folder`.
    #[must_use]
    pub fn under(self, folder: &Path) -> Self {
        Self { path: folder.join(self.path), ..self }
    }

    /// The bytes of the elements of type `ty` in the file.
    ///
    /// # Errors
    /// When the file cannot be read, or its elements are not of this type.
    pub fn read(&self, ty: Element) -> Result<Vec<u8>, Error> {
        self.refuse_archive()?;
        let bytes = input::bytes(&self.path, input::MAX_DATA)
            .map_err(|source| Error::Read { path: self.path.display().to_string(), source })?;
        match self.format {
            Format::Npy => {
                let array =
                    Npy::read(&bytes).map_err(|source| Error::Npy { path: self.path.display().to_string(), source })?;
                if !fits(array.dtype, ty) {
                    let (path, found) = (self.path.display().to_string(), array.dtype.to_string());
                    return Err(Error::ElementType { path, found, wanted: ty });
                }
                Ok(array.data)
            }
            Format::Raw if !bytes.len().is_multiple_of(ty.bytes()) => {
                Err(Error::RawSize { path: self.path.display().to_string(), bytes: bytes.len(), ty })
            }
            Format::Raw => Ok(bytes),
        }
    }

    /// Refuses archives of NumPy, which would be read as raw bytes.
    fn refuse_archive(&self) -> Result<(), Error> {
        if self.path.extension().is_none_or(|ending| ending != "npz") {
            return Ok(());
        }
        let path = self.path.display().to_string();
        Err(Problem::new(format!("{path} is an archive of arrays, and a buffer is one array"))
            .help("write the array to a file of its own: np.save(\"x.npy\", archive[\"x\"])")
            .into())
    }

    /// Writes elements of type `ty`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, ty: Element, bytes: &[u8]) -> Result<(), Error> {
        let result = match self.format {
            Format::Raw => fs::write(&self.path, bytes),
            Format::Npy => {
                let shape = vec![(bytes.len() / ty.bytes()) as u64];
                fs::write(&self.path, Npy { dtype: dtype(ty), shape, data: bytes.to_vec() }.write())
            }
        };
        result.map_err(|source| Error::Write { path: self.path.display().to_string(), source })
    }
}

/// The type NumPy has for `ty`; it has no bfloat16, whose bits are written as integers.
fn dtype(ty: Element) -> Dtype {
    let bytes = ty.bytes() as u8;
    match (ty.ty(), ty.ty().kind()) {
        (Type::Bf16, _) => Dtype::Uint(2),
        (_, Kind::Float) => Dtype::Float(bytes),
        (_, Kind::Signed) => Dtype::Int(bytes),
        _ => Dtype::Uint(bytes),
    }
}

/// Whether a file's elements can be taken as they are: the same size and kind, any kind for
/// untyped bits, booleans and either sign for bytes.
fn fits(found: Dtype, ty: Element) -> bool {
    let is_int = |d| matches!(d, Dtype::Int(_) | Dtype::Uint(_) | Dtype::Bool);
    found.bytes() == ty.bytes()
        && (ty.ty().kind() == Kind::Bits || found == dtype(ty) || (found == Dtype::Bool && is_int(dtype(ty))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_files_and_buffers() {
        let fits = |d, name| fits(d, Element::from_name(name).unwrap());
        assert!(fits(Dtype::Float(4), "f32") && fits(Dtype::Float(4), "b32") && fits(Dtype::Uint(2), "bf16"));
        assert!(fits(Dtype::Bool, "u8") && fits(Dtype::Bool, "s8"));
        assert!(!fits(Dtype::Float(8), "f32") && !fits(Dtype::Int(4), "f32") && !fits(Dtype::Int(4), "u32"));
    }
}
