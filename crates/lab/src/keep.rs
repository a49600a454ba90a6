//! Checkpoints of points, in a folder of the store: a point that is stopped or killed goes on from there.

use crate::error::Error;
use crate::key::Key;
use crate::store::Store;
use raddle_runtime::Problem;
use raddle_runtime::checkpoint::{self, Checkpoints, Tell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The folder of a store.
const CHECKPOINTS: &str = "checkpoints";

/// How points keep their state.
#[derive(Clone)]
pub struct Keeping {
    folder: PathBuf,
    every: Duration,
    stop: Arc<AtomicBool>,
    tell: Tell,
}

/// Where a point of a store has its checkpoints.
#[must_use]
pub fn folder(store: &Path, key: &Key) -> PathBuf {
    store.join(CHECKPOINTS).join(key.to_string())
}

/// The checkpoints of points that have a result, left by a process that was killed between the two.
///
/// # Errors
/// When one cannot be deleted; with `dry_run` none is.
pub fn clean(store: &Store, dry_run: bool) -> Result<usize, Error> {
    let all = store.folder().join(CHECKPOINTS);
    let folders = std::fs::read_dir(&all).into_iter().flatten().flatten().map(|entry| entry.path());
    let key = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse().ok());
    let mut cleaned = 0;
    for path in folders.filter(|path| key(path).is_some_and(|key| store.contains(&key))) {
        cleaned += 1;
        if !dry_run {
            checkpoint::clear(&path).map_err(|error| Problem::new(error.to_string()))?;
        }
    }
    if !dry_run {
        // There may be others, or none at all.
        let _ = std::fs::remove_dir(&all);
    }
    Ok(cleaned)
}

impl Keeping {
    /// In a store, so often. Once `stop` is set, points write their state and stop. `tell` hears of what goes wrong.
    #[must_use]
    pub fn new(store: &Store, every: Duration, stop: Arc<AtomicBool>, tell: Tell) -> Self {
        Self { folder: store.folder().to_owned(), every, stop, tell }
    }

    /// Tells points to stop; false when they had been told before.
    pub fn stop(&self) -> bool {
        !self.stop.swap(true, Ordering::Relaxed)
    }

    /// Whether points are to stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What the run of a point needs.
    pub(crate) fn of(&self, key: &Key) -> Checkpoints {
        let folder = folder(&self.folder, key);
        Checkpoints {
            every: self.every,
            resume: checkpoint::find(&folder).found,
            if_possible: true,
            stop: Arc::clone(&self.stop),
            tell: Arc::clone(&self.tell),
            ..Checkpoints::new(folder)
        }
    }

    /// A point has come to its end.
    pub(crate) fn end(&self, key: &Key) {
        let own = folder(&self.folder, key);
        if let Err(error) = checkpoint::clear(&own) {
            (self.tell)(&error.to_string());
        }
        // The others may have theirs.
        let _ = own.parent().map(std::fs::remove_dir);
    }
}
