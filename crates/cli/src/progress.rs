//! The line on stderr that says how far a long run has come.

use crate::out::grouped;
use raddle_sim::gpu::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A run shorter than this says nothing; a longer one says it again after this time.
const EVERY: Duration = Duration::from_millis(250);

/// The line. It is only drawn on a terminal.
pub struct Line {
    is_on: bool,
    is_drawn: bool,
    launch: usize,
    start: Instant,
    last: Instant,
}

impl Line {
    /// A line; with `quiet` it is never drawn.
    pub fn new(quiet: bool) -> Self {
        let now = Instant::now();
        let is_on = !quiet && std::io::stderr().is_terminal();
        Self { is_on, is_drawn: false, launch: 0, start: now, last: now }
    }

    /// Launch `number` has come this far.
    pub fn show(&mut self, number: usize, progress: Progress) {
        let now = Instant::now();
        if number != self.launch {
            (self.launch, self.start) = (number, now);
        }
        if self.is_on && now - self.last >= EVERY {
            (self.last, self.is_drawn) = (now, true);
            let mut stderr = std::io::stderr().lock();
            // Nobody is helped by an error about the progress line.
            let _ = write!(stderr, "\r\x1b[K{}", text(number, progress, now - self.start));
            let _ = stderr.flush();
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let mut stderr = std::io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K");
            let _ = stderr.flush();
        }
    }
}

fn text(number: usize, progress: Progress, elapsed: Duration) -> String {
    let Progress { cycles, ctas_done, ctas } = progress;
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let rate = cycles as f64 / seconds;
    let mut text = format!("launch {}: {} cycles, {:.0} thousand/s", number + 1, grouped(cycles), rate / 1e3);
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
        let progress = |ctas_done| Progress { cycles: 120_000, ctas_done, ctas: 40 };
        let two = Duration::from_secs(2);
        assert_eq!(text(0, progress(0), two), "launch 1: 120,000 cycles, 60 thousand/s, 0 of 40 blocks");
        let some = text(1, progress(10), two);
        assert_eq!(some, "launch 2: 120,000 cycles, 60 thousand/s, 10 of 40 blocks, about 6 s left");
    }
}
