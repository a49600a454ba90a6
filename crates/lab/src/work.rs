//! Running points on the cores of this machine.

use crate::error::Error;
use crate::keep::Keeping;
use crate::key::Key;
use crate::point::Point;
use crate::record::{Failure, Record};
use crate::store::Store;
use raddle_exec::Interrupt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where results go.
pub trait Results: Send {
    /// Whether there is a result that can be read.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn has(&self, key: &Key) -> Result<bool, Error> {
        Ok(self.result(key)?.is_some())
    }
    /// Whether there is a result and no copy of it can be read.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn is_damaged(&self, _key: &Key) -> Result<bool, Error> {
        Ok(false)
    }
    /// Whether everything that was kept is still there.
    ///
    /// # Errors
    /// When it is not.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
    /// Takes a result; it is safe when this returns without error.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keep(&mut self, record: Record) -> Result<(), Error>;
    /// Takes what went wrong.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn fail(&mut self, failure: Failure) -> Result<(), Error>;
    /// A result.
    ///
    /// # Errors
    /// When it cannot be read.
    fn result(&self, key: &Key) -> Result<Option<Record>, Error>;
    /// What went wrong last with a point that has no result.
    ///
    /// # Errors
    /// When it cannot be read.
    fn failure(&self, key: &Key) -> Result<Option<Failure>, Error>;
}

/// Results in memory, for those who want no store.
#[derive(Default)]
pub struct InMemory {
    results: BTreeMap<Key, Record>,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

impl Results for InMemory {
    fn keep(&mut self, record: Record) -> Result<(), Error> {
        self.results.insert(record.identity.key()?, record);
        Ok(())
    }

    fn fail(&mut self, failure: Failure) -> Result<(), Error> {
        self.failures.push(failure);
        Ok(())
    }

    fn result(&self, key: &Key) -> Result<Option<Record>, Error> {
        Ok(self.results.get(key).cloned())
    }

    fn failure(&self, key: &Key) -> Result<Option<Failure>, Error> {
        let last = self.failures.iter().rfind(|failure| failure.key == *key);
        Ok(last.filter(|_| !self.results.contains_key(key)).cloned())
    }
}

impl Results for Store {
    fn is_damaged(&self, key: &Key) -> Result<bool, Error> {
        Ok(self.contains(key) && !self.has(key)?)
    }

    fn check(&self) -> Result<(), Error> {
        Self::check(self)
    }

    fn keep(&mut self, record: Record) -> Result<(), Error> {
        self.put(&record)
    }

    fn fail(&mut self, failure: Failure) -> Result<(), Error> {
        self.put_failure(&failure)
    }

    fn result(&self, key: &Key) -> Result<Option<Record>, Error> {
        self.get(key)
    }

    fn failure(&self, key: &Key) -> Result<Option<Failure>, Error> {
        self.get_failure(key)
    }
}

/// How far the work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Points in all.
    pub all: usize,
    /// Points with a result before the work began.
    pub known: usize,
    /// Points whose result was damaged before the work began, so that they are run again.
    pub damaged: usize,
    /// Points with a result since.
    pub done: usize,
    /// Points that failed.
    pub failed: usize,
    /// Points that their machine refuses.
    pub refused: usize,
    /// Points being run.
    pub running: usize,
    /// Points that wait in the queue of a cluster.
    pub queued: usize,
    /// Time since the start.
    pub elapsed: Duration,
    /// The work in thread-instructions, if it is known for every point.
    pub insts: Option<Insts>,
}

/// Thread-instructions of the points that had no result. Time goes with them more than with the number of points, because
/// one workload can have a thousand times the instructions of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insts {
    /// Of all of them, without those that failed or were refused.
    pub all: u64,
    /// Of those that have a result now.
    pub done: u64,
}

impl Progress {
    /// Points that have come to an end since the work began, a good one or not.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.done + self.failed + self.refused
    }

    /// One more point had this failure.
    pub fn count(&mut self, failure: &Failure) {
        *(if failure.is_refusal { &mut self.refused } else { &mut self.failed }) += 1;
    }

    /// The time it will still take, if the rest is simulated as fast as what has been done.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let ended = self.ended();
        let (done, rest) = match self.insts {
            Some(Insts { all, done }) => (done, all.saturating_sub(done)),
            None => (ended as u64, (self.all - self.known).saturating_sub(ended) as u64),
        };
        (done > 0).then(|| self.elapsed.mul_f64(rest as f64 / done as f64))
    }

    /// A point with so many thread-instructions has ended, with a result or with none.
    fn end(&mut self, failure: Option<&Failure>, insts: Option<u64>) {
        match failure {
            None => self.done += 1,
            Some(failure) => self.count(failure),
        }
        if let (Some(all), Some(own)) = (&mut self.insts, insts) {
            match failure {
                None => all.done += own,
                Some(_) => all.all -= own,
            }
        }
    }
}

