//! Warps take logical blocks one by one, at most one ahead of each other.
//!
//! # What it models
//! The hardware of the VTW paper that assigns logical blocks and thread indices. The first warp of a virtual block to
//! leave an iteration requests the logical block of the next iteration. The other warps get the same logical block when
//! they leave. No warp begins an iteration before all others have begun the one before it.
//!
//! The kernel chooses which warp of the next logical block a warp becomes, among those not yet assigned. With
//! `same_lane` it keeps its number. With `slowest_lane` it becomes the warp that had made least progress when the first
//! warp left the iteration before. With `lowest_lane` it becomes the one with the lowest number. [The page about
//! virtual blocks](../guide/virtual-blocks.md) describes the rest of the machine's part.
//!
//! # Source
//! VTW paper (CGO 2017), sections 4.2 and 4.4.
//!
//! # Parameters
//! None: the kernel chooses the order.
//!
//! # Simplifications
//! A warp that has not begun an iteration counts as the slowest in it. A last warp that is not full stays the last one;
//! the paper does not say this. In the first iteration, every warp keeps its own number. Reading and writing the tables
//! takes no time; the counter of the GPU answers after one window.
//!
//! # Counters
//! None of its own. `stall_sibling` counts slots that stayed empty because warps waited for their next logical block.

use crate::NoConfig;
use raddle_sim::config::MachineConfig;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{LogicalBlocks, LogicalLaunch, LogicalView, LogicalWarp, MechanismInfo, Seam, ThreadOrder};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::LogicalBlocks,
    name: "vtw",
    summary: "the first warp to leave requests the next logical block; no warp gets two ahead of another",
    source: "VTW paper (CGO 2017), sections 4.2 and 4.4",
    counters: &[],
    refuses: &[],
};

/// Warps of a logical block that are not yet assigned, the next one last; by the lowest bit of the iteration, because
/// at most two iterations are in progress.
type Roles = [Vec<u16>; 2];

/// The index map of an SM.
#[derive(Default)]
pub struct Vtw {
    launch: LogicalLaunch,
    /// By slot.
    roles: Vec<Roles>,
}

saved!(Vtw { values: roles; fixed: launch });

impl Vtw {
    /// Nothing is assigned yet.
    #[must_use]
    pub fn new(_: NoConfig, _: &MachineConfig) -> Self {
        Self::default()
    }

    /// The warps of the logical block after an iteration; the last one is assigned first.
    fn roles_after(&self, view: &LogicalView<'_>, iteration: u32) -> Vec<u16> {
        let mut roles: Vec<u16> = (0..self.launch.warps).filter(|role| !self.launch.stays(*role)).collect();
        if self.launch.order == ThreadOrder::SlowestLane {
            // A warp that is not yet assigned has done nothing.
            let mut done = vec![0; usize::from(self.launch.warps)];
            for (n, warp) in view.block.warps().filter(|(_, w)| w.iteration == iteration) {
                done[usize::from(warp.role)] = view.progress(n);
            }
            roles.sort_by_key(|role| (done[usize::from(*role)], *role));
        }
        roles.reverse();
        roles
    }

    /// A warp that has not begun the iteration that this one has left.
    fn behind(view: &LogicalView<'_>, warp: u16) -> Option<u16> {
        let iteration = view.block.warp(warp).iteration;
        view.block.live().find(|(_, w)| w.iteration < iteration).map(|(n, _)| n)
    }
}

impl LogicalBlocks for Vtw {
    fn start_launch(&mut self, launch: &LogicalLaunch) {
        self.launch = *launch;
    }

    fn start_block(&mut self, slot: u32) {
        if self.roles.len() <= slot as usize {
            self.roles.resize(slot as usize + 1, Roles::default());
        }
    }

    fn left(&mut self, view: &LogicalView<'_>, warp: u16) {
        let iteration = view.block.warp(warp).iteration;
        let has_left = |w: &LogicalWarp| w.iteration > iteration || w.iteration == iteration && w.has_left;
        let is_first = !view.block.warps().any(|(n, w)| n != warp && has_left(w));
        if iteration > 0 && is_first {
            // What is there is of the iteration before, which everybody has begun.
            let roles = self.roles_after(view, iteration);
            self.roles[view.slot as usize][next_of(iteration)] = roles;
        }
    }

    fn begins(&mut self, view: &LogicalView<'_>, warp: u16) -> Option<u16> {
        if Self::behind(view, warp).is_some() {
            return None;
        }
        let iteration = view.block.warp(warp).iteration;
        if iteration == 0 || self.launch.stays(warp) {
            return Some(warp);
        }
        self.roles[view.slot as usize][next_of(iteration)].pop()
    }

    fn asks(&mut self, view: &LogicalView<'_>) -> bool {
        let wants = |w: &u16| Self::behind(view, *w).is_none() && view.block.warp(*w).iteration == view.block.asked();
        view.block.waiting().iter().any(wants)
    }

    fn reason(&self, view: &LogicalView<'_>, warp: u16) -> Option<String> {
        let (behind, next) = (Self::behind(view, warp)?, view.block.warp(warp).iteration + 1);
        Some(format!("iteration {next} would be two ahead of warp {behind}"))
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}

/// Where the iteration after this one has its roles.
fn next_of(iteration: u32) -> usize {
    (iteration as usize + 1) & 1
}

#[cfg(test)]
mod tests;
