//! What a timing model asks: where an access goes, and atomics whose effect happens elsewhere and later.

use super::load_store::{Place, addresses};
use super::{Core, Issue, LaneFault, Lanes, lanes_in};
use crate::atomics::AtomicWork;
use crate::decode::AtomicOp;
use crate::fault::FaultKind;
use crate::lanes::LANES;
use crate::memory::{Global, Region, region};
use crate::op::{MemSpace, NONE, Op};

impl Core<'_> {
    /// Makes this the state of SM number `sm` of `sms`: what `%smid` and `%nsmid` read.
    #[must_use]
    pub fn on_sm(mut self, sm: u32, sms: u32) -> Self {
        self.sm = [sm, sms];
        self
    }

    /// What the clock registers read from now on.
    pub fn set_clock(&mut self, now: u64) {
        self.clock = now;
    }

    /// Where each lane goes after [`super::Effect::Scatter`].
    #[must_use]
    pub fn targets(&self) -> &[u32; LANES] {
        &self.targets
    }

    /// Takes what kernels have printed since the last call.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    /// Whether kernels have printed something that has not been taken.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// First row and number of rows of the block in `slot`.
    #[must_use]
    pub fn cta_rows(&self, slot: u32) -> (u32, u32) {
        let cta = &self.ctas[slot as usize];
        (cta.first_row, cta.rows)
    }

    /// The slot of the block that the lanes of `mask` belong to.
    #[must_use]
    pub fn slot_of(&self, lanes: Lanes<'_>, mask: u32) -> u32 {
        self.rows[lanes.home(mask.trailing_zeros() as usize & 31).row as usize].cta
    }

    /// Coordinates of the block in `slot`.
    #[must_use]
    pub fn cta_coords(&self, slot: u32) -> [u32; 3] {
        self.ctas[slot as usize].coords
    }

    /// Threads of the block in `slot` that have not exited.
    #[must_use]
    pub fn live_threads(&self, slot: u32) -> u32 {
        self.ctas[slot as usize].live_threads
    }

    /// Threads a block has when it starts.
    pub(crate) fn threads_per_cta(&self) -> u32 {
        self.launch.threads_per_cta()
    }

    /// Whether an atomic of the lanes of `mask` is one on global memory for any of them: what decides who executes it.
    #[must_use]
    pub fn is_atomic_on_global(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> bool {
        match op.access.space {
            MemSpace::Global => true,
            MemSpace::Generic => {
                let addresses = self.addresses(op, lanes, mask);
                lanes_in(mask).any(|lane| matches!(region(addresses[lane]), Region::Global(_)))
            }
            _ => false,
        }
    }

    /// The address each lane of `mask` accesses; other lanes have that of the first.
    pub(super) fn addresses(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32) -> [u64; LANES] {
        match lanes {
            Lanes::Row(row) => addresses(&self.file.row(row), op, mask),
            Lanes::Gathered(homes) => {
                let mut out = [0; LANES];
                for lane in lanes_in(mask) {
                    let home = homes[lane];
                    let base = self.file.get(home.row, op.s[0], op.s_bank[0], usize::from(home.lane));
                    out[lane] = base.wrapping_add(op.aux);
                }
                let first = out[mask.trailing_zeros() as usize & 31];
                lanes_in(!mask).for_each(|lane| out[lane] = first);
                out
            }
        }
    }

    /// An atomic: does the lanes whose address is not in global memory at once, and puts the others into `work`.
    ///
    /// # Errors
    /// When an address is outside every allocation or misaligned.
    pub fn prepare_atomic(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        work: &mut AtomicWork,
    ) -> Result<(), LaneFault> {
        let all = self.addresses(op, lanes, mask);
        let bytes = op.access.bytes;
        *work = AtomicWork { op: AtomicOp::ALL[usize::from(op.variant)], bytes, address: all, ..AtomicWork::default() };
        for lane in lanes_in(mask) {
            let issue = Issue { op, lanes, row: 0, mask };
            match self.locate(memory, issue, lane, all[lane], u32::from(bytes))? {
                Place::Global(..) => work.mask |= 1 << lane,
                _ => {
                    self.execute(memory, op, lanes, 1 << lane)?;
                    continue;
                }
            }
            let home = lanes.home(lane);
            let (row, own) = (home.row, usize::from(home.lane));
            work.b[lane] = self.file.get(row, op.s[1], op.s_bank[1], own);
            work.c[lane] = if op.s[2] == NONE { 0 } else { self.file.get(row, op.s[2], op.s_bank[2], own) };
        }
        Ok(())
    }

    /// Writes what an atomic found in memory to the destination of its lanes.
    ///
    /// # Errors
    /// What a call of `malloc` or `free` found wrong.
    pub fn finish_atomic(&mut self, op: &Op, lanes: Lanes<'_>, work: &AtomicWork) -> Result<(), LaneFault> {
        if let Some((lane, text)) = &work.wrong {
            return Err(LaneFault { lane: usize::from(*lane), kind: FaultKind::Memory(text.clone()) });
        }
        if work.heap.is_some() {
            self.finish_heap_call(op, lanes, work);
            return Ok(());
        }
        for lane in lanes_in(work.mask) {
            let home = lanes.home(lane);
            self.file.put(home.row, op.d[0], op.d_bank[0], usize::from(home.lane), work.old[lane]);
        }
        Ok(())
    }
}
