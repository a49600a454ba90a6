//! How far a long run has come: a line on a terminal, a note now and then elsewhere, and the place where Ctrl-C stopped it.

use crate::exit::Exit;
use crate::out::{self, grouped};
use crate::status_line::StatusLine;
use raddle_sim::gpu::Progress;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A run shorter than this says nothing.
const BEFORE: Duration = Duration::from_millis(250);

/// Off a terminal a run says after this time that it is still running, and again after twice the time, and so on.
const FIRST_NOTE: Duration = Duration::from_secs(60);

/// How far a run has come.
#[derive(Clone, Copy)]
struct Reached {
    launch: usize,
    progress: Progress,
    /// When the launch began.
    start: Instant,
}

/// What is said while a run goes on.
pub struct Line {
    status: StatusLine,
    is_quiet: bool,
    begin: Instant,
    next_note: Duration,
    reached: Arc<Mutex<Option<Reached>>>,
}

impl Line {
    /// A line; a quiet one is never drawn.
    pub fn new(is_quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            status: StatusLine::of_text(is_quiet),
            is_quiet,
            begin: now,
            next_note: FIRST_NOTE,
            reached: Arc::default(),
        }
    }

    /// One that says on Ctrl-C how far the run has come, and ends the process.
    pub fn stoppable(is_quiet: bool) -> Self {
        let line = Self::new(is_quiet);
        let (reached, status) = (Arc::clone(&line.reached), line.status.clone());
        // Where signals cannot be caught the process ends without a word.
        let _ = ctrlc::set_handler(move || {
            let reached = *reached.lock().unwrap_or_else(PoisonError::into_inner);
            let place = reached.map_or_else(|| "before its first launch".to_owned(), |reached| place(&reached));
            status.clear();
            out::talk(&format!("stopped {place}"));
            std::process::exit(Exit::Stopped.code().into());
        });
        line
    }

    /// Launch `number` has come this far.
    pub fn show(&mut self, number: usize, progress: Progress) {
        let now = Instant::now();
        let reached = self.reach(number, progress, now);
        if self.is_quiet || now - self.begin < BEFORE {
            return;
        }
        if self.status.is_visible() {
            self.status.show(text(&reached, now - reached.start));
        } else if now - self.begin >= self.next_note {
            self.next_note *= 2;
            let seconds = (now - self.begin).as_secs();
            out::talk(&format!("still running after {seconds} s: {}", text(&reached, now - reached.start)));
        }
    }

    fn reach(&self, launch: usize, progress: Progress, now: Instant) -> Reached {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let start = match &*reached {
            None => self.begin,
            Some(before) if before.launch == launch => before.start,
            Some(_) => now,
        };
        *reached.insert(Reached { launch, progress, start })
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.status.clear();
    }
}

/// Where a run was stopped.
fn place(reached: &Reached) -> String {
    let Progress { cycles, ctas_done, ctas } = reached.progress;
    let launch = reached.launch + 1;
    format!("in launch {launch} at cycle {}: {ctas_done} of {ctas} blocks had ended", grouped(cycles))
}

fn text(reached: &Reached, elapsed: Duration) -> String {
    let Progress { cycles, ctas_done, ctas } = reached.progress;
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let rate = cycles as f64 / seconds;
    let mut text = format!("launch {}: {} cycles, {}", reached.launch + 1, grouped(cycles), out::rate(rate));
    text += &format!(", {ctas_done} of {ctas} blocks");
    if ctas_done > 0 {
        let left = seconds * (ctas - ctas_done) as f64 / ctas_done as f64;
        text += &format!(", about {left:.0} s left");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_far_it_has_come() {
        let start = Instant::now();
        let reached =
            |launch, ctas_done| Reached { launch, progress: Progress { cycles: 120_000, ctas_done, ctas: 40 }, start };
        let two = Duration::from_secs(2);
        assert_eq!(text(&reached(0, 0), two), "launch 1: 120,000 cycles, 60 thousand/s, 0 of 40 blocks");
        let some = text(&reached(1, 10), two);
        assert_eq!(some, "launch 2: 120,000 cycles, 60 thousand/s, 10 of 40 blocks, about 6 s left");
        assert_eq!(place(&reached(1, 10)), "in launch 2 at cycle 120,000: 10 of 40 blocks had ended");
    }

    #[test]
    fn the_first_launch_begins_with_the_line_and_others_when_they_are_first_seen() {
        let line = Line::new(true);
        let progress = Progress { cycles: 1, ctas_done: 0, ctas: 1 };
        let later = line.begin + Duration::from_secs(5);
        assert_eq!(line.reach(0, progress, later).start, line.begin);
        assert_eq!(line.reach(0, progress, later).start, line.begin);
        assert_eq!(line.reach(1, progress, later).start, later);
    }
}
