//! How a command ends: the exit codes, all of them here.

use crate::run::sanitize::is_bad;
use raddle_runtime::outcome::Stop;
use raddle_runtime::{Error, Outcome, Problem};
use std::io;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went well.
    Good,
    /// A check found errors, an expectation failed or a kernel faulted.
    Bad,
    /// The command line or an input file cannot be used; clap exits with the same code.
    Usage,
    /// A kernel deadlocked: none of its threads can continue.
    Deadlock,
    /// The limit of instructions ended a kernel.
    InstructionLimit,
    /// The limit of cycles ended a kernel.
    CycleLimit,
    /// The run was told to stop and has written a checkpoint, from which it can be resumed.
    Checkpoint,
    /// Somebody pressed Ctrl-C.
    Stopped,
    /// A program that was run ended with this code of its own.
    Program(u8),
}

impl Exit {
    /// The code itself, for a process that ends in the midst of its work.
    pub fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Bad => 1,
            Self::Usage => 2,
            Self::Deadlock => 3,
            Self::InstructionLimit => 4,
            Self::CycleLimit => 5,
            Self::Checkpoint => 6,
            Self::Stopped => 130,
            Self::Program(code) => code,
        }
    }
}

impl Exit {
    /// `Good` if `good`, else `Bad`.
    pub fn good_if(good: bool) -> Self {
        if good { Self::Good } else { Self::Bad }
    }

    /// The exit of a run.
    pub fn of_run(outcome: &Outcome) -> Self {
        match outcome.stop().map(Stop::name) {
            None => Self::good_if(outcome.is_good() && !is_bad(&outcome.launches)),
            Some("deadlock") => Self::Deadlock,
            Some("instruction limit") => Self::InstructionLimit,
            Some("cycle limit") => Self::CycleLimit,
            Some(_) => Self::Bad,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// An error of the runtime; a problem in it may point into the launch file.
    Runtime {
        /// What.
        error: Error,
        /// Path and text of the launch file, if there is one.
        file: Option<Box<(String, String)>>,
    },
    /// A machine cannot be used.
    Machine {
        /// What is wrong with it.
        problems: Vec<raddle_sim::config::Problem>,
        /// Path and text of the machine file, if there is one.
        file: Option<Box<(String, String)>>,
    },
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// The exit code of a command that ended like this.
    pub fn exit(&self) -> Exit {
        match self {
            // Whoever reads our output has seen enough: `raddle ptx print big.ptx | head`.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Good,
            Self::Runtime { .. } | Self::Machine { .. } | Self::Output(_) => Exit::Usage,
        }
    }

    /// In one line, without where it is.
    pub fn in_short(&self) -> String {
        match self {
            Self::Runtime { error, .. } => error.to_string(),
            Self::Machine { problems, .. } => problems.first().map(|p| p.message.clone()).unwrap_or_default(),
            Self::Output(error) => error.to_string(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Runtime { error, file: None }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::from(Error::from(problem))
    }
}

impl From<raddle_workloads::Error> for Failure {
    fn from(error: raddle_workloads::Error) -> Self {
        match error {
            raddle_workloads::Error::Runtime(error) => error.into(),
            raddle_workloads::Error::Problem(problem) => problem.into(),
            other => Problem::new(other.to_string()).into(),
        }
    }
}

impl Failure {
    /// An error of the lab; a problem in it may point into the experiment file, given with its path.
    pub fn of_lab(error: raddle_lab::Error, file: Option<(String, String)>) -> Self {
        match error {
            raddle_lab::Error::Problem(problem) => Self::Runtime { error: problem.into(), file: file.map(Box::new) },
            raddle_lab::Error::Machine { problems, file } => Self::Machine { problems, file: Some(file) },
            raddle_lab::Error::Workload(error) => error.into(),
            raddle_lab::Error::Read { path, source } => Error::Read { path, source }.into(),
            raddle_lab::Error::Write { path, source } => Error::Write { path, source }.into(),
            other => Problem::new(other.to_string()).into(),
        }
    }
}

impl From<raddle_lab::Error> for Failure {
    fn from(error: raddle_lab::Error) -> Self {
        Self::of_lab(error, None)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
