//! The counter of logical blocks of a GPU, for kernels whose blocks are virtual.
//!
//! SMs ask for logical blocks in the course of a window. At its edge the requests of all of them are served in the
//! order of (time, SM, slot), and each answer arrives one window after its request: so nothing depends on who ran
//! first. A virtual block begins with the logical block of its own number; the counter continues after those.

use crate::packet::Cycle;
use crate::sm::Mail;

/// The counter.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct BlockCounter {
    next: u64,
    is_virtual: bool,
    /// Logical blocks there are, once a warp has said so.
    total: Option<u32>,
    /// Requests: time, SM, slot.
    asked: Vec<(Cycle, u16, u32)>,
    /// It has been told that all are given out.
    is_told: bool,
}

impl BlockCounter {
    /// For so many blocks, virtual or not.
    pub(crate) fn new(blocks: u64, is_virtual: bool) -> Self {
        Self { next: blocks, is_virtual, total: None, asked: Vec::new(), is_told: false }
    }

    /// Takes what an SM asked for in a window.
    #[inline]
    pub(crate) fn ask(&mut self, sm: u16, mail: &mut Mail) {
        if mail.asking.is_empty() && mail.logical_total.is_none() {
            return;
        }
        self.total = self.total.or(mail.logical_total);
        self.asked.extend(mail.asking.drain(..).map(|(at, slot)| (at, sm, slot)));
    }

    /// Gives out what was asked for: SM, and time of arrival, slot and logical block.
    #[inline]
    pub(crate) fn give(&mut self, window: Cycle, mut give: impl FnMut(u16, (Cycle, u32, u32))) {
        if self.asked.is_empty() {
            return;
        }
        self.asked.sort_unstable();
        for (at, sm, slot) in self.asked.drain(..) {
            give(sm, (at + window, slot, u32::try_from(self.next).unwrap_or(u32::MAX)));
            self.next += 1;
        }
    }

    /// Whether none is left, asked when no block of the grid is; true once.
    #[inline]
    pub(crate) fn are_just_given(&mut self) -> bool {
        let are_left = self.is_virtual && self.total.is_none_or(|total| self.next < u64::from(total));
        let is_last = !self.is_told && !are_left;
        self.is_told |= is_last;
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_served_by_time_whoever_told_first() {
        let mut counter = BlockCounter::new(3, true);
        let mail =
            |asking: &[(Cycle, u32)]| Mail { asking: asking.to_vec(), logical_total: Some(6), ..Mail::default() };
        counter.ask(1, &mut mail(&[(11, 0), (14, 2)]));
        counter.ask(0, &mut mail(&[(12, 1), (14, 0)]));
        let mut given = Vec::new();
        counter.give(5, |sm, block| given.push((sm, block)));
        assert_eq!(given, [(1, (16, 0, 3)), (0, (17, 1, 4)), (0, (19, 0, 5)), (1, (19, 2, 6))]);
        assert!(counter.are_just_given());
        assert!(!counter.are_just_given(), "only once");
    }

    #[test]
    fn blocks_are_left_until_the_last_is_given() {
        let mut counter = BlockCounter::new(3, true);
        assert!(!counter.are_just_given(), "nobody has said how many there are");
        counter.ask(0, &mut Mail { asking: vec![(1, 0)], logical_total: Some(5), ..Mail::default() });
        counter.give(5, |_, _| {});
        assert!(!counter.are_just_given());
        counter.ask(0, &mut Mail { asking: vec![(8, 0)], logical_total: Some(5), ..Mail::default() });
        counter.give(5, |_, _| {});
        assert!(counter.are_just_given());
        assert!(BlockCounter::new(3, false).are_just_given(), "no virtual blocks, none left");
    }
}