/// How to work.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Points run at once.
    pub jobs: usize,
    /// Cores that are shared out among them.
    pub cores: usize,
}

/// Held while a result is written down and told. Whoever ends the process in the midst of the work holds it first.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until no result is being written; while the guard lives none will be.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the points that have no result, several at once. With fewer points than cores, each gets several threads.
///
/// # Errors
/// When a result cannot be kept, or what was kept has vanished. What had been kept before is safe.
pub fn run<R: Results>(
    points: &[Point],
    results: &mut R,
    options: Options,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Progress, Error> {
    start(points, results, options, Ends::default(), tell)
}

/// The same until somebody asks for the end: points that are being run then have no result.
///
/// # Errors
/// As [`run`].
pub fn run_until<R: Results>(
    points: &[Point],
    results: &mut R,
    options: Options,
    interrupt: &Interrupt,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Progress, Error> {
    start(points, results, options, Ends { interrupt: Some(interrupt), keeping: None }, tell)
}

/// What may end the work before all points have been run.
#[derive(Clone, Copy, Default)]
struct Ends<'r> {
    keeping: Option<&'r Keeping>,
    interrupt: Option<&'r Interrupt>,
}

impl Ends<'_> {
    fn are_wanted(&self) -> bool {
        self.keeping.is_some_and(Keeping::is_stopping) || self.interrupt.is_some_and(Interrupt::is_wanted)
    }
}

/// The same with checkpoints, from which points that were stopped or killed before go on.
///
/// # Errors
/// As [`run`].
pub fn run_kept<R: Results>(
    points: &[Point],
    results: &mut R,
    options: Options,
    keeping: Option<&Keeping>,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Progress, Error> {
    start(points, results, options, Ends { keeping, interrupt: None }, tell)
}

fn start<R: Results>(
    points: &[Point],
    results: &mut R,
    options: Options,
    ends: Ends<'_>,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Progress, Error> {
    let mut seen = BTreeSet::new();
    let distinct: Vec<&Point> = points.iter().filter(|point| seen.insert(point.key)).collect();
    let (mut missing, mut damaged) = (Vec::new(), 0);
    for point in &distinct {
        if !results.has(&point.key)? {
            missing.push(*point);
            damaged += usize::from(results.is_damaged(&point.key)?);
        }
    }
    let known = distinct.len() - missing.len();
    let insts = insts(&missing);
    let all_insts = insts.as_ref().map(|insts| Insts { all: insts.iter().sum(), done: 0 });
    let start = Progress { all: distinct.len(), known, damaged, insts: all_insts, ..Progress::default() };
    let workers = options.jobs.min(missing.len()).max(1);
    let threads = (options.cores / workers).max(1);
    let shared = Shared {
        missing: &missing,
        insts: insts.as_deref(),
        next: AtomicUsize::new(0),
        begun: Instant::now(),
        state: Mutex::new(State { progress: start, results, error: None }),
        ends,
        tell,
    };
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(|| shared.work(threads)))));
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.error {
        return Err(error);
    }
    state.results.check()?;
    Ok(Progress { elapsed: shared.begun.elapsed(), ..state.progress })
}

/// The thread-instructions of each point, if the census of launches has all of them.
fn insts(points: &[&Point]) -> Option<Vec<u64>> {
    let mut known = BTreeMap::new();
    let of = |point: &&Point| {
        let insts = known.entry((point.program.name, point.size)).or_insert_with(|| {
            let launches = point.program.launches(point.size);
            (!launches.is_empty()).then(|| launches.iter().map(|l| l.thread_insts).sum::<u64>())
        });
        *insts
    };
    points.iter().map(of).collect()
}

struct State<'r, R> {
    progress: Progress,
    results: &'r mut R,
    error: Option<Error>,
}

struct Shared<'r, R> {
    missing: &'r [&'r Point],
    /// The thread-instructions of each, if they are known.
    insts: Option<&'r [u64]>,
    next: AtomicUsize,
    begun: Instant,
    state: Mutex<State<'r, R>>,
    ends: Ends<'r>,
    tell: &'r (dyn Fn(Progress) + Sync),
}

impl<'r, R: Results> Shared<'r, R> {
    fn lock(&self) -> MutexGuard<'_, State<'r, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, threads: usize) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(point) = self.missing.get(number) else { return };
            if self.lock().error.is_some() || self.ends.are_wanted() {
                return;
            }
            self.note(|progress| progress.running += 1);
            let Some(result) = point.run_until(threads, self.ends.keeping, self.ends.interrupt) else {
                self.note(|progress| progress.running -= 1);
                return;
            };
            let _writing = writing();
            let mut state = self.lock();
            let (kept, failure) = match result {
                Ok(record) => (state.results.keep(record), None),
                Err(failure) => (state.results.fail(failure.clone()), Some(failure)),
            };
            match (kept, self.ends.keeping) {
                (Err(error), _) => drop(state.error.get_or_insert(error)),
                (Ok(()), Some(keeping)) => keeping.end(&point.key),
                (Ok(()), None) => {}
            }
            drop(state);
            self.note(|progress| {
                progress.running -= 1;
                progress.end(failure.as_ref(), self.insts.map(|insts| insts[number]));
            });
        }
    }

    fn note(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.lock();
        change(&mut state.progress);
        let progress = Progress { elapsed: self.begun.elapsed(), ..state.progress };
        drop(state);
        (self.tell)(progress);
    }
}

