//! Some launches of every kernel.
//!
//! The program is executed once without time, which says how much work each launch has: the warp-instructions a place of
//! the machine has when they are spread evenly, plus those of the longest block. The one says how long a full machine takes,
//! the other how long the launch takes at least.
//!
//! Of each kernel and block size the first launch is simulated, which finds nothing of it in the caches and says nothing of
//! the others, and `N` more: those with the least and the most work, and between them so that about equally many launches and
//! equally much work lie between neighbours. A launch that is not simulated takes what its neighbours by work take, in
//! proportion to where it lies between them: time need not be in proportion to work, as every launch takes time to start
//! and to end.

use super::estimate::{Estimate, student};
use crate::outcome::Launched;
use raddle_sim::config::MachineConfig;
use std::collections::BTreeMap;

/// A launch that was executed to see how much work it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiled {
    /// Kernel.
    pub kernel: String,
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
    /// Its work, in thousandths of a warp-instruction.
    pub work: u64,
}

impl Profiled {
    /// A launch as it was made, for a machine.
    #[must_use]
    pub fn new(launched: &Launched, machine: &MachineConfig) -> Self {
        let Launched { kernel, grid, block, shared, report, .. } = launched;
        let each = u128::from(report.warp_insts) * 1000 / u128::from(places(machine, *block));
        let work = u64::try_from(each + u128::from(report.most_of_a_cta) * 1000).unwrap_or(u64::MAX);
        Self { kernel: kernel.clone(), grid: *grid, block: *block, shared: *shared, work }
    }
}

/// Blocks the machine holds at once, as far as that is known without the kernel: it is the same for all its launches.
fn places(machine: &MachineConfig, block: [u32; 3]) -> u64 {
    let sm = &machine.sm;
    let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
    let each = u64::from(sm.threads) / threads.next_multiple_of(u64::from(sm.warp_width.max(1))).max(1);
    u64::from(machine.gpu.sms) * each.clamp(1, u64::from(sm.ctas.max(1)))
}

/// The launches that are simulated.
#[derive(Clone, Debug)]
pub struct Choice {
    profile: Vec<Profiled>,
    is_timed: Vec<bool>,
}

impl Choice {
    /// Chooses so many of each kernel and block size, and the first.
    #[must_use]
    pub fn new(each: usize, profile: Vec<Profiled>) -> Self {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, launch) in profile.iter().enumerate() {
            groups.entry((&launch.kernel, launch.block, launch.shared)).or_default().push(number);
        }
        let mut is_timed = vec![false; profile.len()];
        for mut group in groups.into_values() {
            is_timed[group.remove(0)] = true;
            group.sort_by_key(|number| profile[*number].work);
            let work: Vec<u64> = group.iter().map(|number| profile[*number].work).collect();
            chosen(&work, each).into_iter().for_each(|place| is_timed[group[place]] = true);
        }
        Self { profile, is_timed }
    }

    /// What the profile says of a launch, if it is there as it was then, and whether it is simulated.
    pub(crate) fn look_up(&self, number: usize, asked: &Profiled) -> Option<(u64, bool)> {
        let Profiled { kernel, grid, block, shared, .. } = self.profile.get(number)?;
        let is_it = (kernel, grid, block, shared) == (&asked.kernel, &asked.grid, &asked.block, &asked.shared);
        is_it.then(|| (self.profile[number].work, self.is_timed[number]))
    }
}

/// Which of a group are simulated, by ascending work: the ends, and between them so that equal parts of the launches and of
/// their work, half of each, lie between neighbours.
fn chosen(work: &[u64], each: usize) -> Vec<usize> {
    let count = work.len();
    if count <= each {
        return (0..count).collect();
    }
    let total = work.iter().map(|own| u128::from(*own)).sum::<u128>().max(1);
    let parts = each as u128 - 1;
    let mut places = vec![0];
    let mut sum = 0;
    for (place, own) in work.iter().enumerate().take(count - 1) {
        // In units of 1 / (2 * count * total): all launches together have 2 * count * total of them.
        sum += u128::from(*own) * count as u128 + total;
        let is_due = sum * parts >= 2 * count as u128 * total * places.len() as u128;
        let must = count - 1 - place < each - places.len();
        if place > 0 && places.len() < each - 1 && (is_due || must) {
            places.push(place);
        }
    }
    places.push(count - 1);
    places
}

