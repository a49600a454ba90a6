//! Clock domains as integer ratios.

use crate::packet::Cycle;
use crate::saved;

/// A clock seen from the core clock: tick `k` falls into exactly one core cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    ticks: u64,
    per: u64,
}

impl Clock {
    /// A clock of `frequency` where the core has `core`, in any common unit.
    ///
    /// # Panics
    /// When one of them is zero.
    #[must_use]
    pub fn new(frequency: u32, core: u32) -> Self {
        assert!(frequency > 0 && core > 0, "a clock without frequency");
        let common = gcd(frequency, core);
        Self { ticks: u64::from(frequency / common), per: u64::from(core / common) }
    }

    /// Ticks before core cycle `cycle`; also the number of the first tick at or after it.
    #[must_use]
    pub fn ticks_before(self, cycle: Cycle) -> u64 {
        if self.per == 1 { cycle * self.ticks } else { cycle * self.ticks / self.per }
    }

    /// The core cycle into which a tick falls.
    #[must_use]
    pub fn cycle_of(self, tick: u64) -> Cycle {
        if self.ticks == self.per { tick } else { ((tick + 1) * self.per).div_ceil(self.ticks) - 1 }
    }

    /// Core cycles that `ticks` take, rounded up.
    #[must_use]
    pub fn core_cycles(self, ticks: u64) -> Cycle {
        (ticks * self.per).div_ceil(self.ticks)
    }
}

/// A clock followed from core cycle to core cycle without divisions.
#[derive(Clone, Copy, Debug)]
pub struct Ticker {
    clock: Clock,
    tick: u64,
    rest: u64,
}

saved!(Ticker { values: tick, rest; fixed: clock });

impl Ticker {
    /// Follows a clock from core cycle 0.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, tick: 0, rest: 0 }
    }

    /// Goes to the start of a core cycle.
    pub fn seek(&mut self, cycle: Cycle) {
        let Clock { ticks, per } = self.clock;
        let all = cycle * ticks;
        (self.tick, self.rest) = if per == 1 { (all, 0) } else { (all / per, all % per) };
    }

    /// Goes through one core cycle and returns the ticks that fall into it.
    pub fn advance(&mut self) -> std::ops::Range<u64> {
        let first = self.tick;
        self.rest += self.clock.ticks;
        while self.rest >= self.clock.per {
            self.rest -= self.clock.per;
            self.tick += 1;
        }
        first..self.tick
    }

    /// The next tick.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Ticker};

    #[test]
    fn every_tick_is_in_the_cycle_that_counts_it() {
        for (frequency, core) in [(924, 700), (700, 700), (650, 1300), (800, 1300), (3, 1)] {
            let clock = Clock::new(frequency, core);
            for tick in 0..500 {
                let cycle = clock.cycle_of(tick);
                assert!(clock.ticks_before(cycle) <= tick && tick < clock.ticks_before(cycle + 1));
            }
            assert_eq!(clock.ticks_before(u64::from(core)), u64::from(frequency));
        }
    }

    #[test]
    fn following_equals_computing() {
        for (frequency, core) in [(924, 700), (700, 700), (650, 1300), (800, 1300), (3, 1)] {
            let clock = Clock::new(frequency, core);
            let mut ticker = Ticker::new(clock);
            ticker.seek(17);
            for cycle in 17..200 {
                assert_eq!(ticker.tick(), clock.ticks_before(cycle));
                assert_eq!(ticker.advance(), clock.ticks_before(cycle)..clock.ticks_before(cycle + 1));
            }
        }
    }

    #[test]
    fn lengths_round_up() {
        assert_eq!(Clock::new(700, 700).core_cycles(5), 5);
        assert_eq!(Clock::new(650, 1300).core_cycles(5), 10);
        assert_eq!(Clock::new(924, 700).core_cycles(33), 25);
        assert_eq!(Clock::new(924, 700).core_cycles(34), 26);
    }
}
