//! What to run, and what came out of it.

use crate::image::KernelLayout;
use crate::interrupt::Interrupt;
use crate::outside::OutsideReads;
use crate::sanitize::{Checks, Finding};
use crate::texture::{Objects, Texture};
use raddle_ptx::num::fit;
use std::sync::Arc;

/// One launch of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Thread blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Parameter bytes, laid out as [`crate::KernelLayout::params`] says.
    pub params: Vec<u8>,
    /// Textures and surfaces bound to `.texref` and `.surfref` variables by name.
    pub textures: Arc<Vec<(String, Texture)>>,
    /// Those that are named by handles.
    pub objects: Arc<Objects>,
    /// Ends the run after this many thread-instructions.
    pub max_thread_insts: Option<u64>,
    /// Asked now and then whether the run is to end.
    pub interrupt: Option<Interrupt>,
    /// Report reads of registers and shared or local memory never written. Device memory has its
    /// own switch.
    pub report_uninitialised: bool,
    /// What to look for in what threads do to each other; the reference interpreter does not.
    pub checks: Checks,
    /// Where reads outside of memory, or of freed memory, are noted: they give zero and the launch continues. They end
    /// it when nothing is here. Writes always do.
    pub outside_reads: Option<Arc<OutsideReads>>,
    /// Bytes of the heap that `malloc` in kernels allocates from, if it is made in this launch; [`crate::HEAP_BYTES`]
    /// unless given.
    pub heap_bytes: Option<u64>,
    /// The launch that its blocks represent, when they are virtual.
    pub logical: Option<Logical>,
}

/// What a launch of virtual blocks represents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logical {
    /// Logical thread blocks in x, y, z.
    pub grid: [u32; 3],
    /// The barrier at which a virtual block continues to its next logical one, if the program has one there.
    pub barrier: Option<u32>,
}

impl Launch {
    /// Bytes of shared memory that a block has: those the kernel declares and those the launch adds.
    #[must_use]
    pub fn shared_bytes(&self, layout: &KernelLayout) -> u64 {
        u64::from(layout.static_shared) + u64::from(self.dynamic_shared)
    }

    /// Threads per block.
    #[must_use]
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// Thread blocks.
    #[must_use]
    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Whether a logical block is over once all threads of the virtual one have come to this barrier.
    #[must_use]
    pub fn ends_logical_block(&self, barrier: usize) -> bool {
        self.logical.and_then(|logical| logical.barrier).is_some_and(|number| number as usize == barrier)
    }

    /// The coordinates of block number `index`, x fastest.
    #[must_use]
    pub fn cta_coords(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [index % x, index / x % y, index / x / y].map(fit)
    }

    /// The coordinates of thread number `index` of a block, x fastest.
    #[must_use]
    pub fn thread_coords(&self, index: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [index % x, index / x % y, index / x / y]
    }
}

/// What a finished launch reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Instructions executed, counted per thread whose guard was true; `ret` and `exit` included.
    pub thread_insts: u64,
    /// Instructions executed, counted per warp, guard true or not.
    pub warp_insts: u64,
    /// The most of these that one block executed; not known to the reference interpreter and where time is simulated.
    pub most_of_a_cta: u64,
    /// What the kernel printed.
    pub output: String,
    /// What the launch's checks found.
    pub findings: Vec<Finding>,
}
