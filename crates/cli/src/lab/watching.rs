//! How far the points of an experiment or a comparison have come: a line on a terminal, a line now and then elsewhere.

use crate::exit::Exit;
use crate::out;
use crate::status_line::StatusLine;
use raddle_lab::keep::Keeping;
use raddle_lab::work::{self, Progress};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The line on stderr that says how far the work has come. Where stderr is a file, it is written once in a while.
pub struct Watching {
    state: Mutex<State>,
    status: StatusLine,
    /// Whether results outlive the process.
    keeps: bool,
}

#[derive(Default)]
struct State {
    progress: Progress,
    last: Option<Instant>,
}

/// Between two lines in a file.
const EVERY: Duration = Duration::from_secs(30);

impl Default for Watching {
    fn default() -> Self {
        Self { state: Mutex::default(), status: StatusLine::with_bar(), keeps: true }
    }
}

impl Watching {
    /// One that says, when the process is told to stop, what is done and how to continue, and ends the process. Points
    /// that keep their state write it down first, unless the process is told twice.
    pub fn stoppable(keeping: Option<Keeping>) -> Arc<Self> {
        Self::default().with_handler(keeping)
    }

    /// One for a comparison, whose results may be gone when it is stopped.
    pub fn of_comparison(keeps: bool) -> Arc<Self> {
        Self { keeps, ..Self::default() }.with_handler(None)
    }

    fn with_handler(self, keeping: Option<Keeping>) -> Arc<Self> {
        let watching = Arc::new(self);
        let on_stop = Arc::clone(&watching);
        // Where signals cannot be caught the process ends without a word; nothing is lost either way.
        let _ = ctrlc::set_handler(move || {
            if keeping.as_ref().is_some_and(Keeping::stop) {
                return;
            }
            // No result is half written from here on.
            let _writing = work::writing();
            raddle_lab::program_file::end_all();
            on_stop.clear();
            on_stop.tell_stopped();
            std::process::exit(Exit::Stopped.code().into());
        });
        watching
    }

    /// Says what is done and how to continue.
    pub fn tell_stopped(&self) {
        let Progress { all, known, done, .. } = self.lock().progress;
        let ended = known + done;
        let next = match self.keeps {
            true => "run the same command to continue",
            false => "with --store FOLDER they are kept, and the same command continues",
        };
        out::talk(&format!("stopped: {ended} of {all} points have a result; {next}"));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work has come this far.
    pub fn show(&self, progress: Progress) {
        let mut state = self.lock();
        state.progress = progress;
        if self.status.is_visible() {
            self.status.fill(progress.known + progress.ended(), progress.all);
            return self.status.show(text(&progress));
        }
        let now = Instant::now();
        // In a file, the first line is of no use to anybody.
        if now - *state.last.get_or_insert(now) >= EVERY {
            state.last = Some(now);
            out::talk(&text(&progress));
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.status.clear();
    }
}

fn text(progress: &Progress) -> String {
    let Progress { all, known, done, running, queued, .. } = *progress;
    let mut text = format!("{} of {all} done, {running} running", known + done);
    if queued > 0 {
        text += &format!(", {queued} queued");
    }
    text += &without_result(progress);
    if let Some(left) = progress.left() {
        let seconds = left.as_secs();
        text += &match (seconds / 3600, seconds / 60) {
            (0, 0) => format!(", about {seconds} s left"),
            (0, minutes) => format!(", about {minutes} min left"),
            (hours, minutes) => format!(", about {hours} h {} min left", minutes % 60),
        };
    }
    text
}

/// How many points were refused and how many failed, where there are such.
pub fn without_result(progress: &Progress) -> String {
    let counts = [(progress.refused, "refused"), (progress.failed, "failed")];
    counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_far_it_has_come() {
        let elapsed = Duration::from_secs(100);
        let progress = Progress { all: 40, known: 10, done: 9, failed: 1, running: 2, elapsed, ..Progress::default() };
        assert_eq!(text(&progress), "19 of 40 done, 2 running, 1 failed, about 3 min left");
        let queued = Progress { queued: 18, ..progress };
        assert!(text(&queued).contains("2 running, 18 queued, 1 failed"));
        let start = Progress { all: 4, ..Progress::default() };
        assert_eq!(text(&start), "0 of 4 done, 0 running");
    }
}
