//! Barriers of a thread block.

use super::{Core, LaneFault, Lanes, lanes_in};
use crate::decode::BarrierOp;
use crate::fault::FaultKind;
use crate::op::{CONST, NONE, Op};
use raddle_ptx::num::fit;

/// Barriers of a thread block that programs name by their numbers.
pub const BARRIERS: u32 = 16;

/// The barrier after them, where the threads of a virtual block wait for its next logical index. Who waits there has
/// left the logical block, and counts as ended at its other barriers.
pub const NEXT_BLOCK: u32 = BARRIERS;

/// Where the barriers of every other logical block of a virtual block begin: two of them can be under way at once.
pub const SECOND_BANK: u32 = NEXT_BLOCK + 1;

/// All barriers of a thread block.
pub(super) const ALL_BARRIERS: usize = (SECOND_BANK + BARRIERS) as usize;

/// One of the barriers of a thread block.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// The logical block that those who wait for one have got.
    pub block: u32,
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
            BarrierOp::NextBlock => self.block,
            BarrierOp::Sync | BarrierOp::Arrive => 0,
        }
    }
}

/// Lanes that come to a barrier together.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
            return check_numbers(op, arrivals);
        }
        for lane in lanes_in(active) {
            let number = self.uniform(op, 0, lanes, 1 << lane).unwrap_or(0);
            let expected = self.uniform(op, 1, lanes, 1 << lane).filter(|count| *count > 0);
            match arrivals.iter_mut().find(|a| (a.number, a.expected) == (number, expected)) {
                Some(arrival) => arrival.mask |= 1 << lane,
                None => arrivals.push(Arrival { number, expected, mask: 1 << lane }),
            }
        }
        check_numbers(op, arrivals)
    }

    /// Threads arrive at a barrier of the block in `slot`.
    pub fn arrive(&mut self, slot: u32, op: &Op, lanes: Lanes<'_>, arrival: &Arrival) {
        let &Arrival { number, expected, mask } = arrival;
        let trues = if op.s[2] == NONE { 0 } else { self.count_true(op, 2, lanes, mask) };
        let cta = &mut self.ctas[slot as usize];
        let warps = cta.gone.len();
        let mut barrier = std::mem::take(&mut cta.barriers[number as usize]);
        if expected.is_some() || number == NEXT_BLOCK {
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
        let step = self.launch.ctas();
        let cta = &mut self.ctas[slot as usize];
        let (own, left) = cta.barriers.split_at(BARRIERS as usize);
        let left = &left[0];
        let complete = |b: &Barrier| match left.arrived {
            0 => b.arrived > 0 && b.is_complete(cta.live_threads, &cta.gone),
            left_threads => {
                let gone: Vec<u32> = cta.gone.iter().zip(&left.lanes).map(|(gone, left)| gone | left).collect();
                b.arrived > 0 && b.is_complete(cta.live_threads - left_threads, &gone)
            }
        };
        let number = own.iter().position(complete);
        let number = number.or_else(|| left.is_complete(cta.live_threads, &cta.gone).then_some(NEXT_BLOCK as usize))?;
        let mut done = std::mem::take(&mut cta.barriers[number]);
        if number == NEXT_BLOCK as usize {
            done.block = u32::try_from(cta.next_block).unwrap_or(u32::MAX);
            cta.next_block += step;
        }
        if number == NEXT_BLOCK as usize || self.launch.ends_logical_block(number) {
            cta.shared.fill(0);
        }
        Some((fit(number), done))
    }

    /// The same for one logical block of a virtual one, whose barriers begin at number `first`: `left` gives the
    /// threads of a static warp that have left it. They count as ended.
    pub fn complete_logical_barrier(
        &mut self,
        slot: u32,
        first: u32,
        left: impl Fn(u16) -> u32,
    ) -> Option<(u8, Barrier)> {
        let width = self.width;
        let cta = &mut self.ctas[slot as usize];
        let own = first as usize..(first + BARRIERS) as usize;
        if cta.barriers[own.clone()].iter().all(|b| b.arrived == 0) {
            return None;
        }
        let gone = &mut self.gone;
        gone.clear();
        gone.extend(cta.gone.iter().zip(0..).map(|(gone, warp)| gone | left(warp)));
        let live = gone.iter().map(|gone| width - gone.count_ones()).sum();
        let number = own.clone().find(|n| cta.barriers[*n].is_complete(live, gone))?;
        Some((fit(number), std::mem::take(&mut cta.barriers[number])))
    }

    /// All threads have left a logical block: the next finds shared memory as at the start.
    pub fn clear_shared(&mut self, slot: u32) {
        self.ctas[slot as usize].shared.fill(0);
    }

    /// Lanes of a static warp of the block in `slot` that have exited or never existed.
    #[must_use]
    pub fn gone(&self, slot: u32, warp: u16) -> u32 {
        self.ctas[slot as usize].gone[usize::from(warp)]
    }

    /// Gives threads the index of the warp they are in their logical block: warp `role`, lane by lane.
    pub fn set_thread_index(&mut self, op: &Op, lanes: Lanes<'_>, mask: u32, role: u32) {
        let width = self.width;
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let index = role * width + u32::from(home.lane) % width;
            self.file.put(home.row, op.d[0], op.d_bank[0], usize::from(home.lane), u64::from(index));
        }
    }

    /// A barrier of the block in `slot`: how many threads have come, and how many it waits for.
    #[must_use]
    pub fn barrier_state(&self, slot: u32, number: u8) -> (u32, u32) {
        let cta = &self.ctas[slot as usize];
        let barrier = &cta.barriers[usize::from(number)];
        let left = if u32::from(number) == NEXT_BLOCK { 0 } else { cta.barriers[NEXT_BLOCK as usize].arrived };
        (barrier.arrived, barrier.expected.unwrap_or(cta.live_threads - left))
    }

    /// Gives threads that leave a barrier what its reduction found, if `op` is one.
    pub fn leave_barrier(&mut self, barrier: &Barrier, op: &Op, lanes: Lanes<'_>, mask: u32) {
        if op.d[0] != NONE {
            let result = barrier.result(BarrierOp::ALL[usize::from(op.variant)]);
            self.broadcast(op, lanes, mask, result);
        }
    }
}

fn check_numbers(op: &Op, arrivals: &[Arrival]) -> Result<(), LaneFault> {
    let most = BARRIERS + u32::from(op.variant == BarrierOp::NextBlock as u8);
    let Some(wrong) = arrivals.iter().find(|a| a.number >= most) else { return Ok(()) };
    let text = format!("barrier {} does not exist; they are numbered 0 to 15", wrong.number);
    Err(LaneFault { lane: wrong.mask.trailing_zeros() as usize, kind: FaultKind::BadTarget(text) })
}
