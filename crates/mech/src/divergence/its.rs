//! Independent thread scheduling, with convergence barriers.
//!
//! # What it models
//! How warps diverge on GPUs since Volta. A warp is a set of splits, each with its own lanes and its own program
//! counter. When the lanes of a split take a branch differently, the split becomes several splits. These set up a
//! convergence barrier at the branch's immediate post-dominator. Lanes that arrive there wait for the other lanes of
//! the same divergence that are still running; then all continue as one split. Lanes that end leave their convergence
//! barriers.
//!
//! One split of a warp issues at a time. It runs until it reaches a convergence barrier, ends, jumps back, or has to
//! wait: at a barrier of the block, or for other lanes at a `.sync` operation. Then the next ready split runs, in turn.
//! So every split makes progress, and a lane that waits for a flag or a lock receives it from another lane of its warp.
//!
//! Lanes that leave a lock's loop with the lock must not wait at the convergence barrier for lanes that still spin. So
//! a barrier lets such lanes go. The rule applies to lanes that were in a *waiting loop* and now wait for lanes still
//! inside it: when those have jumped back twice in the meantime, the waiting lanes continue without them. A loop is a
//! waiting loop if its end visibly depends on what other threads do. That is: it depends on the result of an atomic, or
//! on a load that is volatile, relaxed, acquiring, past the L1, or in a loop with a fence. At the end of any other
//! loop, lanes wait as long as it takes, as under `pdom`.
//!
//! # Source
//! NVIDIA, Tesla V100 GPU architecture (the Volta whitepaper, 2017), on independent thread scheduling; US patent
//! application 2016/0019066, on convergence barriers. Finding the waiting loops in the program is our own method. The
//! paper MIMD synchronization on SIMT architectures (MICRO 2016) looks for such loops too.
//!
//! # Parameters
//! None. The machine says which side of a branch runs first; lanes that jump back run last.
//!
//! # Simplifications
//! NVIDIA does not say where its compiler puts barriers, when a split yields, or which split is next. Our choices:
//! every branch has a barrier at its immediate post-dominator; a split yields at each jump back, but not while it waits
//! for memory; splits take turns. Splits that wait at the same place for a `.sync` operation or a barrier of the block
//! continue as one split.
//!
//! When no split of a warp can run, two kinds of lanes no longer wait to reconverge: lanes at the end of the kernel
//! end, and lanes that others want at a `.sync` operation continue. After 1024 jumps back in waiting loops that no lane
//! has left, lanes outside the loop also continue, even if they were never inside. So a warp whose first lane takes a
//! lock for all lanes stays converged for that long. Splits of a warp wait for each other's results and atomics,
//! because the warp has one scoreboard.
//!
//! # Counters
//! Its own counters say how often a warp switches directly from one split to another, and how many lanes continue
//! without those they waited for. `divergent_branches`, and `issued_*` by active lanes. `stack_depth` is the largest
//! number of splits and convergence barriers of a warp.

mod parts;
#[cfg(test)]
mod tests;
mod waiting;

use super::warps;
use crate::NoConfig;
use parts::{Parts, Split, State};
use raddle_exec::Program;
use raddle_exec::core::Arrival;
use raddle_exec::decode::Ends;
use raddle_exec::op::Op;
use raddle_exec::splits::{Group, add_by_target};
use raddle_sim::config::{FirstSide, MachineConfig};
use raddle_sim::counters;
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Cause, Divergence, Leaving, MechanismInfo, Outcome, Seam, StackEntry, WarpId, WarpTable};
use raddle_sim::stats::Counters;
use waiting::WaitingLoops;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Divergence,
    name: "its",
    summary: "independent thread scheduling: splits of a warp take turns and reconverge at barriers",
    source: "the Volta whitepaper (NVIDIA, 2017); US patent application 2016/0019066",
    counters: SplitCounters::INFO,
    refuses: &[],
};

