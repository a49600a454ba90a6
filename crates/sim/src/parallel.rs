//! Host threads that run the parts of a GPU for one window at a time.
//!
//! A window's parts (SMs, memory partitions) do not see each other, so it does not matter for results who runs which
//! of them when.
//! The threads wait for the next window by spinning: a window is a few microseconds of work.

use crate::packet::Cycle;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a part. A part another thread panicked in is handed out as it is: the panic ends the run anyway.
pub(crate) fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Times a thread looks for work before it lets others run.
const SPINS: u32 = 2_000;

/// A value on cache lines of its own.
#[repr(align(128))]
struct Apart<T>(T);

/// What a crew runs: parts, each for one window.
pub(crate) trait Work: Sync {
    /// What a thread holds while it runs parts of a window.
    type Hold<'w>
    where
        Self: 'w;

    /// A thread begins with a window.
    fn hold(&self) -> Self::Hold<'_>;

    /// Runs one part from one cycle to another.
    fn run(&self, hold: &Self::Hold<'_>, part: usize, from: Cycle, to: Cycle);
}

/// What the threads of a run share.
///
/// Every part has an owner, so that its state stays in the cache of one core; a thread that is done with its own takes
/// what others have not begun.
pub(crate) struct Crew {
    /// The window to run, and its number.
    from: AtomicU64,
    to: AtomicU64,
    window: Apart<AtomicU64>,
    /// The last window each part was taken for.
    taken: Vec<Apart<AtomicU64>>,
    /// Parts that are done. A window ends when all are, whether or not every helper has woken up for it.
    done: Apart<AtomicUsize>,
    threads: usize,
    over: AtomicBool,
    broken: AtomicBool,
}

impl Crew {
    /// For this many parts and threads, the calling one included.
    pub(crate) fn new(parts: usize, threads: usize) -> Self {
        Self {
            from: AtomicU64::new(0),
            to: AtomicU64::new(0),
            window: Apart(AtomicU64::new(0)),
            taken: (0..parts).map(|_| Apart(AtomicU64::new(0))).collect(),
            done: Apart(AtomicUsize::new(0)),
            threads: threads.max(1),
            over: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        }
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.taken.len()
    }

    /// Threads besides the calling one.
    pub(crate) fn helpers(&self) -> usize {
        self.threads - 1
    }

    /// Runs parts of a window as thread `me`: its own, then what is left.
    fn take_parts(&self, me: usize, window: u64, work: &impl Work) {
        let hold = work.hold();
        let parts = self.parts();
        let mut count = 0;
        for owner in me..me + self.threads {
            for part in (owner % self.threads..parts).step_by(self.threads) {
                let taken = &self.taken[part].0;
                if taken.load(Ordering::Relaxed) != window - 1
                    || taken.compare_exchange(window - 1, window, Ordering::AcqRel, Ordering::Relaxed).is_err()
                {
                    continue;
                }
                // The window cannot end before this part is done, so these are its times.
                work.run(&hold, part, self.from.load(Ordering::Relaxed), self.to.load(Ordering::Relaxed));
                count += 1;
            }
        }
        drop(hold);
        self.done.0.fetch_add(count, Ordering::Release);
    }

    /// Runs all parts for a window, together with the helpers.
    pub(crate) fn window(&self, from: Cycle, to: Cycle, work: &impl Work) {
        self.from.store(from, Ordering::Relaxed);
        self.to.store(to, Ordering::Relaxed);
        self.done.0.store(0, Ordering::Relaxed);
        let window = self.window.0.load(Ordering::Relaxed) + 1;
        self.window.0.store(window, Ordering::Release);
        self.take_parts(0, window, work);
        wait(|| self.done.0.load(Ordering::Acquire) == self.parts() || self.broken.load(Ordering::Acquire));
        assert!(!self.broken.load(Ordering::Acquire), "a helper thread failed");
    }

    /// What helper `me`, from 1 on, does until the run is over.
    pub(crate) fn help(&self, me: usize, work: &impl Work) {
        let _alarm = Alarm(self);
        let mut last = 0;
        loop {
            wait(|| self.window.0.load(Ordering::Acquire) != last || self.over.load(Ordering::Acquire));
            if self.over.load(Ordering::Acquire) {
                return;
            }
            last = self.window.0.load(Ordering::Acquire);
            self.take_parts(me, last, work);
        }
    }

    /// Lets the helpers go when it is dropped, also by a panic.
    pub(crate) fn ends_with(&self) -> End<'_> {
        End(self)
    }
}

/// See [`Crew::ends_with`].
pub(crate) struct End<'c>(&'c Crew);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

/// Tells the others when a helper panics.
struct Alarm<'c>(&'c Crew);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

fn wait(done: impl Fn() -> bool) {
    let mut spins = 0;
    while !done() {
        spins += 1;
        if spins < SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<F: Fn(usize, Cycle, Cycle) + Sync> Work for F {
        type Hold<'w>
            = ()
        where
            F: 'w;

        fn hold(&self) {}

        fn run(&self, (): &(), part: usize, from: Cycle, to: Cycle) {
            self(part, from, to);
        }
    }

    #[test]
    fn every_part_runs_once_in_every_window() {
        let crew = Crew::new(21, 4);
        let counts: Vec<AtomicU64> = (0..21).map(|_| AtomicU64::new(0)).collect();
        let run = |part: usize, from: Cycle, to: Cycle| {
            counts[part].fetch_add(to - from, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for me in 1..=crew.helpers() {
                let (crew, run) = (&crew, &run);
                scope.spawn(move || crew.help(me, run));
            }
            let _over = crew.ends_with();
            for n in 0..2000 {
                crew.window(5 * n, 5 * n + 5, &run);
            }
        });
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 10_000));
    }

    #[test]
    #[should_panic(expected = "a helper thread failed")]
    fn a_failing_helper_ends_the_run() {
        let crew = Crew::new(2, 2);
        let main = std::thread::current().id();
        let run = |_: usize, _: Cycle, _: Cycle| {
            // Only the helper gets to the failure: the caller waits for it first.
            if std::thread::current().id() == main {
                std::thread::sleep(std::time::Duration::from_millis(1));
            } else {
                panic!("on purpose");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| crew.help(1, &run));
            let _over = crew.ends_with();
            for n in 0..100_000 {
                crew.window(n, n + 1, &run);
            }
        });
    }
}
