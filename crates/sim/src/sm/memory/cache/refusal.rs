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
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Changes {
    /// Lines that came, by set.
    came: Vec<u64>,
    /// Lines that came, or times that all went.
    lines: u64,
    gone: u64,
    /// Requests that were sent.
    pub(super) sent: u64,
    /// Accesses taken whose lines had come.
    pub(super) taken: u64,
}

impl Changes {
    pub(super) fn new(sets: u32) -> Self {
        Self { came: vec![0; sets.max(1) as usize], lines: 0, gone: 0, sent: 0, taken: 0 }
    }

    /// All of them.
    #[inline]
    pub(super) fn all(&self) -> u64 {
        self.lines + self.gone + self.sent + self.taken
    }

    /// Those without which an access to a set would be refused again. A line that comes may be its own.
    #[inline]
    pub(super) fn that_matter(&self, why: Why, set: u32) -> u64 {
        let lines = self.came[set as usize] + self.gone;
        match why {
            Why::Queue => lines + self.sent,
            Why::Lines => lines,
            Why::Entries => lines + self.taken,
        }
    }

    /// A line of a set has come, or a part of it.
    pub(super) fn line_came(&mut self, set: u32) {
        self.came[set as usize] += 1;
        self.lines += 1;
    }

    /// All lines have gone.
    pub(super) fn lines_gone(&mut self) {
        self.gone += 1;
    }
}
