//! Warps that wait at reconvergence points for others of their original gang.

use raddle_exec::Program;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::seam::{GangTable, WarpId};

/// Since when warps wait, and where.
#[derive(Default)]
pub(super) struct Waiting {
    /// When a warp that is held is let go.
    until: Vec<Cycle>,
    /// Instructions a warp had issued when it last began to wait.
    waited: Vec<u64>,
    /// Reconvergence points.
    meets: Vec<bool>,
}

saved!(Waiting { values: until, waited; fixed: meets });

impl Waiting {
    /// Nobody waits.
    pub(super) fn new(program: &Program, warps: usize) -> Self {
        let mut meets = vec![false; program.ops.len() + 1];
        for op in &program.ops {
            if let Some(meets) = meets.get_mut(op.reconverge as usize) {
                *meets = true;
            }
        }
        Self { until: vec![0; warps], waited: vec![0; warps], meets }
    }

    /// A warp is at an operation, with others of its original gang elsewhere, and has issued so many instructions. If
    /// that is a reconvergence point, the warp waits up to `until`, once for each time it comes.
    pub(super) fn comes(&mut self, gangs: &mut GangTable, warp: WarpId, pc: u32, issued: u64, until: Cycle) {
        if !self.meets[pc as usize] {
            gangs.hold(warp, false);
        } else if !gangs.held().contains(warp) && self.waited[warp.index()] != issued {
            self.until[warp.index()] = until;
            self.waited[warp.index()] = issued;
            gangs.hold(warp, true);
        }
    }

    /// Nobody waits longer than it should.
    pub(super) fn let_go(&self, gangs: &mut GangTable, now: Cycle) {
        for n in 0..gangs.held().word_count() {
            let held = WarpId::in_word(gangs.held().word(n), WarpId::at(n * 64).0);
            held.filter(|warp| self.until[warp.index()] <= now).for_each(|warp| gangs.hold(warp, false));
        }
    }

    /// When somebody has waited long enough.
    pub(super) fn next_release(&self, gangs: &GangTable) -> Option<Cycle> {
        gangs.held().iter().map(|warp| self.until[warp.index()]).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_waits_once_each_time_it_comes_where_branches_meet() {
        let mut gangs = GangTable::new(16, 8);
        let mut waiting = Waiting { until: vec![0; 16], waited: vec![0; 16], meets: vec![false, true] };
        let warp = WarpId(9);
        waiting.comes(&mut gangs, warp, 0, 3, 20);
        assert_eq!(waiting.next_release(&gangs), None, "branches do not meet there");
        waiting.comes(&mut gangs, warp, 1, 4, 20);
        waiting.comes(&mut gangs, warp, 1, 4, 25);
        assert_eq!(waiting.next_release(&gangs), Some(20), "it has been waiting");
        waiting.let_go(&mut gangs, 19);
        assert!(gangs.held().contains(warp));
        waiting.let_go(&mut gangs, 20);
        waiting.comes(&mut gangs, warp, 1, 4, 30);
        assert!(gangs.held().is_empty(), "it has waited already");
        waiting.comes(&mut gangs, warp, 1, 8, 40);
        assert_eq!(waiting.next_release(&gangs), Some(40), "it has come again");
        waiting.comes(&mut gangs, warp, 0, 8, 40);
        assert!(gangs.held().is_empty(), "it was moved on");
    }
}
