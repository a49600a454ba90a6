//! The dispatch rule without a machine.

use super::*;
use proptest::prelude::*;
use raddle_sim::seam::VirtualBlock;
use std::collections::BTreeMap;

const ORDERS: [ThreadOrder; 3] = [ThreadOrder::SameLane, ThreadOrder::SlowestLane, ThreadOrder::LowestLane];

/// An SM's side of the seam, without time: virtual blocks, by slot, and what their warps have issued.
struct Sm {
    vtw: Vtw,
    launch: LogicalLaunch,
    blocks: Vec<VirtualBlock>,
    /// Slots that have asked, in order.
    asked: Vec<usize>,
}

impl Sm {
    fn new(order: ThreadOrder, resident: usize, warps: u16, is_last_partial: bool) -> Self {
        let (mut vtw, launch) = (Vtw::default(), LogicalLaunch { order, warps, is_last_partial });
        vtw.start_launch(&launch);
        (0..resident).for_each(|slot| vtw.start_block(slot as u32));
        let blocks = (0..resident).map(|slot| VirtualBlock::new(warps, slot as u32)).collect();
        Self { vtw, launch, blocks, asked: Vec::new() }
    }

    /// Lets the mechanism see a virtual block whose warps have issued so much in their iterations.
    fn with<R>(&mut self, slot: usize, issued: &[u64], f: impl FnOnce(&mut Vtw, &LogicalView<'_>) -> R) -> R {
        let from = vec![0; issued.len()];
        f(&mut self.vtw, &LogicalView { slot: slot as u32, block: &self.blocks[slot], issued, from: &from })
    }

    /// A warp leaves its iteration.
    fn leave(&mut self, slot: usize, warp: u16, issued: &[u64]) {
        self.blocks[slot].leave(warp);
        self.with(slot, issued, |vtw, view| vtw.left(view, warp));
    }

    /// The next warp that begins, with its logical block, if one does; if none does, the virtual block may ask for
    /// another.
    fn begin(&mut self, slot: usize) -> Option<(u16, u32)> {
        let none = vec![0; usize::from(self.launch.warps)];
        for warp in self.blocks[slot].waiting().to_vec() {
            let next = self.blocks[slot].block(self.blocks[slot].warp(warp).iteration + 1);
            let begun = next.and_then(|next| Some((next, self.with(slot, &none, |vtw, view| vtw.begins(view, warp))?)));
            if let Some((next, role)) = begun {
                self.blocks[slot].begin(&self.launch, warp, role);
                return Some((warp, next));
            }
        }
        if self.with(slot, &none, |vtw, view| vtw.asks(view)) {
            self.blocks[slot].ask();
            self.asked.push(slot);
        }
        None
    }

    /// All warps that can begin.
    fn begin_all(&mut self, slot: usize) -> Vec<(u16, u32)> {
        std::iter::from_fn(|| self.begin(slot)).collect()
    }

    /// One virtual block whose warps have all begun their first iteration.
    fn begun(order: ThreadOrder, warps: u16, is_last_partial: bool) -> Self {
        let mut sm = Self::new(order, 1, warps, is_last_partial);
        for warp in 0..warps {
            sm.leave(0, warp, &vec![0; usize::from(warps)]);
            assert_eq!(sm.begin_all(0), [(warp, 0)]);
        }
        sm
    }
}

/// Virtual blocks with a counter of logical blocks, and what each warp runs.
struct Machine {
    sm: Sm,
    next: u32,
    total: u32,
    /// When each warp is done with what it does; `None` while it waits and after its end.
    done: Vec<Vec<Option<u64>>>,
    /// Logical blocks and warps of them that have run, and by which warp.
    ran: BTreeMap<(u32, u16), Vec<(usize, u16)>>,
}

impl Machine {
    fn new(order: ThreadOrder, resident: usize, warps: u16, partial: bool, total: u32) -> Self {
        let resident = resident.min(total as usize);
        Self {
            sm: Sm::new(order, resident, warps, partial),
            next: resident as u32,
            total,
            done: vec![vec![None; usize::from(warps)]; resident],
            ran: BTreeMap::new(),
        }
    }

