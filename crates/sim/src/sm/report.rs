//! What an SM says about warps that cannot go on.

use super::Sm;
use crate::seam::{Cause, StackEntry, WarpId};

/// A warp that cannot go on, for a report.
#[derive(Clone, Debug)]
pub struct BlockedWarp {
    /// SM.
    pub sm: u16,
    /// Coordinates of its block.
    pub cta: [u32; 3],
    /// Number of the warp in its block.
    pub warp: u16,
    /// Operation it is at.
    pub pc: u32,
    /// Where that is: function, PTX line, source line.
    pub place: String,
    /// What it waits for.
    pub waits: String,
    /// Its parts, the one that runs first last.
    pub stack: Vec<StackEntry>,
}

impl Sm<'_> {
    /// Every warp that has not ended, and what it waits for. `source` is the PTX text.
    #[must_use]
    pub fn blocked_warps(&self, source: Option<&str>) -> Vec<BlockedWarp> {
        let slots = (0..self.table.slots()).map(|n| WarpId(n as u16));
        let warps = slots.filter(|w| self.table.get(*w).valid && !self.table.get(*w).ended);
        warps.map(|warp| self.blocked_warp(warp, source)).collect()
    }

    fn blocked_warp(&self, warp: WarpId, source: Option<&str>) -> BlockedWarp {
        let info = self.table.get(warp);
        let slot = info.cta;
        let first = self.residents.get(slot as usize).and_then(|r| r.as_ref()).map_or(0, |r| r.first_warp);
        let stack = self.mechanisms.divergence.stack(warp, &self.table);
        let front = &self.fronts[warp.index()];
        let part = stack.iter().rev().find_map(|e| e.waits.clone());
        let waits = match info.blocked {
            Some(Cause::Barrier) => self.barrier_text(slot, &stack).or(part).unwrap_or_else(|| "waits".to_owned()),
            Some(_) => part.unwrap_or_else(|| "held by the divergence model".to_owned()),
            None if front.atomics > 0 => format!("waits for {} atomics", front.atomics),
            None if front.fence => "waits at a fence".to_owned(),
            None => "can run".to_owned(),
        };
        BlockedWarp {
            sm: self.id,
            cta: self.core.cta_coords(slot),
            warp: warp.0.saturating_sub(if self.pooled { 0 } else { first }),
            pc: info.pc,
            place: self.kernel.program.place(info.pc, source),
            waits,
            stack,
        }
    }

    fn barrier_text(&self, slot: u32, stack: &[StackEntry]) -> Option<String> {
        let text = stack.iter().rev().find_map(|e| e.waits.as_deref())?;
        let number = text.strip_prefix("barrier ")?.parse::<u8>().ok()?;
        let (arrived, wanted) = self.core.barrier_state(slot, number);
        Some(format!("waits at barrier {number}: {arrived} of {wanted} threads have arrived"))
    }
}
