//! How close the timing model is to the reference simulator: measurements, their page in the book, and its goldens.
//!
//! The page is written by `cargo xtask accuracy`. Its cycle counts are also what the tests expect, so a change of the
//! model that moves a cycle shows as a changed page.

mod held;
mod page;
mod v100;

pub use held::{Held, held, textures};
pub use page::{Measured, page};
pub use v100::v100_page;

use crate::timing::{self, Point};
use std::collections::BTreeMap;

/// The page, from the top folder.
pub const PAGE: &str = "docs/src/accuracy.md";

/// The page about the V100.
pub const V100_PAGE: &str = "docs/src/validation/v100.md";

/// Counts of one run that the reference reports too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Cycles.
    pub cycles: u64,
    /// Instructions issued, by warp.
    pub warp_insts: u64,
    /// Instructions issued, by thread.
    pub thread_insts: u64,
    /// Accesses and misses of the data caches.
    pub l1d: [u64; 2],
    /// Accesses and misses of the L2.
    pub l2: [u64; 2],
    /// Accesses and misses of the texture caches.
    pub l1t: [u64; 2],
}

/// One run beside the reference's.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Kernel, with its size where that varies.
    pub name: String,
    /// Issue scheduler.
    pub scheduler: String,
    /// Whether a single warp ran.
    pub single_warp: bool,
    /// What we count.
    pub ours: Counts,
    /// What the reference counted; zero where it does not say.
    pub theirs: Counts,
}

impl Row {
    /// Cycles beyond the reference's, in percent.
    #[must_use]
    pub fn error(&self) -> f64 {
        percent(self.ours.cycles, self.theirs.cycles)
    }

    /// Whether the instruction counts are the reference's.
    #[must_use]
    pub fn same_instructions(&self) -> bool {
        self.ours.warp_insts == self.theirs.warp_insts && self.ours.thread_insts == self.theirs.thread_insts
    }
}

fn percent(ours: u64, theirs: u64) -> f64 {
    100.0 * (ours as f64 / theirs as f64 - 1.0)
}

/// Runs a point on its machine.
#[must_use]
pub fn measure(point: &Point) -> Row {
    measure_with(point, &[""; 0])
}

/// The same with changes to the machine.
#[must_use]
pub fn measure_with(point: &Point, set: &[impl AsRef<str>]) -> Row {
    let result = timing::run_point(point, set);
    let (total, l2) = (result.total(), result.l2_total());
    let number = |key: &str| point.measured[key].as_u64().unwrap_or(0);
    let case = &point.case;
    Row {
        name: case.name.clone(),
        scheduler: point.scheduler.clone(),
        single_warp: case.grid == [1, 1, 1] && case.block.iter().product::<u32>() <= 32,
        ours: Counts {
            cycles: result.cycles,
            warp_insts: total.sm.warp_insts,
            thread_insts: total.sm.thread_insts,
            l1d: [total.l1d.accesses, total.l1d.misses],
            l2: [l2.accesses, l2.misses + l2.sector_misses],
            l1t: [total.l1t.accesses, total.l1t.misses],
        },
        theirs: Counts {
            cycles: point.cycles(),
            warp_insts: number("warp_insts"),
            thread_insts: number("thread_insts"),
            l1d: [number("l1d_accesses"), number("l1d_misses")],
            l2: [number("l2_accesses"), number("l2_misses")],
            ..Counts::default()
        },
    }
}

/// Mean and largest of the absolute errors, in percent.
#[must_use]
pub fn mean_and_max(rows: &[Row]) -> (f64, f64) {
    let errors = rows.iter().map(|r| r.error().abs());
    (errors.clone().sum::<f64>() / rows.len().max(1) as f64, errors.fold(0.0, f64::max))
}

/// How much longer one scheduler takes than another, in percent.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Kernel.
    pub name: String,
    /// Loose round robin beyond greedy-then-oldest, here.
    pub ours: f64,
    /// The same in the reference.
    pub theirs: f64,
}

impl Difference {
    /// Differences of the reference below this many percent are not compared.
    pub const RELEVANT: f64 = 3.0;

    /// Whether the reference sees a difference worth the name.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        self.theirs.abs() > Self::RELEVANT
    }

    /// Whether both go the same way.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.ours > 0.0) == (self.theirs > 0.0)
    }
}

/// `lrr` against `gto` for every kernel that has both.
#[must_use]
pub fn differences(rows: &[Row]) -> Vec<Difference> {
    let mut found = Vec::new();
    for gto in rows.iter().filter(|r| r.scheduler == "gto") {
        if let Some(lrr) = rows.iter().find(|r| r.name == gto.name && r.scheduler == "lrr") {
            let ours = percent(lrr.ours.cycles, gto.ours.cycles);
            let theirs = percent(lrr.theirs.cycles, gto.theirs.cycles);
            found.push(Difference { name: gto.name.clone(), ours, theirs });
        }
    }
    found
}

/// The cycle counts a page has, by run and scheduler.
#[must_use]
pub fn goldens(page: &str) -> BTreeMap<(String, String), u64> {
    let mut found = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, scheduler @ ("gto" | "lrr"), cycles, ..] = cells[..]
            && let Ok(cycles) = cycles.replace(',', "").parse()
        {
            found.entry((name.to_owned(), scheduler.to_owned())).or_insert(cycles);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_gives_its_cycles_back() {
        let page = "| run | issue | ours |\n| --- | --- | --: |\n| a 32 | gto | 1,234 | 5 |\n| b | lrr | 7 |\n";
        let found = goldens(page);
        let wanted = [("a 32", "gto", 1234), ("b", "lrr", 7)];
        let wanted = wanted.map(|(name, scheduler, n)| ((name.to_owned(), scheduler.to_owned()), n));
        assert_eq!(found, BTreeMap::from(wanted));
    }

    #[test]
    fn directions_are_compared() {
        let row = |scheduler: &str, ours, theirs| Row {
            name: "k".to_owned(),
            scheduler: scheduler.to_owned(),
            single_warp: false,
            ours: Counts { cycles: ours, ..Counts::default() },
            theirs: Counts { cycles: theirs, ..Counts::default() },
        };
        let rows = [row("gto", 100, 100), row("lrr", 90, 110)];
        let found = differences(&rows);
        assert!(found.len() == 1 && found[0].is_relevant() && !found[0].agrees());
        assert_eq!(mean_and_max(&rows).1.round(), 18.0);
    }
}
