//! `raddle lab run`, `worker` and `report`, and `raddle reproduce`.

use super::StoreArgs;
use super::keep::KeepArgs;
use super::slurm::{self, SlurmArgs};
use super::watching::{Watching, without_result};
use crate::exec::host::{AllowArgs, loaders};
use crate::exit::{Exit, Failure};
use crate::figure_export::{FigureArgs, write_data};
use crate::out;
use crate::run::{cores, sizes};
use raddle_lab::experiment::{BUILT_IN, Experiment, Files, Loaders};
use raddle_lab::grid::Grid;
use raddle_lab::numbers::{Counts, Number};
use raddle_lab::picture::Width;
use raddle_lab::point::Point;
use raddle_lab::program_file::ALLOW;
use raddle_lab::report::Report;
use raddle_lab::work::{self, Options, Progress, Results};
use raddle_lab::{Error, Key, Store};
use raddle_runtime::Problem;
use raddle_sim::seam::Registry;
use raddle_workloads::Size;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    slurm: SlurmArgs,
}

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("share").required(true)))]
pub struct WorkerArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// The share to run and the number of shares, such as 0/4
    #[arg(long, value_name = "I/N", group = "share")]
    shard: Option<Shard>,
    /// List of points, as `raddle lab run --slurm` writes them
    #[arg(long, value_name = "FILE", group = "share", requires = "task")]
    points: Option<PathBuf>,
    /// Line of the list to run, counted from 0
    #[arg(long, value_name = "N", requires = "points")]
    task: Option<usize>,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    keep: KeepArgs,
}

#[derive(clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    store: StoreArgs,
    /// Folder to write to [default: report-NAME]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    figures: FigureArgs,
}

#[derive(clap::Args)]
pub struct ReproduceArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    slurm: SlurmArgs,
    /// Folder to write the report to [default: report-NAME]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    figures: FigureArgs,
}

/// How many points are run at once.
#[derive(clap::Args)]
pub struct Jobs {
    /// Points run at once; by default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Jobs {
    /// Cores to share out and points to run at once.
    pub fn options(&self) -> Options {
        let cores = cores();
        Options { jobs: self.jobs.map_or(cores, usize::from), cores }
    }

    /// Points to run at once on cores that are shared with others: one when left out, and a core for each.
    pub fn shared(&self) -> Options {
        let jobs = self.jobs.map_or(1, usize::from);
        Options { jobs, cores: jobs }
    }
}

/// The arguments that choose an experiment.
#[derive(clap::Args)]
struct Which {
    /// Experiment file, or name of an experiment
    #[arg(value_name = "FILE|NAME")]
    file: PathBuf,
    /// Size of inputs, instead of the size in the file: tiny, small or paper
    #[arg(long, value_parser = sizes(), value_name = "SIZE", hide_possible_values = true)]
    size: Option<Size>,
    /// Only this figure, and only the runs it shows; may be given several times
    #[arg(long, value_name = "NAME")]
    figure: Vec<String>,
}

impl Which {
    /// The experiment with its points: at the given size, else at that of the file.
    fn read(&self, registry: &Arc<Registry>, loaders: Loaders) -> Result<(Experiment, Grid), Failure> {
        read_changed(&self.file, registry, loaders, |experiment| {
            if let (Some(_), Some(note)) = (self.size, experiment.files.size_note()) {
                out::talk(&note);
            }
            experiment.size = self.size.unwrap_or(experiment.size);
            match self.figure.is_empty() {
                true => Ok(()),
                false => experiment.keep_figures(self.figure.iter().map(String::as_str)),
            }
        })
    }
}

/// A share of the points.
#[derive(Clone, Copy)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            _ => Err("it should read I/N with I from 0 to N-1, such as 0/4".to_owned()),
        }
    }
}

/// An experiment that is not quite as its file says.
fn read_changed(
    file: &Path,
    registry: &Arc<Registry>,
    loaders: Loaders,
    change: impl FnOnce(&mut Experiment) -> Result<(), Problem>,
) -> Result<(Experiment, Grid), Failure> {
    let (name, path, text) = Experiment::text(file)?;
    let files = Files::with_loaders(file.parent().unwrap_or(Path::new("")), loaders);
    let read = Experiment::parse_with(registry, files, &name, &text).map_err(Error::from);
    let made = read.and_then(|mut experiment| {
        change(&mut experiment)?;
        let grid = Grid::new(&experiment)?;
        Ok((experiment, grid))
    });
    made.map_err(|error| Failure::of_lab(error, Some((path, text))))
}

