//! Arithmetic pipelines, the result bus and write-back.
//!
//! An instruction that enters a pipeline at cycle `t` leaves it at `t + latency + 1` and is written back, its
//! registers free for a dependent instruction, at `t + latency + 2`.

use crate::config::UnitsConfig;
use crate::kernel::UnitKind;
use crate::packet::Cycle;
use crate::saved;
use crate::sm::in_flight::InstId;
use raddle_ptx::num::fit;

/// Longest latency there can be, with everything that adds to it.
pub const HORIZON: usize = HORIZON_CYCLES as usize;

/// The same as a time.
pub(crate) const HORIZON_CYCLES: u32 = 1024;

/// The place of a cycle among the next [`HORIZON`].
#[inline]
pub(super) fn place(time: Cycle) -> usize {
    fit(time % Cycle::from(HORIZON_CYCLES))
}

/// Bits for the next [`HORIZON`] cycles.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Ring {
    words: [u64; HORIZON / 64],
}

impl Ring {
    fn new() -> Self {
        Self { words: [0; HORIZON / 64] }
    }

    #[inline]
    fn bit(time: Cycle) -> (usize, u64) {
        let at = place(time);
        (at / 64, 1 << (at % 64))
    }

    #[inline]
    fn set(&mut self, time: Cycle, value: bool) {
        let (word, bit) = Self::bit(time);
        if value {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    /// The first set cycle from `from` on.
    fn next(&self, from: Cycle) -> Option<Cycle> {
        let start = place(from);
        let words = self.words.len();
        for step in 0..=words {
            let n = (start / 64 + step) % words;
            let mut word = self.words[n];
            if step == 0 {
                word &= u64::MAX << (start % 64);
            } else if step == words {
                word &= !(u64::MAX << (start % 64));
            }
            if word != 0 {
                let at = n * 64 + word.trailing_zeros() as usize;
                return Some(from + ((at + HORIZON - start) % HORIZON) as Cycle);
            }
        }
        None
    }
}

/// One pipeline.
#[derive(Clone, Debug)]
struct Pipeline {
    kind: UnitKind,
    /// Which of its kind it is.
    number: usize,
    /// When it takes the next instruction.
    free_at: Cycle,
}

saved!(Pipeline { values: free_at; fixed: kind, number });

/// Pipelines of an SM or slice at most: sets of them are bits of a word.
pub const MAX_PIPELINES: u32 = u64::BITS;

/// The arithmetic pipelines of an SM.
#[derive(Clone, Debug)]
pub struct Units {
    pipelines: Vec<Pipeline>,
    /// Pipelines whose result leaves them, for cycles to come: as many as the result bus takes.
    leaving: [u64; HORIZON],
    writeback: u32,
    /// Cycles from the end of a pipeline to the registers.
    result_cycles: Cycle,
    /// The last instruction that is written back in each cycle to come.
    done: [InstId; HORIZON],
    /// Which instruction is written back in the same cycle, by instruction.
    also: Vec<InstId>,
    pending: Ring,
    count: usize,
}

saved!(Units { values: also, pending, count; parts: pipelines, leaving, done; fixed: writeback, result_cycles });

impl Units {
    /// Empty pipelines.
    #[must_use]
    pub fn new(config: &UnitsConfig) -> Self {
        let mut pipelines = Vec::new();
        for (kind, count) in [
            (UnitKind::Sp, config.sp),
            (UnitKind::Sfu, config.sfu),
            (UnitKind::Dp, config.dp),
            (UnitKind::Int, config.int),
            (UnitKind::Tensor, config.tensor),
        ] {
            pipelines.extend((0..count as usize).map(|number| Pipeline { kind, number, free_at: 0 }));
        }
        Self {
            pipelines,
            leaving: [0; HORIZON],
            writeback: config.writeback,
            result_cycles: config.result_cycles.into(),
            done: [InstId::NONE; HORIZON],
            also: Vec::new(),
            pending: Ring::new(),
            count: 0,
        }
    }

    /// Pipelines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pipelines.len()
    }

    /// Which kind a pipeline is.
    #[inline]
    #[must_use]
    pub fn kind(&self, pipeline: usize) -> UnitKind {
        self.pipelines[pipeline].kind
    }

    /// Which of its kind a pipeline is.
    #[inline]
    #[must_use]
    pub fn number(&self, pipeline: usize) -> usize {
        self.pipelines[pipeline].number
    }

    /// Whether a pipeline can take an instruction of this latency now.
    #[inline]
    #[must_use]
    pub fn accepts(&self, pipeline: usize, latency: u32, now: Cycle) -> bool {
        let leaving = self.leaving[place(now + Cycle::from(latency))];
        self.pipelines[pipeline].free_at <= now
            && leaving >> (pipeline % 64) & 1 == 0
            && leaving.count_ones() < self.writeback
    }

    /// Takes an instruction; gives the time it is written back.
    #[inline]
    pub fn enter(&mut self, pipeline: usize, inst: InstId, latency: u32, interval: u32, now: Cycle) -> Cycle {
        let leaves = now + Cycle::from(latency);
        self.pipelines[pipeline].free_at = now + Cycle::from(interval);
        self.leaving[place(leaves)] |= 1 << (pipeline % 64);
        let written = leaves + self.result_cycles;
        if self.also.len() <= inst.index() {
            self.also.resize(inst.index() + 1, InstId::NONE);
        }
        self.also[inst.index()] = std::mem::replace(&mut self.done[place(written)], inst);
        self.pending.set(written, true);
        self.count += 1;
        written
    }

    /// Takes one instruction that is written back in this cycle, the one that entered last first.
    #[inline]
    pub fn next_done(&mut self, now: Cycle) -> Option<InstId> {
        let at = place(now);
        let inst = self.done[at];
        if inst == InstId::NONE {
            return None;
        }
        let next = self.also[inst.index()];
        self.done[at] = next;
        self.count -= 1;
        if next == InstId::NONE {
            self.pending.set(now, false);
            // The bus and the pipelines let go of the cycle in which the results left.
            self.leaving[place(now - self.result_cycles)] = 0;
        }
        Some(inst)
    }

    /// When the next instruction is written back.
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        if self.count == 0 { None } else { self.pending.next(now) }
    }

