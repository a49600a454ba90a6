//! Short queues of instructions.

use crate::sm::in_flight::InstId;

/// The most instructions that a queue before or after the collector holds.
pub const MAX_WIDTH: u8 = 16;

/// A short queue of instructions.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Queue {
    insts: [InstId; MAX_WIDTH as usize],
    first: u8,
    len: u8,
}

impl Queue {
    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The one that came first.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<InstId> {
        (self.len > 0).then(|| self.insts[usize::from(self.first % MAX_WIDTH)])
    }

    /// One comes.
    #[inline]
    pub fn push_back(&mut self, inst: InstId) {
        self.insts[usize::from((self.first + self.len) % MAX_WIDTH)] = inst;
        self.len += 1;
    }

    /// Takes the one that came first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<InstId> {
        let inst = self.front()?;
        self.first = (self.first + 1) % MAX_WIDTH;
        self.len -= 1;
        Some(inst)
    }
}
