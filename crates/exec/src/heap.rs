//! The heap that kernels allocate from by `malloc` and `free`.
//!
//! It is one allocation of device memory, made when a kernel first asks for some of it, and stays from launch to
//! launch. What the allocator has to remember stands in the heap itself:
//!
//! ```text
//! start:       mark, end of the blocks, whether anything was freed since blocks were merged, first free block of each
//! class every block: its size with header and whether it is used, check; then what the program gets, or the next free
//! block
//! ```
//!
//! A block is taken from the free ones of its class (powers of two) or of larger ones, what is left of it stays free;
//! else from after the last block. When there is no room, free blocks that are neighbours are merged once. So addresses
//! depend on the order of calls only.

use crate::fault::FaultKind;
use crate::memory::{DeviceMemory, Global, HEAP_BASE};
use raddle_ptx::num::fit;

/// Bytes of the heap unless a launch says otherwise, as many as on hardware.
pub const HEAP_BYTES: u64 = 8 << 20;

/// The allocation, which no variable can have the name of.
const NAME: &str = "device heap";

/// Stands at the start once the heap is set up, and is in the check of every block.
const MARK: u64 = 0x7061_6568_6c64_6172;
const END: usize = 8;
const HAS_FREED: usize = 16;
const LISTS: usize = 64;
const CLASSES: usize = 64;
/// The first block.
const FIRST: usize = LISTS + 8 * CLASSES;
const HEADER: usize = 16;
/// Sizes are multiples of this, so that programs may store vectors.
const GRAIN: usize = 16;
/// A header, and a place for the next free block.
const SMALLEST: usize = 32;
/// Free blocks of a class that are looked at before one of a larger class is cut.
const LOOKS: usize = 8;

/// Allocates for a thread: the address, or zero when there is no room.
///
/// # Errors
/// When the program has written over what the allocator remembers.
pub(crate) fn malloc(memory: &mut Global<'_>, bytes: u64, heap_bytes: Option<u64>) -> Result<u64, FaultKind> {
    if let Global::Direct(memory) = memory {
        reserve(memory, heap_bytes);
    }
    let Some(mut heap) = Heap::new(memory) else { return Ok(0) };
    let block = heap.take(bytes)?;
    Ok(block.map_or(0, |at| heap.base + (at + HEADER) as u64))
}

/// Makes the heap if there is none. Where threads of several SMs see memory as it was, it has to be there before.
pub(crate) fn reserve(memory: &mut DeviceMemory, heap_bytes: Option<u64>) {
    if find(memory).is_none() {
        // Without room for a heap there is none, and nothing can be had from it.
        let _ = memory.alloc(NAME, heap_bytes.unwrap_or(HEAP_BYTES).max(FIRST as u64));
    }
}

/// Whether there is one: a kernel that calls `malloc` or `free` has been launched.
#[must_use]
pub fn has_heap(memory: &DeviceMemory) -> bool {
    find(memory).is_some()
}

/// Where the heap begins, with what every call of `malloc` and `free` looks at.
pub(crate) fn address(memory: &DeviceMemory) -> u64 {
    find(memory).map_or(HEAP_BASE, |index| memory.allocations()[index].base)
}

/// Frees what [`malloc`] gave; nothing for zero.
///
/// # Errors
/// When it did not give this address, or it was freed before.
pub(crate) fn free(memory: &mut Global<'_>, address: u64) -> Result<(), FaultKind> {
    if address == 0 {
        return Ok(());
    }
    Heap::new(memory).map_or_else(|| Err(foreign(address)), |mut heap| heap.give_back(address))
}

/// The heap, if there is one; the newest, should the host have freed one.
fn find(memory: &DeviceMemory) -> Option<usize> {
    memory.allocations().iter().rposition(|a| a.name == NAME && !a.data().is_empty())
}

fn foreign(address: u64) -> FaultKind {
    FaultKind::Memory(format!("free({address:#x}): malloc did not return this address"))
}

struct Heap<'a, 'g> {
    memory: &'a mut Global<'g>,
    /// The allocation, its address and its size.
    index: usize,
    base: u64,
    size: usize,
}

impl<'a, 'g> Heap<'a, 'g> {
    fn new(memory: &'a mut Global<'g>) -> Option<Self> {
        let index = find(memory.image())?;
        let (base, size) = (memory.image().allocations()[index].base, memory.image().bytes(index).len());
        let mut heap = Self { memory, index, base, size };
        if heap.get(0) != MARK {
            heap.set(0, MARK);
            heap.set(END, FIRST as u64);
        }
        Some(heap)
    }

    fn get(&self, at: usize) -> u64 {
        let mut word = [0; 8];
        if let Some(bytes) = self.memory.image().bytes(self.index).get(at..at + 8) {
            word.copy_from_slice(bytes);
        }
        let stored = u64::from_le_bytes(word);
        self.memory.pending().map_or(stored, |log| log.patch(self.base + at as u64, 8, stored))
    }

