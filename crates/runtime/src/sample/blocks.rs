//! A part of a grid's blocks.
//!
//! ```text
//! blocks  0 ───────────────────────────────────────────────────────────────────────────── last
//!         ├ head ┤  gap  ├ settles, unit ┤  gap  ├ settles, unit ┤  ...  gap  ├ settles, unit ┤
//!         in time executed    in time     executed    in time                 in time, to the end
//! ```
//! The machine stands still while a gap is executed and then goes on with all SMs full. So each unit is a piece of the
//! launch as it runs in its midst: the filling of the machine is in the head and its emptying after the last unit, once
//! each, as in the whole launch.
//!
//! Blocks that were there during a gap find the L2 full of what the gap left in it, not of what their neighbours did. They
//! take longer for it, so measuring begins when a wave of blocks has started after the gap, and they have ended. What was
//! simulated until then counts as if it belonged to the gap: by its work, not by its time.

use super::estimate::{Estimate, spread, student};
use raddle_sim::gpu::gaps::{Gap, Mark, Skipped};
use std::ops::Range;

/// Waves before the first gap: one that starts on an empty machine, and one that starts as that one ends.
const HEAD: u64 = 2;
/// Waves after a gap before measuring begins.
const SETTLES: u64 = 1;
/// Units at least, so that their spread is known.
const LEAST_UNITS: u64 = 5;
/// Units at most; a larger share makes them longer.
const MOST_UNITS: u64 = 20;

/// The most of a grid, as a fraction, that is worth sampling: beyond it all of it is simulated.
const WORTH: (u64, u64) = (3, 4);

/// Waves a grid must have to be sampled at all.
#[must_use]
pub fn least_waves() -> u64 {
    ((HEAD + LEAST_UNITS * (SETTLES + 1)) * WORTH.1).div_ceil(WORTH.0)
}

/// Which blocks of a grid are executed without time, when a share of it is to be simulated and the machine holds `places`
/// blocks at once; none when all of them are simulated. After each is an empty one, where measuring begins.
#[must_use]
pub fn gaps(total: u64, places: u64, share: f64) -> Vec<Range<u64>> {
    let places = places.max(1);
    let wanted = (total as f64 * share).ceil() as u64;
    let in_units = wanted.saturating_sub(HEAD * places);
    let least = (SETTLES + 1) * places;
    let units = (in_units / least).clamp(LEAST_UNITS, MOST_UNITS);
    let unit = least.max(in_units / units);
    let Some(left) = total.checked_sub(HEAD * places + units * unit) else { return Vec::new() };
    if (total - left) * WORTH.1 > total * WORTH.0 {
        return Vec::new();
    }
    let mut gaps = Vec::new();
    let (mut start, mut skipped) = (HEAD * places, 0);
    for number in 0..units {
        let until = if number + 1 == units { left } else { moved(left, units, number) };
        let end = start + (until - skipped);
        let measured = end + SETTLES * places;
        gaps.extend([start..end, measured..measured]);
        (start, skipped) = (end + unit, until);
    }
    gaps
}

/// Blocks skipped before unit `number`: in equal steps, moved by up to a quarter of a step either way, always the same, so
/// that units do not fall on the same place of every row of a grid.
fn moved(left: u64, units: u64, number: u64) -> u64 {
    let step = left / units;
    let random = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    left * (number + 1) / units - step / 4 + ((step / 2 * random) >> 32)
}

/// A launch of which part was simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartEstimate {
    /// Its cycles.
    pub estimate: Estimate,
    /// Units they are estimated from.
    pub units: usize,
    /// Blocks waited for others across a gap, and nothing was left out after it.
    pub has_waited: bool,
}

/// What the work of blocks is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Warp-instructions: both engines count the same where warps are static and reconverge as PTX says.
    WarpInsts,
    /// Thread-instructions, which no model of divergence changes.
    ThreadInsts,
}

impl Work {
    fn of_mark(self, mark: &Mark) -> u64 {
        match self {
            Self::WarpInsts => mark.warp_insts,
            Self::ThreadInsts => mark.thread_insts,
        }
    }

    fn of_gap(self, gap: &Gap) -> f64 {
        match self {
            Self::WarpInsts => gap.warp_insts as f64,
            Self::ThreadInsts => gap.thread_insts as f64,
        }
    }
}

/// What a unit took for how much work.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    cycles: f64,
    work: f64,
    /// The same between the gap before it and where measuring began.
    settling: [f64; 2],
}

