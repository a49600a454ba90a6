//! The loop, with a scheduler that loses tasks, refuses jobs and does not answer.

use super::*;
use crate::experiment::Experiment;
use crate::grid::Grid;
use crate::record::{Failure, Record};
use std::cell::RefCell;

/// What becomes of a task: so many of its points get a result, then, perhaps, one an error.
#[derive(Clone, Copy)]
struct Does {
    done: usize,
    error: Option<&'static str>,
}

const ALL: Does = Does { done: usize::MAX, error: None };
const NOTHING: Does = Does { done: 0, error: None };

/// What a point leaves that gets no result; `refused` is a refusal.
fn failure(point: &Point, error: &str) -> Failure {
    Failure { key: point.key, title: "t".to_owned(), error: error.to_owned(), is_refusal: error == "refused" }
}

type Behaviour<'a> = Box<dyn FnMut(usize, &[u32]) -> Does + 'a>;

struct Fake<'a> {
    points: &'a [Point],
    store: PathBuf,
    limits: Limits,
    /// By the number of tasks that were run before, and the points.
    does: Behaviour<'a>,
    refuses: Box<dyn FnMut(usize) -> Option<Refusal> + 'a>,
    queue: Vec<(PathBuf, u32)>,
    ran: usize,
    arrays: Vec<usize>,
    /// Questions that get no answer, now and after the next submission.
    silent: u32,
    silent_after_submit: u32,
    longest: usize,
    /// Why no task runs, if that is so.
    reason: &'static str,
    pauses: u32,
}

impl<'a> Fake<'a> {
    fn new(points: &'a [Point], store: &Path, does: impl FnMut(usize, &[u32]) -> Does + 'a) -> Self {
        Self {
            points,
            store: store.to_owned(),
            limits: Limits { array: 1001, jobs: 10_000 },
            does: Box::new(does),
            refuses: Box::new(|_| None),
            queue: Vec::new(),
            ran: 0,
            arrays: Vec::new(),
            silent: 0,
            silent_after_submit: 0,
            longest: 0,
            reason: "",
            pauses: 0,
        }
    }

    fn run_one(&mut self, (folder, task): (PathBuf, u32)) {
        let text = fs::read_to_string(folder.join("points.txt")).unwrap();
        let slice = points::slice_of(&text, task as usize, self.points).unwrap();
        let Does { done, error } = (self.does)(self.ran, &slice);
        self.ran += 1;
        let mut store = Store::open(&self.store).unwrap();
        for (nth, point) in slice.iter().map(|point| &self.points[*point as usize]).enumerate() {
            if nth < done {
                store.put(&Record { identity: point.identity(), checked: 1, kernels: Vec::new() }).unwrap();
            } else if let Some(error) = error.filter(|_| nth == done) {
                store.put_failure(&failure(point, error)).unwrap();
            }
        }
    }
}