/// The share `index` of `of` of the points: every `of`-th.
#[must_use]
pub fn share(points: &[Point], index: usize, of: usize) -> Vec<Point> {
    points.iter().skip(index).step_by(of.max(1)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::grid::Grid;
    use raddle_workloads::Size;

    fn points(set: &str) -> Vec<Point> {
        let text = format!(
            "title = 'T'\nworkloads = ['spmv']\nsize = 'tiny'\nset = [{set}]\n\
             [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n"
        );
        Grid::new(&Experiment::parse("t", &text).unwrap()).unwrap().points
    }

    #[test]
    fn only_what_is_missing_is_run() {
        let (points, mut results) = (points(""), InMemory::default());
        let options = Options { jobs: 2, cores: 2 };
        let first = run(&points[..1], &mut results, options, &|_| {}).unwrap();
        assert_eq!((first.known, first.done, first.failed), (0, 1, 0));
        let told = Mutex::new(Vec::new());
        let twice = [&points[..], &points[..]].concat();
        let second = run(&twice, &mut results, options, &|p| told.lock().unwrap().push(p.done)).unwrap();
        assert_eq!((second.all, second.known, second.done, second.running), (2, 1, 1, 0));
        assert_eq!(told.into_inner().unwrap(), [0, 1]);
        assert!(points.iter().all(|p| results.result(&p.key).unwrap().is_some()));
    }

    #[test]
    fn a_refusal_does_not_stop_the_rest_and_is_no_failure() {
        let bad = points("'sm.registers=64'");
        let all = [&bad[..], &points("")[..]].concat();
        let mut results = InMemory::default();
        let ended = run(&all, &mut results, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
        assert_eq!((ended.done, ended.failed, ended.refused), (2, 0, 2));
        assert_eq!(results.failures.len(), 2);
        let refusal = results.failure(&bad[1].key).unwrap().unwrap();
        assert!(refusal.is_refusal && refusal.reason().ends_with(" registers, an SM has 64"), "{}", refusal.error);
        assert_eq!(results.failure(&all[3].key).unwrap(), None);
        assert!(results.failures[0].title.starts_with("spmv tiny (lrr, "));
    }

    #[test]
    fn shares_are_all_of_it() {
        let points = points("");
        let keys: Vec<_> = (0..3).flat_map(|n| share(&points, n, 3)).map(|p| p.key).collect();
        assert_eq!(keys.len(), points.len());
    }

    #[test]
    fn time_left_is_that_of_the_rest() {
        let elapsed = Duration::from_secs(8);
        let progress = Progress { all: 10, known: 2, done: 3, failed: 1, running: 2, elapsed, ..Progress::default() };
        assert_eq!(progress.left(), Some(Duration::from_secs(8)));
        assert_eq!(Progress { all: 3, ..Progress::default() }.left(), None);
        // The four that have ended were small.
        let insts = Some(Insts { all: 900, done: 100 });
        assert_eq!(Progress { insts, ..progress }.left(), Some(Duration::from_secs(64)));
    }

    #[test]
    fn points_weigh_as_much_as_they_execute() {
        let points = points("");
        let (told, mut results) = (Mutex::new(Vec::new()), InMemory::default());
        let options = Options { jobs: 1, cores: 1 };
        let tell = |p: Progress| told.lock().unwrap().push(p.insts.unwrap());
        run(&points, &mut results, options, &tell).unwrap();
        let told = told.into_inner().unwrap();
        let own: u64 = points[0].program.launches(Size::Tiny).iter().map(|l| l.thread_insts).sum();
        assert!(own > 0 && told.iter().all(|insts| insts.all == 2 * own), "{told:?}");
        assert_eq!(told.iter().map(|insts| insts.done).collect::<Vec<_>>(), [0, own, own, 2 * own]);
        // What is refused takes no time.
        let mut progress = Progress { insts: Some(Insts { all: 2 * own, done: own }), ..Progress::default() };
        let refusal = results_of_a_refusal();
        progress.end(Some(&refusal), Some(own));
        assert_eq!(progress.insts, Some(Insts { all: own, done: own }));
    }

    fn results_of_a_refusal() -> Failure {
        let mut results = InMemory::default();
        run(&points("'sm.registers=64'")[..1], &mut results, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
        results.failures.remove(0)
    }
}