/// `raddle lab run`.
pub fn run(args: &RunArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let (experiment, grid) = args.which.read(registry, args.allow.loaders())?;
    let mut store = args.store.create()?;
    let how = How { jobs: &args.jobs, keep: &args.keep, slurm: &args.slurm };
    run_grid(&args.which.file, &experiment, &grid, &mut store, how)
}

/// How points are run.
#[derive(Clone, Copy)]
struct How<'a> {
    jobs: &'a Jobs,
    keep: &'a KeepArgs,
    slurm: &'a SlurmArgs,
}

/// Runs what is missing, here or on a cluster.
fn run_grid(
    file: &Path,
    experiment: &Experiment,
    grid: &Grid,
    store: &mut Store,
    how: How<'_>,
) -> Result<Exit, Failure> {
    let How { jobs, keep, slurm } = how;
    for line in &grid.left_out {
        out::talk(&format!("left out: {line}"));
    }
    if slurm.is_chosen() {
        let mut options = options(experiment);
        options.extend(keep.option().into_iter().flat_map(|every| ["--checkpoint-every".to_owned(), every]));
        return slurm::work(&grid.points, file, &options, store, jobs.shared().jobs, slurm);
    }
    work(&grid.points, store, jobs.options(), keep)
}

/// The options with which another command sees the same points and may run them.
fn options(experiment: &Experiment) -> Vec<String> {
    let allow = experiment.files.have_programs().then(|| ALLOW.to_owned());
    experiment.options().into_iter().chain(allow).collect()
}

/// `raddle lab worker`.
pub fn worker(args: &WorkerArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let (_, grid) = args.which.read(registry, args.allow.loaders())?;
    let mut store = args.store.create()?;
    if let (Some(list), Some(task)) = (&args.points, args.task) {
        let points = raddle_lab::slurm::of_task(list, task, &grid.points)?;
        return work(&points, &mut store, args.jobs.shared(), &args.keep);
    }
    // One of the two has been given.
    let Shard { index, of } = args.shard.unwrap_or(Shard { index: 0, of: 1 });
    work(&work::share(&grid.points, index, of), &mut store, args.jobs.options(), &args.keep)
}

fn work(points: &[Point], store: &mut Store, options: Options, keep: &KeepArgs) -> Result<Exit, Failure> {
    let keeping = keep.keeping(store);
    let watching = Watching::stoppable(keeping.clone());
    let ended = work::run_kept(points, store, options, keeping.as_ref(), &|progress| watching.show(progress));
    watching.clear();
    let ended = ended?;
    if keeping.is_some_and(|keeping| keeping.is_stopping()) && ended.known + ended.ended() < ended.all {
        watching.tell_stopped();
        return Ok(Exit::Stopped);
    }
    tell_end(points, store, &ended)
}

/// Says how the work ended.
pub fn tell_end(points: &[Point], store: &Store, ended: &Progress) -> Result<Exit, Failure> {
    out::talk(&summary(ended));
    if ended.failed + ended.refused > 0 {
        tell_failures(points, store)?;
    }
    Ok(Exit::good_if(ended.failed == 0))
}

/// What was refused and what failed, the first few of each; failures in full.
fn tell_failures(points: &[Point], store: &Store) -> Result<(), Failure> {
    let failures = store.failures()?;
    let keys: BTreeSet<Key> = points.iter().map(|point| point.key).collect();
    for is_refusal in [true, false] {
        let is_one = |f: &&raddle_lab::record::Failure| keys.contains(&f.key) && f.is_refusal == is_refusal;
        let of: Vec<_> = failures.iter().filter(is_one).collect();
        for failure in of.iter().take(5) {
            let why = if is_refusal { failure.reason() } else { &failure.error };
            out::talk(&format!("{}: {} {}: {why}", failure.verb(), failure.key.short(), failure.title));
        }
        if of.len() > 5 {
            out::talk(&format!("and {} more; `raddle lab ls --failures` lists them", of.len() - 5));
        }
    }
    Ok(())
}

