//! Experiments: a grid of runs in one file, run once, kept, and drawn.
//!
//! ```text
//!  experiments/NAME.toml ──► Experiment ──► Grid: points ──► work: runs what is missing ──► Store
//!                                │                                                            │
//!                                └──────────────► figure: tables ◄────────────────────────────┘
//!                                                     └──► chart: drawing ──► report: HTML, SVG, PNG, PDF, CSV
//! ```
//!
//! * [`experiment`]: what is varied, measured and drawn, and its file.
//! * [`grid`], [`point`]: the runs that makes; [`launch_file`], [`program_file`]: workloads that are launch files and
//!   programs of the user, which run as processes of their own.
//! * [`fill`], [`machines`]: how full their machines are, and what pages say of them.
//! * [`record`], [`key`]: what a run leaves behind, and the hash of what determines it.
//! * [`store`]: all records, safe against kills, full disks and damage; [`export`]: one table of them, [`varied`]: what
//!   differs between them.
//! * [`work`], [`slurm`]: running points on this machine, and on a cluster; [`keep`]: going on with those that were stopped.
//! * [`metric`], [`figure`], [`table`]: values from records, and tables of them with their spread.
//! * [`agreement`], [`numbers`]: whether a value agrees with a paper's, and all that papers print beside ours.
//! * [`overview`]: the picture of all experiments; [`timeline`]: how warps run and wait in one point.
//! * [`chart`], [`lanes`], [`phases`], [`gangs`], [`accesses`]: a table, what lanes did, how warps waited and went together, what memory was asked
//!   for, with a [`label`] for each instruction, as a [`drawing`], which [`svg`], [`png`] and
//!   [`pdf`] write in their formats, with the [`font`] that comes with the program; [`picture`] says which.
//! * [`plot_data`]: the numbers of a figure, and a script that draws them elsewhere.
//! * [`printed`], [`sample`]: tables read back from pages, and the runs that show whether some of their cells are true.
//! * [`report`], [`summary`], [`markdown`]: the page with all of it, the page about several experiments, and tables in the book.
#![forbid(unsafe_code)]

pub mod accesses;
pub mod agreement;
pub mod chart;
mod children;
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
pub mod keep;
pub mod key;
pub mod label;
pub mod lanes;
pub mod launch_file;
pub mod machines;
pub mod markdown;
pub mod metric;
pub mod numbers;
mod outline;
pub mod overview;
mod parameters;
pub mod pdf;
pub mod phases;
pub mod picture;
pub mod plot_data;
pub mod png;
pub mod point;
pub mod printed;
pub mod program_file;
pub mod record;
pub mod report;
pub mod sample;
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
    use crate::Key;

    /// The golden files, in the order of the counts of runs in the list.
    const GOLDEN: [&str; 4] = [
        include_str!("../../../tests/golden/cycles.txt"),
        include_str!("../../../tests/golden/divergence.txt"),
        include_str!("../../../tests/golden/mechanisms.txt"),
        include_str!("../../../tests/golden/launches.txt"),
    ];

    /// The checksum of the heads and the first runs of the golden files; of those that have none, nothing.
    fn sum(counts: &[usize]) -> String {
        let first = |(text, count): (&&str, &usize)| text.split_inclusive('\n').take(count + 1).collect::<String>();
        Key::of(GOLDEN.iter().zip(counts).map(first).collect::<String>().as_bytes()).short()
    }

    #[test]
    fn golden_cycles_that_changed_raise_the_epoch() {
        let list = include_str!("../../../tests/golden/epochs.txt");
        let lines = list.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect::<Vec<_>>());
        let lines: Vec<Vec<&str>> = lines.collect();
        let epochs: Vec<u32> = lines.iter().filter_map(|line| line[0].parse().ok()).collect();
        assert!(epochs.is_sorted() && epochs.len() == lines.len(), "epochs go up");
        let now = raddle_sim::EPOCH;
        assert_eq!(epochs.last(), Some(&now), "the last line of tests/golden/epochs.txt is of another epoch");
        let all = GOLDEN.map(|text| text.lines().count() - 1);
        let line = |epoch: u32| format!("{epoch} {} {}", sum(&all), all.map(|count| count.to_string()).join(" "));
        let mut counts = Vec::new();
        for of_now in lines.iter().filter(|line| line[0] == now.to_string()) {
            counts = of_now[2..].iter().map(|count| count.parse().unwrap()).collect();
            assert_eq!(
                sum(&counts),
                of_now[1],
                "golden runs have changed since `{}`: raise `raddle_sim::EPOCH` and add `{}` to tests/golden/epochs.txt",
                of_now.join(" "),
                line(now + 1)
            );
        }
        assert_eq!(counts, all, "there are new golden runs: add `{}` to tests/golden/epochs.txt", line(now));
    }
}
