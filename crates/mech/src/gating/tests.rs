//! The worked examples of the Origami paper, and what holds for every scheme.

use super::*;
use raddle_exec::{DeviceMemory, Image, Program};
use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_sim::kernel::{Pipe, TimedKernel, TimedOp};
use raddle_sim::packet::Cycle;
use raddle_sim::seam::{Cause, Census, Entry, Gating, GatingView, Shape};
use raddle_sim::sm::in_flight::InstId;
use raddle_sim::sm::lanes::LaneCounters;
use std::sync::Arc;

/// An integer addition, one of floating point, and what does not go to the SPs.
const KERNEL: &str = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n\
    .reg .f32 %f<4>;\n.reg .f64 %d<4>;\nadd.u32 %r0, %r1, %r2;\nadd.f32 %f0, %f1, %f2;\nsqrt.rn.f32 %f0, %f1;\n\
    st.shared.u32 [%r0], %r1;\ncvt.rn.f32.u32 %f0, %r1;\ncvt.rzi.s32.f32 %r0, %f1;\nsetp.lt.f32 %p, %f0, %f1;\n\
    mov.b32 %r0, %r1;\nadd.f64 %d0, %d1, %d2;\nret;\n}\n";

fn machine(set: &[&str]) -> MachineConfig {
    Machine::load(Source::Preset("gtx480"), set).unwrap().config
}

fn ops(machine: &MachineConfig) -> Vec<TimedOp> {
    let text = KERNEL.replace(".reg .f64", ".reg .pred %p;\n.reg .f64");
    let (module, diagnostics) = raddle_ptx::load(&text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
    let program = Program::new(&image, &image.kernel("k").unwrap()).unwrap();
    TimedKernel::new(&program, machine).ops
}

/// A gating scheme in an SM that has nothing else.
struct Bench<G> {
    gating: G,
    int: TimedOp,
    fp: TimedOp,
    census: Census,
    now: Cycle,
}

impl<G: Gating> Bench<G> {
    fn new(gating: G, machine: &MachineConfig) -> Self {
        let ops = ops(machine);
        let mut bench = Self { gating, int: ops[0].clone(), fp: ops[1].clone(), census: Census::default(), now: 0 };
        bench.tick();
        bench
    }

    fn tick(&mut self) {
        let census = self.census;
        self.gating.tick(&GatingView { now: self.now, census: &|| census });
    }

    /// Runs cycle by cycle.
    fn run_to(&mut self, cycle: Cycle) {
        while self.now < cycle {
            self.now += 1;
            self.tick();
        }
    }

    fn op(&self, pipe: Pipe) -> TimedOp {
        if pipe == Pipe::Int { self.int.clone() } else { self.fp.clone() }
    }

    fn may_issue(&mut self, pipe: Pipe) -> Result<(), Cause> {
        let op = self.op(pipe);
        self.asks_to_issue(&op, u32::MAX)
    }

    /// Wants lanes and asks for them, as the SM does.
    fn asks_to_issue(&mut self, op: &TimedOp, mask: u32) -> Result<(), Cause> {
        self.gating.wants_to_issue(self.now, op, mask);
        self.gating.may_issue(self.now, op, mask)
    }

    /// The same at the door of an SP.
    fn asks_to_enter(&mut self, entry: &Entry<'_>) -> bool {
        self.gating.wants_to_enter(entry);
        self.gating.may_enter(entry)
    }

    /// Issues for these lanes and enters an SP in the same cycle.
    fn enter(&mut self, pipe: Pipe, sp: usize, mask: u32) -> Option<Shape> {
        let op = self.op(pipe);
        let shape = self.gating.issued(self.now, &op, mask);
        let entry = Entry { now: self.now, sp, pipe, op: &op, shape };
        let may = self.asks_to_enter(&entry);
        if may {
            self.gating.entered(&entry);
        }
        may.then_some(shape)
    }

    fn lanes(&self, pipe: Pipe) -> LaneCounters {
        let lanes = self.gating.lanes(self.now).unwrap();
        for own in &lanes {
            assert_eq!(own.states(), own.lane_cycles);
        }
        lanes[pipe as usize].clone()
    }
}

#[test]
fn a_floating_point_type_in_the_name_makes_an_instruction_one_of_floating_point() {
    let pipes = ops(&machine(&[])).iter().map(TimedOp::pipe).collect::<Vec<_>>();
    let (int, fp) = (Some(Pipe::Int), Some(Pipe::Fp));
    assert_eq!(pipes, [int, fp, None, None, fp, fp, fp, int, None, int]);
    let unified = ops(&machine(&["sm.units.sfu=0"])).iter().map(TimedOp::pipe).collect::<Vec<_>>();
    assert_eq!(unified, [int, fp, fp, None, fp, fp, fp, int, fp, int]);
}

#[test]
fn idle_detect_and_break_even_save_nothing_and_one_cycle_more_saves_one() {
    let machine = machine(&["sm.units.sp=1"]);
    // Five cycles of idle-detect, then fourteen to make up for switching.
    for idle in 1..60 {
        let mut bench = Bench::new(ByPipeline::conventional(Times::default(), &machine), &machine);
        bench.run_to(10);
        while bench.may_issue(Pipe::Int).is_err() {
            bench.run_to(bench.now + 1);
        }
        let before = bench.lanes(Pipe::Int);
        bench.enter(Pipe::Int, 0, u32::MAX);
        let busy = Cycle::from(bench.int.timing.latency);
        bench.run_to(bench.now + busy + idle);
        let wanted = bench.now;
        while bench.may_issue(Pipe::Int).is_err() {
            bench.run_to(bench.now + 1);
        }
        let after = bench.lanes(Pipe::Int);
        let saved = (after.saved() - before.saved()) / 16;
        let events = (after.gatings - before.gatings) / 16;
        if idle <= 5 {
            assert_eq!((saved, events, bench.now), (0, 0, wanted), "idle for {idle}");
        } else {
            assert_eq!((saved, events, bench.now), (idle as i64 - 5 - 14, 1, wanted + 3), "idle for {idle}");
        }
        assert_eq!(after.early_wakes - before.early_wakes, if (6..19).contains(&idle) { 16 } else { 0 });
    }
}

#[test]
fn an_account_can_be_closed_anywhere() {
    let machine = machine(&["sm.units.sp=1", "sm.units.sp_lanes=1"]);
    let mut bench = Bench::new(ByPipeline::conventional(Times::default(), &machine), &machine);
    let states = |lanes: LaneCounters| {
        [lanes.active, lanes.idle_detect, lanes.uncompensated, lanes.compensated, lanes.waking, lanes.overhead]
    };
    assert_eq!(states(bench.lanes(Pipe::Int)), [0; 6]);
    bench.run_to(5);
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 5, 0, 0, 0, 0], "it would be gated from here on");
    bench.run_to(6);
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 5, 1, 0, 0, 14]);
    bench.run_to(30);
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 5, 14, 11, 0, 14]);
    assert_eq!(bench.may_issue(Pipe::Int), Err(Cause::Gated));
    bench.run_to(31);
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 5, 14, 11, 1, 14]);
    bench.run_to(34);
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 6, 14, 11, 3, 14]);
    assert!(bench.enter(Pipe::Int, 0, 1).is_some());
    assert_eq!(states(bench.lanes(Pipe::Int)), [0, 6, 14, 11, 3, 14], "a launch that ends as it enters");
    bench.run_to(36);
    assert_eq!(states(bench.lanes(Pipe::Int)), [2, 6, 14, 11, 3, 14]);
    bench.run_to(40);
    assert_eq!(states(bench.lanes(Pipe::Int)), [4, 8, 14, 11, 3, 14]);
}