fn summary(ended: &Progress) -> String {
    let Progress { all, known, done, elapsed, .. } = ended;
    let seconds = elapsed.as_secs_f64();
    let others = without_result(ended);
    let damaged = match ended.damaged {
        0 => String::new(),
        damaged => format!("; {} damaged and run again", was(damaged)),
    };
    format!("{}: {known} known, {done} run in {seconds:.1} s{others}{damaged}", out::count(*all, "point"))
}

fn was(results: usize) -> String {
    format!("{} {}", out::count(results, "result"), if results == 1 { "was" } else { "were" })
}

/// `raddle lab report`.
pub fn report(args: &ReportArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    // Nothing is run: programs are only compiled, because results are found by what they are compiled to.
    let (experiment, grid) = args.which.read(registry, loaders(true))?;
    let store = args.store.open()?;
    write_report(&args.which.file, &experiment, &grid, &store, Wanted::new(&args.output, &args.figures))
}

impl ReproduceArgs {
    fn how(&self) -> How<'_> {
        How { jobs: &self.jobs, keep: &self.keep, slurm: &self.slurm }
    }
}

/// The word for all experiments that come with Raddle.
const ALL: &str = "all";

/// `raddle reproduce`.
pub fn reproduce(args: &ReproduceArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    if args.which.file == Path::new(ALL) {
        return reproduce_all(args, registry);
    }
    let (experiment, grid) = args.which.read(registry, args.allow.loaders())?;
    let mut store = args.store.create()?;
    let ran = run_grid(&args.which.file, &experiment, &grid, &mut store, args.how())?;
    if ran == Exit::Stopped {
        return Ok(ran);
    }
    let written = write_report(&args.which.file, &experiment, &grid, &store, Wanted::new(&args.output, &args.figures))?;
    Ok(Exit::good_if(ran == Exit::Good && written == Exit::Good))
}

/// `raddle reproduce all`: a report for each experiment, and a page about all of them.
fn reproduce_all(args: &ReproduceArgs, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    let size = args.which.size.unwrap_or(Size::Small);
    if let Some(figure) = args.which.figure.first() {
        let problem = Problem::new(format!("`--figure {figure}` goes with one experiment, not with `{ALL}`"));
        return Err(problem.help("`raddle list experiments` says which experiments have which figures").into());
    }
    let names = BUILT_IN.iter().map(|(name, _)| Path::new(*name));
    let once = |experiment: &mut Experiment| {
        experiment.size = size;
        experiment.repeats.count = 1;
        Ok(())
    };
    let parts = names
        .clone()
        .map(|name| read_changed(name, registry, args.allow.loaders(), once))
        .collect::<Result<Vec<_>, _>>()?;
    let mut store = args.store.create()?;
    let mut good = true;
    if args.slurm.is_chosen() {
        // Tasks read the files, and run the repeats too.
        for file in names {
            let at_size = |experiment: &mut Experiment| {
                experiment.size = size;
                Ok(())
            };
            let (experiment, grid) = read_changed(file, registry, args.allow.loaders(), at_size)?;
            good &= run_grid(file, &experiment, &grid, &mut store, args.how())? == Exit::Good;
        }
    } else {
        // Many points are of several experiments.
        let mut seen = BTreeSet::new();
        let points = parts.iter().flat_map(|(_, grid)| &grid.points);
        let points: Vec<Point> = points.filter(|point| seen.insert(point.key)).cloned().collect();
        let ran = work(&points, &mut store, args.jobs.options(), &args.keep)?;
        if ran == Exit::Stopped {
            return Ok(ran);
        }
        good &= ran == Exit::Good;
    }
    let default = PathBuf::from(format!("report-{ALL}"));
    let folder = args.output.as_deref().unwrap_or(&default);
    for (experiment, grid) in &parts {
        let own = folder.join(&experiment.name);
        let data = args.figures.data.as_ref().map(|data| data.join(&experiment.name));
        let wanted = Wanted { folder: Some(&own), width: args.figures.width, data: data.as_deref() };
        good &= write_report(Path::new(ALL), experiment, grid, &store, wanted)? == Exit::Good;
    }
    let command = format!("raddle reproduce {ALL} --size {size}");
    let report = raddle_lab::summary::summary(&parts, &store, &command)?;
    report.write(folder)?;
    out::data(&format!("{}\n", folder.join("index.html").display()))?;
    Ok(Exit::good_if(good))
}