impl Scheduler for Fake<'_> {
    fn limits(&mut self) -> Result<Limits, Error> {
        Ok(self.limits)
    }

    fn submit(&mut self, array: &Array<'_>) -> Result<Result<(), Refusal>, Error> {
        if let Some(refusal) = (self.refuses)(array.tasks) {
            return Ok(Err(refusal));
        }
        assert!(array.name.starts_with("raddle-") && array.tasks <= self.limits.array);
        self.queue.extend((0..array.tasks as u32).map(|task| (array.folder.to_owned(), task)));
        self.arrays.push(array.tasks);
        self.silent = self.silent_after_submit;
        self.longest = self.longest.max(self.queue.len());
        Ok(Ok(()))
    }

    fn queue(&mut self, _: &str) -> Result<Result<Vec<QueuedTask>, String>, Error> {
        if self.silent > 0 {
            self.silent -= 1;
            return Ok(Err("timed out".to_owned()));
        }
        let number = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let task = |(nth, (folder, task)): (usize, &(PathBuf, u32))| QueuedTask {
            array: number(folder),
            task: *task,
            is_running: nth < 2 && self.reason.is_empty(),
            reason: self.reason.to_owned(),
        };
        Ok(Ok(self.queue.iter().enumerate().map(task).collect()))
    }

    /// Two tasks run at once.
    fn pause(&mut self, _: Duration) {
        if !self.reason.is_empty() {
            self.pauses += 1;
            self.reason = if self.pauses < 5 { "PartitionDown" } else { "" };
            return;
        }
        for task in self.queue.drain(..self.queue.len().min(2)).collect::<Vec<_>>() {
            self.run_one(task);
        }
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-slurm-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn points(count: u32) -> Vec<Point> {
    let text = format!(
        "title = 'T'\nworkloads = ['spmv']\nsize = 'tiny'\n[repeats]\ncount = {count}\nvary = ['seed']\n\
         [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr']\n"
    );
    Grid::new(&Experiment::parse("t", &text).unwrap()).unwrap().points
}

const OPTIONS: Options = Options { points_per_task: Some(8), tasks: 1000, attempts: 3, jobs: 1 };

fn go(fake: &mut Fake<'_>, options: Options) -> (Result<Ended, Error>, Vec<String>) {
    let mut store = Store::create(&fake.store).unwrap();
    let notes = RefCell::new(Vec::new());
    let (points, folder) = (fake.points, folder(fake.points, &fake.store));
    let tell = Tell {
        progress: &|p| assert!(p.known + p.ended() + p.running + p.queued == p.all, "{p:?}"),
        note: &|text| notes.borrow_mut().push(text.to_owned()),
    };
    let ended = run(points, &mut store, &folder, "text", options, fake, &tell);
    (ended, notes.into_inner())
}

#[test]
fn everything_gets_done_and_leaves_nothing_behind() {
    let (folder, points) = (Folder::new("all"), points(100));
    let mut fake = Fake::new(&points, &folder.0, |_, _| ALL);
    fake.limits = Limits { array: 5, jobs: 14 };
    let ended = go(&mut fake, OPTIONS).0.unwrap();
    assert_eq!((ended.progress.all, ended.progress.done, ended.progress.failed), (100, 100, 0));
    assert_eq!((fake.arrays.iter().sum::<usize>(), fake.longest), (13, 7), "half of all jobs are left to others");
    assert!(fake.arrays.iter().all(|tasks| *tasks <= 5));
    assert!(!folder.0.join("slurm").exists());
    let again = go(&mut fake, OPTIONS).0.unwrap();
    assert_eq!((again.progress.known, again.progress.done), (100, 0));
}

/// A point that takes as long as seven tasks, each of which leaves a checkpoint, is not given up after three.
#[test]
fn a_point_that_comes_further_is_not_given_up() {
    let (folder, points) = (Folder::new("further"), points(1));
    let own = keep::folder(&folder.0, &points[0].key);
    let does = |ran: usize, _: &[u32]| {
        fs::create_dir_all(&own).unwrap();
        let file = fs::File::create(own.join("last.checkpoint")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(ran as u64)).unwrap();
        if ran < 7 { NOTHING } else { ALL }
    };
    let ended = go(&mut Fake::new(&points, &folder.0, does), OPTIONS).0.unwrap();
    assert_eq!((ended.progress.done, ended.lost.len()), (1, 0));

    let same = Folder::new("same");
    let own = keep::folder(&same.0, &points[0].key);
    let stuck = |_: usize, _: &[u32]| {
        fs::create_dir_all(&own).unwrap();
        let file = fs::File::create(own.join("last.checkpoint")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        NOTHING
    };
    let ended = go(&mut Fake::new(&points, &same.0, stuck), OPTIONS).0.unwrap();
    assert_eq!((ended.progress.done, ended.lost.len()), (0, 1));
}

#[test]
fn lost_tasks_go_out_again() {
    let (folder, points) = (Folder::new("lost"), points(40));
    // Every other task is killed, at first before it has done anything.
    let mut fake =
        Fake::new(&points, &folder.0, |ran, _| if ran % 2 == 0 { Does { done: ran, ..NOTHING } } else { ALL });
    let (ended, notes) = go(&mut fake, OPTIONS);
    let ended = ended.unwrap();
    assert_eq!((ended.progress.done, ended.lost.len()), (40, 0), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("lost") && note.contains(".log")), "{notes:?}");
}

#[test]
fn one_point_that_kills_its_task_is_given_up_alone() {
    let (folder, points) = (Folder::new("poison"), points(30));
    let killer = |slice: &[u32]| slice.iter().position(|point| *point == 8);
    let mut fake = Fake::new(&points, &folder.0, |_, slice| killer(slice).map_or(ALL, |done| Does { done, ..NOTHING }));
    let ended = go(&mut fake, OPTIONS).0.unwrap();
    assert_eq!((ended.progress.done, ended.progress.failed), (29, 1));
    let [Lost { point: 8, log: Some(log) }] = &ended.lost[..] else { panic!("{:?}", ended.lost) };
    assert!(log.starts_with(folder.0.join("slurm")), "logs of what was lost are kept");
}

#[test]
fn a_point_with_an_error_is_not_run_again() {
    let points = points(10);
    for (error, [failed, refused]) in [("e", [1, 0]), ("refused", [0, 1])] {
        let folder = Folder::new(&format!("error-{error}"));
        let mut store = Store::create(&folder.0).unwrap();
        // An error from before counts for nothing.
        store.put_failure(&failure(&points[0], "old")).unwrap();
        let mut runs = 0;
        let mut fake = Fake::new(&points, &folder.0, |_, slice| {
            let at = slice.iter().position(|point| *point == 5);
            runs += u32::from(at.is_some());
            at.map_or(ALL, |done| Does { done, error: Some(error) })
        });
        let Progress { done, failed: of, refused: by, .. } = go(&mut fake, OPTIONS).0.unwrap().progress;
        drop(fake);
        assert_eq!((done, of, by, runs), (9, failed, refused, 1));
    }
}

#[test]
fn when_nothing_works_it_ends_soon() {
    let (folder, points) = (Folder::new("broken"), points(1000));
    let mut fake = Fake::new(&points, &folder.0, |_, _| NOTHING);
    let (ended, notes) = go(&mut fake, Options { tasks: 20, ..OPTIONS });
    assert_eq!(ended.unwrap().lost.len(), 1000);
    assert!(fake.ran < 60, "{} tasks", fake.ran);
    assert!(notes.iter().any(|note| note.contains("no point gets done")), "{notes:?}");
}

#[test]
fn refusals_end_it_or_make_arrays_smaller() {
    let (folder, points) = (Folder::new("refused"), points(64));
    let refusal = |is_too_much| Some(Refusal { text: "sbatch: error: no".to_owned(), is_too_much });
    let mut fake = Fake::new(&points, &folder.0, |_, _| ALL);
    fake.refuses = Box::new(move |_| refusal(false));
    let Err(Error::Problem(problem)) = go(&mut fake, OPTIONS).0 else { panic!() };
    assert!(problem.message.ends_with("sbatch: error: no") && problem.help.is_none());
    assert!(!folder.0.join("slurm").exists());
    fake.refuses = Box::new(move |tasks| if tasks > 3 { refusal(true) } else { None });
    assert_eq!(go(&mut fake, OPTIONS).0.unwrap().progress.done, 64);
    assert!(fake.arrays.iter().all(|tasks| *tasks <= 3));
}

#[test]
fn what_an_earlier_run_left_in_the_queue_is_taken_over() {
    let (folder, points) = (Folder::new("again"), points(40));
    let mut fake = Fake::new(&points, &folder.0, |_, _| ALL);
    let own = super::folder(&points, &folder.0);
    {
        // A run that is killed as soon as it has submitted.
        let mut store = Store::create(&folder.0).unwrap();
        let tell = Tell { progress: &|_| {}, note: &|_| {} };
        let mut killed = Campaign::new(&points, &mut store, &own, OPTIONS, &mut fake, &tell).unwrap();
        (killed.array, killed.window) = (1000, 1000);
        fs::create_dir_all(&own).unwrap();
        killed.submit().unwrap();
    }
    let (ended, notes) = go(&mut fake, OPTIONS);
    assert_eq!(ended.unwrap().progress.done, 40);
    assert_eq!(fake.arrays, [5], "nothing was submitted twice");
    assert_eq!(notes, ["5 tasks of an earlier run found in the queue and taken over"]);
}

#[test]
fn a_controller_that_is_away_for_a_while_is_waited_for() {
    let (folder, points) = (Folder::new("silent"), points(40));
    let mut fake = Fake::new(&points, &folder.0, |_, _| ALL);
    fake.silent_after_submit = 20;
    let (ended, notes) = go(&mut fake, OPTIONS);
    assert_eq!((ended.unwrap().progress.done, fake.arrays.len()), (40, 1));
    assert_eq!(notes, ["squeue does not answer, waiting: timed out"]);
    fs::remove_dir_all(&folder.0).unwrap();
    fake.does = Box::new(|_, _| NOTHING);
    (fake.silent, fake.silent_after_submit) = (0, PATIENCE + 1);
    let Err(Error::Problem(problem)) = go(&mut fake, OPTIONS).0 else { panic!() };
    assert!(problem.message.contains("timed out") && problem.help.is_some());
}

#[test]
fn the_reason_why_nothing_runs_is_told_once() {
    let (folder, points) = (Folder::new("reason"), points(10));
    let mut fake = Fake::new(&points, &folder.0, |_, _| ALL);
    fake.reason = "PartitionDown";
    let (ended, notes) = go(&mut fake, OPTIONS);
    assert_eq!(ended.unwrap().progress.done, 10);
    assert_eq!(notes, ["no task runs now; Slurm says why: PartitionDown"]);
}
