//! Parts of a warp in slots of their own: a model in which both sides of a branch run at once.

use raddle_exec::Program;
use raddle_exec::core::{Home, Lanes, lanes_in};
use raddle_exec::op::Class;
use raddle_mech::NoConfig;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::LaunchResult;
use raddle_sim::seam::{
    Cause, Divergence, Leaving, MechanismInfo, Outcome, Registry, Seam, StackEntry, WarpId, WarpTable,
};
use raddle_testkit::reference::{self, Case};
use raddle_testkit::timing::{machine, try_run_with};

/// Where parts of a warp that have parted are one again.
#[derive(Debug)]
struct Meeting {
    pc: u32,
    /// Lanes that will come, and those that have.
    lanes: u32,
    came: u32,
    /// The next one behind it.
    behind: Option<usize>,
}

/// A part of a static warp.
#[derive(Clone, Copy, Debug)]
struct Split {
    cta: u32,
    row: u32,
    lanes: u32,
    meeting: Option<usize>,
    /// The barrier it waits at.
    barrier: Option<u8>,
}

/// Both sides of a branch take slots of their own, and meet where it reconverges.
struct BothSides {
    slots: Vec<Option<Split>>,
    free: Vec<WarpId>,
    meetings: Vec<Meeting>,
    /// Whether it says that its warps are parts of static ones.
    says_so: bool,
}

impl BothSides {
    fn new(machine: &MachineConfig, says_so: bool) -> Self {
        let slots = machine.sm.threads as usize;
        let free = (0..slots as u16).rev().map(WarpId).collect();
        Self { slots: vec![None; slots], free, meetings: Vec::new(), says_so }
    }

    /// Puts a part at an operation, in a free slot.
    fn begin(&mut self, split: Split, pc: u32, table: &mut WarpTable) {
        let warp = self.free.pop().expect("there are as many slots as threads");
        let mut homes = [Home::default(); 32];
        lanes_in(split.lanes).for_each(|lane| homes[lane] = Home { row: split.row, lane: lane as u8 });
        table.form(warp, split.cta, &homes, split.lanes, pc, pc + 1);
        self.slots[warp.index()] = Some(split);
    }

    /// A part is no more; its slot is free when its last instruction is done.
    fn end(&mut self, warp: WarpId, table: &mut WarpTable) {
        self.slots[warp.index()] = None;
        table.block(warp, table.get(warp).pc, Cause::Mechanism);
    }

    /// A part goes to an operation, or waits there for others that will come.
    fn go(&mut self, warp: WarpId, split: Split, pc: u32, table: &mut WarpTable) {
        let meets = split.meeting.filter(|n| self.meetings[*n].pc == pc);
        if let Some(number) = meets {
            self.meetings[number].came |= split.lanes;
            self.end(warp, table);
            self.meet(number, split, table);
        } else {
            self.slots[warp.index()] = Some(split);
            table.set(warp, pc, split.lanes);
        }
    }

    /// If everybody has come to a meeting, those who have are one part.
    fn meet(&mut self, number: usize, of: Split, table: &mut WarpTable) {
        let Meeting { pc, lanes, came, behind } = self.meetings[number];
        if came != lanes || lanes == 0 {
            return;
        }
        let split = Split { lanes, meeting: behind, barrier: None, ..of };
        match behind.filter(|n| self.meetings[*n].pc == pc) {
            Some(next) => {
                self.meetings[next].came |= lanes;
                self.meet(next, split, table);
            }
            None => self.begin(split, pc, table),
        }
    }
}

impl Divergence for BothSides {
    fn start_launch(&mut self, program: &Program) -> Result<(), (u32, String)> {
        let wide = program.ops.iter().position(|op| op.class == Class::Warp);
        wide.map_or(Ok(()), |pc| Err((pc as u32, "warp-wide operations are not for parts of warps".to_owned())))
    }

    fn regroups(&self) -> bool {
        true
    }

    fn pool(&self, _: usize) -> Option<usize> {
        Some(self.slots.len())
    }

    fn splits(&self) -> bool {
        self.says_so
    }

    fn start_cta(&mut self, cta: u32, warps: &[(WarpId, u32, u8, u32)], table: &mut WarpTable) {
        for &(_, row, _, lanes) in warps {
            self.begin(Split { cta, row, lanes, meeting: None, barrier: None }, 0, table);
        }
    }

