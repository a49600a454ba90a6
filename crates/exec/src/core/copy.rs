//! Copies from global to shared memory that a thread does not wait for. Here they are done at once, which PTX allows: what is
//! copied may be seen any time before the thread waits for it.

use super::load_store::access_fault;
use super::{Core, Issue, LaneFault, Lanes, lanes_in};
use crate::decode::{CopyPart, HOW_MUCH, TO};
use crate::image::window;
use crate::lanes::LANES;
use crate::memory::{AccessError, Global, Region, region};
use crate::op::{Bank, MemSpace, Op};
use raddle_ptx::ir::Space;
use raddle_ptx::num::fit;

/// Most bytes a lane copies.
const MOST: usize = 16;

/// What the lanes of a copy move.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// Where each lane reads in global memory.
    pub from: [u64; LANES],
    /// Lanes that read something there.
    pub reads: u32,
    /// Where each lane writes in shared memory.
    pub to: [u64; LANES],
}

impl Copied {
    /// The accesses of lanes that copy, for those who look for races: first the reads, then the writes, whose addresses are
    /// generic.
    #[must_use]
    pub fn accesses(&self, lanes: u32) -> [(u32, [u64; LANES]); 2] {
        let generic = |address| match region(address) {
            Region::Shared(_) => address,
            _ => address.wrapping_add(window(Space::Shared)),
        };
        [(self.reads, self.from), (lanes, self.to.map(generic))]
    }
}

impl Core<'_> {
    /// Executes an asynchronous copy for the lanes of `mask`, at least one; what they moved.
    ///
    /// # Errors
    /// When an address is outside every allocation or misaligned.
    pub fn copied(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<Copied, LaneFault> {
        self.copy(memory, Issue { op, lanes, row: 0, mask })
    }

    /// Where the lanes of `mask` copy from and to.
    fn copy_places(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> Copied {
        let site = self.program.copies[op.target as usize];
        let mut copied = Copied { from: self.addresses(op, lanes, mask), reads: 0, to: [0; LANES] };
        for lane in lanes_in(mask) {
            copied.to[lane] = self.source(op, TO, lanes, lane).wrapping_add(site.to_offset);
            copied.reads |= u32::from(self.bytes_read(op, lanes, lane) > 0) << lane;
        }
        copied
    }

    /// How many bytes a lane reads from global memory.
    fn bytes_read(&mut self, op: &Op, lanes: Lanes<'_>, lane: usize) -> u32 {
        let site = self.program.copies[op.target as usize];
        match site.part {
            CopyPart::All => site.bytes,
            CopyPart::Bytes => fit(self.source(op, HOW_MUCH, lanes, lane).min(site.bytes.into())),
            CopyPart::Unless if self.source(op, HOW_MUCH, lanes, lane) != 0 => 0,
            CopyPart::Unless => site.bytes,
        }
    }

    pub(super) fn copy(&mut self, memory: &mut Global<'_>, issue: Issue<'_>) -> Result<Copied, LaneFault> {
        let Issue { op, lanes, mask, .. } = issue;
        let site = self.program.copies[op.target as usize];
        let copied = self.copy_places(op, lanes, mask);
        let Copied { from, to, .. } = copied;
        let size = site.bytes as usize;
        for lane in lanes_in(mask) {
            let read = self.bytes_read(op, lanes, lane);
            let mut bytes = [0; MOST];
            if read > 0 && !from[lane].is_multiple_of(site.bytes.into()) {
                return Err(access_fault(lane, &AccessError::Misaligned { address: from[lane], bytes: site.bytes }));
            }
            // A part may have any number of bytes; an access has a power of two of them.
            let access = if read == site.bytes { read } else { 1 };
            for (at, part) in (0..).step_by(access as usize).zip(bytes[..read as usize].chunks_mut(access as usize)) {
                let place =
                    self.locate_in(memory, issue, (MemSpace::Global, false), (lane, from[lane] + at), access)?;
                for (n, byte) in (0..).zip(part) {
                    *byte = fit(self.peek(memory, place, n, 1));
                }
            }
            let place = self.locate_in(memory, issue, (MemSpace::Shared, true), (lane, to[lane]), site.bytes)?;
            for (n, part) in bytes[..size].chunks(4).enumerate() {
                let word = u32::from_le_bytes(part.try_into().unwrap_or_default());
                self.poke(memory, place, 4 * n as u64, 4, word.into());
            }
        }
        Ok(copied)
    }

    /// A source of an operation for one lane.
    fn source(&mut self, op: &Op, n: usize, lanes: Lanes<'_>, lane: usize) -> u64 {
        if op.s_bank[n] == Bank::Pred {
            let home = lanes.home(lane);
            return u64::from(self.regs(home.row).pred(op.s[n]) >> home.lane & 1);
        }
        self.register(lanes, (op.s_bank[n], op.s[n]), lane)
    }
}
