//! The commands of Slurm, and what they print.

use crate::error::Error;
use raddle_runtime::Problem;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A job array that is to be submitted.
pub struct Array<'a> {
    /// Name of its jobs.
    pub name: &'a str,
    /// Folder its tasks run in, where their logs go.
    pub folder: &'a Path,
    /// Tasks, counted from 0.
    pub tasks: usize,
}

/// A task in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedTask {
    /// Number of the array, which is the name of its folder.
    pub array: u32,
    /// Number of the task in the array.
    pub task: u32,
    /// Whether it is running, or ending.
    pub is_running: bool,
    /// Why it is not.
    pub reason: String,
}

/// What a cluster allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tasks of a job array.
    pub array: usize,
    /// Jobs of all users.
    pub jobs: usize,
}

/// A job array that was not accepted.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What was said.
    pub text: String,
    /// Whether it was too much, so that less, or later, may be accepted.
    pub is_too_much: bool,
}

/// Whoever runs job arrays: Slurm, or a test.
pub trait Scheduler {
    /// What is allowed.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn limits(&mut self) -> Result<Limits, Error>;
    /// Submits a job array.
    ///
    /// # Errors
    /// When there is nothing to submit to.
    fn submit(&mut self, array: &Array<'_>) -> Result<Result<(), Refusal>, Error>;
    /// The tasks of jobs with this name that wait or run; the inner error is what was said instead.
    ///
    /// # Errors
    /// When there is nobody to ask.
    fn queue(&mut self, name: &str) -> Result<Result<Vec<QueuedTask>, String>, Error>;
    /// Lets time pass.
    fn pause(&mut self, time: Duration);
}

/// Slurm, by its commands.
pub struct Slurm {
    /// Options of `sbatch` that say where and how long tasks run.
    pub options: Vec<String>,
    /// Cores of each task.
    pub cores: usize,
    /// The program that a task runs with its arguments, before those that say which points.
    pub worker: Vec<PathBuf>,
}

impl Slurm {
    /// What a task runs. Slurm copies it, so it is in no file.
    fn script(&self) -> Vec<u8> {
        let mut script = b"#!/bin/sh\nexec".to_vec();
        for word in &self.worker {
            script.push(b' ');
            script.extend(quoted(word.as_os_str()));
        }
        script.extend(b" --points points.txt --task \"$SLURM_ARRAY_TASK_ID\"\n");
        script
    }
}

/// A word as the shell reads it back.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word.as_encoded_bytes() {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    quoted
}

impl Scheduler for Slurm {
    fn limits(&mut self) -> Result<Limits, Error> {
        let output = run(Command::new("scontrol").args(["show", "config"]), &[])?;
        if !output.status.success() {
            let said = said(&output);
            return Err(Problem::new(format!("`scontrol show config` says: {said}")).help(HELP).into());
        }
        Ok(read_limits(&String::from_utf8_lossy(&output.stdout)))
    }

    fn submit(&mut self, array: &Array<'_>) -> Result<Result<(), Refusal>, Error> {
        let mut command = Command::new("sbatch");
        command.args(["--parsable", "--no-requeue", "--ntasks=1", "--output=%a.log"]);
        // The worker takes the place of the script; it writes checkpoints of its points before its time is up.
        command.arg("--signal=B:TERM@60");
        command.arg(format!("--cpus-per-task={}", self.cores)).args(["--job-name", array.name]);
        command.arg(format!("--array=0-{}", array.tasks.saturating_sub(1)));
        command.arg("--chdir").arg(array.folder).args(&self.options);
        let output = run(&mut command, &self.script())?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let text = said(&output);
        Ok(Err(Refusal { is_too_much: is_too_much(&text), text }))
    }

    fn queue(&mut self, name: &str) -> Result<Result<Vec<QueuedTask>, String>, Error> {
        let mut command = Command::new("squeue");
        // The folder comes last, as anything may be in its name.
        command.args(["--me", "--noheader", "--array", "--name", name, "--format=%K|%T|%r|%Z"]);
        let output = run(&mut command, &[])?;
        if !output.status.success() {
            return Ok(Err(said(&output)));
        }
        Ok(Ok(read_queue(&String::from_utf8_lossy(&output.stdout))))
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

const HELP: &str = "--slurm is for machines from which one submits to a Slurm cluster; without it, points are run here";

fn run(command: &mut Command, input: &[u8]) -> Result<Output, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let wrong = |error: io::Error| Problem::new(format!("cannot run `{name}`: {error}")).help(HELP);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(wrong)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that has ended without reading says why on stderr.
        let _ = stdin.write_all(input);
    }
    Ok(child.wait_with_output().map_err(wrong)?)
}

