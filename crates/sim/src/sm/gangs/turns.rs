//! Whose turn it is to be fetched for.

use super::super::build::Build;
use super::super::shared::Shared;
use crate::seam::{GangTable, WarpId, slices_in};

/// Gangs take turns.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Turns {
    /// The original gang that is looked at first.
    next: usize,
}

impl Turns {
    pub(super) fn new(next: usize) -> Self {
        Self { next }
    }

    /// The next gang that wants instructions: a warp, and those after it that want the same, as bits.
    pub(super) fn next<B: Build>(&mut self, on: &Shared<'_, B>, table: &GangTable) -> Option<(WarpId, u8)> {
        let wanting = &on.warps.sets().wanting;
        let sets = table.sets();
        for step in 0..sets {
            let at = self.next + step;
            let set = if at < sets { at } else { at - sets };
            if table.bits(set, |n| wanting.word(n)) == 0 {
                continue;
            }
            let gangs = table.parts(set).gangs();
            for gang in gangs {
                let mut warps = slices_in(*gang).map(|slice| table.warp(set, slice)).filter(|w| wanting.contains(*w));
                let Some(warp) = warps.next() else { continue };
                let pc = on.warps.front(warp).next_pc;
                let alike = warps.filter(|other| on.warps.front(*other).next_pc == pc);
                let behind = alike.fold(0, |mask, other| mask | 1 << (other.0 - warp.0));
                self.next = if gangs.last() == Some(gang) { (set + 1) % sets } else { set };
                return Some((warp, behind));
            }
        }
        None
    }
}