#[test]
fn gaps_are_counted_between_entries() {
    let machine = machine(&["sm.units.sp=1"]);
    let mut bench = Bench::new(Watch::new(Default::default(), &machine), &machine);
    for cycle in [1, 2, 4, 8, 18, 37, 87] {
        bench.run_to(cycle);
        assert!(bench.enter(Pipe::Fp, 0, u32::MAX).is_some());
    }
    bench.run_to(100);
    let fp = bench.lanes(Pipe::Fp);
    assert_eq!((fp.entries, fp.pipe_cycles, fp.lane_cycles), (7, 100, 1600));
    // Gaps of 1 (before the first), none, 1, 3, 9, 18 and 49 cycles, and 12 after the last.
    assert_eq!((fp.bubble_1, fp.bubble_2_4, fp.bubble_5_9), (2, 3, 9));
    assert_eq!((fp.bubble_10_18, fp.bubble_19_49, fp.bubble_50_up), (18 + 12, 49, 0));
    assert_eq!(fp.short_bubbles(), 14);
    // Each is in the pipeline for four cycles; the first three are there at the same time.
    assert_eq!((fp.active, fp.gatings), (16 * (7 + 4 * 4), 0));
    let int = bench.lanes(Pipe::Int);
    assert_eq!((int.active, int.idle_detect, int.bubble_50_up), (0, 1600, 100));
}