/// Estimates the cycles of a launch from what was measured between its gaps.
///
/// A gap takes as long for its work as the units on both sides take for theirs; the first gap has only one that counts, as
/// the head is not in the midst of the launch. The spread of units is that of neighbours ([`spread`]).
#[must_use]
pub fn estimate(skipped: &Skipped, work: Work) -> PartEstimate {
    let gaps: Vec<&Gap> = skipped.gaps.iter().filter(|gap| !gap.blocks.is_empty()).collect();
    let units: Vec<Unit> = units(skipped, work);
    let rates: Vec<f64> = units.iter().map(|unit| unit.cycles / unit.work).collect();
    // Work whose time rests on each unit.
    let mut resting = vec![0.0; units.len()];
    let (mut taken, mut not_measured) = (Vec::new(), 0.0);
    for (number, gap) in gaps.iter().enumerate() {
        let near = &units[number.saturating_sub(1)..=number];
        let (cycles, all): (f64, f64) = (near.iter().map(|u| u.cycles).sum(), near.iter().map(|u| u.work).sum());
        let [settling, settling_work] = units[number].settling;
        let own = work.of_gap(gap) + settling_work;
        taken.push(own * cycles / all - settling);
        not_measured += own;
        let each = own / near.len() as f64;
        resting[number.saturating_sub(1)..=number].iter_mut().for_each(|resting| *resting += each);
    }
    let left_out: f64 = taken.iter().sum();
    let reach = match spread(&rates) {
        None => left_out,
        Some((variance, freedom)) => {
            let mean = units.iter().map(|unit| unit.work).sum::<f64>() / units.len() as f64;
            let of_units: f64 = resting.iter().map(|resting| resting * resting).sum();
            student(freedom) * (variance * (of_units + not_measured * mean)).sqrt()
        }
    };
    let cycles = last_end(skipped, taken);
    PartEstimate {
        estimate: Estimate::new(cycles, reach, left_out),
        units: units.len(),
        has_waited: skipped.has_waited,
    }
}

/// What was measured after each gap, up to the next or to the start of the last block.
fn units(skipped: &Skipped, work: Work) -> Vec<Unit> {
    let gaps = &skipped.gaps;
    let mut units = Vec::new();
    for (number, gap) in gaps.iter().enumerate().filter(|(_, gap)| !gap.blocks.is_empty()) {
        let mut after = gaps[number + 1..].iter();
        let settled = after.clone().next().filter(|gap| gap.blocks.is_empty()).unwrap_or(gap).after;
        let end = after.find(|gap| !gap.blocks.is_empty()).map_or(skipped.last_start, |gap| gap.before);
        let between = |from: &Mark, to: &Mark| {
            let work = work.of_mark(to).saturating_sub(work.of_mark(from));
            [to.cycles.saturating_sub(from.cycles) as f64, work as f64]
        };
        let [cycles, done] = between(&settled, &end);
        units.push(Unit { cycles, work: done.max(1.0), settling: between(&gap.after, &settled) });
    }
    units
}

