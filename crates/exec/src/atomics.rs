//! Atomics that are executed away from the thread: at a memory partition, later.

use crate::core::apply_atomic;
use crate::decode::AtomicOp;
use crate::heap;
use crate::lanes::LANES;
use crate::memory::Global;
use raddle_ptx::num::fit;

/// What the lanes of one memory request want done to global memory, and afterwards what was there before.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct AtomicWork {
    /// Lanes that take part.
    pub mask: u32,
    /// What to do.
    pub op: AtomicOp,
    /// Bytes of an element.
    pub bytes: u8,
    /// Address of each lane; checked: inside an allocation and aligned.
    pub address: [u64; LANES],
    /// First operand of each lane.
    pub b: [u64; LANES],
    /// Second operand of each lane (compare-and-swap).
    pub c: [u64; LANES],
    /// What memory held before, filled in by [`AtomicWork::perform`]; for a call what it returned.
    pub old: [u64; LANES],
    /// It is a call of the allocator, with the first operand as argument, and not `op`.
    pub heap: Option<HeapCall>,
    /// The lane that called it wrongly, and what was wrong.
    pub wrong: Option<(u8, String)>,
}

/// A function of the allocator that kernels call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HeapCall {
    /// `malloc`.
    Malloc,
    /// `free`.
    Free,
}

impl Default for AtomicWork {
    fn default() -> Self {
        let none = [0; LANES];
        let op = AtomicOp::Add;
        Self { mask: 0, op, bytes: 4, address: none, b: none, c: none, old: none, heap: None, wrong: None }
    }
}

impl AtomicWork {
    /// Does it to memory, lane after lane, lowest first.
    pub fn perform(&mut self, memory: &mut Global<'_>) {
        if let Some(call) = self.heap {
            return self.call(memory, call);
        }
        for lane in crate::core::lanes_in(self.mask) {
            let (address, bytes) = (self.address[lane], usize::from(self.bytes));
            // The address was checked when the request was made; allocations do not go away during a launch.
            let Ok((index, offset)) = memory.image().find(address, u32::from(self.bytes)) else { continue };
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&memory.image().bytes(index)[offset..offset + bytes]);
            let stored = u64::from_le_bytes(word);
            let old = memory.pending().map_or(stored, |log| log.patch(address, self.bytes, stored));
            let new = apply_atomic(self.op, self.bytes, old, self.b[lane], self.c[lane], true);
            memory.store(index, offset, self.bytes, new);
            self.old[lane] = old;
        }
    }

    fn call(&mut self, memory: &mut Global<'_>, call: HeapCall) {
        for lane in crate::core::lanes_in(self.mask) {
            let done = match call {
                // The heap is there since the launch began.
                HeapCall::Malloc => heap::malloc(memory, self.b[lane], None),
                HeapCall::Free => heap::free(memory, self.b[lane]).map(|()| 0),
            };
            match done {
                Ok(value) => self.old[lane] = value,
                Err(kind) => {
                    self.wrong = Some((fit(lane), kind.to_string()));
                    return;
                }
            }
        }
    }
}
