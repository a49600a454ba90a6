//! `--checkpoint-every`: points that are stopped and resumed.

use crate::out;
use crate::run::checkpoint::time;
use raddle_lab::Store;
use raddle_lab::keep::Keeping;
use raddle_runtime::checkpoint::EVERY;
use std::sync::Arc;
use std::time::Duration;

/// Checkpoints of points.
#[derive(clap::Args)]
pub struct KeepArgs {
    /// Time between checkpoints of a point, such as 90s, 10m or 2h, or `never` [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = every)]
    checkpoint_every: Option<Every>,
}

/// How often, if at all.
#[derive(Clone, Copy)]
struct Every(Option<Duration>);

fn every(text: &str) -> Result<Every, String> {
    if text == "never" { Ok(Every(None)) } else { time(text).map(|time| Every(Some(time))) }
}

impl KeepArgs {
    /// How the points of a store keep their state.
    pub fn keeping(&self, store: &Store) -> Option<Keeping> {
        let every = self.checkpoint_every.map_or(Some(EVERY), |every| every.0)?;
        let tell = Arc::new(|text: &str| out::talk(&format!("warning: {text}")));
        Some(Keeping::new(store, every, Arc::default(), tell))
    }

    /// The same as an option of a worker.
    pub fn option(&self) -> Option<String> {
        let every = self.checkpoint_every?.0;
        Some(every.map_or_else(|| "never".to_owned(), |every| format!("{}ms", every.as_millis())))
    }
}
