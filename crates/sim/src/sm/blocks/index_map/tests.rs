//! The dispatch rule without a machine.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const ORDERS: [ThreadOrder; 3] = [ThreadOrder::SameLane, ThreadOrder::SlowestLane, ThreadOrder::LowestLane];

/// Virtual blocks with a counter of logical blocks, and what each warp runs.
struct Machine {
    maps: Vec<IndexMap>,
    next: u32,
    total: u32,
    /// Virtual blocks that have asked, in order.
    asked: Vec<usize>,
    /// When each warp is done with what it does; `None` while it waits and after its end.
    done: Vec<Vec<Option<u64>>>,
    ended: Vec<Vec<bool>>,
    /// Logical blocks and warps of them that have run, and by which warp.
    ran: BTreeMap<(u32, u16), Vec<(usize, u16)>>,
}

impl Machine {
    fn new(order: ThreadOrder, resident: usize, warps: u16, partial: bool, total: u32) -> Self {
        let resident = resident.min(total as usize);
        Self {
            maps: (0..resident).map(|n| IndexMap::new(order, warps, partial, n as u32)).collect(),
            next: resident as u32,
            total,
            asked: Vec::new(),
            done: vec![vec![None; usize::from(warps)]; resident],
            ended: vec![vec![false; usize::from(warps)]; resident],
            ran: BTreeMap::new(),
        }
    }

    fn begin(&mut self, block: usize, now: u64, time: &mut impl FnMut(u32, u16) -> u64) {
        let mut at = 0;
        while let Some(warp) = self.maps[block].waiting().get(at).copied() {
            let map = &mut self.maps[block];
            match map.next(warp) {
                Next::Begin => {
                    let logical = map.begin(warp);
                    let role = map.role(warp);
                    if logical < self.total {
                        self.ran.entry((logical, role)).or_default().push((block, warp));
                        self.done[block][usize::from(warp)] = Some(now + time(logical, role));
                    } else {
                        map.end(warp);
                        self.ended[block][usize::from(warp)] = true;
                    }
                    at = 0;
                }
                Next::Ask => {
                    map.asked(map.iteration(warp));
                    self.asked.push(block);
                    at += 1;
                }
                Next::Asked | Next::TwoAhead(_) => at += 1,
            }
            let iterations: Vec<u32> = (0..self.ended[block].len() as u16)
                .filter(|w| !self.ended[block][usize::from(*w)])
                .map(|w| self.maps[block].iteration(w))
                .collect();
            let (low, high) = (iterations.iter().min(), iterations.iter().max());
            assert!(low.zip(high).is_none_or(|(low, high)| high - low <= 1), "{iterations:?}");
        }
    }

    /// Runs to the end, each warp for as long as `time` says for a logical block and warp; answers come at once.
    fn run(&mut self, mut time: impl FnMut(u32, u16) -> u64) -> u64 {
        let mut now = 0;
        for block in 0..self.maps.len() {
            for warp in 0..self.done[block].len() as u16 {
                self.maps[block].leave(warp, |_| 0);
            }
            self.begin(block, now, &mut time);
        }
        loop {
            while !self.asked.is_empty() {
                let block = self.asked.remove(0);
                self.maps[block].answer(self.next);
                self.next += 1;
                self.begin(block, now, &mut time);
            }
            let soonest = self.done.iter().enumerate().flat_map(|(b, warps)| {
                warps.iter().enumerate().filter_map(move |(w, done)| done.map(|done| (done, b, w)))
            });
            let Some((done, block, warp)) = soonest.min() else { return now };
            now = done;
            self.done[block][warp] = None;
            // What is left to do stands for what has been done.
            let left: Vec<u64> = self.done[block].iter().map(|d| d.map_or(0, |d| d - now)).collect();
            self.maps[block].leave(warp as u16, |w| 1000 - left[usize::from(w)].min(1000));
            self.begin(block, now, &mut time);
        }
    }
}

