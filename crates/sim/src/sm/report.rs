//! What an SM says about warps that cannot continue.

use super::blocks::Blocks;
use super::build::Build;
use super::shared::Shared;
use crate::seam::{Cause, StackEntry, WarpId};
use raddle_exec::core::lanes_of;

/// A warp that cannot continue, for a report.
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
    /// Its splits; the one that runs first is the last.
    pub stack: Vec<StackEntry>,
}

/// Every warp that has not ended, and what it waits for. `source` is the PTX text.
pub(super) fn blocked_warps<B: Build>(on: &Shared<'_, B>, blocks: &Blocks, source: Option<&str>) -> Vec<BlockedWarp> {
    if on.warps.pooled() {
        return blocks.resident_slots().flat_map(|slot| static_warps(on, blocks, slot, source)).collect();
    }
    let warps = WarpId::first(on.warps.table().slots()).filter(|w| on.warps.get(*w).valid && !on.warps.get(*w).ended);
    warps.map(|warp| blocked_warp(on, blocks, warp, source)).collect()
}

fn blocked_warp<B: Build>(on: &Shared<'_, B>, blocks: &Blocks, warp: WarpId, source: Option<&str>) -> BlockedWarp {
    let info = on.warps.get(warp);
    let slot = info.cta;
    let stack = on.warps.flow.divergence().stack(warp, on.warps.table());
    let front = on.warps.front(warp);
    let part = stack.iter().rev().find_map(|e| e.waits.as_ref()).map(|what| format!("waits for {what}"));
    let waits = match info.blocked {
        _ if let Some(text) = blocks.barriers().logical_block_text(on, warp) => text,
        Some(Cause::Barrier) => {
            blocks.barriers().barrier_text(on, slot, &stack).or(part).unwrap_or_else(|| "waits".to_owned())
        }
        Some(_) => part.unwrap_or_else(|| "held by the divergence model".to_owned()),
        None if front.atomics() > 0 => format!("waits for {} atomics", front.atomics()),
        None if front.has_fence() => "waits at a fence".to_owned(),
        None => "can run".to_owned(),
    };
    let number = warp.0.saturating_sub(blocks.first_warp(slot));
    let (pc, place) = (info.pc, on.facts.kernel.program.place(info.pc, source));
    BlockedWarp { sm: on.facts.id, cta: on.threads.core.cta_coords(slot), warp: number, pc, place, waits, stack }
}

/// The static warps of a block whose threads are spread over a pool.
fn static_warps<B: Build>(on: &Shared<'_, B>, blocks: &Blocks, slot: u32, source: Option<&str>) -> Vec<BlockedWarp> {
    let (first_row, _) = on.threads.core.cta_rows(slot);
    let width = on.facts.config.sm.warp_width;
    let blocked = |number: u16| {
        let lane = u32::from(number) * width;
        let own = lanes_of(width) << (lane % 32);
        let stack = on.warps.flow.divergence().parts(first_row + lane / 32, own);
        let part = stack.last()?;
        let waits = match &part.waits {
            Some(waits) => {
                blocks.barriers().barrier_text(on, slot, &stack).unwrap_or_else(|| format!("waits for {waits}"))
            }
            None => "can run".to_owned(),
        };
        let (pc, place) = (part.pc, on.facts.kernel.program.place(part.pc, source));
        let cta = on.threads.core.cta_coords(slot);
        Some(BlockedWarp { sm: on.facts.id, cta, warp: number, pc, place, waits, stack })
    };
    (0..on.facts.warps_per_cta).filter_map(blocked).collect()
}