#[test]
fn the_last_sp_with_power_waits_for_what_is_on_its_way() {
    let machine = machine(&[]);
    let mut bench = Bench::new(ByPipeline::conventional(Times::default(), &machine), &machine);
    assert_eq!(bench.may_issue(Pipe::Int), Ok(()));
    let (op, now) = (bench.op(Pipe::Int), bench.now);
    let shape = bench.gating.issued(now, &op, u32::MAX);
    bench.run_to(40);
    // One SP has lost power, the other has not.
    let entry = |sp, now| Entry { now, sp, pipe: Pipe::Int, op: &op, shape };
    let on: Vec<bool> = (0..2).map(|sp| bench.asks_to_enter(&entry(sp, 40))).collect();
    assert_eq!(on.iter().filter(|on| **on).count(), 1, "{on:?}");
}

/// Lane 0 on the left, as the paper draws masks.
fn drawn(mask: u32, lanes: u32) -> String {
    (0..lanes).map(|lane| if mask >> lane & 1 != 0 { '1' } else { '0' }).collect()
}

fn mask(drawn: &str) -> u32 {
    drawn.chars().enumerate().fold(0, |mask, (lane, c)| mask | u32::from(c == '1') << lane)
}

#[test]
fn halves_are_as_in_figure_8() {
    let clusters = Clusters::new(16);
    let halves = |text: &str| clusters.halves(mask(text)).map(|half| drawn(half, 8));
    assert_eq!(halves("11111111"), ["11001100", "11001100"]);
    assert_eq!(halves("00110011"), ["00000000", "11001100"], "the second half before it is moved");
    assert_eq!(halves("10010110"), ["10000100", "01001000"]);
    assert_eq!(drawn(lanes_of(u32::MAX, 16), 16), "1111111111111111");
    assert_eq!(drawn(lanes_of(mask("00000000000000000100000000000000"), 16), 16), "0100000000000000");
}

#[test]
fn lanes_shift_as_in_figure_7() {
    let clusters = Clusters::new(16);
    let shifted = |text: &str| drawn(clusters.shifted(mask(text)), 8);
    // Lane 3 to lane 2 in the first cluster, lane 5 to lane 4 in the second.
    assert_eq!(shifted("11010100"), "11101000");
    assert_eq!(shifted("00010001"), "10001000");
    assert_eq!(shifted("11110000"), "11110000");
}

/// Cycles in which full warps that come at these cycles enter one SP, and the scheme that was asked.
fn enters(machine: &MachineConfig, config: FoldingConfig, wanted: &[Cycle]) -> (Vec<Cycle>, Bench<Folding>) {
    let mut bench = Bench::new(Folding::new(config, machine), machine);
    let mut units = raddle_sim::sm::units::Units::new(&machine.sm.units);
    let mut entered = Vec::new();
    for (inst, cycle) in wanted.iter().enumerate() {
        bench.run_to(bench.now.max(*cycle));
        loop {
            let op = bench.op(Pipe::Int);
            let shape = bench.gating.issued(bench.now, &op, u32::MAX);
            let latency = op.timing.latency + shape.extra_latency;
            if units.accepts(0, latency, bench.now) && bench.enter(Pipe::Int, 0, u32::MAX).is_some() {
                units.enter(0, InstId(inst as u32), latency, op.timing.interval * shape.passes, bench.now);
                entered.push(bench.now);
                break;
            }
            bench.run_to(bench.now + 1);
        }
    }
    (entered, bench)
}

#[test]
fn folding_uses_bubbles_as_in_figure_5() {
    let machine = machine(&["sm.units.sp=1"]);
    let patient = FoldingConfig { idle_detect: 1000, ..FoldingConfig::default() };
    // (a, b, c): two cycles apart. Nothing comes later, and the upper lanes have nothing to do from beginning to end.
    let (entered, mut bench) = enters(&machine, patient.clone(), &[0, 2, 4]);
    assert_eq!(entered, [0, 2, 4]);
    bench.run_to(20);
    let int = bench.lanes(Pipe::Int);
    assert_eq!((int.entries, int.folded), (3, 3));
    // The lower eight lanes are busy from the first entry to the end of the last: 4 cycles, 1 for the second half, 2
    // stages.
    assert_eq!((int.active, int.gatings), (8 * (4 + 7), 8), "eight upper lanes, each gated once");
    assert_eq!(int.uncompensated + int.compensated, 8 * 19, "from the second cycle on");
    // (d, e): back to back. Each but the first comes later.
    let (entered, _) = enters(&machine, patient.clone(), &[0, 1, 2]);
    assert_eq!(entered, [0, 2, 4]);
    // Outside the folded part of the phase nothing waits.
    let plain = FoldingConfig { majority: 0, minority: 0, ..patient };
    let (entered, mut bench) = enters(&machine, plain, &[0, 1, 2]);
    bench.run_to(20);
    assert_eq!((entered, bench.lanes(Pipe::Int).folded), (vec![0, 1, 2], 0));
}

