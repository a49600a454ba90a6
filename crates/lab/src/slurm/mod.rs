//! Running points on a Slurm cluster.
//!
//! Points without a result are cut into slices, and job arrays submitted whose tasks run a slice each. What has been
//! done is read from the store, never from Slurm: a task that has left the queue and lacks results was killed,
//! preempted or has crashed, and what it lacks goes out again, so often and no more.
//!
//! ```text
//! STORE/slurm/ID/experiment.toml    the experiment as it was when it was submitted
//! STORE/slurm/ID/3/points.txt       the slices of the fourth array
//! STORE/slurm/ID/3/17.log           what its task 17 said
//! ```
//!
//! ID is a hash of the points and of the store's path, and the name of the jobs. So whoever runs the same experiment
//! on the same store finds tasks that are already in the queue, and takes them over. The folder goes away when all
//! points have a result.

mod commands;
mod points;
#[cfg(test)]
mod tests;

pub use commands::{Array, Limits, QueuedTask, Refusal, Scheduler, Slurm};
pub use points::of_task;

use crate::error::{Error, writing};
use crate::keep;
use crate::key::Key;
use crate::point::Point;
use crate::store::{Store, replace};
use crate::work::{Progress, Results};
use raddle_runtime::numbers::count;
use raddle_runtime::{Problem, checkpoint, input};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Tasks in the queue at once when nothing else is said.
pub const TASKS: usize = 1000;
/// Points of a task, at least, when nothing else is said.
const PER_TASK: usize = 8;
/// Times in a row that Slurm may not answer, or refuse, before we give up.
const PATIENCE: u32 = 30;
/// Looks in a row that may find tasks lost and no point done before no more are submitted.
const FRUITLESS: u32 = 10;
/// Looks in a row that must not find a task before it is gone. More than one, as results may show later.
const GONE: u32 = 2;

/// How points are spread over tasks.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Points of a task; if none, as many as make [`TASKS`] tasks, but no fewer than 8.
    pub points_per_task: Option<usize>,
    /// Tasks in the queue at once.
    pub tasks: usize,
    /// How often a point may be lost with its task before it is given up; not counted where its checkpoint says that it
    /// has come further.
    pub attempts: u8,
    /// Points a task runs at once.
    pub jobs: usize,
}

/// Where one hears how it goes.
pub struct Tell<'a> {
    /// How far the work has come.
    pub progress: &'a dyn Fn(Progress),
    /// What has happened, in a line.
    pub note: &'a dyn Fn(&str),
}

/// A point that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its number among the points.
    pub point: usize,
    /// Log of the last task that should have run it, if one was ever submitted.
    pub log: Option<PathBuf>,
}

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// Points done, failed and refused; those given up count as failed.
    pub progress: Progress,
    /// Points that were given up, without a result or an error of their own.
    pub lost: Vec<Lost>,
}

/// The folder of everything that has to do with these points: experiment, lists, logs.
#[must_use]
pub fn folder(points: &[Point], store: &Path) -> PathBuf {
    let name = [&points::digest(points).0[..], store.as_os_str().as_encoded_bytes()].concat();
    store.join("slurm").join(Key::of(&name).short())
}

/// Runs the points that have no result. `folder` is that of [`folder`]; `experiment` is the text of their file.
///
/// # Errors
/// When Slurm cannot be reached, refuses the first jobs or does not answer any more, or the store cannot be used. What
/// has been submitted goes on.
pub fn run(
    points: &[Point],
    store: &mut Store,
    folder: &Path,
    experiment: &str,
    options: Options,
    scheduler: &mut dyn Scheduler,
    tell: &Tell<'_>,
) -> Result<Ended, Error> {
    let mut campaign = Campaign::new(points, store, folder, options, scheduler, tell)?;
    if campaign.waiting.is_empty() {
        return Ok(campaign.ended());
    }
    let limits = campaign.scheduler.limits()?;
    if limits.array == 0 {
        return Err(Problem::new("job arrays are switched off on this cluster (MaxArraySize is 0)").into());
    }
    campaign.array = limits.array;
    campaign.window = options.tasks.min(limits.jobs / 2).max(1);
    campaign.take_over()?;
    fs::create_dir_all(folder).map_err(writing(folder))?;
    let path = folder.join("experiment.toml");
    replace(&path, experiment.as_bytes()).map_err(writing(&path))?;
    loop {
        campaign.submit()?;
        campaign.report();
        campaign.pause();
        campaign.look()?;
        if campaign.is_over() {
            campaign.tidy();
            return Ok(campaign.ended());
        }
    }
}

