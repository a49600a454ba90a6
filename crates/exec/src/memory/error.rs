//! Why memory cannot be had or reached.

use super::MAX_DEVICE_BYTES;

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
    /// Addresses that something else in the process has.
    #[error("`{name}` has {bytes} bytes, and the addresses of device memory that come next are used by the program")]
    NoAddresses {
        /// Of what.
        name: String,
        /// Bytes wanted.
        bytes: u64,
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
        /// Whether that one had been freed.
        freed: bool,
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
            Self::Outside { address, bytes, nearest: Some((name, base, size)), freed: true } => {
                let (offset, end) = (address - base, base + size);
                write!(f, "access of {bytes} bytes at {address:#x}, which was freed ")?;
                write!(f, "(byte {offset} of what was `{name}`, {base:#x}..{end:#x})")
            }
            Self::Outside { address, bytes, nearest, .. } => {
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
