//! How large the gangs of an SM are over time: for pictures of variable warp sizing.

use crate::timing::LaunchObserver;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::Observer;
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use std::collections::BTreeMap;

/// Warps by the size of the gang they are in; those of size 1 go by themselves.
pub type Sizes = [u16; 9];

/// Records the sizes of gangs of an SM in one launch.
#[derive(Clone, Debug)]
pub struct GangRecord {
    sm: u16,
    launch: usize,
    current: Option<usize>,
    /// From when on, in order. The last ones are of no warps.
    pub sizes: Vec<(Cycle, Sizes)>,
    /// Instructions issued, by time in steps of [`STEP`] cycles, and by operation.
    issued: BTreeMap<(Cycle, u32), u64>,
}

/// How exactly it is known when an instruction was issued.
const STEP: Cycle = 64;

impl GangRecord {
    /// Of this SM, in launch number `launch`.
    #[must_use]
    pub fn new(sm: u16, launch: usize) -> Self {
        Self { sm, launch, current: None, sizes: Vec::new(), issued: BTreeMap::new() }
    }

    /// Instructions issued in equal stretches of the same time, by operation.
    #[must_use]
    pub fn issued(&self, count: usize) -> Vec<BTreeMap<u32, u64>> {
        let mut stretches = vec![BTreeMap::new(); count];
        let [Some(start), Some(end)] = [self.sizes.first(), self.sizes.last()].map(|s| s.map(|s| s.0)) else {
            return stretches;
        };
        let length = (end - start).max(1) as f64 / count as f64;
        for ((step, pc), issued) in &self.issued {
            let middle = (step * STEP + STEP / 2).saturating_sub(start) as f64;
            let place = ((middle / length) as usize).min(count - 1);
            *stretches[place].entry(*pc).or_default() += issued;
        }
        stretches
    }

    /// The mean sizes of equal stretches of the time from the first to the last warp.
    #[must_use]
    pub fn stretches(&self, count: usize) -> Vec<[f64; 9]> {
        let mut stretches = vec![[0.0; 9]; count];
        let [Some(start), Some(end)] = [self.sizes.first(), self.sizes.last()].map(|s| s.map(|s| s.0)) else {
            return stretches;
        };
        let length = (end - start).max(1) as f64 / count as f64;
        for pair in self.sizes.windows(2) {
            let [from, to] = [pair[0].0, pair[1].0].map(|at| (at - start) as f64 / length);
            let mut at = from;
            while at < to {
                let place = (at as usize).min(count - 1);
                let until = to.min((place + 1) as f64).max(at);
                for (sum, warps) in stretches[place].iter_mut().zip(pair[0].1) {
                    *sum += f64::from(warps) * (until - at);
                }
                if until <= at {
                    break;
                }
                at = until;
            }
        }
        stretches
    }
}

impl Observer for GangRecord {
    fn event(&mut self, event: &Event) {
        if self.current != Some(self.launch) || event.sm != self.sm {
            return;
        }
        match event.kind {
            EventKind::Gangs { sizes } => self.sizes.push((event.at, sizes)),
            EventKind::Issue { pc, .. } => *self.issued.entry((event.at / STEP, pc)).or_default() += 1,
            _ => {}
        }
    }
}

impl LaunchObserver for GangRecord {
    fn launch(&mut self, number: usize, _: &Residency) {
        self.current = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_means_over_time() {
        let mut record = GangRecord::new(0, 0);
        let sizes = |eight, one| [0, one, 0, 0, 0, 0, 0, 0, eight];
        record.sizes = vec![(100, sizes(16, 0)), (125, sizes(8, 8)), (150, sizes(0, 4)), (200, sizes(0, 0))];
        let found: Vec<_> = record.stretches(2).iter().map(|s| (s[8], s[1])).collect();
        assert_eq!(found, [(12.0, 4.0), (0.0, 4.0)]);
        assert_eq!(GangRecord::new(0, 0).stretches(3), [[0.0; 9]; 3]);
    }
}