/// A launch of a group: its work, and its cycles if it was simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) work: u64,
    pub(super) cycles: Option<u64>,
}

/// The estimate of a group: of each launch, and of their sum. `members` are in the order of their launches; at least one was
/// simulated. If others were too, the first says nothing of them.
pub(super) fn estimate(members: &[Member]) -> (Vec<Estimate>, Estimate) {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|n| members[*n].work);
    let known = |from: usize| -> Vec<Known> {
        let known = |(place, n): (usize, &usize)| {
            let Member { work, cycles } = members[*n];
            Some(Known { place, work, cycles: cycles.filter(|_| *n >= from)? as f64 })
        };
        order.iter().enumerate().filter_map(known).collect()
    };
    let known = Some(known(1)).filter(|known| !known.is_empty()).unwrap_or_else(|| known(0));
    let freedom = known.len().saturating_sub(2) as f64;
    let reach = student(freedom);
    let spread = relative_variance(&known);
    let mut each = vec![Estimate::default(); members.len()];
    let (mut sum, mut own, mut not_measured, mut resting) = (0.0, 0.0, 0.0, vec![0.0; known.len()]);
    for (place, n) in order.iter().enumerate() {
        let Member { work, cycles } = members[*n];
        if let Some(cycles) = cycles {
            each[*n] = Estimate::exact(cycles);
            sum += cycles as f64;
            continue;
        }
        let Between { low, high, part } = between(&known, place, work);
        let cycles = match low == high {
            // Beyond the ends, in proportion.
            true => known[low].cycles * work as f64 / known[low].work.max(1) as f64,
            false => (1.0 - part) * known[low].cycles + part * known[high].cycles,
        };
        resting[low] += 1.0 - part;
        resting[high] += part;
        own += cycles * cycles;
        not_measured += cycles;
        sum += cycles;
        let own = spread.map(|variance| (variance * (1.0 + part.powi(2) + (1.0 - part).powi(2))).sqrt());
        each[*n] = Estimate::new(cycles, own.map_or(cycles, |own| reach * cycles * own), cycles);
    }
    let of_known: f64 = known.iter().zip(&resting).map(|(known, resting)| (known.cycles * resting).powi(2)).sum();
    let half = match spread {
        Some(variance) => reach * (variance * (own + of_known)).sqrt(),
        // Nothing is known of the spread: all of what was not simulated.
        None => not_measured,
    };
    (each, Estimate::new(sum, half, not_measured))
}

/// A launch that was simulated, and its place among all by ascending work.
#[derive(Clone, Copy, Debug)]
struct Known {
    place: usize,
    work: u64,
    cycles: f64,
}

/// The launches that another lies between, and how far it is from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    low: usize,
    high: usize,
    part: f64,
}

fn between(known: &[Known], place: usize, work: u64) -> Between {
    let above = known.partition_point(|known| known.place < place);
    if above == 0 || above == known.len() {
        let end = above.min(known.len() - 1);
        return Between { low: end, high: end, part: 0.0 };
    }
    let (low, high) = (&known[above - 1], &known[above]);
    Between { low: above - 1, high: above, part: share(low, high, place, work) }
}

fn share(low: &Known, high: &Known, place: usize, work: u64) -> f64 {
    match high.work > low.work {
        true => work.saturating_sub(low.work) as f64 / (high.work - low.work) as f64,
        // As much work: by their order, which is that of the launches.
        false => (place - low.place) as f64 / (high.place - low.place) as f64,
    }
}