/// What has become of a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is run by nobody: it has a result from before, or is another one once more.
    Known,
    /// It waits to be submitted.
    Waiting,
    /// A task in the queue is to run it.
    Submitted,
    Done,
    Failed,
    Lost,
}

/// A task that is in the queue, as far as we know.
struct Task {
    points: Vec<u32>,
    /// Looks in a row that have not found it.
    missed: u32,
    is_running: bool,
}

struct Campaign<'a> {
    points: &'a [Point],
    store: &'a mut Store,
    folder: &'a Path,
    options: Options,
    scheduler: &'a mut dyn Scheduler,
    tell: &'a Tell<'a>,
    grid: Key,
    name: String,
    per_task: usize,
    /// Tasks of an array, and in the queue, at most.
    array: usize,
    window: usize,
    fates: Vec<Fate>,
    /// How often each point has been lost with its task, and which task that was.
    lost: Vec<u8>,
    last_task: BTreeMap<u32, (u32, u32)>,
    /// When points that were lost had last written a checkpoint.
    checkpoints: BTreeMap<u32, SystemTime>,
    /// Failures there were before we began.
    old_failures: BTreeMap<Key, (String, u64)>,
    /// How often they have been lost, and the numbers of points that wait.
    waiting: BTreeSet<(u8, u32)>,
    /// By number of the array and of the task in it.
    tasks: BTreeMap<(u32, u32), Task>,
    progress: Progress,
    begun: Instant,
    cost: Duration,
    /// Why nothing runs, as told last.
    reason: String,
    has_submitted: bool,
    fruitless: u32,
    refused: u32,
    silent: u32,
}

impl<'a> Campaign<'a> {
    fn new(
        points: &'a [Point],
        store: &'a mut Store,
        folder: &'a Path,
        options: Options,
        scheduler: &'a mut dyn Scheduler,
        tell: &'a Tell<'a>,
    ) -> Result<Self, Error> {
        let (mut seen, mut fates, mut waiting) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        let (mut old_failures, mut damaged) = (BTreeMap::new(), 0);
        for (number, point) in points.iter().enumerate() {
            let is_missing = seen.insert(point.key) && !store.has(&point.key)?;
            fates.push(if is_missing { Fate::Waiting } else { Fate::Known });
            if is_missing {
                waiting.insert((0, number as u32));
                damaged += usize::from(store.is_damaged(&point.key)?);
                old_failures.extend(store.failure_place(&point.key).map(|place| (point.key, place)));
            }
        }
        let known = seen.len() - waiting.len();
        let progress = Progress { all: seen.len(), known, damaged, ..Progress::default() };
        Ok(Self {
            points,
            store,
            folder,
            options,
            scheduler,
            tell,
            grid: points::digest(points),
            name: format!("raddle-{}", folder.file_name().unwrap_or_default().display()),
            per_task: options.points_per_task.unwrap_or_else(|| waiting.len().div_ceil(TASKS).max(PER_TASK)),
            array: 1,
            window: 1,
            lost: vec![0; fates.len()],
            fates,
            last_task: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            old_failures,
            waiting,
            tasks: BTreeMap::new(),
            progress,
            begun: Instant::now(),
            cost: Duration::ZERO,
            reason: String::new(),
            has_submitted: false,
            fruitless: 0,
            refused: 0,
            silent: 0,
        })
    }

    fn note(&self, text: &str) {
        (self.tell.note)(text);
    }

