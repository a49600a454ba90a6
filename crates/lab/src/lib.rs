//! Experiments: a grid of runs in one file, run once, kept, and drawn.
//!
//! ```text
//!  experiments/NAME.toml ──► Experiment ──► Grid: points ──► work: runs what is missing ──► Store
//!                                │                                                            │
//!                                └──────────────► figure: tables ◄────────────────────────────┘
//!                                                     └──► chart: drawing ──► report: HTML, SVG, PNG, CSV
//! ```
//!
//! * [`experiment`]: what is varied, measured and drawn, and its file.
//! * [`grid`], [`point`]: the runs that makes.
//! * [`fill`], [`machines`]: how full their machines are, and what pages say of them.
//! * [`record`], [`key`]: what a run leaves behind, and the hash of what determines it.
//! * [`store`]: all records, safe against kills, full disks and damage; [`export`]: one table of them, [`varied`]: what
//!   differs between them.
//! * [`work`], [`slurm`]: running points on this machine, and on a cluster.
//! * [`metric`], [`figure`], [`table`]: values from records, and tables of them with their spread.
//! * [`agreement`], [`numbers`]: whether a value agrees with a paper's, and all that papers print beside ours.
//! * [`overview`]: the picture of all experiments; [`timeline`]: how warps run and wait in one point.
//! * [`chart`], [`lanes`], [`phases`], [`gangs`]: a table, what lanes did, how warps waited and went together, as a [`drawing`], which [`svg`] and [`png`] write in their
//!   formats, with the [`font`] that comes with the program.
//! * [`report`], [`summary`], [`markdown`]: the page with all of it, the page about several experiments, and tables in the book.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod chart;
pub mod drawing;
pub mod energy;
pub mod error;
pub mod experiment;
pub mod export;
pub mod figure;
pub mod fill;
pub mod font;
pub mod gangs;
pub mod grid;
pub mod key;
pub mod lanes;
pub mod machines;
pub mod markdown;
pub mod metric;
pub mod numbers;
pub mod overview;
mod parameters;
pub mod phases;
pub mod png;
pub mod point;
pub mod record;
pub mod report;
pub mod slurm;
pub mod store;
pub mod summary;
pub mod svg;
pub mod table;
pub mod timeline;
pub mod varied;
pub mod virtualize;
pub mod work;

pub use error::Error;
pub use experiment::Experiment;
pub use grid::Grid;
pub use key::Key;
pub use record::{Failure, Record};
pub use store::Store;

#[cfg(test)]
mod epoch {
    /// A line of the list: the epoch, and the checksum of the golden cycles then.
    #[test]
    fn golden_cycles_that_changed_raise_the_epoch() {
        let golden = concat!(
            include_str!("../../../tests/golden/cycles.txt"),
            include_str!("../../../tests/golden/divergence.txt")
        );
        let list = include_str!("../../../tests/golden/epochs.txt");
        let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
        let epochs: Vec<u32> = lines.iter().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
        assert!(epochs.windows(2).all(|pair| pair[0] < pair[1]), "epochs go up");
        let (epoch, sum) = (raddle_sim::EPOCH, crate::Key::of(golden.as_bytes()).short());
        let now = format!("{epoch} {sum}");
        assert_eq!(
            lines.last().copied(),
            Some(now.as_str()),
            "the golden cycles have changed: raise `raddle_sim::EPOCH` and add `{} {sum}` to tests/golden/epochs.txt \
             (where rows were only added, replace the checksum instead)",
            epoch + 1
        );
    }
}
