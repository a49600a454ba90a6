//! How quick the machine is at the moment: seconds of a step say little where others use the same processor.

use std::thread;
use std::time::{Duration, Instant};

/// What [`work`] takes on two quiet cores of the machine the budget is for.
const QUIET: Duration = Duration::from_millis(20);

/// How many times longer than there a piece of work takes here and now, on two cores at once.
pub fn now() -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for seed in 1..=2 {
            scope.spawn(move || work(seed));
        }
    });
    start.elapsed().as_secs_f64() / QUIET.as_secs_f64()
}

/// Sorts a million numbers: arithmetic, branches and memory, as in compilers and simulators.
fn work(seed: u64) -> u64 {
    let mut state = seed;
    let mut numbers: Vec<u64> = (0..1_000_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect();
    numbers.sort_unstable();
    std::hint::black_box(numbers[numbers.len() / 2])
}
