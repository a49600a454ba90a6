//! A few cases of the fuzzer. `cargo xtask fuzz` runs more.

mod faults;
mod generated;

use raddle_testkit::fuzz::execute::Execute;
use raddle_testkit::fuzz::timed::Timed;
use raddle_testkit::fuzz::{self, Finding, Limits, Tally, Target, Watch};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx")
}

fn run(target: &dyn Target, seed: u64, count: u64) -> Tally {
    let fail = |f: &Finding| panic!("seed {}: {}\n{}", f.seed, f.what, String::from_utf8_lossy(&f.input));
    fuzz::run(target, Limits { seed, count, end: None }, &Watch::new(), fail)
}

#[test]
fn changed_kernels_do_the_same_on_every_engine() {
    let tally = run(&Execute::new(&folder()).unwrap(), 500_000, 300);
    assert_eq!((tally.cases, tally.empty), (300, 0));
    assert!(tally.done.compared > 600, "{tally:?}");
}

#[test]
fn changed_kernels_do_the_same_on_the_timing_model() {
    let tally = run(&Timed::new(&folder()).unwrap(), 500_000, 60);
    assert!(tally.done.compared > 30, "{tally:?}");
}

#[test]
fn a_seed_makes_one_kernel() {
    let target = Execute::new(&folder()).unwrap();
    let inputs: Vec<_> = (0..40).map(|seed| target.input(seed)).collect();
    assert!((0..40).all(|seed| target.input(seed) == inputs[seed as usize]));
    assert!(inputs.windows(2).all(|pair| pair[0] != pair[1]));
}
