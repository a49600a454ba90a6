//! Barriers of a thread block.

use super::{Core, LaneFault, Lanes, lanes_in};
use crate::decode::BarrierOp;
use crate::fault::FaultKind;
use crate::op::{CONST, NONE, Op};

/// One of the sixteen barriers of a thread block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Threads that have arrived.
    pub arrived: u32,
    /// The lanes that have arrived, by static warp; only kept when the program gives a count.
    pub lanes: Vec<u32>,
    /// Threads it waits for, when the program says so; all live threads otherwise.
    pub expected: Option<u32>,
    /// How many arrived with a true predicate.
    pub trues: u32,
    /// How many arrived with a false one.
    pub falses: u32,
}

impl Barrier {
    /// Whether everyone it waits for has arrived. `gone` are the lanes of each static warp that have
    /// exited or never existed: a count is one of whole warps, so they come with the rest of their warp.
    #[must_use]
    pub fn is_complete(&self, live_threads: u32, gone: &[u32]) -> bool {
        let Some(expected) = self.expected else { return self.arrived > 0 && self.arrived >= live_threads };
        let warps = self.lanes.iter().zip(gone).filter(|(here, _)| **here != 0);
        let filled: u32 = warps.map(|(here, gone)| (gone & !here).count_ones()).sum();
        self.arrived > 0 && self.arrived + filled >= expected
    }

    /// What a reduction gives.
    #[must_use]
    pub fn result(&self, op: BarrierOp) -> u32 {
        match op {
            BarrierOp::RedPopc => self.trues,
            BarrierOp::RedAnd => u32::from(self.falses == 0),
            BarrierOp::RedOr => u32::from(self.trues > 0),
            BarrierOp::Sync | BarrierOp::Arrive => 0,
        }
    }
}

/// Lanes that come to a barrier together.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Number of the barrier.
    pub number: u32,
    /// Threads it waits for, when the program says so.
    pub expected: Option<u32>,
    /// The lanes.
    pub mask: u32,
}

impl Core<'_> {
    /// Threads of the block in `slot` end.
    pub fn end_threads(&mut self, slot: u32, lanes: Lanes<'_>, mask: u32) {
        let mut gone = std::mem::take(&mut self.ctas[slot as usize].gone);
        self.for_each_static(slot, lanes, mask, |warp, bits| gone[warp] |= bits);
        let cta = &mut self.ctas[slot as usize];
        cta.gone = gone;
        cta.live_threads -= mask.count_ones();
    }

    /// The lanes of `active` by the barrier they are at, into `arrivals`.
    ///
    /// # Errors
    /// When a barrier does not exist.
    pub fn arrivals(
        &mut self,
        op: &Op,
        lanes: Lanes<'_>,
        active: u32,
        arrivals: &mut Vec<Arrival>,
    ) -> Result<(), LaneFault> {
        arrivals.clear();
        if [op.s[0], op.s[1]].iter().all(|s| s & CONST != 0) {
            let number = self.uniform(op, 0, lanes, active).unwrap_or(0);
            let expected = self.uniform(op, 1, lanes, active).filter(|count| *count > 0);
            arrivals.push(Arrival { number, expected, mask: active });
            return check_numbers(arrivals);
        }
        for lane in lanes_in(active) {
            let number = self.uniform(op, 0, lanes, 1 << lane).unwrap_or(0);
            let expected = self.uniform(op, 1, lanes, 1 << lane).filter(|count| *count > 0);
            match arrivals.iter_mut().find(|a| (a.number, a.expected) == (number, expected)) {
                Some(arrival) => arrival.mask |= 1 << lane,
                None => arrivals.push(Arrival { number, expected, mask: 1 << lane }),
            }
        }
        check_numbers(arrivals)
    }

    /// Threads arrive at a barrier of the block in `slot`.
    pub fn arrive(&mut self, slot: u32, op: &Op, lanes: Lanes<'_>, arrival: &Arrival) {
        let &Arrival { number, expected, mask } = arrival;
        let trues = if op.s[2] == NONE { 0 } else { self.count_true(op, 2, lanes, mask) };
        let cta = &mut self.ctas[slot as usize];
        let warps = cta.gone.len();
        let mut barrier = std::mem::take(&mut cta.barriers[number as usize]);
        if expected.is_some() {
            barrier.lanes.resize(warps, 0);
            self.for_each_static(slot, lanes, mask, |warp, bits| barrier.lanes[warp] |= bits);
        }
        barrier.arrived += mask.count_ones();
        barrier.expected = expected;
        barrier.trues += trues;
        barrier.falses += mask.count_ones() - trues;
        self.ctas[slot as usize].barriers[number as usize] = barrier;
    }

    /// Takes a barrier of the block in `slot` that everyone it waits for has come to, with its number.
    pub fn complete_barrier(&mut self, slot: u32) -> Option<(u8, Barrier)> {
        let cta = &mut self.ctas[slot as usize];
        let complete = |b: &Barrier| b.arrived > 0 && b.is_complete(cta.live_threads, &cta.gone);
        let number = cta.barriers.iter().position(complete)?;
        Some((number as u8, std::mem::take(&mut cta.barriers[number])))
    }

    /// A barrier of the block in `slot`: how many threads have come, and how many it waits for.
    #[must_use]
    pub fn barrier_state(&self, slot: u32, number: u8) -> (u32, u32) {
        let cta = &self.ctas[slot as usize];
        let barrier = &cta.barriers[usize::from(number)];
        (barrier.arrived, barrier.expected.unwrap_or(cta.live_threads))
    }

    /// Gives threads that leave a barrier what its reduction found, if `op` is one.
    pub fn leave_barrier(&mut self, barrier: &Barrier, op: &Op, lanes: Lanes<'_>, mask: u32) {
        if op.d[0] != NONE {
            let result = barrier.result(BarrierOp::ALL[usize::from(op.variant)]);
            self.broadcast(op, lanes, mask, result);
        }
    }
}

fn check_numbers(arrivals: &[Arrival]) -> Result<(), LaneFault> {
    let Some(wrong) = arrivals.iter().find(|a| a.number >= 16) else { return Ok(()) };
    let text = format!("barrier {} does not exist; they are numbered 0 to 15", wrong.number);
    Err(LaneFault { lane: wrong.mask.trailing_zeros() as usize, kind: FaultKind::BadTarget(text) })
}