counters! {
    /// What splits do.
    struct SplitCounters {
        switches: Events, "times a warp switched directly from one split to another";
        let_go: Events, "lanes that left a convergence barrier without waiting for all others";
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Warp {
    parts: Parts,
    /// The split that the machine runs now.
    current: Option<usize>,
    cta: u32,
}

/// The model.
pub struct Its {
    first: FirstSide,
    warps: Vec<Option<Warp>>,
    groups: Vec<Group>,
    most: usize,
    loops: WaitingLoops,
    /// Where threads of the kernel end.
    ends: Ends,
    counters: SplitCounters,
}

saved!(Its { values: warps, groups, most; parts: counters; fixed: first, loops, ends });

impl Its {
    /// For a machine.
    #[must_use]
    pub fn new(_config: NoConfig, machine: &MachineConfig) -> Self {
        let slots = (machine.sm.threads / machine.sm.warp_width.max(1)) as usize;
        Self {
            first: machine.sm.first_side,
            warps: (0..slots).map(|_| None).collect(),
            groups: Vec::new(),
            most: 1,
            loops: WaitingLoops::default(),
            ends: Ends::default(),
            counters: SplitCounters::default(),
        }
    }

    /// The running split diverges: `self.groups` continue and reconverge at `meeting`.
    fn diverge(&mut self, state: &mut Warp, current: usize, meeting: u32, is_inside: bool) {
        if self.first == FirstSide::LowLanes {
            // The group of the highest lane runs last.
            self.groups.sort_by_key(|g| u32::MAX - g.mask.checked_ilog2().unwrap_or(0));
        }
        state.parts.diverge(current, &self.groups, meeting, is_inside);
        self.most = self.most.max(state.parts.count());
    }

    fn branch(&mut self, state: &mut Warp, current: usize, taken: u32, op: &Op) {
        let Split { pc, mask, depth, .. } = state.parts.splits[current];
        if self.loops.leaves(pc, taken, mask & !taken) {
            state.parts.leave();
        }
        let split = &mut state.parts.splits[current];
        if taken == 0 || taken == mask {
            split.pc = if taken == 0 { pc + 1 } else { op.target };
            if taken != 0 && op.target <= pc {
                state.parts.give_way(current);
            }
        } else {
            self.groups.clear();
            self.groups.push(Group { pc: pc + 1, mask: mask & !taken, depth });
            self.groups.push(Group { pc: op.target, mask: taken, depth });
            self.diverge(state, current, op.reconverge, self.loops.is_inside(pc));
        }
        if taken != 0 && self.loops.goes_round(pc) {
            state.parts.go_round(taken);
        }
    }

    /// Each lane of `active` goes to its own target; the others continue.
    fn scatter(&mut self, state: &mut Warp, current: usize, active: u32, targets: &[u32; 32], by: i32, meeting: u32) {
        let split = &mut state.parts.splits[current];
        let inside = split.depth.wrapping_add_signed(by);
        self.groups.clear();
        add_by_target(&mut self.groups, active, targets, inside);
        if let [only] = self.groups[..]
            && only.mask == split.mask
        {
            let goes_back = by == 0 && only.pc <= split.pc;
            (split.pc, split.depth) = (only.pc, inside);
            if goes_back {
                state.parts.give_way(current);
            }
            return;
        }
        let is_inside = self.loops.is_inside(split.pc);
        self.groups.push(Group { pc: split.pc + 1, mask: split.mask & !active, depth: split.depth });
        self.diverge(state, current, meeting, is_inside);
    }

    /// Lanes of the running split wait at barriers of the block.
    fn wait(&mut self, state: &mut Warp, current: usize, arrivals: &[Arrival], active: u32) {
        let split = &mut state.parts.splits[current];
        let (pc, mask, depth) = (split.pc, split.mask, split.depth);
        if let [only] = arrivals
            && only.mask == mask
        {
            split.state = State::Barrier(only.number as u8);
            return;
        }
        // Lanes whose guard is false do not wait, and lanes at different barriers wait separately.
        self.groups.clear();
        self.groups.push(Group { pc: pc + 1, mask: mask & !active, depth });
        self.groups.extend(arrivals.iter().map(|a| Group { pc, mask: a.mask, depth }));
        self.diverge(state, current, pc + 1, false);
        for arrival in arrivals {
            let here = state.parts.splits.iter_mut().find(|s| s.pc == pc && s.mask == arrival.mask);
            if let Some(split) = here {
                split.state = State::Barrier(arrival.number as u8);
            }
        }
    }

    /// Puts a warp back and tells the machine which split of it runs.
    fn publish(&mut self, warp: WarpId, mut state: Warp, table: &mut WarpTable) {
        let before = table.get(warp).mask;
        state.publish(warp, &self.ends, table);
        let now = table.get(warp).mask;
        self.counters.switches += u64::from(before != 0 && now != 0 && before & now == 0);
        self.counters.let_go += state.parts.take_let_go();
        self.warps[warp.index()] = Some(state);
    }
}

impl Warp {
    /// The running split, whose program counter the machine has advanced.
    fn catch_up(&mut self, warp: WarpId, table: &WarpTable) -> Option<usize> {
        let current = self.current?;
        self.parts.splits[current].pc = table.get(warp).pc;
        Some(current)
    }

    /// Tells the machine which split runs.
    fn publish(&mut self, warp: WarpId, ends: &Ends, table: &mut WarpTable) {
        loop {
            self.current = self.parts.running();
            let Some(current) = self.current else {
                if self.parts.unblock(ends) {
                    continue;
                }
                match self.parts.splits.last() {
                    None => table.end(warp),
                    Some(top) => table.block(warp, top.pc, Cause::Barrier),
                }
                return;
            };
            if self.parts.is_there(current) {
                self.parts.arrive(current);
                continue;
            }
            let split = self.parts.splits[current];
            table.set_until(warp, split.pc, split.mask, self.parts.meeting(current));
            return;
        }
    }
}

impl Divergence for Its {
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        self.ends = program.ends();
        self.loops = WaitingLoops::new(program);
        Ok(())
    }

    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable) {
        for &(warp, row, base, mask) in warps {
            self.warps[warp.index()] = Some(Warp { parts: Parts::new(mask), current: Some(0), cta });
            table.form_static(warp, cta, row, base, mask);
        }
    }

    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable) {
        let Some(mut state) = self.warps[warp.index()].take_if(|state| state.current.is_some()) else { return };
        let Some(current) = state.catch_up(warp, table) else { return };
        let split = &mut state.parts.splits[current];
        match outcome {
            Outcome::Next | Outcome::Barrier { wait: false, .. } => split.pc += 1,
            Outcome::Branch { taken, op } => self.branch(&mut state, current, taken, op),
            Outcome::Scatter { active, targets, depth, op } => {
                self.scatter(&mut state, current, active, targets, depth, op.reconverge);
            }
            Outcome::Exit { mask } => {
                split.pc += 1;
                state.parts.exit(current, mask);
            }
            Outcome::Barrier { arrivals, active, .. } => self.wait(&mut state, current, arrivals, active),
            Outcome::Sync { wanted, anywhere } => {
                split.state = State::Sync { wanted: wanted & state.parts.live, anywhere };
            }
        }
        self.publish(warp, state, table);
    }

    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        for n in 0..self.warps.len() {
            let warp = WarpId(n as u16);
            let waits =
                |s: &mut Warp| s.cta == cta && s.parts.splits.iter().any(|split| split.state == State::Barrier(number));
            let Some(mut state) = self.warps[n].take_if(waits) else { continue };
            state.catch_up(warp, table);
            state.parts.release(|split| {
                let is_here = split.state == State::Barrier(number);
                if is_here {
                    leave(Leaving { warp, pc: split.pc, lanes: table.lanes(warp), mask: split.mask });
                }
                is_here
            });
            self.publish(warp, state, table);
        }
    }

    fn take_sync(&mut self, warp: WarpId, table: &mut WarpTable) -> Option<(u32, u32)> {
        let (pc, lanes) = self.warps[warp.index()].as_ref()?.parts.complete_sync()?;
        let mut state = self.warps[warp.index()].take()?;
        state.catch_up(warp, table);
        state.parts.release(|split| matches!(split.state, State::Sync { .. }) && split.mask & lanes != 0);
        self.publish(warp, state, table);
        Some((pc, lanes))
    }

    fn stack_depth(&self) -> u32 {
        self.most as u32
    }

    fn end_cta(&mut self, cta: u32, _table: &mut WarpTable) {
        warps::forget(&mut self.warps, |warp| warp.cta == cta);
    }

    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let Some(state) = &self.warps[warp.index()] else { return Vec::new() };
        let entry = |n: usize| {
            let split = state.parts.splits[n];
            let meeting = state.parts.meeting(n);
            let waits = match split.state {
                State::Ready => None,
                State::Barrier(number) => warps::waits_for_barrier(number),
                State::Sync { wanted, .. } => warps::waits_for_lanes(wanted & !split.mask),
            };
            let pc = if state.current == Some(n) { table.get(warp).pc } else { split.pc };
            StackEntry { pc, mask: split.mask, rejoin: (meeting != u32::MAX).then_some(meeting), waits }
        };
        (0..state.parts.splits.len()).map(entry).collect()
    }

    fn counters(&self) -> Vec<u64> {
        self.counters.values()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