#[test]
fn a_folded_part_is_long_enough_to_save() {
    // Equation 1: the longest pipeline, idle-detect and the longest break-even.
    let config = FoldingConfig::default();
    assert!(19 + config.idle_detect + 19 <= 50);
    assert!(config.phase * config.majority / 100 == 120 && config.phase * config.minority / 100 == 210);
}

#[test]
fn the_minority_is_folded_longer_and_busy_phases_are_not_followed_by_folding() {
    let machine = machine(&[]);
    let mut bench = Bench::new(Folding::new(FoldingConfig::default(), &machine), &machine);
    bench.census.buffered = [3, 5];
    bench.run_to(300);
    let folds =
        |bench: &mut Bench<Folding>, pipe| bench.gating.issued(bench.now, &bench.op(pipe), u32::MAX).passes == 2;
    let mut last = [0; 2];
    while bench.now < 600 {
        for pipe in Pipe::ALL {
            if folds(&mut bench, pipe) {
                last[pipe as usize] = bench.now - 299;
            }
        }
        bench.run_to(bench.now + 1);
    }
    // Fewer integer instructions are decoded: 70 % of the phase.
    assert_eq!(last, [210, 120]);
    // The phase before issued 600 instructions; two SPs take 300 that are folded.
    assert!(!folds(&mut bench, Pipe::Int) && !folds(&mut bench, Pipe::Fp));
    for _ in 0..267 {
        folds(&mut bench, Pipe::Int);
    }
    bench.run_to(900);
    assert!(folds(&mut bench, Pipe::Int), "269 are less than 90 percent");
    for _ in 0..269 {
        folds(&mut bench, Pipe::Int);
    }
    bench.run_to(1200);
    assert!(!folds(&mut bench, Pipe::Int), "270 are 90 percent");
}

#[test]
fn naive_folding_does_not_pause() {
    let machine = machine(&[]);
    let config = FoldingConfig { adaptive: false, ..FoldingConfig::default() };
    for (config, folds) in [(config, true), (FoldingConfig::default(), false)] {
        let mut bench = Bench::new(Folding::new(config, &machine), &machine);
        let op = bench.op(Pipe::Int);
        while bench.now < 300 {
            bench.gating.issued(bench.now, &op, u32::MAX);
            bench.run_to(bench.now + 1);
        }
        let passes = bench.gating.issued(bench.now, &op, u32::MAX).passes;
        assert_eq!(passes == 2, folds, "300 instructions were issued in the phase before, as many as folded SPs take");
    }
}

/// Cycles from wanting to issue to issue, and from there to the entry of an SP, of a warp that finds all lanes gated
/// and whose operands take so long.
fn waits(wake: Wake, collection: Cycle) -> (Cycle, Cycle) {
    let machine = machine(&[]);
    let config = FoldingConfig { majority: 0, minority: 0, wake, ..FoldingConfig::default() };
    let mut bench = Bench::new(Folding::new(config, &machine), &machine);
    bench.run_to(40);
    let op = bench.op(Pipe::Int);
    while bench.may_issue(Pipe::Int).is_err() {
        bench.run_to(bench.now + 1);
    }
    let issued = bench.now;
    let shape = bench.gating.issued(issued, &op, u32::MAX);
    bench.run_to(issued + collection);
    while !(0..2).any(|sp| bench.asks_to_enter(&Entry { now: bench.now, sp, pipe: Pipe::Int, op: &op, shape })) {
        bench.run_to(bench.now + 1);
    }
    bench.lanes(Pipe::Int);
    (issued - 40, bench.now - issued)
}

#[test]
fn lanes_wake_before_issue_or_while_operands_are_collected() {
    for collection in 0..6 {
        assert_eq!(waits(Wake::Issue, collection), (3, collection), "one after the other");
        assert_eq!(waits(Wake::Execute, collection), (0, collection.max(3)), "at the same time");
    }
}

