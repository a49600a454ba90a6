//! What the lanes of the SPs count.

use crate::counters;
use crate::packet::Cycle;

counters! {
    /// What the pipelines of one kind, integer or floating-point, of an SM's SPs count.
    pub struct LaneCounters {
        entries: WarpInsts, "instructions that entered a pipeline";
        folded: WarpInsts, "instructions in `entries` that entered in two halves, one after the other, on half of the lanes";
        pipe_cycles: Cycles, "cycles of all pipelines: cycles of the launch times SPs";
        bubble_1: Cycles, "cycles of pipelines in gaps of 1 cycle between instructions that enter";
        bubble_2_4: Cycles, "cycles of pipelines in gaps of 2 to 4 cycles";
        bubble_5_9: Cycles, "cycles of pipelines in gaps of 5 to 9 cycles";
        bubble_10_18: Cycles, "cycles of pipelines in gaps of 10 to 18 cycles";
        bubble_19_49: Cycles, "cycles of pipelines in gaps of 19 to 49 cycles";
        bubble_50_up: Cycles, "cycles of pipelines in gaps of 50 cycles or more";
        lane_cycles: Cycles, "cycles of all lanes: cycles of the launch times SPs times lanes; the next five counters add up to this";
        active: Cycles, "cycles in which lanes had an instruction in them";
        idle_detect: Cycles, "cycles in which lanes were idle and powered";
        uncompensated: Cycles, "cycles in which lanes were gated, up to break-even";
        compensated: Cycles, "cycles in which lanes were gated, beyond break-even";
        waking: Cycles, "cycles in which lanes were waking";
        gatings: Events, "times a lane was gated";
        early_wakes: Events, "times a lane was woken before break-even";
        overhead: Cycles, "break-even times `gatings`: the cost of switching, in cycles of a lane's leakage";
    }
}

impl LaneCounters {
    /// The counter of gaps of this length.
    pub fn bubble(&mut self, cycles: Cycle) -> &mut u64 {
        match cycles {
            0..=1 => &mut self.bubble_1,
            2..=4 => &mut self.bubble_2_4,
            5..=9 => &mut self.bubble_5_9,
            10..=18 => &mut self.bubble_10_18,
            19..=49 => &mut self.bubble_19_49,
            _ => &mut self.bubble_50_up,
        }
    }

    /// Cycles of lanes in all states.
    #[must_use]
    pub fn states(&self) -> u64 {
        self.active + self.idle_detect + self.uncompensated + self.compensated + self.waking
    }

    /// Cycles of a lane's leakage that were saved; negative when switching cost more.
    #[must_use]
    pub fn saved(&self) -> i64 {
        (self.uncompensated + self.compensated) as i64 - self.overhead as i64
    }

    /// Cycles of pipelines in gaps shorter than ten cycles.
    #[must_use]
    pub fn short_bubbles(&self) -> u64 {
        self.bubble_1 + self.bubble_2_4 + self.bubble_5_9
    }
}