/// How far launches are from what their neighbours say, as a variance relative to their cycles: each that was simulated is
/// estimated from those on both sides.
fn relative_variance(known: &[Known]) -> Option<f64> {
    let squares = known.windows(3).map(|three| {
        let [low, own, high] = three else { return 0.0 };
        let part = share(low, high, own.place, own.work);
        let cycles = (1.0 - part) * low.cycles + part * high.cycles;
        ((own.cycles - cycles) / cycles.max(1.0)).powi(2) / (1.0 + part.powi(2) + (1.0 - part).powi(2))
    });
    (known.len() >= 3).then(|| squares.sum::<f64>() / (known.len() - 2) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(all: &[(u64, Option<u64>)]) -> Vec<Member> {
        all.iter().map(|(work, cycles)| Member { work: *work, cycles: *cycles }).collect()
    }

    #[test]
    fn few_launches_are_all_simulated() {
        assert_eq!(chosen(&[5, 6, 7], 3), [0, 1, 2]);
        assert_eq!(chosen(&[], 3), [0; 0]);
    }

    #[test]
    fn the_ends_and_equal_parts_of_the_work() {
        assert_eq!(chosen(&[10; 9], 3), [0, 4, 8]);
        assert_eq!(chosen(&[10; 9], 5), [0, 2, 4, 6, 8]);
        // Work 1 to 100: half of the launches are below 51, half of the work is below 71. At 62, which has place 61, the mean
        // of 62 % and 1953/5050 is over a half.
        assert_eq!(chosen(&(1..=100).collect::<Vec<_>>(), 3), [0, 61, 99]);
        // One launch is nearly all of the work: the others are chosen all the same.
        assert_eq!(chosen(&[1, 1, 1, 1, 1, 1000], 4), [0, 3, 4, 5]);
        assert_eq!(chosen(&[0; 6], 4).len(), 4);
    }

    #[test]
    fn groups_are_apart() {
        let launch = |kernel: &str, threads, work| Profiled {
            kernel: kernel.to_owned(),
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
            work,
        };
        let mut profile: Vec<Profiled> = (0..10).map(|n| launch("a", 32, n)).collect();
        profile.extend((0..3).map(|n| launch("a", 64, n)));
        let choice = Choice::new(3, profile);
        assert_eq!(choice.is_timed.iter().filter(|t| **t).count(), 4 + 3, "the first of each is one more");
        assert_eq!(choice.look_up(10, &launch("a", 64, 7)), Some((0, true)));
        assert_eq!(choice.look_up(10, &launch("a", 32, 0)), None, "another launch than in the profile");
        assert_eq!(choice.look_up(13, &launch("a", 32, 0)), None);
    }

    #[test]
    fn launches_lie_between_their_neighbours() {
        // Cycles are 100 + 2 * work: exact, though not in proportion.
        let (each, sum) = estimate(&members(&[
            (10, Some(999)),
            (10, Some(120)),
            (40, None),
            (20, Some(140)),
            (15, None),
            (60, Some(220)),
        ]));
        assert_eq!(each[1..].iter().map(|e| e.cycles).collect::<Vec<_>>(), [120.0, 180.0, 140.0, 130.0, 220.0]);
        assert_eq!(sum.cycles, 999.0 + 790.0, "the first says nothing of the others");
        // The middle one lies a fifth of the way: 0.8 * 120 + 0.2 * 220 = 140. No spread, but the least there is.
        assert!(sum.spread < 1e-9 && (sum.state - 0.02 * 310.0).abs() < 1e-9, "{sum:?}");
    }

    #[test]
    fn the_interval_by_hand() {
        let (each, sum) =
            estimate(&members(&[(9, Some(7)), (10, Some(100)), (10, None), (10, Some(130)), (10, Some(100))]));
        // The third lies half-way between 100 and 130.
        assert_eq!(each[2].cycles, 115.0);
        assert_eq!(sum.cycles, 452.0);
        // The fourth is estimated from the second and the last, two thirds of the way, as 100: 0.3 off.
        let variance = 0.09 / (1.0 + 4.0 / 9.0 + 1.0 / 9.0);
        let by_hand = 12.706 * (variance * (115.0f64.powi(2) + 50.0f64.powi(2) + 65.0f64.powi(2))).sqrt();
        assert!((sum.half() - by_hand.hypot(2.3)).abs() < 1e-9, "{sum:?} {by_hand}");
        let of_one = 12.706 * 115.0 * (variance * 1.5).sqrt();
        assert!((each[2].half() - of_one.hypot(2.3)).abs() < 1e-9);
    }

    #[test]
    fn without_neighbours_nothing_is_sure() {
        let (each, sum) = estimate(&members(&[(10, Some(100)), (20, None)]));
        assert_eq!(each[1], Estimate::new(200.0, 200.0, 200.0));
        assert_eq!(sum, Estimate::new(300.0, 200.0, 200.0));
    }
}
