//! Asynchronous copies that warps have outstanding, by group.
//!
//! A warp's copies belong to its open group until it commits that. To wait for groups is to wait until no copy is outstanding
//! in any but the youngest committed ones. Threads that change warps are not followed: they wait for all they have in flight.

use crate::kernel::CopyRole;
use crate::saved;
use crate::seam::WarpId;
use std::collections::VecDeque;

/// Copies that are outstanding, by warp.
#[derive(Default)]
pub(super) struct Copies {
    /// None for kernels without copies.
    warps: Vec<Groups>,
}

saved!(Copies { values: warps });

/// The groups of a warp.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Groups {
    /// The number of the one that copies go to.
    open: u32,
    /// Groups with copies that are outstanding, the oldest first, and how many those are.
    outstanding: VecDeque<(u32, u32)>,
}

impl Copies {
    /// No warp has any.
    pub(super) fn new(slots: usize) -> Self {
        Self { warps: vec![Groups::default(); slots] }
    }

    /// A slot is used by another warp.
    pub(super) fn start(&mut self, warp: WarpId) {
        if let Some(groups) = self.warps.get_mut(warp.index()) {
            *groups = Groups::default();
        }
    }

    /// A warp issues an instruction that has to do with copies; the group of a copy.
    pub(super) fn issue(&mut self, warp: WarpId, role: CopyRole) -> u32 {
        let Some(groups) = self.warps.get_mut(warp.index()) else { return 0 };
        match role {
            CopyRole::Copy => match groups.outstanding.back_mut() {
                Some((group, count)) if *group == groups.open => *count += 1,
                _ => groups.outstanding.push_back((groups.open, 1)),
            },
            CopyRole::Commit => groups.open += 1,
            CopyRole::None | CopyRole::Wait(_) | CopyRole::WaitForAll => {}
        }
        groups.open
    }

    /// A copy of a group has come.
    pub(super) fn done(&mut self, warp: WarpId, group: u32) {
        let Some(groups) = self.warps.get_mut(warp.index()) else { return };
        if let Some((_, count)) = groups.outstanding.iter_mut().find(|(number, _)| *number == group) {
            *count -= 1;
        }
        groups.outstanding.retain(|(_, count)| *count > 0);
    }

    /// Whether a warp has to wait for copies before it issues an instruction.
    pub(super) fn keep(&self, warp: WarpId, role: CopyRole) -> bool {
        let Some(Groups { open, outstanding }) = self.warps.get(warp.index()) else { return false };
        let Some((oldest, _)) = outstanding.front() else { return false };
        match role {
            CopyRole::Wait(groups) => oldest.saturating_add(groups) < *open,
            CopyRole::WaitForAll => true,
            CopyRole::None | CopyRole::Copy | CopyRole::Commit => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_wait_for_all_but_the_youngest_groups() {
        let (mut copies, warp) = (Copies::new(2), WarpId(1));
        let first = copies.issue(warp, CopyRole::Copy);
        assert!(!copies.keep(warp, CopyRole::Wait(0)), "its group is open");
        assert!(copies.keep(warp, CopyRole::WaitForAll));
        copies.issue(warp, CopyRole::Commit);
        let second = copies.issue(warp, CopyRole::Copy);
        copies.issue(warp, CopyRole::Copy);
        copies.issue(warp, CopyRole::Commit);
        assert!(copies.keep(warp, CopyRole::Wait(1)) && !copies.keep(warp, CopyRole::Wait(2)));
        assert!(!copies.keep(WarpId(0), CopyRole::WaitForAll), "of another warp");
        copies.done(warp, second);
        assert!(copies.keep(warp, CopyRole::Wait(1)), "the older group is outstanding");
        copies.done(warp, first);
        assert!(!copies.keep(warp, CopyRole::Wait(1)) && copies.keep(warp, CopyRole::Wait(0)));
        copies.done(warp, second);
        assert!(!copies.keep(warp, CopyRole::WaitForAll));
        // Groups without copies count.
        copies.issue(warp, CopyRole::Copy);
        for _ in 0..3 {
            copies.issue(warp, CopyRole::Commit);
        }
        assert!(copies.keep(warp, CopyRole::Wait(2)) && !copies.keep(warp, CopyRole::Wait(3)));
        copies.start(warp);
        assert!(!copies.keep(warp, CopyRole::WaitForAll));
    }
}