/// When the last block ended, had the gaps taken their time: each block that long after its start as it took. One that
/// was there during gaps has run on meanwhile.
fn last_end(skipped: &Skipped, taken: Vec<f64>) -> f64 {
    let mut taken = taken.into_iter();
    let before = skipped.gaps.iter().map(|gap| if gap.blocks.is_empty() { 0.0 } else { taken.next().unwrap_or(0.0) });
    let (mut sum, mut last) = (0.0, 0.0f64);
    for (end, before) in skipped.ends.iter().zip([0.0].into_iter().chain(before)) {
        sum += before;
        if *end > 0 {
            last = last.max(*end as f64 + sum);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(cycles: u64, insts: u64) -> Mark {
        Mark { cycles, warp_insts: insts, thread_insts: 32 * insts }
    }

    fn gap(blocks: Range<u64>, insts: u64, at: Mark) -> Gap {
        Gap { blocks, warp_insts: insts, thread_insts: 32 * insts, before: at, after: at }
    }

    #[test]
    fn small_grids_are_simulated_as_a_whole() {
        assert!(gaps(1500, 100, 0.05).is_empty());
        assert!(gaps(100_000, 100, 1.0).is_empty());
        assert!(gaps(1, 100, 0.05).is_empty());
        assert_eq!(least_waves(), 16);
        assert_eq!(gaps(1600, 100, 0.01).len(), 10, "twelve waves of sixteen, with a mark after each gap");
    }

    #[test]
    fn gaps_leave_whole_waves() {
        for (total, places, share, units) in [(16_384, 90, 0.05, 5), (100_000, 90, 0.05, 20), (40_000, 90, 0.05, 10)] {
            let all = gaps(total, places, share);
            let (marks, gaps): (Vec<Range<u64>>, Vec<Range<u64>>) = all.into_iter().partition(|gap| gap.is_empty());
            assert_eq!((gaps.len(), marks.len()), (units, units), "{total}");
            assert_eq!(gaps[0].start, 2 * places);
            assert!(gaps.iter().zip(&marks).all(|(gap, mark)| mark.start == gap.end + places));
            assert!(marks.iter().zip(&gaps[1..]).all(|(mark, gap)| gap.start >= mark.start + places));
            assert!(total - marks.last().unwrap().start >= places);
            let skipped: u64 = gaps.iter().map(|gap| gap.end - gap.start).sum();
            let share = (total - skipped) as f64 / total as f64;
            assert!((0.045..0.07).contains(&share), "{share}");
        }
    }

    #[test]
    fn measuring_begins_when_blocks_from_before_a_gap_are_gone() {
        // As below, but for 80 cycles and 10 instructions after the first gap, which count as 50.
        let skipped = Skipped {
            gaps: vec![gap(4..6, 20, mark(100, 10)), gap(8..8, 0, mark(180, 20)), gap(9..12, 30, mark(230, 30))],
            last_start: mark(280, 40),
            ends: vec![120, 200, 210, 305],
            has_waited: false,
        };
        // 30 * 5 - 80 and 30 * 5 cycles more than were simulated; no spread, but the least there is.
        assert_eq!(estimate(&skipped, Work::WarpInsts).estimate, Estimate::new(525.0, 0.0, 220.0));
    }

    #[test]
    fn equal_units_give_the_sum() {
        // Head to 100; units of 50 cycles for 10 instructions; gaps of 20 and 30; the last block ends 25 later.
        let skipped = Skipped {
            gaps: vec![gap(4..6, 20, mark(100, 10)), gap(7..10, 30, mark(150, 20))],
            last_start: mark(200, 30),
            ends: vec![120, 160, 225],
            has_waited: false,
        };
        let part = estimate(&skipped, Work::WarpInsts);
        // 20 * 5 + 30 * 5 = 250 cycles more.
        assert_eq!(part.estimate, Estimate { cycles: 475.0, spread: 0.0, state: 5.0 });
        assert_eq!(part.units, 2);
        assert_eq!(estimate(&skipped, Work::ThreadInsts).estimate.cycles, 475.0);
    }

    #[test]
    fn the_interval_by_hand() {
        // Rates 4 and 6: the first gap takes 20 * 4, the second 30 * 5.
        let skipped = Skipped {
            gaps: vec![gap(4..6, 20, mark(100, 10)), gap(7..10, 30, mark(140, 20))],
            last_start: mark(200, 30),
            ends: vec![0, 0, 225],
            has_waited: false,
        };
        let estimate = estimate(&skipped, Work::WarpInsts).estimate;
        assert_eq!(estimate.cycles, 225.0 + 80.0 + 150.0);
        // The variance of a rate is 2^2 / 2 = 2, with 2 * 1 / 2 = 1 degree of freedom. On the first unit rest 20 + 15, on
        // the second 15; the gaps themselves spread as five units of 10.
        let by_hand = 12.706 * (2.0f64 * (35.0 * 35.0 + 15.0 * 15.0 + 10.0 * 50.0)).sqrt();
        assert!((estimate.spread - by_hand).abs() < 1e-9, "{} {by_hand}", estimate.spread);
        assert!((estimate.state - 0.02 * 230.0).abs() < 1e-9);
    }

    #[test]
    fn a_block_that_runs_on_across_gaps_ends_when_it_would() {
        let skipped = Skipped {
            gaps: vec![gap(4..6, 20, mark(100, 10)), gap(7..10, 30, mark(150, 20))],
            last_start: mark(200, 30),
            // A block from before the first gap is the last in the part that was simulated: 180 after the others.
            ends: vec![405, 160, 225],
            has_waited: false,
        };
        assert_eq!(estimate(&skipped, Work::WarpInsts).estimate.cycles, 475.0, "the gaps gave it 250 cycles");
        let longer = Skipped { ends: vec![500, 160, 225], ..skipped };
        assert_eq!(estimate(&longer, Work::WarpInsts).estimate.cycles, 500.0);
    }

    #[test]
    fn one_unit_is_sure_of_nothing() {
        let skipped = Skipped {
            gaps: vec![gap(4..6, 20, mark(100, 10))],
            last_start: mark(150, 20),
            ends: vec![0, 160],
            has_waited: true,
        };
        let part = estimate(&skipped, Work::WarpInsts);
        assert_eq!(part.estimate, Estimate::new(260.0, 100.0, 100.0));
        assert!(part.has_waited);
    }
}