/// Figure 1 of the VTW paper: how long warps take, by logical block.
const FIGURE_1: [[u64; 3]; 3] = [[40, 50, 30], [50, 30, 40], [25, 40, 45]];

#[test]
fn figure_1_takes_120_time_units() {
    let baseline: u64 = FIGURE_1.iter().map(|warps| warps.iter().max().copied().unwrap_or(0)).sum();
    assert_eq!(baseline, 145);
    let mut machine = Machine::new(ThreadOrder::SameLane, 1, 3, false, 3);
    assert_eq!(machine.run(|block, warp| FIGURE_1[block as usize][usize::from(warp)]), 120);
}

#[test]
fn a_warp_that_would_be_two_ahead_waits() {
    let mut map = IndexMap::new(ThreadOrder::SameLane, 2, false, 0);
    for warp in 0..2 {
        map.leave(warp, |_| 0);
        assert_eq!(map.begin(warp), 0);
    }
    map.leave(0, |_| 0);
    assert_eq!(map.next(0), Next::Ask);
    map.asked(1);
    assert_eq!(map.next(0), Next::Asked);
    map.answer(7);
    assert_eq!(map.begin(0), 7);
    assert!(map.is_ahead(0), "no shared memory before warp 1 has left");
    map.leave(0, |_| 0);
    assert_eq!(map.next(0), Next::TwoAhead(1));
    map.leave(1, |_| 0);
    assert!(!map.is_ahead(0));
    assert_eq!((map.next(1), map.begin(1)), (Next::Begin, 7));
    assert_eq!(map.next(0), Next::Ask);
}

#[test]
fn warps_get_the_indices_their_order_says() {
    let roles = |order: ThreadOrder, partial: bool| {
        let mut map = IndexMap::new(order, 4, partial, 0);
        for warp in 0..4 {
            map.leave(warp, |_| 0);
            map.begin(warp);
        }
        // Warp 2 is done first; of the others 1 has done least.
        map.leave(2, |w| [30, 10, 90, 20][usize::from(w)]);
        map.asked(1);
        map.answer(1);
        map.begin(2);
        for warp in [3, 0, 1] {
            map.leave(warp, |_| 0);
            map.begin(warp);
        }
        (0..4).map(|w| map.role(w)).collect::<Vec<_>>()
    };
    assert_eq!(roles(ThreadOrder::SameLane, false), [0, 1, 2, 3]);
    // Taken in the order 2, 3, 0, 1.
    assert_eq!(roles(ThreadOrder::LowestLane, false), [2, 3, 0, 1]);
    assert_eq!(roles(ThreadOrder::SlowestLane, false), [0, 2, 1, 3]);
    // The last warp stays what it is when it is not full.
    assert_eq!(roles(ThreadOrder::LowestLane, true), [1, 2, 0, 3]);
    assert_eq!(roles(ThreadOrder::SlowestLane, true), [0, 2, 1, 3]);
}

proptest! {
    #[test]
    fn every_warp_of_every_logical_block_runs_once(
        order in prop::sample::select(&ORDERS[..]),
        resident in 1_usize..5,
        warps in 1_u16..6,
        partial: bool,
        total in 1_u32..30,
        times in prop::collection::vec(1_u64..100, 64),
    ) {
        let mut machine = Machine::new(order, resident, warps, partial, total);
        machine.run(|block, warp| times[(block as usize * 7 + usize::from(warp)) % 64]);
        prop_assert!(machine.ended.iter().flatten().all(|ended| *ended), "somebody waits for ever");
        prop_assert_eq!(machine.ran.len(), total as usize * usize::from(warps));
        prop_assert!(machine.ran.values().all(|by| by.len() == 1));
        if partial {
            let last = machine.ran.iter().filter(|((_, role), _)| *role == warps - 1);
            prop_assert!(last.into_iter().all(|(_, by)| by[0].1 == warps - 1));
        }
    }
}
