//! The threads of a block, as bits.

use raddle_exec::core::{Home, lanes_in};
use raddle_exec::splits::Threads;

/// Rows of 32 threads a block has at most.
pub const ROWS: usize = 32;

/// Threads of a block: for each row of 32, its lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BlockMask([u32; ROWS]);

impl Threads for BlockMask {
    const NOBODY: Self = Self([0; ROWS]);

    fn with(self, others: Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] | others.0[row]))
    }

    fn without(self, others: Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] & !others.0[row]))
    }
}

impl BlockMask {
    /// Adds lanes of a row.
    pub fn add(&mut self, row: usize, lanes: u32) {
        self.0[row % ROWS] |= lanes;
    }

    /// The lanes of a row.
    #[must_use]
    pub fn row(&self, row: usize) -> u32 {
        self.0[row % ROWS]
    }

    /// The rows that have threads, with their lanes.
    pub fn rows(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.0.iter().copied().enumerate().filter(|(_, lanes)| *lanes != 0)
    }
}

/// A warp the compactor has put together. Homes count rows from the first of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Threads by lane.
    pub homes: [Home; 32],
    /// Lanes that have one.
    pub mask: u32,
    /// The static warp they are all from, if they are.
    pub warp: Option<usize>,
}

/// Makes warps out of the threads of a block, one by one.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Compactor {
    left: BlockMask,
    width: usize,
    /// Threads stay in their static warps.
    keeps_warps: bool,
}

impl Compactor {
    /// For these threads, in warps of `width` lanes.
    #[must_use]
    pub fn new(threads: BlockMask, width: usize, keeps_warps: bool) -> Self {
        Self { left: threads, width, keeps_warps }
    }

    /// How many warps it will make.
    #[must_use]
    pub fn count(&self) -> u32 {
        let per_row = 32 / self.width;
        let lanes_of = |warp: usize| self.lanes(warp);
        let warps = 0..ROWS * per_row;
        if self.keeps_warps {
            return warps.filter(|w| lanes_of(*w) != 0).count() as u32;
        }
        let mut counts = [0; 32];
        warps.for_each(|warp| lanes_in(lanes_of(warp)).for_each(|lane| counts[lane] += 1));
        counts.into_iter().max().unwrap_or(0)
    }

    /// Whether it has made them all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The lanes of a static warp that are left, counted from its first.
    fn lanes(&self, warp: usize) -> u32 {
        let per_row = 32 / self.width;
        let row = self.left.0[warp / per_row];
        row >> (warp % per_row * self.width) & raddle_exec::core::lanes_of(self.width as u32)
    }

    /// The next warp: in every lane the thread of the lowest static warp.
    pub fn next(&mut self) -> Option<Compacted> {
        let per_row = 32 / self.width;
        let mut found = Compacted { homes: [Home::default(); 32], mask: 0, warp: None };
        let mut whole = true;
        for warp in 0..ROWS * per_row {
            let fresh = self.lanes(warp) & !found.mask;
            if fresh == 0 {
                continue;
            }
            let (row, base) = (warp / per_row, warp % per_row * self.width);
            whole = found.mask == 0;
            found.warp = Some(warp);
            for lane in lanes_in(fresh) {
                found.homes[lane] = Home { row: row as u32, lane: (base + lane) as u8 };
            }
            found.mask |= fresh;
            self.left.0[row] &= !(fresh << base);
            if self.keeps_warps || found.mask == raddle_exec::core::lanes_of(self.width as u32) {
                break;
            }
        }
        found.warp = found.warp.filter(|_| whole);
        (found.mask != 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn threads(width: usize, numbers: &[usize]) -> BlockMask {
        let mut mask = BlockMask::default();
        for n in numbers {
            let (row, lane) = (n / width * width / 32, n / width * width % 32 + n % width);
            mask.add(row, 1 << lane);
        }
        mask
    }

    /// The warps, as numbers of threads by lane.
    fn compacted(width: usize, keeps_warps: bool, mask: BlockMask) -> Vec<Vec<Option<usize>>> {
        let mut compactor = Compactor::new(mask, width, keeps_warps);
        let count = compactor.count();
        let mut warps = Vec::new();
        while let Some(warp) = compactor.next() {
            let thread = |lane: usize| warp.homes[lane].row as usize * 32 + usize::from(warp.homes[lane].lane);
            warps.push((0..width).map(|lane| (warp.mask >> lane & 1 != 0).then(|| thread(lane))).collect());
        }
        assert_eq!(warps.len() as u32, count);
        warps
    }

    #[test]
    fn the_example_of_the_paper() {
        // Threads 1, 6, 7 and 2, 3, 4, 5, 8 of Figure 7, counted from 1.
        let one = compacted(4, false, threads(4, &[0, 5, 6]));
        assert_eq!(one, [[Some(0), Some(5), Some(6), None]]);
        let two = compacted(4, false, threads(4, &[1, 2, 3, 4, 7]));
        assert_eq!(two, [[Some(4), Some(1), Some(2), Some(3)], [None, None, None, Some(7)]], "4 and 8 share a lane");
    }

    #[test]
    fn all_threads_are_the_static_warps() {
        let mask = threads(8, &(0..24).collect::<Vec<_>>());
        for keeps_warps in [false, true] {
            let warps = compacted(8, keeps_warps, mask);
            assert_eq!(warps.len(), 3);
            assert!(warps.iter().flatten().copied().eq((0..24).map(Some)));
        }
    }

    proptest! {
        #[test]
        fn every_thread_is_in_one_warp_and_its_own_lane(
            rows in prop::collection::vec(any::<u32>(), 1..8), shift in 2usize..6, keeps in any::<bool>()
        ) {
            let width = 1 << shift;
            let mut mask = BlockMask::default();
            rows.iter().enumerate().for_each(|(row, lanes)| mask.add(row, *lanes));
            let mut seen = BlockMask::default();
            for warp in compacted(width, keeps, mask) {
                prop_assert!(warp.iter().any(Option::is_some));
                for (lane, thread) in warp.iter().enumerate().filter_map(|(lane, t)| t.map(|t| (lane, t))) {
                    prop_assert_eq!(thread % width, lane);
                    prop_assert_eq!(seen.row(thread / 32) >> (thread % 32) & 1, 0);
                    seen.add(thread / 32, 1 << (thread % 32));
                }
            }
            prop_assert_eq!(seen, mask);
        }
    }
}
