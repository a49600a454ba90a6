//! Reconvergence at the immediate post-dominator.
//!
//! # What it models
//! Each warp has a reconvergence stack of splits. When the lanes of the running split take a branch differently, it
//! becomes two splits. These run one after the other and reconverge at the branch's immediate post-dominator. Calls and
//! branch tables produce as many splits as there are targets.
//!
//! # Source
//! Fung et al., MICRO 2007; TBC paper (HPCA 2011), section 2.2.2.
//!
//! # Parameters
//! Which side of a branch runs first.
//!
//! # Simplifications
//! When the split on top of the stack waits at a barrier or for other lanes of its warp, the next split that can run
//! does. So all threads can reach a barrier inside divergent code. Where no split waits, the order is that of a stack.
//! Lanes that reach the exit wait there to reconverge. When all other lanes of the warp wait too, these lanes exit
//! without them, because a barrier may be waiting for them.
//!
//! # Counters
//! `divergent_branches`, and `issued_*` by active lanes.

use super::warps;
use raddle_exec::Program;
use raddle_exec::decode::Ends;
use raddle_exec::op::{NO_PC, Op};
use raddle_exec::splits::{Group, Meeting, Splits, State, add_by_target};
use raddle_sim::config::{FirstSide, MachineConfig};
use raddle_sim::saved;
use raddle_sim::saved::Saved;
use raddle_sim::seam::{Cause, Divergence, Leaving, MechanismInfo, Outcome, Seam, StackEntry, WarpId, WarpTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const INFO: MechanismInfo = MechanismInfo {
    seam: Seam::Divergence,
    name: "pdom",
    summary: "per-warp reconvergence stack; lanes reconverge at the branch's immediate post-dominator",
    source: "Fung et al., MICRO 2007; TBC paper (HPCA 2011), section 2.2.2",
    counters: &[],
    refuses: &[],
};

/// Parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which side of a branch runs first: `low-lanes` (without the highest lane) or `taken`; by default, the machine's.
    pub first: Option<FirstSide>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Warp {
    parts: Splits,
    /// The split that the machine runs now.
    current: usize,
    /// Lanes that wait for other lanes, and whether these may wait at any operation.
    syncs: Vec<(u32, bool)>,
    cta: u32,
}

/// The model.
pub struct Pdom {
    first: FirstSide,
    /// Splits reconverge at likely-convergence points too.
    likely: bool,
    warps: Vec<Option<Warp>>,
    groups: Vec<Group>,
    deepest: usize,
    /// Where threads of the kernel end.
    ends: Ends,
}

saved!(Pdom { values: warps, groups, deepest; fixed: first, likely, ends });

impl Pdom {
    /// For a machine.
    #[must_use]
    pub fn new(config: Config, machine: &MachineConfig) -> Self {
        let slots = (machine.sm.threads / machine.sm.warp_width.max(1)) as usize;
        let warps = (0..slots).map(|_| None).collect();
        Self {
            first: config.first.unwrap_or(machine.sm.first_side),
            likely: false,
            warps,
            groups: Vec::new(),
            deepest: 1,
            ends: Ends::default(),
        }
    }

    /// The same with likely-convergence points.
    #[must_use]
    pub fn with_likely_convergence(config: Config, machine: &MachineConfig) -> Self {
        Self { likely: true, ..Self::new(config, machine) }
    }

    fn meeting(&self, op: &Op) -> Meeting {
        Meeting { surely: op.reconverge, likely: if self.likely { op.likely } else { NO_PC } }
    }
}

/// Tells the machine which split of a warp runs.
fn publish(warp: WarpId, state: &mut Warp, ends: &Ends, table: &mut WarpTable) {
    loop {
        let parts = &mut state.parts;
        let Some(current) = parts.ready() else {
            if parts.let_end(ends) {
                continue;
            }
            match parts.splits.last() {
                None => table.end(warp),
                Some(top) => table.block(warp, top.pc, Cause::Barrier),
            }
            return;
        };
        let split = parts.splits[current];
        if parts.meets(current, split.pc, split.depth) {
            parts.arrive(current);
            continue;
        }
        state.current = current;
        table.set_until(warp, split.pc, split.mask, parts.next_meeting(current, split.pc));
        return;
    }
}

impl Pdom {
    /// The running split diverges: each group continues on its own, the last one first.
    fn part(&mut self, warp: WarpId, meeting: Meeting, table: &mut WarpTable) {
        let Some(state) = &mut self.warps[warp.index()] else { return };
        if self.first == FirstSide::LowLanes {
            // The group of the highest lane runs last.
            self.groups.sort_by_key(|g| u32::MAX - g.mask.checked_ilog2().unwrap_or(0));
        }
        state.parts.diverge(state.current, &self.groups, meeting);
        self.deepest = self.deepest.max(state.parts.depth());
        publish(warp, state, &self.ends, table);
    }

    fn scatter(
        &mut self,
        warp: WarpId,
        active: u32,
        targets: &[u32; 32],
        depth: i32,
        meeting: Meeting,
        table: &mut WarpTable,
    ) {
        let Some(state) = &mut self.warps[warp.index()] else { return };
        let s = state.parts.splits[state.current];
        let depth = s.depth.wrapping_add_signed(depth);
        self.groups.clear();
        add_by_target(&mut self.groups, active, targets, depth);
        if let [only] = self.groups[..]
            && only.mask == s.mask
        {
            let split = &mut state.parts.splits[state.current];
            split.pc = only.pc;
            split.depth = depth;
            publish(warp, state, &self.ends, table);
            return;
        }
        self.groups.push(Group { pc: s.pc + 1, mask: s.mask & !active, depth: s.depth });
        self.part(warp, meeting, table);
    }
}

impl Divergence for Pdom {
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        self.ends = program.ends();
        Ok(())
    }

    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable) {
        for &(warp, row, base, mask) in warps {
            let state = Warp { parts: Splits::new(mask), current: 0, syncs: Vec::new(), cta };
            self.warps[warp.index()] = Some(state);
            table.form_static(warp, cta, row, base, mask);
        }
    }

    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable) {
        let Some(state) = &mut self.warps[warp.index()] else { return };
        let split = &mut state.parts.splits[state.current];
        // The machine has advanced it.
        split.pc = table.get(warp).pc;
        let (pc, mask, depth) = (split.pc, split.mask, split.depth);
        match outcome {
            Outcome::Next => {
                split.pc += 1;
                publish(warp, state, &self.ends, table);
            }
            Outcome::Branch { taken, op } if taken == mask || taken == 0 => {
                split.pc = if taken == 0 { pc + 1 } else { op.target };
                publish(warp, state, &self.ends, table);
            }
            Outcome::Branch { taken, op } => {
                self.groups.clear();
                self.groups.push(Group { pc: pc + 1, mask: mask & !taken, depth });
                self.groups.push(Group { pc: op.target, mask: taken, depth });
                let meeting = self.meeting(op);
                self.part(warp, meeting, table);
            }
            Outcome::Scatter { active, targets, depth, op } => {
                let meeting = self.meeting(op);
                self.scatter(warp, active, targets, depth, meeting, table);
            }
            Outcome::Exit { mask } => {
                split.pc = pc + 1;
                let current = state.current;
                state.parts.exit(current, mask);
                publish(warp, state, &self.ends, table);
            }
            Outcome::Barrier { wait: false, .. } => {
                split.pc += 1;
                publish(warp, state, &self.ends, table);
            }
            Outcome::Barrier { arrivals: [only], .. } if only.mask == mask => {
                split.state = State::Barrier(only.number as u8);
                publish(warp, state, &self.ends, table);
            }
            Outcome::Barrier { arrivals, active, .. } => {
                // Lanes whose guard is false do not wait, and lanes at different barriers wait separately.
                self.groups.clear();
                self.groups.push(Group { pc: pc + 1, mask: mask & !active, depth });
                self.groups.extend(arrivals.iter().map(|a| Group { pc, mask: a.mask, depth }));
                state.parts.diverge(state.current, &self.groups, Meeting::at(pc + 1));
                for arrival in arrivals {
                    let here = state.parts.splits.iter_mut().find(|p| p.pc == pc && p.mask == arrival.mask);
                    if let Some(part) = here {
                        part.state = State::Barrier(arrival.number as u8);
                    }
                }
                publish(warp, state, &self.ends, table);
            }
            Outcome::Sync { wanted, anywhere } => {
                split.state = State::Sync(wanted & state.parts.live);
                state.syncs.push((mask, anywhere));
                publish(warp, state, &self.ends, table);
            }
        }
    }

    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        for n in 0..self.warps.len() {
            let warp = WarpId(n as u16);
            let Some(state) = self.warps[n].as_mut().filter(|s| s.cta == cta) else { continue };
            let running = table.get(warp);
            if running.blocked.is_none() {
                // The machine has advanced it, and another split may run first now.
                state.parts.splits[state.current].pc = running.pc;
            }
            let mut any = false;
            for split in state.parts.splits.iter_mut().filter(|s| s.state == State::Barrier(number)) {
                leave(Leaving { warp, pc: split.pc, lanes: table.lanes(warp), mask: split.mask });
                split.state = State::Ready;
                split.pc += 1;
                any = true;
            }
            if any {
                publish(warp, state, &self.ends, table);
            }
        }
    }

    fn take_sync(&mut self, warp: WarpId, table: &mut WarpTable) -> Option<(u32, u32)> {
        let state = self.warps[warp.index()].as_mut()?;
        let anywhere = |mask: u32| state.syncs.iter().any(|(m, any)| *m == mask && *any);
        let splits = &state.parts.splits;
        // With the one that waits, even if it does not name itself: it continues once those it names are gone.
        let complete = splits.iter().find_map(|s| {
            let State::Sync(wanted) = s.state else { return None };
            let own = anywhere(s.mask);
            let together = splits
                .iter()
                .filter(|o| matches!(o.state, State::Sync(_)) && (o.pc == s.pc || own && anywhere(o.mask)));
            let here = together.fold(0, |m, o| m | o.mask);
            (wanted & state.parts.live & !here == 0).then_some((s.pc, own, wanted | s.mask))
        });
        let (pc, own, wanted) = complete?;
        let mut mask = 0;
        for n in 0..state.parts.splits.len() {
            let split = state.parts.splits[n];
            let any = state.syncs.iter().any(|(m, any)| *m == split.mask && *any);
            if matches!(split.state, State::Sync(_)) && (split.pc == pc || own && any) && split.mask & wanted != 0 {
                mask |= split.mask;
                state.parts.splits[n].state = State::Ready;
                state.parts.splits[n].pc += 1;
                state.syncs.retain(|(m, _)| *m != split.mask);
            }
        }
        publish(warp, state, &self.ends, table);
        Some((pc, mask))
    }

    fn stack_depth(&self) -> u32 {
        self.deepest as u32
    }

    fn end_cta(&mut self, cta: u32, _table: &mut WarpTable) {
        warps::forget(&mut self.warps, |warp| warp.cta == cta);
    }

    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let Some(state) = &self.warps[warp.index()] else { return Vec::new() };
        let entry = |n: usize| {
            let split = state.parts.splits[n];
            let (join, _) = state.parts.join_of(n);
            let waits = match split.state {
                State::Ready => None,
                State::Barrier(number) => warps::waits_for_barrier(number),
                State::Sync(wanted) => warps::waits_for_lanes(wanted & !split.mask),
                State::Gathers(_) => Some("the splits above it".to_owned()),
            };
            let runs = n == state.current && split.state == State::Ready;
            let pc = if runs { table.get(warp).pc } else { split.pc };
            StackEntry { pc, mask: split.mask, rejoin: (join != u32::MAX).then_some(join), waits }
        };
        (0..state.parts.splits.len()).map(entry).collect()
    }

    fn saved(&mut self) -> Option<&mut dyn Saved> {
        Some(self)
    }
}