    fn array_folder(&self, array: u32) -> PathBuf {
        self.folder.join(array.to_string())
    }

    fn log(&self, (array, task): (u32, u32)) -> PathBuf {
        self.array_folder(array).join(format!("{task}.log"))
    }

    /// Takes note of tasks that an earlier run has left in the queue.
    fn take_over(&mut self) -> Result<(), Error> {
        let queued = self.scheduler.queue(&self.name)?;
        let queued = queued.map_err(|said| Problem::new(format!("`squeue` says: {said}")))?;
        let mut texts = BTreeMap::new();
        for QueuedTask { array, task, is_running, .. } in queued {
            let path = self.array_folder(array).join("points.txt");
            let text = texts.entry(array).or_insert_with(|| input::text(&path).unwrap_or_default());
            // A list that cannot be read is of a task that will fail as well.
            let Ok(mut points) = points::slice_of(text, task as usize, self.points) else { continue };
            points.retain(|point| self.fates[*point as usize] == Fate::Waiting);
            self.own((array, task), points, is_running);
        }
        if !self.tasks.is_empty() {
            let tasks = count(self.tasks.len(), "task");
            self.note(&format!("{tasks} of an earlier run found in the queue and taken over"));
        }
        self.has_submitted = !self.tasks.is_empty();
        Ok(())
    }

    /// A task in the queue is to run these points.
    fn own(&mut self, task: (u32, u32), points: Vec<u32>, is_running: bool) {
        for point in &points {
            self.waiting.remove(&(self.lost[*point as usize], *point));
            self.fates[*point as usize] = Fate::Submitted;
            self.last_task.insert(*point, task);
        }
        self.tasks.insert(task, Task { points, missed: 0, is_running });
    }

    /// Submits what waits, as far as there is room.
    fn submit(&mut self) -> Result<(), Error> {
        let mut most = self.array;
        while !self.waiting.is_empty() && self.fruitless < FRUITLESS {
            let room = self.window.saturating_sub(self.tasks.len());
            let slices = points::slices(self.waiting.iter().copied(), self.per_task, room.min(most));
            // Few large arrays rather than many small ones, unless it is the rest.
            let is_rest = slices.iter().map(Vec::len).sum::<usize>() == self.waiting.len();
            if slices.is_empty() || !(is_rest || room >= self.window / 4) {
                return Ok(());
            }
            let array = self.write(&slices)?;
            let folder = self.array_folder(array);
            let submitted = self.scheduler.submit(&Array { name: &self.name, folder: &folder, tasks: slices.len() });
            let refusal = match submitted {
                Ok(Ok(())) => {
                    (self.has_submitted, self.refused) = (true, 0);
                    slices.into_iter().zip(0..).for_each(|(points, task)| self.own((array, task), points, false));
                    continue;
                }
                other => {
                    // It is ours and nobody has seen it.
                    let _ = fs::remove_dir_all(&folder);
                    match other? {
                        Ok(()) => continue,
                        Err(refusal) => refusal,
                    }
                }
            };
            if refusal.is_too_much && slices.len() > 1 {
                most = slices.len() / 2;
                continue;
            }
            self.refused += 1;
            let may_wait = refusal.is_too_much || self.has_submitted;
            if !may_wait || self.refused > PATIENCE {
                if !self.has_submitted {
                    self.leave_nothing();
                }
                return Err(self.stopped(&format!("sbatch does not accept the jobs:\n{}", refusal.text)));
            }
            if self.refused == 1 {
                self.note(&format!("sbatch does not accept more jobs now, waiting: {}", refusal.text));
            }
            return Ok(());
        }
        Ok(())
    }

    /// Takes away what is of no use when nothing has been submitted, but not the logs of earlier runs.
    fn leave_nothing(&self) {
        let _ = fs::remove_file(self.folder.join("experiment.toml"));
        let _ = fs::remove_dir(self.folder);
        let _ = self.folder.parent().map(fs::remove_dir);
    }