    fn issued(&mut self, warp: WarpId, outcome: Outcome<'_>, table: &mut WarpTable) {
        let split = self.slots[warp.index()].expect("a warp that issues is a part");
        let pc = table.get(warp).pc;
        match outcome {
            Outcome::Next | Outcome::Barrier { wait: false, .. } => self.go(warp, split, pc + 1, table),
            Outcome::Branch { taken, op } if taken == 0 || taken == split.lanes => {
                self.go(warp, split, if taken == 0 { pc + 1 } else { op.target }, table);
            }
            Outcome::Branch { taken, op } => {
                let meeting = Meeting { pc: op.reconverge, lanes: split.lanes, came: 0, behind: split.meeting };
                self.meetings.push(meeting);
                let number = self.meetings.len() - 1;
                self.end(warp, table);
                for (lanes, pc) in [(split.lanes & !taken, pc + 1), (taken, op.target)] {
                    let side = Split { lanes, meeting: Some(number), ..split };
                    if pc == op.reconverge {
                        self.meetings[number].came |= lanes;
                    } else {
                        self.begin(side, pc, table);
                    }
                }
            }
            Outcome::Exit { mask } => {
                let left = split.lanes & !mask;
                let mut next = split.meeting;
                while let Some(number) = next {
                    self.meetings[number].lanes &= !mask;
                    next = self.meetings[number].behind;
                }
                if left != 0 {
                    return self.go(warp, Split { lanes: left, ..split }, pc + 1, table);
                }
                self.end(warp, table);
                if let Some(number) = split.meeting {
                    self.meet(number, split, table);
                }
            }
            Outcome::Barrier { arrivals, active, .. } => {
                assert_eq!((arrivals.len(), active), (1, split.lanes), "one barrier for all of a part");
                self.slots[warp.index()] = Some(Split { barrier: Some(arrivals[0].number as u8), ..split });
                table.block(warp, pc, Cause::Barrier);
            }
            Outcome::Scatter { .. } | Outcome::Sync { .. } => unreachable!("not in these kernels"),
        }
    }

    fn finished(&mut self, warp: WarpId, table: &mut WarpTable) {
        if self.slots[warp.index()].is_none() && table.get(warp).valid {
            table.free(warp);
            self.free.push(warp);
        }
    }

    fn release(&mut self, cta: u32, number: u8, table: &mut WarpTable, leave: &mut dyn FnMut(Leaving<'_>)) {
        for n in 0..self.slots.len() {
            let Some(split) = self.slots[n].filter(|s| (s.cta, s.barrier) == (cta, Some(number))) else { continue };
            let (warp, pc) = (WarpId(n as u16), table.get(WarpId(n as u16)).pc);
            leave(Leaving { warp, pc, lanes: Lanes::Row(split.row), mask: split.lanes });
            self.go(warp, Split { barrier: None, ..split }, pc + 1, table);
        }
    }

    fn take_sync(&mut self, _: WarpId, _: &mut WarpTable) -> Option<(u32, u32)> {
        None
    }

    fn end_cta(&mut self, _: u32, _: &mut WarpTable) {}

    fn stack(&self, warp: WarpId, table: &WarpTable) -> Vec<StackEntry> {
        let info = table.get(warp);
        vec![StackEntry { pc: info.pc, mask: info.mask, rejoin: None, waits: None }]
    }
}

fn run(case: &Case, config: &MachineConfig, model: &str, never_skip: bool) -> LaunchResult {
    let info =
        |name| MechanismInfo { seam: Seam::Divergence, name, summary: "", source: "", counters: &[], refuses: &[] };
    let mut registry: Registry = raddle_mech::registry();
    registry.divergence(info("both-sides"), |_: NoConfig, machine: &MachineConfig| BothSides::new(machine, true));
    registry.divergence(info("one-by-one"), |_: NoConfig, machine: &MachineConfig| BothSides::new(machine, false));
    let mut config = config.clone();
    config.mechanism.divergence = Choice::Name(model.to_owned());
    let options = RunOptions { never_skip, ..RunOptions::default() };
    try_run_with(&registry, case, &config, options).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

#[test]
fn parts_of_a_warp_run_side_by_side_in_slots_of_their_own() {
    let config = machine("gtx480", &["gpu.sms=1"]);
    for case in [reference::diverge(512), reference::bfs(256), reference::stencil(48), reference::reduce(2048)] {
        // That memory is right is checked with the run.
        let result = run(&case, &config, "both-sides", false);
        let slow = run(&case, &config, "both-sides", true);
        assert_eq!((slow.cycles, slow.total().sm), (result.cycles, result.total().sm), "{}", case.name);
        let (stack, waits) = (run(&case, &config, "pdom", false), run(&case, &config, "one-by-one", false));
        let cycles = (result.cycles, stack.cycles, waits.cycles);
        assert!(cycles.0 < cycles.1, "{}: slower than one side after the other, {cycles:?}", case.name);
        assert!(cycles.0 < cycles.2, "{}: slower than one instruction at a time, {cycles:?}", case.name);
    }
}