    /// Whether nothing is in the pipelines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::test_machine::gtx480;

    fn units() -> Units {
        Units::new(&gtx480().sm.units)
    }

    #[test]
    fn results_come_after_their_latency() {
        let mut u = units();
        u.enter(0, InstId(7), 4, 1, 100);
        assert_eq!(u.next_event(101), Some(106));
        assert_eq!((u.next_done(105), u.next_done(106), u.next_done(106)), (None, Some(InstId(7)), None));
        assert!(u.is_empty() && u.next_event(107).is_none());
    }

    #[test]
    fn forwarded_results_come_at_the_end_of_their_pipeline() {
        let mut u = Units::new(&UnitsConfig { result_cycles: 0, ..gtx480().sm.units });
        u.enter(0, InstId(7), 4, 1, 100);
        u.enter(1, InstId(8), 3, 1, 101);
        assert_eq!((u.next_done(103), u.next_event(101)), (None, Some(104)));
        assert_eq!((u.next_done(104), u.next_done(104)), (Some(InstId(8)), Some(InstId(7))));
        assert!(u.is_empty() && u.accepts(0, 4, 104));
    }

    #[test]
    fn the_result_bus_is_shared_and_an_interval_occupies() {
        let mut u = units();
        u.enter(0, InstId(1), 4, 1, 10);
        u.enter(1, InstId(2), 4, 2, 10);
        assert!(!u.accepts(2, 4, 10), "two results already leave at 14");
        assert!(u.accepts(2, 5, 10));
        assert!(u.accepts(0, 4, 11) && !u.accepts(1, 4, 11), "the second is occupied for two cycles");
        assert!(!u.accepts(0, 3, 11), "a result of its own already leaves at 14");
    }
}