/// What is written of an experiment: the folder of the report, how wide its figures are, and the folder of their numbers.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    folder: Option<&'a Path>,
    width: Option<Width>,
    data: Option<&'a Path>,
}

impl<'a> Wanted<'a> {
    fn new(folder: &'a Option<PathBuf>, FigureArgs { width, data }: &'a FigureArgs) -> Self {
        Self { folder: folder.as_deref(), width: *width, data: data.as_deref() }
    }
}

fn write_report(
    file: &Path,
    experiment: &Experiment,
    grid: &Grid,
    results: &impl Results,
    wanted: Wanted<'_>,
) -> Result<Exit, Failure> {
    // Without its folder: a report does not depend on where things are.
    let file = Path::new(file.file_name().unwrap_or_default());
    let command = format!("raddle reproduce {} {}", file.display(), options(experiment).join(" "));
    let report = Report::new(experiment, grid, results, &command, wanted.width)?;
    let default = PathBuf::from(format!("report-{}", experiment.name));
    let folder = wanted.folder.unwrap_or(&default);
    report.write(folder)?;
    if let Some(data) = wanted.data {
        write_data(data, &report.tables)?;
    }
    out::data(&format!("{}\n", folder.join("index.html").display()))?;
    tell_numbers(&report.numbers);
    if report.damaged > 0 {
        let damaged = out::count(report.damaged, "result");
        out::talk(&format!("{damaged} damaged and treated as missing: run the experiment again"));
    } else if report.missing > 0 {
        let missing = out::count(report.missing, "value");
        out::talk(&format!("{missing} of the figures are missing: run the experiment first"));
    }
    Ok(Exit::good_if(report.missing == 0))
}

/// The means of the paper beside ours, and how many of its other numbers agree.
fn tell_numbers(numbers: &[Number]) {
    let [means, others] = Counts::of_means_and_others(numbers);
    if means.all() > 0 {
        let mut rows = vec![["mean", "paper", "ours", "other", ""].map(str::to_owned).to_vec()];
        for number in numbers.iter().filter(|number| number.is_mean) {
            let dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            let what = format!("{}: {}", number.figure, number.what);
            let (ours, other) = (dash(&number.ours), number.other.clone().unwrap_or_default());
            rows.push(vec![what, number.paper.clone(), ours, other, number.verdict().to_owned()]);
        }
        // No column for another reading where there is none.
        if rows[1..].iter().all(|row| row[3].is_empty()) {
            rows.iter_mut().for_each(|row| drop(row.remove(3)));
        }
        out::talk(out::table(&rows).trim_end());
        out::talk(&format!("means of the paper, {}", means.text()));
    }
    if others.all() > 0 {
        out::talk(&format!("its numbers for single programs, {}", others.text()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn says_how_the_work_ended() {
        let elapsed = Duration::from_secs(100);
        let progress = Progress { all: 40, known: 10, done: 9, failed: 1, running: 2, elapsed, ..Progress::default() };
        assert_eq!(summary(&progress), "40 points: 10 known, 9 run in 100.0 s, 1 failed");
        let refused = Progress { failed: 0, refused: 2, ..progress };
        assert_eq!(summary(&refused), "40 points: 10 known, 9 run in 100.0 s, 2 refused");
        let damaged = Progress { failed: 0, damaged: 1, ..progress };
        assert_eq!(summary(&damaged), "40 points: 10 known, 9 run in 100.0 s; 1 result was damaged and run again");
    }

    #[test]
    fn a_failure_is_bad_and_a_refusal_is_not() {
        let folder = std::env::temp_dir().join(format!("raddle-end-{}", std::process::id()));
        let store = Store::create(&folder).unwrap();
        let exit =
            |failed, refused| tell_end(&[], &store, &Progress { failed, refused, ..Progress::default() }).unwrap();
        assert_eq!((exit(0, 0), exit(0, 2), exit(1, 2)), (Exit::Good, Exit::Good, Exit::Bad));
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn shares_are_read() {
        let read = |text: &str| text.parse::<Shard>().map(|s| (s.index, s.of)).ok();
        assert_eq!(read("0/4"), Some((0, 4)));
        assert_eq!((read("4/4"), read("1"), read("a/b")), (None, None, None));
    }
}
