//! Schedulers that look at the type of the next instruction.

use super::*;
use raddle_exec::{DeviceMemory, Image, Program};
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::kernel::{TimedKernel, TimedOp};
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{BlockState, IssueScheduler, Iterations, WarpSet, WarpTable};
use std::sync::Arc;

/// An integer instruction, one of floating point, a load and a square root.
const KERNEL: &str = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n\
    .reg .f32 %f<4>;\nadd.u32 %r0, %r1, %r2;\nadd.f32 %f0, %f1, %f2;\nld.shared.u32 %r0, [%r1];\n\
    sqrt.rn.f32 %f0, %f1;\nret;\n}\n";
const INT: u32 = 0;
const FP: u32 = 1;
const MEM: u32 = 2;
const SFU: u32 = 3;

fn machine() -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
}

fn ops(machine: &MachineConfig) -> Vec<TimedOp> {
    let (module, diagnostics) = raddle_ptx::load(KERNEL);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
    let program = Program::new(&image, &image.kernel("k").unwrap()).unwrap();
    TimedKernel::new(&program, machine).ops
}

/// Warps at given instructions with given masks, all of which can issue.
struct Bench<S> {
    scheduler: S,
    ops: Vec<TimedOp>,
    table: WarpTable,
    warps: WarpSet,
    numbers: Vec<u64>,
}

impl<S: IssueScheduler> Bench<S> {
    fn new(mut scheduler: S, at: &[(u32, u32)]) -> Self {
        let count = at.len();
        let (mut table, mut warps) = (WarpTable::new(count), WarpSet::new(count));
        for (n, (pc, mask)) in at.iter().enumerate() {
            let warp = WarpId(n as u16);
            table.form_static(warp, 0, n as u32, 0, *mask);
            table.set(warp, *pc, *mask);
            warps.set(warp, true);
            scheduler.warp_changed(warp, true);
        }
        let numbers = (0..count as u64).collect();
        Self { scheduler, ops: ops(&machine()), table, warps, numbers }
    }

    /// The warp that issues in a cycle; it goes to another instruction.
    fn issue(&mut self, now: Cycle, then: u32) -> Option<u16> {
        let view = SchedulerView {
            now,
            warps: &self.warps,
            places: &[],
            table: &self.table,
            age: &self.numbers,
            issued: &self.numbers,
            blocks: &[BlockState::default()],
            iterations: Iterations::default(),
            ops: &self.ops,
        };
        let warp = self.scheduler.pick(&view, &self.warps, &mut Vec::new())?;
        self.scheduler.issued(&view, warp);
        let mask = self.table.get(warp).mask;
        self.table.set(warp, then, mask);
        Some(warp.0)
    }
}

#[test]
fn gates_serves_one_type_after_the_other() {
    let at = [(SFU, u32::MAX), (FP, u32::MAX), (MEM, u32::MAX), (INT, u32::MAX), (FP, u32::MAX), (INT, u32::MAX)];
    let mut bench = Bench::new(Gates::new(ActiveConfig::default(), &machine()), &at);
    // Integers first, as long as there are some; then the types change places, and memory stays in the middle.
    let order: Vec<_> = [FP, FP, SFU, SFU, SFU, SFU, INT].iter().filter_map(|then| bench.issue(0, *then)).collect();
    assert_eq!(order, [3, 5, 1, 4, 3, 5, 2]);
    // Floating point is absent and an integer instruction has come.
    assert_eq!(bench.issue(0, SFU), Some(2));
}

const SOME: u32 = 0xff;

#[test]
fn origami_serves_the_larger_group_and_changes_after_two_phases() {
    let mut at = vec![(INT, SOME), (INT, u32::MAX), (INT, SOME), (INT, u32::MAX), (INT, SOME)];
    let new = || Origami::new(OrigamiConfig::default(), &machine());
    let mut bench = Bench::new(new(), &at);
    let group = |warp: Option<u16>| warp.map(|w| if w % 2 == 0 { "some" } else { "all" });
    let phases: Vec<_> = (0..6).map(|phase| group(bench.issue(300 * phase, INT)).unwrap()).collect();
    assert_eq!(phases, ["some", "some", "all", "some", "some", "all"]);
    // Inside a phase the group stays, whoever is more later on.
    assert_eq!((group(bench.issue(1501, INT)), group(bench.issue(1799, INT))), (Some("all"), Some("all")));
    // Type comes before group.
    at.push((FP, u32::MAX));
    at.retain(|(pc, mask)| *pc == FP || *mask == SOME);
    let mut bench = Bench::new(new(), &at);
    let order: Vec<_> = (0..4).filter_map(|_| bench.issue(0, SFU)).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    // A group of nobody is not waited for.
    let mut bench = Bench::new(new(), &[(INT, SOME), (INT, SOME)]);
    assert!((0..6).all(|phase| bench.issue(300 * phase, INT).is_some()));
}
