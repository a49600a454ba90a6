//! Which slots the warps of original gangs are in.

use super::super::build::Build;
use super::super::shared::Shared;
use crate::seam::{Place, WarpId, WarpSet};
use raddle_ptx::num::low8;

/// Original gangs lie side by side, one warp for each slice.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Slices.
    pub(super) slices: usize,
}

impl Layout {
    /// The warp of an original gang in a slice.
    #[inline]
    pub(super) fn warp(self, set: usize, slice: usize) -> WarpId {
        WarpId::at(set * self.slices + slice)
    }

    /// The bits of a set of warps for the slices of an original gang.
    #[inline]
    pub(super) fn bits(self, set: usize, warps: &WarpSet) -> u8 {
        self.bits_of(set, |n| warps.word(n))
    }

    /// The same of the warps at a place.
    #[inline]
    pub(super) fn bits_at<B: Build>(self, on: &Shared<'_, B>, set: usize, place: Place) -> u8 {
        self.bits_of(set, |n| on.warps.sets().at(place).word(n))
    }

    #[inline]
    fn bits_of(self, set: usize, word: impl Fn(usize) -> u64) -> u8 {
        let first = set * self.slices;
        low8(word(first / 64) >> (first % 64)) & (u8::MAX >> (8 - self.slices))
    }
}
