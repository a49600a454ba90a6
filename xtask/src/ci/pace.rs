//! How quick the machine's processors are at the moment: they are shared with other machines, and the same work was seen
//! to take five times the processor time within a day.

use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The processor time of [`work`] on a quiet machine of the kind that budgets are for.
const QUIET: Duration = Duration::from_millis(20);

/// How many times more processor time than there a piece of work takes here and now, on two cores at once.
pub fn now() -> f64 {
    let took: Duration = thread::scope(|scope| {
        let workers = [1, 2].map(|seed| scope.spawn(move || timed(seed)));
        workers.into_iter().filter_map(|worker| worker.join().ok()).sum()
    });
    took.as_secs_f64() / 2.0 / QUIET.as_secs_f64()
}

fn timed(seed: u64) -> Duration {
    let clock = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from);
    let start = clock();
    work(seed);
    clock() - start
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
