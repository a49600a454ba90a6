//! What the memory side charges to the operations of a kernel.

use crate::mem::cache::Probe;

/// What is charged to one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// Sectors served by the L2.
    pub accesses: u64,
    /// Those that were there.
    pub hits: u64,
    /// Those an earlier miss had asked for.
    pub pending_hits: u64,
    /// Those that were not there.
    pub misses: u64,
    /// Bursts read from DRAM.
    pub reads: u64,
    /// Bursts written to DRAM.
    pub writes: u64,
}

/// The charges of one part of the memory side in a launch.
#[derive(Clone, Debug)]
pub struct MemoryProfile {
    /// The number of the launch's first operation in [`Request::origin`](crate::packet::Request::origin).
    first: u32,
    rows: Vec<Charges>,
    other: Charges,
}

impl MemoryProfile {
    /// Nothing is charged to `operations` operations, which count from `first`.
    #[must_use]
    pub fn new(first: u32, operations: usize) -> Self {
        Self { first, rows: vec![Charges::default(); operations], other: Charges::default() }
    }

    /// By operation.
    #[must_use]
    pub fn rows(&self) -> &[Charges] {
        &self.rows
    }

    /// What no operation of the launch caused.
    #[must_use]
    pub fn other(&self) -> &Charges {
        &self.other
    }

    #[inline]
    fn row(&mut self, origin: u32) -> &mut Charges {
        self.rows.get_mut(origin.wrapping_sub(self.first) as usize).unwrap_or(&mut self.other)
    }

    /// A sector was served by the L2, or accepted as a miss; `probe` is what was found, if there is an L2.
    #[inline]
    pub fn access(&mut self, origin: u32, probe: Option<Probe>) {
        let row = self.row(origin);
        row.accesses += 1;
        match probe {
            None => {}
            Some(Probe::Hit(_)) => row.hits += 1,
            Some(Probe::Pending(_)) => row.pending_hits += 1,
            Some(Probe::SectorMiss(_) | Probe::Miss(_) | Probe::Full) => row.misses += 1,
        }
    }

    /// A burst was read from DRAM or written to it.
    #[inline]
    pub fn burst(&mut self, origin: u32, write: bool) {
        let row = self.row(origin);
        *(if write { &mut row.writes } else { &mut row.reads }) += 1;
    }
}