/// What a command that failed said.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { format!("nothing, and ended with {}", output.status) } else { lines.join("\n") }
}

/// Whether `sbatch` says that there are too many jobs, and not that something is wrong with this one.
fn is_too_much(text: &str) -> bool {
    let text = text.to_lowercase();
    ["submit limit", "submitlimit", "maxsubmit", "max_job_count", "temporarily unable", "too many"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// Reads `scontrol show config`; what it lacks is as Slurm has it by default.
fn read_limits(text: &str) -> Limits {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| key.trim() == name).and_then(|(_, value)| value.trim().parse::<usize>().ok())
    };
    Limits { array: value("MaxArraySize").unwrap_or(1001), jobs: value("MaxJobCount").unwrap_or(10_000) }
}

/// Reads what `squeue` prints; lines that are no tasks of ours are passed over.
fn read_queue(text: &str) -> Vec<QueuedTask> {
    text.lines().filter_map(read_task).collect()
}

fn read_task(line: &str) -> Option<QueuedTask> {
    let mut parts = line.trim().splitn(4, '|');
    let task = parts.next()?.parse().ok()?;
    let is_running = matches!(parts.next()?, "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED");
    let reason = parts.next()?.to_owned();
    let array = Path::new(parts.next()?).file_name()?.to_str()?.parse().ok()?;
    Some(QueuedTask { array, task, is_running, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_queue_is_read() {
        let text = "0|RUNNING|None|/a|b/raddle-store/slurm/0f/12\n\
                    31|PENDING|Resources|/a/slurm/0f/12\n\
                    slurm_load_jobs error: Unexpected message received\n\
                    N/A|PENDING|Resources|/a/slurm/0f/12\n\
                    4294967296|RUNNING|None|/a/1\n\
                    1|RUNNING\n|||\n\n1|RUNNING|None|/a/b\n";
        let task =
            |task, is_running, reason: &str| QueuedTask { array: 12, task, is_running, reason: reason.to_owned() };
        assert_eq!(read_queue(text), [task(0, true, "None"), task(31, false, "Resources")]);
    }

    #[test]
    fn limits_are_read() {
        let text = "Configuration data as of 2026\nMaxArraySize            = 10001\nMaxJobCount             = 20000\n";
        assert_eq!(read_limits(text), Limits { array: 10_001, jobs: 20_000 });
        assert_eq!(read_limits("MaxArraySize = x\nMaxJobCount\n"), Limits { array: 1001, jobs: 10_000 });
    }

    #[test]
    fn paths_go_through_the_shell() {
        let worker = vec![PathBuf::from("/bin/printf"), PathBuf::from("%s\n"), PathBuf::from("it's $HOME `a` \"b\"")];
        let slurm = Slurm { options: Vec::new(), cores: 1, worker };
        let output = run(Command::new("/bin/sh").env("SLURM_ARRAY_TASK_ID", "7"), &slurm.script()).unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines, "it's $HOME `a` \"b\"\n--points\npoints.txt\n--task\n7\n");
    }

    #[test]
    fn refusals_are_told_apart() {
        assert!(is_too_much("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"));
        assert!(is_too_much("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"));
        assert!(!is_too_much("sbatch: error: invalid partition specified: nope"));
    }

    #[test]
    fn a_command_that_is_missing_is_named() {
        let Err(Error::Problem(problem)) = run(&mut Command::new("raddle-no-such-command"), &[]) else { panic!() };
        assert!(problem.message.contains("cannot run `raddle-no-such-command`"), "{}", problem.message);
    }

    proptest! {
        #[test]
        fn any_output_is_read(text in "(.|[|=\n]){0,200}") {
            let _ = (read_queue(&text), read_limits(&text), is_too_much(&text));
        }
    }
}
