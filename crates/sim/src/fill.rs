//! How full launches make a machine: their thread blocks beside the places there are for them.
//!
//! A *place* is room for one block: a machine has as many as its SMs hold at once, [`Residency::ctas`] on each SM. With fewer
//! blocks than places, some SMs have nothing to run and the others few warps to choose from; blocks over places are the
//! *waves* of a launch.

use crate::config::{MachineConfig, SliceHash};
use crate::residency::Residency;
use raddle_ptx::num::fit;
use std::fmt;

/// The share of the instructions that have to be in launches with enough blocks, for a run of several launches to count as
/// one that fills its machine. Short launches, such as those that set a flag, are what is left.
pub const MOST: f64 = 0.9;

/// Waves from which a machine is filled for most of the time: while the last blocks run out, one wave in two at least has
/// run on all places.
pub const ENOUGH_WAVES: f64 = 2.0;

/// The share of issue slots without a warp from which on it is worth a note.
pub const MANY_EMPTY_SLOTS: f64 = 0.2;

/// The thread blocks of a launch, and the places for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Thread blocks.
    pub blocks: u64,
    /// Those that one SM holds at once.
    pub per_sm: u32,
    /// SMs.
    pub sms: u32,
}

impl Fill {
    /// A launch of so many blocks on so many SMs.
    #[must_use]
    pub fn new(blocks: u64, residency: &Residency, sms: u32) -> Self {
        Self { blocks, per_sm: residency.ctas, sms }
    }

    /// Blocks all SMs hold at once.
    #[must_use]
    pub fn places(&self) -> u64 {
        u64::from(self.per_sm) * u64::from(self.sms)
    }

    /// Blocks for each place.
    #[must_use]
    pub fn waves(&self) -> f64 {
        self.blocks as f64 / self.places().max(1) as f64
    }

    /// The same launch on so many SMs.
    #[must_use]
    pub fn on(self, sms: u32) -> Self {
        Self { sms, ..self }
    }

    /// The most SMs, up to those there are, on which it has so many waves; 1 where there is no such number.
    #[must_use]
    pub fn sms_for(&self, waves: f64) -> u32 {
        let has = |sms: u32| self.on(sms).waves() >= waves;
        (1..=self.sms).rev().find(|sms| has(*sms)).unwrap_or(1)
    }

    /// Of launches on one machine, each with its weight, the one that says how full they make it: at least [`MOST`] of the
    /// weight is in launches with as many waves or more, and no launch with more waves can say that. None of none.
    #[must_use]
    pub fn of_most(launches: impl IntoIterator<Item = (Self, u64)>) -> Option<Self> {
        let mut launches: Vec<(Self, u64)> = launches.into_iter().collect();
        launches.sort_by(|(a, _), (b, _)| b.waves().total_cmp(&a.waves()));
        let whole: u64 = launches.iter().map(|(_, weight)| weight).sum();
        let mut so_far = 0;
        let enough = |(_, weight): &&(Self, u64)| {
            so_far += weight;
            so_far as f64 >= MOST * whole as f64
        };
        launches.iter().find(enough).map(|(fill, _)| *fill)
    }
}

/// As `45 blocks for 90 places, 0.50 waves`.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks for {} places, {:.2} waves", self.blocks, self.places(), self.waves())
    }
}

/// A part of a machine: some of its SMs, with their part of the memory.
///
/// DRAM bandwidth for each SM stays what it is in the whole machine: channels are in proportion, rounded up (to a power of two
/// where slices are hashed), and where that is more than the proportion the DRAM clock is lower. What does not scale: a channel brings the whole of its L2 slices, so
/// that L2 for each SM is never less than in the whole machine and often more; crossbar ports keep their width and clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// SMs.
    pub sms: u32,
    /// DRAM channels.
    pub channels: u32,
    /// DRAM clock in MHz.
    pub dram_mhz: u32,
}

impl Part {
    /// The part of a machine with so many SMs, at least one and at most its own.
    #[must_use]
    pub fn new(machine: &MachineConfig, sms: u32) -> Self {
        let sms = sms.clamp(1, machine.gpu.sms);
        let share = |of: u32| u64::from(of) * u64::from(sms);
        let all = u64::from(machine.gpu.sms);
        let channels = share(machine.dram.channels).div_ceil(all).max(1);
        let channels = match machine.dram.address.slice_hash {
            SliceHash::None => channels,
            SliceHash::Polynomial => channels.next_power_of_two(),
        };
        let bandwidth = share(machine.dram.channels) * u64::from(machine.clock.dram);
        let dram_mhz = rounded(bandwidth, all * channels).max(1);
        Self { sms, channels: fit(channels), dram_mhz: fit(dram_mhz) }
    }

    /// The changes that make the machine this part of it, as `--set` takes them.
    #[must_use]
    pub fn changes(&self) -> [String; 3] {
        let Self { sms, channels, dram_mhz } = self;
        [format!("gpu.sms={sms}"), format!("dram.channels={channels}"), format!("clock.dram={dram_mhz}")]
    }

