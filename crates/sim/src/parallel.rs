//! Host threads that run the parts of a GPU for one window at a time.
//!
//! A window's parts (SMs, memory partitions) do not see each other, so it does not matter who runs which of them when.
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

/// What the threads of a run share.
pub(crate) struct Crew {
    /// The window to run.
    from: AtomicU64,
    to: AtomicU64,
    parts: usize,
    /// The next part nobody has taken; `parts` or more when there is nothing to do.
    next: AtomicUsize,
    /// Parts that are done. A window ends when all are, whether or not every helper has woken up for it.
    done: AtomicUsize,
    helpers: usize,
    over: AtomicBool,
    broken: AtomicBool,
}

impl Crew {
    /// For this many parts and threads, the calling one included.
    pub(crate) fn new(parts: usize, threads: usize) -> Self {
        Self {
            from: AtomicU64::new(0),
            to: AtomicU64::new(0),
            parts,
            next: AtomicUsize::new(parts),
            done: AtomicUsize::new(0),
            helpers: threads.max(1) - 1,
            over: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        }
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// Threads besides the calling one.
    pub(crate) fn helpers(&self) -> usize {
        self.helpers
    }

    fn has_work(&self) -> bool {
        self.next.load(Ordering::Acquire) < self.parts
    }

    fn take_parts(&self, run: &impl Fn(usize, Cycle, Cycle)) {
        while self.has_work() {
            let part = self.next.fetch_add(1, Ordering::AcqRel);
            if part >= self.parts {
                return;
            }
            // The window cannot end before this part is done, so these are its times.
            run(part, self.from.load(Ordering::Relaxed), self.to.load(Ordering::Relaxed));
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    /// Runs all parts for a window, together with the helpers.
    pub(crate) fn window(&self, from: Cycle, to: Cycle, run: &impl Fn(usize, Cycle, Cycle)) {
        self.from.store(from, Ordering::Relaxed);
        self.to.store(to, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.next.store(0, Ordering::Release);
        self.take_parts(run);
        wait(|| self.done.load(Ordering::Acquire) == self.parts || self.broken.load(Ordering::Acquire));
        assert!(!self.broken.load(Ordering::Acquire), "a helper thread failed");
    }

    /// What a helper does until the run is over.
    pub(crate) fn help(&self, run: &impl Fn(usize, Cycle, Cycle)) {
        let _alarm = Alarm(self);
        loop {
            wait(|| self.has_work() || self.over.load(Ordering::Acquire));
            if self.over.load(Ordering::Acquire) {
                return;
            }
            self.take_parts(run);
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

    #[test]
    fn every_part_runs_once_in_every_window() {
        let crew = Crew::new(21, 4);
        let counts: Vec<AtomicU64> = (0..21).map(|_| AtomicU64::new(0)).collect();
        let run = |part: usize, from: Cycle, to: Cycle| {
            counts[part].fetch_add(to - from, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for _ in 0..crew.helpers() {
                scope.spawn(|| crew.help(&run));
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
        let crew = Crew::new(1, 2);
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
            scope.spawn(|| crew.help(&run));
            let _over = crew.ends_with();
            for n in 0..100_000 {
                crew.window(n, n + 1, &run);
            }
        });
    }
}
