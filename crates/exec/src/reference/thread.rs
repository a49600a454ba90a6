//! State of threads and thread blocks.

use super::barrier::Barrier;
use super::warp::Collective;
use raddle_ptx::ir::FuncId;

/// Bytes of shared or local memory, and which of them were written when that is asked for.
pub(super) struct Bytes {
    pub(super) data: Vec<u8>,
    pub(super) written: Option<Vec<bool>>,
}

impl Bytes {
    pub(super) fn new(bytes: usize, track: bool) -> Self {
        Self { data: vec![0; bytes], written: track.then(|| vec![false; bytes]) }
    }

    pub(super) fn len(&self) -> u64 {
        self.data.len() as u64
    }

    pub(super) fn grow(&mut self, bytes: usize) {
        if bytes > self.data.len() {
            self.data.resize(bytes, 0);
            if let Some(written) = &mut self.written {
                written.resize(bytes, false);
            }
        }
    }

    /// As at the start.
    pub(super) fn clear(&mut self) {
        self.data.fill(0);
        if let Some(written) = &mut self.written {
            written.fill(false);
        }
    }

    /// Copies bytes with what is known about them: an argument that was never written stays so.
    pub(super) fn copy_within(&mut self, from: usize, to: usize, bytes: usize) {
        self.data.copy_within(from..from + bytes, to);
        if let Some(written) = &mut self.written {
            written.copy_within(from..from + bytes, to);
        }
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
        if let Some(written) = &mut self.written {
            written[at..at + bytes.len()].fill(true);
        }
    }

    /// The first byte in this range that was never written, when that is tracked.
    pub(super) fn first_unwritten(&self, at: usize, bytes: usize) -> Option<usize> {
        let written = self.written.as_ref()?;
        (at..at + bytes).find(|i| !written[*i])
    }
}

/// The registers of one activation of a function.
#[derive(Default)]
pub(super) struct Registers {
    pub(super) values: Vec<u64>,
    /// Kept when reads of registers never written are reported.
    pub(super) written: Option<Vec<bool>>,
}

impl Registers {
    pub(super) fn new(count: usize, track: bool) -> Self {
        Self { values: vec![0; count], written: track.then(|| vec![false; count]) }
    }
}

/// A caller, while its callee runs.
pub(super) struct Activation {
    pub(super) func: FuncId,
    /// The call instruction.
    pub(super) pc: u32,
    pub(super) frame_base: u32,
    pub(super) registers: Registers,
}

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits at this barrier; the pc still points at the instruction.
    Barrier(usize),
    /// Waits for other threads of its warp; the pc still points at the instruction.
    Collective(Collective),
    Exited,
}

/// One thread.
pub(super) struct Thread {
    /// Linear index in the block.
    pub(super) index: u32,
    pub(super) coords: [u32; 3],
    pub(super) func: FuncId,
    pub(super) pc: u32,
    pub(super) frame_base: u32,
    /// What the calls it is inside of take of its stack.
    pub(super) stack: u32,
    pub(super) registers: Registers,
    pub(super) callers: Vec<Activation>,
    pub(super) carry: bool,
    pub(super) local: Bytes,
    pub(super) state: State,
    /// Instructions left in this turn.
    pub(super) budget: u64,
    /// Instructions executed so far; what the clock registers show.
    pub(super) clock: u64,
}

/// One thread block.
pub(super) struct Cta {
    pub(super) coords: [u32; 3],
    pub(super) shared: Bytes,
    pub(super) threads: Vec<Thread>,
    pub(super) barriers: Vec<Barrier>,
    /// The logical block that comes next.
    pub(super) next_block: u64,
    /// How many threads have exited.
    pub(super) exited: usize,
}

impl Cta {
    pub(super) fn is_finished(&self) -> bool {
        self.exited == self.threads.len()
    }
}
