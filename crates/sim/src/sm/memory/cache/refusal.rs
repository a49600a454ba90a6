//! Why a first-level cache refuses an access, and what can change that.

/// Why an access is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Why {
    /// Too many requests wait for the interconnect.
    Queue,
    /// Every line of the set is reserved.
    Lines,
    /// No entry is free, or too many wait for the line.
    Entries,
}

/// Changes that could turn a refusal into something else, counted.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Changes {
    /// Lines that came, or went.
    pub(super) lines: u64,
    /// Requests that were sent.
    pub(super) sent: u64,
    /// Accesses taken whose lines had come.
    pub(super) taken: u64,
}

impl Changes {
    /// Those without which an access would be refused again. A line that comes may be its own.
    #[inline]
    pub(super) fn that_matter(self, why: Why) -> u64 {
        match why {
            Why::Queue => self.lines + self.sent,
            Why::Lines => self.lines,
            Why::Entries => self.lines + self.taken,
        }
    }
}