    fn stopped(&self, text: &str) -> Error {
        let problem = Problem::new(text);
        let is_left = !self.tasks.is_empty();
        let help = "the jobs in the queue continue; the same command takes them over";
        if is_left { problem.help(help).into() } else { problem.into() }
    }

    /// Writes the list of an array into a new folder.
    fn write(&self, slices: &[Vec<u32>]) -> Result<u32, Error> {
        let mut array = self.tasks.last_key_value().map_or(0, |((array, _), _)| array + 1);
        let folder = loop {
            let folder = self.array_folder(array);
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => array += 1,
                Err(error) => return Err(writing(&folder)(error)),
            }
        };
        let path = folder.join("points.txt");
        replace(&path, points::list(self.grid, slices).as_bytes()).map_err(writing(&path))?;
        Ok(array)
    }

    /// Looks what has got done, and which tasks are gone.
    fn look(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        match self.scheduler.queue(&self.name)? {
            Ok(queued) => {
                self.silent = 0;
                self.tell_reason(&queued);
                self.tasks.values_mut().for_each(|task| task.missed += 1);
                for QueuedTask { array, task, is_running, .. } in queued {
                    if let Some(task) = self.tasks.get_mut(&(array, task)) {
                        (task.missed, task.is_running) = (0, is_running);
                    }
                }
            }
            Err(said) => {
                self.silent += 1;
                if self.silent == 1 {
                    self.note(&format!("squeue does not answer, waiting: {said}"));
                } else if self.silent > PATIENCE {
                    return Err(self.stopped(&format!("squeue does not answer any more: {said}")));
                }
            }
        }
        // After the queue: who had left it then had written its results.
        self.store.refresh()?;
        let ended = self.see_ended()?;
        let is_lost = self.settle();
        self.fruitless = if ended > 0 { 0 } else { self.fruitless + u32::from(is_lost) };
        if self.fruitless >= FRUITLESS && self.tasks.is_empty() {
            let waiting = count(self.waiting.len(), "point");
            self.note(&format!("tasks end and no point gets done: {waiting} given up"));
            while let Some((_, point)) = self.waiting.pop_first() {
                self.give_up(point);
            }
        }
        self.cost = start.elapsed();
        Ok(())
    }

    /// Says once why nothing runs.
    fn tell_reason(&mut self, queued: &[QueuedTask]) {
        let is_idle = !queued.iter().any(|task| task.is_running);
        let reason = queued.first().map(|task| task.reason.as_str()).filter(|reason| is_idle && *reason != "None");
        let reason = reason.unwrap_or_default();
        if reason != self.reason && !reason.is_empty() {
            self.note(&format!("no task runs now; Slurm says why: {reason}"));
        }
        reason.clone_into(&mut self.reason);
    }

    /// Looks for results and errors that are new; how many there are.
    fn see_ended(&mut self) -> Result<usize, Error> {
        let mut ended = 0;
        for (number, point) in self.points.iter().enumerate() {
            if !matches!(self.fates[number], Fate::Waiting | Fate::Submitted) {
                continue;
            }
            let fate = if self.store.has(&point.key)? {
                self.progress.done += 1;
                Fate::Done
            } else {
                let failure = self.store.failure_place(&point.key);
                if failure.is_none() || failure.as_ref() == self.old_failures.get(&point.key) {
                    continue;
                }
                // What cannot be read is no refusal.
                match self.store.get_failure(&point.key).ok().flatten() {
                    Some(failure) => self.progress.count(&failure),
                    None => self.progress.failed += 1,
                }
                Fate::Failed
            };
            self.waiting.remove(&(self.lost[number], number as u32));
            self.fates[number] = fate;
            ended += 1;
        }
        Ok(ended)
    }

    /// Puts back what tasks that are gone have left undone. Whether there were such, and none of their points moved.
    fn settle(&mut self) -> bool {
        let gone: Vec<(u32, u32)> =
            self.tasks.iter().filter(|(_, task)| task.missed >= GONE).map(|(name, _)| *name).collect();
        let (mut tasks, mut back, mut log) = (0, 0, None);
        let mut has_moved = false;
        for name in gone {
            let Some(Task { points, .. }) = self.tasks.remove(&name) else { continue };
            let all = points.len();
            let left: Vec<u32> =
                points.into_iter().filter(|point| self.fates[*point as usize] == Fate::Submitted).collect();
            if left.is_empty() {
                continue;
            }
            tasks += 1;
            log = Some(self.log(name));
            // Points are run in order: if any came to an end, the first of the others are those that were being run.
            let tried = if left.len() < all { self.options.jobs } else { left.len() };
            for (nth, point) in left.into_iter().enumerate() {
                let moved = self.has_moved(point);
                has_moved |= moved;
                let lost = &mut self.lost[point as usize];
                *lost += u8::from(nth < tried && !moved);
                if *lost < self.options.attempts {
                    self.waiting.insert((*lost, point));
                    self.fates[point as usize] = Fate::Waiting;
                    back += 1;
                } else {
                    self.give_up(point);
                }
            }
        }
        if let Some(log) = log {
            let (were, log) = (if tasks == 1 { "was" } else { "were" }, log.display());
            let (tasks, back) = (count(tasks, "task"), count(back, "point"));
            self.note(&format!("{tasks} {were} lost, {back} submitted again; the last log is {log}"));
        }
        tasks > 0 && !has_moved
    }

    /// Whether a point has come further since it was last lost: the next task goes on from there.
    fn has_moved(&mut self, point: u32) -> bool {
        let folder = keep::folder(self.store.folder(), &self.points[point as usize].key);
        let Some(at) = checkpoint::written_at(&folder) else { return false };
        self.checkpoints.insert(point, at) != Some(at)
    }

    fn give_up(&mut self, point: u32) {
        self.fates[point as usize] = Fate::Lost;
        self.progress.failed += 1;
    }

    fn is_over(&self) -> bool {
        !self.fates.iter().any(|fate| matches!(fate, Fate::Waiting | Fate::Submitted))
    }

    fn report(&mut self) {
        let running: usize = self.tasks.values().filter(|task| task.is_running).map(|task| self.busy(task)).sum();
        let Progress { all, known, .. } = self.progress;
        self.progress.running = running;
        self.progress.queued = (all - known).saturating_sub(self.progress.ended() + running);
        self.progress.elapsed = self.begun.elapsed();
        (self.tell.progress)(self.progress);
    }

    /// Points a running task is at.
    fn busy(&self, task: &Task) -> usize {
        let left = task.points.iter().filter(|point| self.fates[**point as usize] == Fate::Submitted);
        left.take(self.options.jobs).count()
    }

    /// Waits: longer in long runs, and much longer than a look takes.
    fn pause(&mut self) {
        let time = Duration::from_secs(2) + self.begun.elapsed() / 20;
        self.scheduler.pause(time.min(Duration::from_secs(30)).max(self.cost * 5));
    }

    /// When all points have results, takes the folder away as soon as no task is in it.
    fn tidy(&mut self) {
        if self.progress.failed > 0 {
            return;
        }
        for _ in 0..5 {
            if matches!(self.scheduler.queue(&self.name), Ok(Ok(queued)) if queued.is_empty()) {
                let _ = fs::remove_dir_all(self.folder);
                let _ = self.folder.parent().map(fs::remove_dir);
                return;
            }
            self.scheduler.pause(Duration::from_secs(1));
        }
    }

    fn ended(self) -> Ended {
        let lost = self.fates.iter().enumerate().filter(|(_, fate)| **fate == Fate::Lost).map(|(point, _)| {
            let task = self.last_task.get(&(point as u32));
            Lost { point, log: task.map(|task| self.log(*task)) }
        });
        let lost = lost.collect();
        let progress = Progress { running: 0, queued: 0, elapsed: self.begun.elapsed(), ..self.progress };
        Ended { progress, lost }
    }
}