    fn begin(&mut self, slot: usize, now: u64, time: &mut impl FnMut(u32, u16) -> u64) {
        while let Some((warp, logical)) = self.sm.begin(slot) {
            let block = &mut self.sm.blocks[slot];
            let role = block.warp(warp).role;
            if logical < self.total {
                self.ran.entry((logical, role)).or_default().push((slot, warp));
                self.done[slot][usize::from(warp)] = Some(now + time(logical, role));
            } else {
                block.end(warp);
            }
            let iterations: Vec<u32> = block.live().map(|(_, w)| w.iteration).collect();
            let (low, high) = (iterations.iter().min(), iterations.iter().max());
            assert!(low.zip(high).is_none_or(|(low, high)| high - low <= 1), "{iterations:?}");
        }
    }

    /// Runs to the end, each warp for as long as `time` says for a logical block and warp; answers come at once.
    fn run(&mut self, mut time: impl FnMut(u32, u16) -> u64) -> u64 {
        let mut now = 0;
        for slot in 0..self.done.len() {
            let none = vec![0; self.done[slot].len()];
            (0..self.sm.launch.warps).for_each(|warp| self.sm.leave(slot, warp, &none));
            self.begin(slot, now, &mut time);
        }
        loop {
            while !self.sm.asked.is_empty() {
                let slot = self.sm.asked.remove(0);
                self.sm.blocks[slot].answer(self.next);
                self.next += 1;
                self.begin(slot, now, &mut time);
            }
            let soonest = self.done.iter().enumerate().flat_map(|(b, warps)| {
                warps.iter().enumerate().filter_map(move |(w, done)| done.map(|done| (done, b, w)))
            });
            let Some((done, slot, warp)) = soonest.min() else { return now };
            now = done;
            self.done[slot][warp] = None;
            // What is left to do represents what has been done.
            let left = self.done[slot].iter().map(|d| d.map_or(0, |d| d - now));
            let issued: Vec<u64> = left.map(|left| 1000 - left.min(1000)).collect();
            self.sm.leave(slot, warp as u16, &issued);
            self.begin(slot, now, &mut time);
        }
    }

    fn all_have_ended(&self) -> bool {
        self.sm.blocks.iter().all(|block| block.live().next().is_none())
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
    let mut sm = Sm::begun(ThreadOrder::SameLane, 2, false);
    let reason = |sm: &mut Sm| sm.with(0, &[0, 0], |vtw, view| vtw.reason(view, 0));
    sm.leave(0, 0, &[0, 0]);
    assert_eq!((sm.begin_all(0), &sm.asked[..]), (vec![], &[0][..]));
    assert_eq!((sm.begin_all(0), &sm.asked[..]), (vec![], &[0][..]), "it asks once");
    assert_eq!(reason(&mut sm), None);
    sm.blocks[0].answer(7);
    assert_eq!(sm.begin_all(0), [(0, 7)]);
    assert!(sm.blocks[0].is_ahead(0), "no shared memory before warp 1 has left");
    sm.leave(0, 0, &[0, 0]);
    assert_eq!(sm.begin_all(0), []);
    assert_eq!(reason(&mut sm).as_deref(), Some("iteration 3 would be two ahead of warp 1"));
    sm.leave(0, 1, &[0, 0]);
    assert!(!sm.blocks[0].is_ahead(0));
    assert_eq!((sm.begin_all(0), &sm.asked[..]), (vec![(1, 7)], &[0, 0][..]), "warp 0 needs another");
}

#[test]
fn warps_get_the_indices_their_order_says() {
    let roles = |order: ThreadOrder, partial: bool| {
        let mut sm = Sm::begun(order, 4, partial);
        // Warp 2 is done first; of the others 1 has done least.
        sm.leave(0, 2, &[30, 10, 90, 20]);
        assert_eq!(sm.begin_all(0), []);
        sm.blocks[0].answer(1);
        assert_eq!(sm.begin_all(0), [(2, 1)]);
        for warp in [3, 0, 1] {
            sm.leave(0, warp, &[0; 4]);
            assert_eq!(sm.begin_all(0), [(warp, 1)]);
        }
        sm.blocks[0].warps().map(|(_, w)| w.role).collect::<Vec<_>>()
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
        prop_assert!(machine.all_have_ended(), "somebody waits for ever");
        prop_assert_eq!(machine.ran.len(), total as usize * usize::from(warps));
        prop_assert!(machine.ran.values().all(|by| by.len() == 1));
        if partial {
            let last = machine.ran.iter().filter(|((_, role), _)| *role == warps - 1);
            prop_assert!(last.into_iter().all(|(_, by)| by[0].1 == warps - 1));
        }
    }
}
