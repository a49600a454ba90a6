//! Checkpoints: a long run that is stopped or killed goes on from the last one, to the same results.
//!
//! A checkpoint holds what was measured of the launches that have ended, what the host read between them, and the whole
//! state of the launch that was under way. Host code is not saved but run again: launches that have ended are not
//! simulated a second time, the host reads what it had read, and when it comes to the launch that was under way, that one
//! goes on from its state. What the host does is compared with what it did.

mod device;
mod file;
mod host;
mod identity;
mod keep;

pub use file::{Found, Search, clear, find, written_at};
pub(crate) use host::Host;
pub(crate) use keep::{Keep, Start};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a checkpoint is written when nothing else is said.
pub const EVERY: Duration = Duration::from_secs(600);

/// Tells somebody that a checkpoint could not be written: the run goes on.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Checkpoints of a run.
pub struct Checkpoints {
    /// Where they are; it is made if it does not exist.
    pub folder: PathBuf,
    /// Time between the end of one and the start of the next.
    pub every: Duration,
    /// The one to go on from.
    pub resume: Option<Found>,
    /// Where the state of a mechanism cannot be saved there are none, and where `resume` is of another run it starts anew,
    /// instead of refusing either.
    pub if_possible: bool,
    /// Once it is set, the run writes a checkpoint and stops.
    pub stop: Arc<AtomicBool>,
    /// Who is told of what goes wrong.
    pub tell: Tell,
}

impl Checkpoints {
    /// In a folder, every ten minutes, from the beginning.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        let (stop, tell) = (Arc::default(), Arc::new(|_: &str| {}));
        Self { folder, every: EVERY, resume: None, if_possible: false, stop, tell }
    }

    fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
