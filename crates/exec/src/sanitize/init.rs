//! Global memory that is read before anybody, host or kernel, has written it.

use crate::memory::{DeviceMemory, Written};
use raddle_ptx::num::fit;

/// What is known of the allocations whose writes are noted. All others count as written.
#[derive(Debug, Default)]
pub(super) struct Init {
    /// By first address, ascending.
    allocations: Vec<(u64, Written)>,
    /// The one asked for last.
    last: usize,
}

impl Init {
    /// Takes over what memory knows. A program with stores that are not seen may write anything.
    pub(super) fn new(memory: &mut DeviceMemory, has_unseen_stores: bool) -> Self {
        let allocations = memory.take_written();
        let allocations = if has_unseen_stores { Vec::new() } else { allocations };
        Self { allocations, last: 0 }
    }

    pub(super) fn give_back(self, memory: &mut DeviceMemory) {
        memory.give_written(self.allocations);
    }

    /// Bytes are written.
    pub(super) fn written(&mut self, address: u64, bytes: u64) {
        if let Some((base, written)) = self.near(address) {
            written.mark(fit(address - base), fit(bytes));
        }
    }

    /// The address of the first of these bytes that nobody has written.
    pub(super) fn first_missing(&mut self, address: u64, bytes: u64) -> Option<u64> {
        let (base, written) = self.near(address)?;
        let at = written.first_missing(fit(address - base), fit(bytes))?;
        Some(base + at as u64)
    }

    /// The last allocation that starts at or before an address; accesses have been checked to be inside of one.
    fn near(&mut self, address: u64) -> Option<(u64, &mut Written)> {
        let starts_after = |n: usize| self.allocations.get(n).is_none_or(|(base, _)| *base > address);
        if starts_after(self.last) || !starts_after(self.last + 1) {
            self.last = self.allocations.partition_point(|(base, _)| *base <= address).checked_sub(1)?;
        }
        self.allocations.get_mut(self.last).map(|(base, written)| (*base, written))
    }
}
