//! What an SM says about warps that cannot go on.

use super::{Build, Sm};
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

impl<B: Build> Sm<'_, B> {
    /// Every warp that has not ended, and what it waits for. `source` is the PTX text.
    #[must_use]
    pub fn blocked_warps(&self, source: Option<&str>) -> Vec<BlockedWarp> {
        if self.pooled() {
            let blocks = (0..).zip(&self.residents).filter(|(_, resident)| resident.is_some());
            return blocks.flat_map(|(slot, _)| self.blocked_static_warps(slot, source)).collect();
        }
        let slots = WarpId::first(self.table.slots());
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
            _ if let Some(text) = self.logical_block_text(warp) => text,
            Some(Cause::Barrier) => self.barrier_text(slot, &stack).or(part).unwrap_or_else(|| "waits".to_owned()),
            Some(_) => part.unwrap_or_else(|| "held by the divergence model".to_owned()),
            None if front.atomics > 0 => format!("waits for {} atomics", front.atomics),
            None if front.fence => "waits at a fence".to_owned(),
            None => "can run".to_owned(),
        };
        let number = warp.0.saturating_sub(first);
        let (pc, place) = (info.pc, self.kernel.program.place(info.pc, source));
        BlockedWarp { sm: self.id, cta: self.core.cta_coords(slot), warp: number, pc, place, waits, stack }
    }

    /// The static warps of a block whose threads are spread over a pool.
    fn blocked_static_warps(&self, slot: u32, source: Option<&str>) -> Vec<BlockedWarp> {
        let (first_row, _) = self.core.cta_rows(slot);
        let width = self.config.sm.warp_width;
        let blocked = |number: u16| {
            let lane = u32::from(number) * width;
            let own = raddle_exec::core::lanes_of(width) << (lane % 32);
            let stack = self.mechanisms.divergence.parts(first_row + lane / 32, own);
            let part = stack.last()?;
            let waits = match &part.waits {
                Some(waits) => self.barrier_text(slot, &stack).unwrap_or_else(|| format!("waits for {waits}")),
                None => "can run".to_owned(),
            };
            let (pc, place) = (part.pc, self.kernel.program.place(part.pc, source));
            Some(BlockedWarp { sm: self.id, cta: self.core.cta_coords(slot), warp: number, pc, place, waits, stack })
        };
        (0..self.warps_per_cta).filter_map(blocked).collect()
    }

    fn barrier_text(&self, slot: u32, stack: &[StackEntry]) -> Option<String> {
        let text = stack.iter().rev().find_map(|e| e.waits.as_deref())?;
        let number = text.strip_prefix("barrier ")?.parse::<u8>().ok()?;
        if let Some(text) = self.logical_barrier_text(slot, number) {
            return Some(text);
        }
        let (arrived, wanted) = self.core.barrier_state(slot, number);
        Some(format!("waits at barrier {number}: {arrived} of {wanted} threads have arrived"))
    }
}
