//! `--checkpoint`: runs that are stopped and resumed.

use crate::exit::{Exit, Failure};
use crate::out;
use raddle_runtime::checkpoint::{self, Checkpoints, EVERY, Search};
use raddle_runtime::{Error, Problem};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The options about checkpoints.
#[derive(clap::Args)]
pub struct CheckpointArgs {
    /// Save the state of the run to a folder at regular times, to resume from
    #[arg(long, value_name = "FOLDER", help_heading = "Checkpoints")]
    checkpoint: Option<PathBuf>,
    /// Time between two checkpoints, such as 90s, 10m or 2h [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "checkpoint", help_heading = "Checkpoints")]
    every: Option<Duration>,
    /// Resume from the last checkpoint in the folder, if there is one
    #[arg(long, requires = "checkpoint", help_heading = "Checkpoints")]
    resume: bool,
}

/// Reads a time: `50ms`, `90s`, `10m`, `2h`.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "it should be a number and a unit, such as 500ms, 90s, 10m or 2h".to_owned();
    let unit = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..unit].parse().map_err(|_| wrong())?;
    let millis = match &text[unit..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    // A thousand years are enough for everybody, and can be added to any time there is.
    let most = 1000 * 366 * 24 * 3_600_000;
    number.checked_mul(millis).filter(|ms| *ms <= most).map(Duration::from_millis).ok_or_else(wrong)
}

/// Sets a flag when the process is told to stop; when it is told again, the process ends.
pub fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Where signals cannot be caught the process ends; the last checkpoint stays.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Stopped.code().into());
        }
    });
    stop
}

impl CheckpointArgs {
    pub fn is_chosen(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// What a run needs for checkpoints; says from where it resumes.
    pub fn start(&self) -> Option<Checkpoints> {
        let folder = self.checkpoint.clone()?;
        let resume = if self.resume { self.find(&checkpoint::find(&folder)) } else { None };
        let (every, stop) = (self.every.unwrap_or(EVERY), stop_flag());
        let tell = Arc::new(|text: &str| out::talk(&format!("warning: {text}")));
        Some(Checkpoints { every, resume, stop, tell, ..Checkpoints::new(folder) })
    }

    fn find(&self, search: &Search) -> Option<checkpoint::Found> {
        for (path, why) in &search.damaged {
            out::talk(&format!("warning: {} cannot be used: {why}", path.display()));
        }
        match &search.found {
            Some(found) => {
                let (path, (launch, cycles)) = (found.path.display(), found.reached());
                out::talk(&format!("resuming from {path}: launch {launch}, cycle {}", out::grouped(cycles)));
            }
            None => {
                let folder = self.checkpoint.iter().map(|folder| folder.display().to_string()).next();
                out::talk(&format!("no checkpoint in {}: starting from the beginning", folder.unwrap_or_default()));
            }
        }
        search.found.clone()
    }

    /// Says how to resume a run that was stopped, and deletes the checkpoints of a run that has ended.
    pub fn ended(&self, ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
        let Some(folder) = &self.checkpoint else { return ended };
        match ended {
            Err(Failure::Runtime { error: Error::Interrupted { checkpoint }, .. }) => match checkpoint {
                Ok(_) => {
                    let with = if self.resume { "" } else { " with --resume" };
                    let folder = folder.display();
                    let place = format!("the checkpoint is in {folder}");
                    out::talk(&format!("stopped; {place}: run the same command{with} to continue"));
                    Ok(Exit::Checkpoint)
                }
                Err(why) => Err(Problem::new(format!("stopped: {why}")).into()),
            },
            Ok(exit) => {
                if let Err(error) = checkpoint::clear(folder) {
                    out::talk(&format!("warning: {error}"));
                }
                Ok(exit)
            }
            failed => failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let millis = |text: &str| time(text).map(|time| time.as_millis()).ok();
        assert_eq!([millis("0ms"), millis("50ms"), millis("90s")], [Some(0), Some(50), Some(90_000)]);
        assert_eq!([millis("10m"), millis("2h")], [Some(600_000), Some(7_200_000)]);
        for wrong in ["", "10", "m", "-1s", "1.5h", "10 m", "99999999999999999999s", "9999999999999h", "1d"] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }
}