#[test]
fn one_half_alone_enters_once() {
    let machine = machine(&[]);
    let mut bench = Bench::new(Folding::new(FoldingConfig::default(), &machine), &machine);
    let mut shape = |text: &str| {
        let (op, now) = (bench.op(Pipe::Int), bench.now);
        let shape = bench.gating.issued(now, &op, mask(text));
        (shape.passes, shape.extra_latency, drawn(shape.lanes, 16))
    };
    let low = |lanes: &str| lanes.to_owned() + "00000000";
    assert_eq!(shape("11000000"), (1, 2, low("11000000")));
    assert_eq!(shape("00110001"), (1, 2, low("11000100")));
    assert_eq!(shape("11110000"), (2, 3, low("11000000")));
    assert_eq!(shape("00000000"), (1, 2, low("00000000")));
    let config = FoldingConfig { shift: true, ..FoldingConfig::default() };
    let mut bench = Bench::new(Folding::new(config, &machine), &machine);
    let (op, now) = (bench.op(Pipe::Int), bench.now);
    let mut passes = |text: &str| bench.gating.issued(now, &op, mask(text)).passes;
    assert_eq!((passes("10010110"), passes("10110110")), (1, 2), "two threads of a cluster fit the lower lanes");
}

/// Warps that want different lanes do not take the SPs from each other: whoever asks in every cycle has waited after
/// the time it takes to wake.
#[test]
fn nobody_waits_longer_than_a_lane_takes_to_wake() {
    let machine = machine(&[]);
    let config = FoldingConfig { majority: 0, minority: 0, wake: Wake::Issue, ..FoldingConfig::default() };
    let mut bench = Bench::new(Folding::new(config, &machine), &machine);
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut warps = [(0u32, 0); 3];
    for _ in 0..5_000 {
        for (mask, waited) in &mut warps {
            if *mask == 0 && next() % 4 == 0 {
                (*mask, *waited) = (1 << (next() % 16) | 1 << (next() % 16), 0);
            }
            let op = bench.op(Pipe::Int);
            if *mask != 0 && bench.asks_to_issue(&op, *mask).is_ok() {
                let shape = bench.gating.issued(bench.now, &op, *mask);
                let entered = (0..2).any(|sp| {
                    let entry = Entry { now: bench.now, sp, pipe: Pipe::Int, op: &op, shape };
                    let may = bench.asks_to_enter(&entry);
                    if may {
                        bench.gating.entered(&entry);
                    }
                    may
                });
                assert!(entered, "it has power where it was told so");
                *mask = 0;
            }
            *waited += 1;
            assert!(*mask == 0 || *waited <= 3, "a warp with lanes {mask:b} has asked {waited} times");
        }
        bench.run_to(bench.now + 1);
    }
}

#[test]
fn blackout_holds_until_break_even_and_keeps_one_sp_for_a_type_in_use() {
    let machine = machine(&[]);
    let mut bench = Bench::new(ByPipeline::blackout(Times::default(), &machine), &machine);
    bench.census.active = [1, 0];
    // Nobody wants floating point: both SPs lose it, the second without waiting. Of integers one SP keeps power.
    bench.run_to(6);
    let (int, fp) = (bench.lanes(Pipe::Int), bench.lanes(Pipe::Fp));
    assert_eq!((int.gatings, fp.gatings), (16, 32));
    assert_eq!(bench.may_issue(Pipe::Int), Ok(()));
    // Wanted at once, floating point stays away until break-even, and then wakes.
    let mut waited = 0;
    while bench.may_issue(Pipe::Fp).is_err() {
        bench.run_to(bench.now + 1);
        waited += 1;
    }
    assert_eq!((waited, bench.now), (16, 5 + 14 + 3));
    assert_eq!(bench.lanes(Pipe::Fp).early_wakes, 0);
    assert!(bench.lanes(Pipe::Fp).saved() >= 0);
    // No integer instruction in sight: the second SP goes, too.
    bench.census.active = [0, 0];
    bench.run_to(bench.now + 2);
    assert_eq!(bench.lanes(Pipe::Int).gatings, 32);
}

#[test]
fn machines_whose_lanes_cannot_be_folded_are_refused() {
    for (lanes, fits) in [(1, false), (2, true), (6, false), (8, true)] {
        let config = machine(&["mechanism.gating=folding", &format!("sm.units.sp_lanes={lanes}")]);
        let registry = crate::registry();
        let wrong = registry.check(&config).err().unwrap_or_default();
        let expected = format!(
            "`folding` folds clusters of four lanes, and `sm.units.sp_lanes` is {lanes}; it must be 2 or a multiple of 4"
        );
        let found: Vec<_> = wrong.into_iter().collect();
        assert_eq!(found, if fits { vec![] } else { vec![("mechanism.gating".to_owned(), expected)] });
    }
}
