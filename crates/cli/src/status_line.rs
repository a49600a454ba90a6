//! The last line of a terminal, which says how far something has come. Where stderr is no terminal, it is never drawn.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws in a second, at most.
const HERTZ: u8 = 5;

/// A line that is drawn over itself, and cut at the width of the terminal.
#[derive(Clone)]
pub struct StatusLine(ProgressBar);

impl StatusLine {
    /// Of text alone; a hidden one is never drawn.
    pub fn of_text(is_hidden: bool) -> Self {
        Self::new("{wide_msg}", is_hidden)
    }

    /// Of a bar and text.
    pub fn with_bar() -> Self {
        Self::new("[{bar:20}] {wide_msg}", false)
    }

    fn new(template: &str, is_hidden: bool) -> Self {
        let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(HERTZ) };
        // A template that is wrong shows another line, and nobody is helped by an error about it.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::with_draw_target(None, target).with_style(style.progress_chars("#-")))
    }

    /// Whether it can be seen.
    pub fn is_visible(&self) -> bool {
        !self.0.is_hidden()
    }

    /// The text.
    pub fn show(&self, text: String) {
        self.0.set_message(text);
    }

    /// How much of the bar is full.
    pub fn fill(&self, part: usize, whole: usize) {
        self.0.set_length(whole as u64);
        self.0.set_position(part as u64);
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
