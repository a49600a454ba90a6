//! The crew under loom, which runs a test once for every order of its threads and every value that a load may see. Where
//! these are too many, it leaves out orders in which threads that do not wait are interrupted more often than the test
//! says.
//!
//! What parts write is read and written with relaxed loads and stores of their own: only the crew's order between windows
//! keeps a thread from reading an old value.

use super::*;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread::{JoinHandle, spawn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize as StdUsize;

/// Cycles of a window.
const LENGTH: Cycle = 5;

/// Parts that count the windows they have run in.
struct Parts {
    windows: Vec<AtomicU64>,
    /// Runs parts and counts them, so that no run is lost: two threads must not run a part in one window.
    runs: Vec<StdUsize>,
    /// A helper fails at this part.
    fails_at: Option<usize>,
}

impl Parts {
    fn new(count: usize, fails_at: Option<usize>) -> Self {
        Self {
            windows: (0..count).map(|_| AtomicU64::new(0)).collect(),
            runs: (0..count).map(|_| StdUsize::new(0)).collect(),
            fails_at,
        }
    }

    /// Checks that every part has run so often and that this is seen without more order than the crew's.
    fn check(&self, windows: usize) {
        for (own, runs) in self.windows.iter().zip(&self.runs) {
            assert_eq!(own.load(Ordering::Relaxed), windows as u64, "a part is as it was in a window before");
            assert_eq!(runs.load(Ordering::Relaxed), windows, "a part ran twice, or not at all");
        }
    }
}

/// What one thread runs: the parts, and whether the thread is a helper.
struct Seen {
    parts: Arc<Parts>,
    is_helper: bool,
}

impl Work for Seen {
    type Hold<'w> = ();

    fn hold(&self) {}

    fn run(&self, (): &(), part: usize, from: Cycle, to: Cycle) {
        let own = &self.parts.windows[part];
        let before = own.load(Ordering::Relaxed);
        assert_eq!((from, to), (LENGTH * before, LENGTH * before + LENGTH), "the times of another window");
        if self.is_helper && self.parts.fails_at == Some(part) {
            // Without the message of a panic.
            resume_unwind(Box::new("on purpose"));
        }
        own.store(before + 1, Ordering::Relaxed);
        self.parts.runs[part].fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts the helpers; each says whether it came to its end.
fn helpers(crew: &Arc<Crew>, parts: &Arc<Parts>) -> Vec<JoinHandle<bool>> {
    let start = |me| {
        let (crew, work) = (crew.clone(), Seen { parts: parts.clone(), is_helper: true });
        spawn(move || catch_unwind(AssertUnwindSafe(|| crew.help(me, &work))).is_ok())
    };
    (1..=crew.helpers()).map(start).collect()
}

/// Runs windows with parts of these owners under every order with so many preemptions.
fn explore(threads: usize, owners: &'static [usize], windows: u64, preemptions: Option<usize>) {
    let mut builder = Builder::new();
    (builder.preemption_bound, builder.max_branches) = (preemptions, 20_000);
    builder.check(move || {
        let crew = Arc::new(Crew::new(owners.iter().copied(), threads));
        let parts = Arc::new(Parts::new(owners.len(), None));
        let helpers = helpers(&crew, &parts);
        let work = Seen { parts: parts.clone(), is_helper: false };
        let over = crew.ends_with();
        for window in 0..windows {
            crew.window(LENGTH * window, LENGTH * window + LENGTH, &work);
            parts.check(window as usize + 1);
        }
        drop(over);
        assert!(helpers.into_iter().all(|helper| helper.join().unwrap()));
    });
}

#[test]
fn two_threads_meet_in_every_window() {
    explore(2, &[0, 1], 2, Some(3));
}

#[test]
fn two_threads_meet_three_times() {
    explore(2, &[0, 1], 3, Some(0));
}

#[test]
fn parts_that_are_left_are_taken_by_others() {
    explore(2, &[1, 1, 1], 1, Some(2));
}

#[test]
fn three_threads_meet_in_every_window() {
    explore(3, &[1, 2], 2, Some(0));
}

#[test]
fn a_failing_helper_ends_the_window() {
    let mut builder = Builder::new();
    (builder.preemption_bound, builder.max_branches) = (Some(3), 20_000);
    builder.check(|| {
        let crew = Arc::new(Crew::new([0, 1], 2));
        let parts = Arc::new(Parts::new(2, Some(1)));
        let helpers = helpers(&crew, &parts);
        let work = Seen { parts: parts.clone(), is_helper: false };
        let over = crew.ends_with();
        let is_done = catch_unwind(AssertUnwindSafe(|| crew.window(0, LENGTH, &work))).is_ok();
        drop(over);
        let is_well = helpers.into_iter().all(|helper| helper.join().unwrap());
        assert_eq!(is_done, is_well, "the window ends well unless the helper has begun with its part");
        if is_done {
            parts.check(1);
        }
    });
}
