//! `--slurm`: experiments on a cluster.

use super::run::tell_end;
use super::watching::Watching;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_lab::Store;
use raddle_lab::experiment::Experiment;
use raddle_lab::point::Point;
use raddle_lab::slurm::{self, Ended, Slurm, Tell};
use raddle_runtime::{Problem, input};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct SlurmArgs {
    /// Run the points on a Slurm cluster
    #[arg(long, help_heading = "Slurm")]
    slurm: bool,
    /// Partition to submit to
    #[arg(long, value_name = "NAME", requires = "slurm", help_heading = "Slurm")]
    partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME", requires = "slurm", help_heading = "Slurm")]
    account: Option<String>,
    /// Longest time a task may run, in the format of sbatch; another task continues its points
    #[arg(long, value_name = "TIME", requires = "slurm", help_heading = "Slurm")]
    time: Option<String>,
    /// Another option for sbatch; may be given several times
    #[arg(long, value_name = "OPTION", requires = "slurm", allow_hyphen_values = true, help_heading = "Slurm")]
    sbatch: Vec<String>,
    /// Points of a task; by default enough for 1000 tasks, but at least 8
    #[arg(long, value_name = "N", requires = "slurm", help_heading = "Slurm")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    points_per_task: Option<u32>,
    /// Tasks in the queue at once
    #[arg(long, value_name = "N", requires = "slurm", default_value = "1000", help_heading = "Slurm")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    tasks: u32,
    /// How often a point may be lost with its task before it is given up
    #[arg(long, value_name = "N", requires = "slurm", default_value = "3", help_heading = "Slurm")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    attempts: u8,
}

impl SlurmArgs {
    pub fn is_chosen(&self) -> bool {
        self.slurm
    }

    fn sbatch_options(&self) -> Vec<String> {
        let named = [("partition", &self.partition), ("account", &self.account), ("time", &self.time)];
        let named = named.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        named.chain(self.sbatch.iter().cloned()).collect()
    }
}

/// Runs what is missing on a cluster. With these options the worker sees the same points in the file.
pub fn work(
    points: &[Point],
    file: &Path,
    options: &[String],
    store: &mut Store,
    jobs: usize,
    args: &SlurmArgs,
) -> Result<Exit, Failure> {
    let absolute = |path: &Path| {
        let wrong = |error| Problem::new(format!("cannot find out where {} is: {error}", path.display()));
        std::path::absolute(path).map_err(wrong)
    };
    let (_, _, text) = Experiment::text(file)?;
    let store_folder = absolute(store.folder())?;
    let folder = slurm::folder(points, &store_folder);
    let program = std::env::current_exe();
    let program = program.map_err(|error| Problem::new(format!("cannot find out where raddle is: {error}")))?;
    let mut worker = vec![program, "lab".into(), "worker".into(), folder.join("experiment.toml")];
    worker.extend(options.iter().map(PathBuf::from));
    worker.extend(["--jobs".into(), jobs.to_string().into(), "--store".into(), store_folder]);
    let mut cluster = Slurm { options: args.sbatch_options(), cores: jobs, worker };

    let options = slurm::Options {
        points_per_task: args.points_per_task.map(|n| n as usize),
        tasks: args.tasks as usize,
        attempts: args.attempts,
        jobs,
    };
    let watching = Watching::default();
    let note = |text: &str| {
        watching.clear();
        out::talk(text);
    };
    let tell = Tell { progress: &|progress| watching.show(progress), note: &note };
    let ended = slurm::run(points, store, &folder, &text, options, &mut cluster, &tell);
    watching.clear();
    let ended = ended?;
    let exit = tell_end(points, store, &ended.progress)?;
    tell_lost(points, &ended);
    Ok(exit)
}

/// What was lost, the first few with the logs of their tasks.
fn tell_lost(points: &[Point], ended: &Ended) {
    for lost in ended.lost.iter().take(5) {
        let point = &points[lost.point];
        let log = match &lost.log {
            Some(log) => last_line(log),
            None => "it was never submitted".to_owned(),
        };
        out::talk(&format!("lost: {} {}: {log}", point.key.short(), point.identity().title()));
    }
    if ended.lost.len() > 5 {
        out::talk(&format!("and {} more were lost", ended.lost.len() - 5));
    }
}

/// How the log of a task ends.
fn last_line(log: &Path) -> String {
    let path = log.display();
    match input::bytes(log, input::MAX_TEXT) {
        Err(error) => format!("its task left no log {path} ({error}); do the nodes see this folder?"),
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            match text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
                Some(line) => format!("its task ended with `{line}`, see {path}"),
                None => format!("its task ended and said nothing in {path}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        slurm: SlurmArgs,
    }

    #[test]
    fn options_go_to_sbatch() {
        let words = ["x", "--slurm", "--time", "1:00:00", "--sbatch=--qos=low", "--sbatch", "--mem=2G"];
        let line = Line::try_parse_from(words).unwrap();
        assert_eq!(line.slurm.sbatch_options(), ["--time=1:00:00", "--qos=low", "--mem=2G"]);
        assert!(Line::try_parse_from(["x", "--partition", "p"]).is_err(), "only with --slurm");
        assert!(!Line::try_parse_from(["x"]).unwrap().slurm.is_chosen());
    }

    #[test]
    fn logs_are_quoted() {
        let log = std::env::temp_dir().join(format!("raddle-log-{}", std::process::id()));
        assert!(last_line(&log).contains("do the nodes see"));
        std::fs::write(&log, "error: a\nslurmstepd: error: killed\n\n").unwrap();
        assert!(last_line(&log).starts_with("its task ended with `slurmstepd: error: killed`, see "));
        std::fs::write(&log, " \n").unwrap();
        assert!(last_line(&log).contains("said nothing"));
        let _ = std::fs::remove_file(&log);
    }
}