    /// The same, and the times of DRAM commands in cycles of the slower clock, so that they are as long as in the machine;
    /// only data take longer, which is the bandwidth that was to become less.
    #[must_use]
    pub fn changes_with_times(&self, machine: &MachineConfig) -> Vec<String> {
        let (clock, own) = (u64::from(machine.clock.dram), u64::from(self.dram_mhz));
        let scaled = |cycles: u32| rounded(u64::from(cycles) * own, clock).max(u64::from(cycles.min(1)));
        let changed =
            machine.dram.timing.waits().into_iter().filter(|(_, cycles)| scaled(*cycles) != u64::from(*cycles));
        let changed = changed.map(|(name, cycles)| format!("dram.timing.{name}={}", scaled(cycles)));
        self.changes().into_iter().chain(changed).collect()
    }
}

/// A quotient to the nearest whole number, halves up.
fn rounded(dividend: u64, divisor: u64) -> u64 {
    (2 * dividend + divisor) / (2 * divisor)
}

/// How full a run was: the places its blocks had, and what became of the issue slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fullness {
    /// The launch that speaks for most of the instructions, see [`Fill::of_most`].
    pub fill: Fill,
    /// Share of issue slots without a warp, of one.
    pub empty_slots: f64,
}

impl Fullness {
    /// Whether all places had a block at some time, and few slots were without a warp.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.fill.waves() >= 1.0 && self.empty_slots <= MANY_EMPTY_SLOTS
    }

    /// The most SMs that the run would fill; none where fewer SMs do not help.
    #[must_use]
    pub fn better_sms(&self) -> Option<u32> {
        Some(self.fill.sms_for(ENOUGH_WAVES)).filter(|sms| *sms < self.fill.sms)
    }
}

/// As `45 blocks for 90 places, 0.50 waves; 48 % of issue slots without a warp`.
impl fmt::Display for Fullness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {:.0} % of issue slots without a warp", self.fill, self.empty_slots * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Machine, PRESETS, Source};

    fn fill(blocks: u64, per_sm: u32, sms: u32) -> Fill {
        Fill { blocks, per_sm, sms }
    }

    #[test]
    fn as_many_sms_as_blocks_fill() {
        let launch = fill(45, 3, 30);
        assert_eq!(launch.to_string(), "45 blocks for 90 places, 0.50 waves");
        for (waves, sms) in [(0.5, 30), (1.0, 15), (2.0, 7), (15.0, 1), (100.0, 1)] {
            assert_eq!(launch.sms_for(waves), sms, "{waves}");
        }
        for sms in 1..=30 {
            let chosen = launch.on(sms).sms_for(2.0);
            assert!(launch.on(chosen).waves() >= 2.0 && (chosen == sms || launch.on(chosen + 1).waves() < 2.0));
        }
    }

    #[test]
    fn short_launches_do_not_count() {
        let large = fill(100, 1, 10);
        assert_eq!(Fill::of_most([(fill(1, 1, 10), 10), (large, 90)]), Some(large));
        assert_eq!(Fill::of_most([(fill(1, 1, 10), 11), (large, 89)]), Some(fill(1, 1, 10)));
        assert_eq!(Fill::of_most([(fill(50, 1, 10), 50), (large, 50)]), Some(fill(50, 1, 10)));
        assert_eq!(Fill::of_most([]), None);
    }

    fn machine(preset: &str, changes: &[String]) -> MachineConfig {
        Machine::load(Source::Preset(preset), changes).unwrap().config
    }

    #[test]
    fn bandwidth_for_each_sm_stays() {
        for preset in PRESETS {
            let whole = machine(preset.name, &[]);
            for sms in 1..=whole.gpu.sms {
                let part = machine(preset.name, &Part::new(&whole, sms).changes());
                assert_eq!(part.gpu.sms, sms);
                let bandwidth = |m: &MachineConfig| f64::from(m.dram.channels * m.clock.dram) / f64::from(m.gpu.sms);
                let ratio = bandwidth(&part) / bandwidth(&whole);
                assert!((ratio - 1.0).abs() < 0.005, "{}, {sms} SMs: {ratio}", preset.name);
            }
            assert_eq!(machine(preset.name, &Part::new(&whole, 1000).changes()), whole);
        }
        let gtx480 = machine("gtx480", &[]);
        let one = machine("gtx480", &Part::new(&gtx480, 1).changes_with_times(&gtx480)).dram.timing;
        assert_eq!((one.rcd, one.cl, one.burst, one.ccd), (5, 5, 2, 2), "12 cycles at 924 MHz are 5 at 370");
        let third = Part::new(&gtx480, 5);
        assert_eq!(third.changes_with_times(&gtx480), third.changes(), "the clock is the same");
        assert_eq!(Part::new(&gtx480, 1), Part { sms: 1, channels: 1, dram_mhz: 370 });
        assert_eq!(Part::new(&gtx480, 5), Part { sms: 5, channels: 2, dram_mhz: 924 });
    }

    #[test]
    fn what_is_not_full_says_how_many_sms_are() {
        let run = |blocks, empty_slots| Fullness { fill: fill(blocks, 4, 15), empty_slots };
        assert!(run(60, 0.2).is_full() && !run(59, 0.0).is_full() && !run(600, 0.21).is_full());
        assert_eq!([run(59, 0.5), run(8, 0.5), run(7, 0.5)].map(|r| r.better_sms()), [Some(7), Some(1), Some(1)]);
        assert_eq!(run(600, 0.5).better_sms(), None, "it has waves enough");
        assert_eq!(Fullness { fill: fill(1, 4, 1), empty_slots: 0.9 }.better_sms(), None);
        assert_eq!(
            run(30, 0.481).to_string(),
            "30 blocks for 60 places, 0.50 waves; 48 % of issue slots without a warp"
        );
    }
}