    fn set(&mut self, at: usize, value: u64) {
        if at + 8 > self.size {
            return;
        }
        match self.memory {
            // What the allocator writes does not count as written by the program.
            Global::Direct(memory) => {
                memory.bytes_mut(self.index)[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            Global::Logged(..) => self.memory.store(self.index, at, 8, value),
        }
    }

    /// One after the last block, if the program has left it as it was.
    fn end(&self) -> Result<usize, FaultKind> {
        let end: usize = fit(self.get(END).min(self.size as u64 + 1));
        let is_right = end >= FIRST && end <= self.size && end.is_multiple_of(GRAIN);
        if is_right { Ok(end) } else { Err(self.damaged(0)) }
    }

    /// Size of a block, and whether it is used.
    fn block(&self, at: usize) -> Result<(usize, bool), FaultKind> {
        let word = self.get(at);
        let size: usize = fit((word & !1).min(self.size as u64 + 1));
        let fits = at.checked_add(size).is_some_and(|end| end <= self.size);
        if at < FIRST || self.get(at + 8) != self.check(at) || size < SMALLEST || !size.is_multiple_of(GRAIN) || !fits {
            return Err(self.damaged(at));
        }
        Ok((size, word & 1 == 1))
    }

    fn check(&self, at: usize) -> u64 {
        MARK ^ (self.base + at as u64).rotate_left(17)
    }

    fn set_block(&mut self, at: usize, size: usize, used: bool) {
        self.set(at, size as u64 | u64::from(used));
        self.set(at + 8, self.check(at));
    }

    #[cold]
    fn damaged(&self, at: usize) -> FaultKind {
        let address = self.base + at as u64;
        FaultKind::Memory(format!(
            "the heap of malloc is damaged at {address:#x}: a thread has written past the end of a block, or to one it had freed"
        ))
    }

    fn list(size: usize) -> usize {
        LISTS + 8 * size.ilog2() as usize
    }

    fn push(&mut self, at: usize, size: usize) {
        let list = Self::list(size);
        self.set_block(at, size, false);
        self.set(at + HEADER, self.get(list));
        self.set(list, at as u64);
    }

    /// A block for this many bytes, marked as used.
    fn take(&mut self, bytes: u64) -> Result<Option<usize>, FaultKind> {
        let Some(size) = usize::try_from(bytes).ok().and_then(|n| n.checked_add(HEADER + GRAIN - 1)) else {
            return Ok(None);
        };
        let size = (size / GRAIN * GRAIN).max(SMALLEST);
        if size > self.size || bytes == 0 {
            return Ok(None);
        }
        if let Some(at) = self.take_free(size)? {
            return Ok(Some(at));
        }
        if let Some(at) = self.take_new(size)? {
            return Ok(Some(at));
        }
        if self.get(HAS_FREED) == 0 {
            return Ok(None);
        }
        self.merge()?;
        match self.take_free(size)? {
            Some(at) => Ok(Some(at)),
            None => self.take_new(size),
        }
    }

    fn take_free(&mut self, size: usize) -> Result<Option<usize>, FaultKind> {
        for class in size.ilog2() as usize..CLASSES {
            // The place that says where the block is.
            let mut link = LISTS + 8 * class;
            for _ in 0..LOOKS {
                let at: usize = fit(self.get(link).min(self.size as u64));
                if at == 0 {
                    break;
                }
                let (room, used) = self.block(at)?;
                if used {
                    return Err(self.damaged(at));
                }
                if room >= size {
                    self.set(link, self.get(at + HEADER));
                    self.cut(at, room, size);
                    return Ok(Some(at));
                }
                link = at + HEADER;
            }
        }
        Ok(None)
    }

    /// Uses the first bytes of a free block that is in no list.
    fn cut(&mut self, at: usize, room: usize, size: usize) {
        let size = if room - size >= SMALLEST { size } else { room };
        if size < room {
            self.push(at + size, room - size);
        }
        self.set_block(at, size, true);
    }

    fn take_new(&mut self, size: usize) -> Result<Option<usize>, FaultKind> {
        let at = self.end()?;
        if self.size - at < size {
            return Ok(None);
        }
        self.set_block(at, size, true);
        self.set(END, (at + size) as u64);
        Ok(Some(at))
    }

    /// Makes one of free blocks that are neighbours, and gives back the last.
    fn merge(&mut self) -> Result<(), FaultKind> {
        (0..CLASSES).for_each(|class| self.set(LISTS + 8 * class, 0));
        self.set(HAS_FREED, 0);
        let end = self.end()?;
        let mut at = FIRST;
        let mut free = None;
        while at < end {
            let (size, used) = self.block(at)?;
            match (used, free) {
                (true, None) => {}
                (true, Some(start)) => {
                    self.push(start, at - start);
                    free = None;
                }
                (false, None) => free = Some(at),
                // It is no block any more.
                (false, Some(_)) => self.set(at + 8, 0),
            }
            at += size;
        }
        if let Some(start) = free {
            self.set(start + 8, 0);
            self.set(END, start as u64);
        }
        Ok(())
    }

    fn give_back(&mut self, address: u64) -> Result<(), FaultKind> {
        let at = address.checked_sub(self.base + HEADER as u64).and_then(|at| usize::try_from(at).ok());
        let Some(at) = at.filter(|at| at.is_multiple_of(GRAIN)) else { return Err(foreign(address)) };
        match self.block(at) {
            Ok((size, true)) if at < self.end()? => {
                self.push(at, size);
                self.set(HAS_FREED, 1);
                Ok(())
            }
            Ok((_, false)) => Err(FaultKind::Memory(format!("free({address:#x}): it has been freed before"))),
            _ => Err(foreign(address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Merge, StoreLog};

    const SMALL: u64 = 4096;

    fn take(memory: &mut DeviceMemory, bytes: u64) -> u64 {
        malloc(&mut Global::Direct(memory), bytes, Some(SMALL)).unwrap()
    }

    fn give(memory: &mut DeviceMemory, address: u64) -> Result<(), FaultKind> {
        free(&mut Global::Direct(memory), address)
    }

    fn text(result: Result<(), FaultKind>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn blocks_lie_apart_and_are_used_again() {
        let mut memory = DeviceMemory::new();
        let [a, b, c] = [1, 16, 17].map(|bytes| take(&mut memory, bytes));
        assert_eq!([b - a, c - b], [32, 32], "each has a header of sixteen bytes");
        assert!(a.is_multiple_of(16));
        give(&mut memory, b).unwrap();
        assert_eq!(take(&mut memory, 10), b);
        give(&mut memory, 0).unwrap();
        assert_eq!(take(&mut memory, 0), 0);
    }

    #[test]
    fn a_full_heap_gives_zero_and_neighbours_are_merged() {
        let mut memory = DeviceMemory::new();
        let mut blocks = Vec::new();
        loop {
            match take(&mut memory, 100) {
                0 => break,
                address => blocks.push(address),
            }
        }
        assert_eq!(blocks.len(), (4096 - FIRST) / 128);
        assert_eq!(take(&mut memory, 1000), 0);
        // Neither two blocks apart nor one is enough for two of them.
        for at in [3, 5, 9, 10, 11] {
            give(&mut memory, blocks[at]).unwrap();
        }
        assert_eq!(take(&mut memory, 3 * 128 - 16), blocks[9]);
        assert_eq!(take(&mut memory, 200), 0);
        assert_eq!(take(&mut memory, 40), blocks[5], "the newest that was freed, and what is left of it");
        assert_eq!(take(&mut memory, 40), blocks[5] + 64);
        for block in blocks.iter().enumerate().filter(|(at, _)| ![3, 9, 10, 11, 5].contains(at)).map(|(_, b)| *b) {
            give(&mut memory, block).unwrap();
        }
        assert_ne!(take(&mut memory, 1500), 0);
        assert_eq!(take(&mut memory, u64::MAX), 0);
    }

    #[test]
    fn what_malloc_did_not_give_is_not_freed() {
        let mut memory = DeviceMemory::new();
        assert!(text(give(&mut memory, 0x1000)).contains("did not return"));
        let [a, b] = [64, 64].map(|bytes| take(&mut memory, bytes));
        assert!(text(give(&mut memory, a + 16)).contains("did not return"));
        assert!(text(give(&mut memory, a + 1)).contains("did not return"));
        assert!(text(give(&mut memory, u64::MAX)).contains("did not return"));
        give(&mut memory, a).unwrap();
        assert_eq!(text(give(&mut memory, a)), format!("free({a:#x}): it has been freed before"));
        memory.write(b - 16, &[0xff; 16]).unwrap();
        assert!(text(give(&mut memory, b)).contains("did not return"));
        memory.write(a, &[0xff; 16]).unwrap();
        take(&mut memory, 64);
        assert!(text(malloc(&mut Global::Direct(&mut memory), 64, Some(SMALL)).map(|_| ())).contains("damaged"));
    }

    #[test]
    fn calls_through_a_log_are_as_direct_ones() {
        let (mut direct, mut image) = (DeviceMemory::new(), DeviceMemory::new());
        for memory in [&mut direct, &mut image] {
            reserve(memory, Some(SMALL));
        }
        let mut log = StoreLog::default();
        let mut given = [Vec::new(), Vec::new()];
        for step in 0..120 {
            let both = [Global::Direct(&mut direct), Global::Logged(&image, &mut log)];
            for (mut memory, given) in both.into_iter().zip(&mut given) {
                given.push(malloc(&mut memory, 48 + step % 3 * 16, None).unwrap());
                if step % 2 == 1 {
                    free(&mut memory, given[step as usize / 2]).unwrap();
                }
            }
        }
        assert_eq!(given[0], given[1]);
        assert!(given[0].contains(&0), "the heap is full in the end");
        log.end_group(1);
        let mut merge = Merge::default();
        merge.add(0, &mut log);
        merge.finish(&mut image);
        assert!(direct.bytes(0) == image.bytes(0));
    }
}
