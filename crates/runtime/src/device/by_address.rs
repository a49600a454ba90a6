//! Memory by address, for host code that allocates and frees as it goes.

use super::Device;
use crate::error::{Error, Problem};
use raddle_exec::memory::AccessError;

/// What host code did with an address.
fn wrong(what: &str, error: &AccessError) -> Error {
    Problem::new(format!("{what}: {error}")).into()
}

impl Device<'_> {
    /// Checkpoints know allocations by their numbers, which are given again after some were freed.
    fn refuse_checkpoints(&self) -> Result<(), Error> {
        match self.keep {
            Some(_) => Err(Problem::new("memory that host code uses by address cannot have checkpoints").into()),
            None => Ok(()),
        }
    }

    /// Allocates zeroed bytes, which count as never written, and gives their address.
    ///
    /// # Errors
    /// When they are too many, or there are checkpoints.
    pub fn alloc_at(&mut self, name: &str, bytes: u64) -> Result<u64, Error> {
        self.refuse_checkpoints()?;
        let mut address = 0;
        for memory in self.memories() {
            // The reference interpreter's memory has the same allocations at the same addresses.
            address = memory.alloc(name, bytes).map_err(|error| Problem::new(format!("buffer {error}")))?;
        }
        Ok(address)
    }

    /// Frees the allocation that starts at an address; says whether there was one.
    pub fn free_at(&mut self, address: u64) -> bool {
        self.memories().fold(false, |_, memory| memory.free(address))
    }

    /// Copies bytes to an address.
    ///
    /// # Errors
    /// When no allocation holds all of them.
    pub fn write_at(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.refuse_checkpoints()?;
        self.memories().try_for_each(|memory| memory.write(address, bytes)).map_err(|e| wrong("cannot write", &e))
    }

    /// Copies bytes from an address.
    ///
    /// # Errors
    /// When no allocation holds all of them.
    pub fn read_at(&self, address: u64, into: &mut [u8]) -> Result<(), Error> {
        self.memory.read(address, into).map_err(|e| wrong("cannot read", &e))
    }
}
