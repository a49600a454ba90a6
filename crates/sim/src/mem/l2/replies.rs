//! The replies of a slice: those in its output queue, and those that have left for the interconnect.

use crate::mem::ring::Ring;
use crate::packet::{Cycle, Reply};
use crate::saved;

/// Flits of replies.
#[derive(Clone, Copy, Debug)]
pub struct ReplyFlits {
    /// Of one with data.
    pub data: u32,
    /// Of an acknowledgement.
    pub header: u32,
}

/// Replies in order. Those that have left are first, with the core cycle at which they did, until they are taken.
#[derive(Debug)]
pub(super) struct Replies {
    all: Ring<(Cycle, Reply)>,
    /// How many have left.
    left: u32,
    flits: ReplyFlits,
    /// Flits that may still leave before there is more room.
    credit: u32,
}

saved!(Replies { values: all, left, credit; fixed: flits });

impl Replies {
    pub(super) fn new(queue: u32, flits: ReplyFlits, credit: u32) -> Self {
        Self { all: Ring::new(queue + 16), left: 0, flits, credit }
    }

    /// How many are in the output queue.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        self.all.len() - self.left
    }

    /// How many have left and have not been taken.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// Adds one to the output queue.
    #[inline]
    pub(super) fn push(&mut self, reply: Reply) {
        self.all.push((0, reply));
    }

    /// Says how many flits may leave from now on; whether that is news.
    pub(super) fn set_credit(&mut self, flits: u32) -> bool {
        std::mem::replace(&mut self.credit, flits) != flits
    }

    /// Whether one waits that may leave.
    #[inline]
    pub(super) fn can_leave(&self) -> bool {
        self.all.get(self.left).is_some_and(|(_, reply)| self.flits_of(reply) <= self.credit)
    }

    /// The first of the output queue, which may, leaves in core cycle `now`.
    #[inline]
    pub(super) fn leave(&mut self, now: Cycle) {
        let Replies { all, left, flits, credit } = self;
        if let Some((at, reply)) = all.get_mut(*left) {
            *at = now;
            *credit -= if reply.purpose.is_write() { flits.header } else { flits.data };
            *left += 1;
        }
    }

    /// Takes the first that has left.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(Cycle, Reply)> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.all.pop()
    }

    #[inline]
    fn flits_of(&self, reply: &Reply) -> u32 {
        if reply.purpose.is_write() { self.flits.header } else { self.flits.data }
    }
}
