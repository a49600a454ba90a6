//! Host threads that run the parts of a GPU for one window at a time.
//!
//! A window's parts (SMs, memory partitions) do not see each other, so it does not matter for results who runs which
//! of them when.
//! The threads wait for the next window by spinning: a window is a few microseconds of work.

use crate::packet::Cycle;
use crate::saved;
use crate::saved::Pass;
#[cfg(loom)]
use loom::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(not(loom))]
use std::thread::yield_now;

/// Locks a part. A part another thread panicked in is handed out as it is: the panic ends the run anyway.
pub(crate) fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Times a thread looks for work before it lets others run.
const SPINS: u32 = if cfg!(loom) { 1 } else { 2_000 };

/// A value on cache lines of its own.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

/// How long a part need not be run: the cycle before which nothing in it moves if it is told nothing. One thread writes
/// it, between windows, so that no order is needed.
pub(crate) struct Sleep(AtomicU64);

impl Sleep {
    /// The part is run in every window.
    pub(crate) const AWAKE: Cycle = 0;

    /// Of a part that is run in the first window.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Self::AWAKE))
    }

    #[inline]
    pub(crate) fn until(&self) -> Cycle {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, until: Cycle) {
        self.0.store(until, Ordering::Relaxed);
    }

    /// Writes it, or reads it back.
    pub(crate) fn visit(&self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        let mut until = self.until();
        pass.value(&mut until)?;
        self.set(until);
        Ok(())
    }

    /// Whether a window that ends with this cycle need not run the part.
    #[inline]
    pub(crate) fn lasts(&self, to: Cycle) -> bool {
        self.until() >= to
    }
}

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

/// A part of the GPU, for the crew.
struct Part {
    /// The last window it was taken for.
    taken: AtomicU64,
    /// The thread that ran it last.
    owner: AtomicUsize,
}

impl Part {
    fn of(owner: usize) -> Self {
        Self { taken: AtomicU64::new(0), owner: AtomicUsize::new(owner) }
    }
}

/// Parts that are left to the others, who are about to come to them: their state is in other cores' caches.
const LEAVE: usize = 1;

/// What the threads of a run share.
///
/// Every part has an owner, so that its state stays in the cache of one core. A thread that is done with its own takes
/// from others that have several left, and keeps what it took.
pub(crate) struct Crew {
    /// The window to run, and its number.
    from: AtomicU64,
    to: AtomicU64,
    window: Apart<AtomicU64>,
    parts: Vec<Apart<Part>>,
    /// Parts that are done. A window ends when all are, whether or not every helper has woken up for it.
    done: Apart<AtomicUsize>,
    threads: usize,
    over: AtomicBool,
    broken: AtomicBool,
}

impl Crew {
    /// For this many threads, the calling one included, and parts with their first owners. Thread 0 calls.
    pub(crate) fn new(owners: impl IntoIterator<Item = usize>, threads: usize) -> Self {
        Self {
            from: AtomicU64::new(0),
            to: AtomicU64::new(0),
            window: Apart(AtomicU64::new(0)),
            parts: owners.into_iter().map(|owner| Apart(Part::of(owner))).collect(),
            done: Apart(AtomicUsize::new(0)),
            threads: threads.max(1),
            over: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        }
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Threads besides the calling one.
    pub(crate) fn helpers(&self) -> usize {
        self.threads - 1
    }

    /// Runs parts of a window as thread `me`: its own, then what others have left of theirs when it is more than
    /// `leave`.
    fn take_parts(&self, me: usize, window: u64, leave: usize, work: &impl Work) {
        let hold = work.hold();
        let mut count = 0;
        let mut run = |part: usize| {
            let Part { taken, owner } = &self.parts[part].0;
            if taken.compare_exchange(window - 1, window, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                owner.store(me, Ordering::Relaxed);
                // The window cannot end before this part is done, so these are its times.
                work.run(&hold, part, self.from.load(Ordering::Relaxed), self.to.load(Ordering::Relaxed));
                count += 1;
            }
        };
        let parts = || self.parts.iter().enumerate().map(|(n, part)| (n, &part.0));
        for (number, _) in parts().rev().filter(|(_, part)| part.owner.load(Ordering::Relaxed) == me) {
            run(number);
        }
        let is_left = |part: &Part| part.taken.load(Ordering::Relaxed) == window - 1;
        while parts().filter(|(_, part)| is_left(part)).count() > leave
            && let Some((number, _)) = parts().find(|(_, part)| is_left(part))
        {
            run(number);
        }
        drop(hold);
        // A thread that comes too late for a window leaves the counter of the next one alone.
        if count > 0 {
            self.done.0.fetch_add(count, Ordering::Release);
        }
    }

    /// Runs all parts for a window, together with the helpers.
    pub(crate) fn window(&self, from: Cycle, to: Cycle, work: &impl Work) {
        self.from.store(from, Ordering::Relaxed);
        self.to.store(to, Ordering::Relaxed);
        self.done.0.store(0, Ordering::Relaxed);
        let window = self.window.0.load(Ordering::Relaxed) + 1;
        self.window.0.store(window, Ordering::Release);
        self.take_parts(0, window, LEAVE, work);
        let is_over = || self.done.0.load(Ordering::Acquire) == self.parts() || self.broken.load(Ordering::Acquire);
        if !spin(is_over) {
            // A helper got no processor: not even what is its own will come soon.
            self.take_parts(0, window, 0, work);
            wait(is_over);
        }
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
            self.take_parts(me, last, LEAVE, work);
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

/// Between two looks. Loom has to be told to run another thread.
#[inline]
fn pause() {
    #[cfg(loom)]
    yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

/// Looks for a while; whether it was done.
fn spin(done: impl Fn() -> bool) -> bool {
    for _ in 0..SPINS {
        if done() {
            return true;
        }
        pause();
    }
    false
}

fn wait(done: impl Fn() -> bool) {
    if !spin(&done) {
        while !done() {
            yield_now();
        }
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
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
        let crew = Crew::new((0..21).map(|n| n % 4), 4);
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
        let crew = Crew::new([0, 1], 2);
        let main = std::thread::current().id();
        let fails = AtomicBool::new(false);
        let run = |_: usize, _: Cycle, _: Cycle| {
            // The caller is not done with its part before the helper has begun with its own.
            if std::thread::current().id() == main {
                wait(|| fails.load(Ordering::Relaxed));
            } else {
                fails.store(true, Ordering::Relaxed);
                panic!("on purpose");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| crew.help(1, &run));
            let _over = crew.ends_with();
            crew.window(0, 1, &run);
        });
    }
}
