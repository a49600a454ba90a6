//! The census of launches is what workloads launch.
#![allow(missing_docs, reason = "tests")]

use raddle_workloads::{Size, all};

/// Counts every other workload again.
fn check(size: Size, half: usize) {
    for workload in all().iter().skip(half).step_by(2) {
        let counted = workload.count_launches(size).unwrap();
        let (now, was) = [counted, workload.launches(size)].map(|l| workload.census_lines(size, &l)).into();
        assert!(now == was, "the census of launches is out of date: run `cargo xtask launches`\nwas\n{was}is\n{now}");
    }
}

#[test]
fn the_census_is_right_at_size_tiny() {
    check(Size::Tiny, 0);
    check(Size::Tiny, 1);
}

#[test]
fn the_census_is_right_at_size_small() {
    check(Size::Small, 0);
}

#[test]
fn the_other_half_is_right_at_size_small() {
    check(Size::Small, 1);
}
