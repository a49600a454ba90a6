//! What every registered issue scheduler promises, whatever it prefers.

use crate::common::{fetch_schedulers, issue_policies, presets, with_fetch, with_issue};
use raddle_sim::config::MachineConfig;
use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::{Observer, RunOptions};
use raddle_sim::result::Ending;
use raddle_sim::seam::{BlockState, IssueScheduler, Iterations, Place, SchedulerView, WarpId, WarpSet, WarpTable};
use raddle_testkit::kernel_file::run_timed;
use std::collections::{BTreeMap, BTreeSet};

const SLOTS: usize = 48;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A part of a set, each member with this chance in four.
    fn part(&mut self, of: &WarpSet, chance: u64) -> WarpSet {
        let mut part = WarpSet::new(SLOTS);
        of.iter().for_each(|w| part.set(w, self.next() % 4 < chance));
        part
    }
}

fn make(config: &MachineConfig) -> Box<dyn IssueScheduler> {
    let registry = raddle_mech::registry();
    registry.check(config).unwrap().for_sm().unwrap().issue.remove(0)
}

/// Where warps are that wait for memory, and others that wait.
fn places(for_memory: &WarpSet, waiting: &WarpSet) -> Vec<Place> {
    let mut places = vec![Place::Free; SLOTS];
    for_memory.iter().for_each(|warp| places[warp.index()] = Place::MemoryDependence);
    waiting.iter().for_each(|warp| places[warp.index()] = Place::Barrier);
    places
}

/// Feeds a scheduler random but consistent views, as an SM would, and looks at every answer.
fn exercise(name: &str, mut look: impl FnMut(&mut dyn IssueScheduler, &SchedulerView<'_>, &WarpSet) -> Option<WarpId>) {
    let config = with_issue(&presets().remove(0).1, name);
    for seed in 0..40 {
        let mut random = Random(seed);
        let mut scheduler = make(&config);
        let (mut table, mut warps) = (WarpTable::new(SLOTS), WarpSet::new(SLOTS));
        let (mut age, mut issued) = (vec![0; SLOTS], vec![0; SLOTS]);
        // Block numbers are not in the order of slots; several blocks have warps at barriers.
        let block = |n: u64| BlockState { cta: (n * 5) % 8, ..BlockState::default() };
        let mut blocks: Vec<BlockState> = (0..SLOTS as u64 / 6).map(block).collect();
        for now in 0..300 {
            let warp = WarpId((random.next() % SLOTS as u64) as u16);
            if random.next().is_multiple_of(4) {
                let present = !warps.contains(warp);
                warps.set(warp, present);
                scheduler.warp_changed(warp, present);
                // Blocks are next to each other in the slots.
                table.form_static(warp, u32::from(warp.0) / 6, u32::from(warp.0), 0, u32::MAX);
                (age[warp.index()], issued[warp.index()]) = (now, 0);
            }
            let state = &mut blocks[(random.next() % (SLOTS as u64 / 6)) as usize];
            match random.next() % 6 {
                0 => state.waiting = 0,
                1 => *state = BlockState { waiting: 1, since: now, ..*state },
                2 if state.waiting > 0 => state.waiting += 1,
                _ => {}
            }
            let eligible = random.part(&warps, 1 + now % 3);
            let mut rest = warps.clone();
            eligible.iter().for_each(|w| rest.set(w, false));
            let waits_for_memory = random.part(&rest, 2);
            waits_for_memory.iter().for_each(|w| rest.set(w, false));
            let waiting = random.part(&rest, 1);
            let places = places(&waits_for_memory, &waiting);
            let view = SchedulerView {
                now,
                warps: &warps,
                places: &places,
                table: &table,
                age: &age,
                issued: &issued,
                blocks: &blocks,
                iterations: Iterations::default(),
                ops: &[],
            };
            let picked = look(scheduler.as_mut(), &view, &eligible);
            if let Some(warp) = picked {
                scheduler.issued(&view, warp);
                issued[warp.index()] += 1;
                // Warps are at a few places, with few or many threads.
                table.set(warp, (random.next() % 5) as u32, u32::MAX >> (random.next() % 32));
            }
        }
    }
}

#[test]
fn a_pick_is_one_of_the_warps_that_can_issue() {
    for name in issue_policies() {
        let mut picks = 0;
        exercise(name, |scheduler, view, eligible| {
            let picked = scheduler.pick(view, eligible, &mut Vec::new());
            assert!(picked.is_none_or(|w| eligible.contains(w)), "{name} picked {picked:?} of {eligible:?}");
            picks += u32::from(picked.is_some());
            picked
        });
        assert!(picks > 1000, "{name} hardly ever picked a warp");
    }
}

#[test]
fn the_priority_order_has_every_warp_once() {
    for name in issue_policies() {
        exercise(name, |scheduler, view, eligible| {
            let picked = scheduler.pick(view, eligible, &mut Vec::new());
            let mut order = Vec::new();
            scheduler.priority_order(view, &mut order);
            order.sort();
            let warps: Vec<_> = view.warps.iter().collect();
            assert_eq!(order, warps, "{name}");
            picked
        });
    }
}

#[test]
fn a_pick_is_the_first_of_the_priority_order_that_can_issue() {
    for name in issue_policies() {
        exercise(name, |scheduler, view, eligible| {
            let picked = scheduler.pick(view, eligible, &mut Vec::new());
            let mut order = Vec::new();
            // After the pick, because a scheduler may bring its sets up to date in it; issuing changes the order.
            scheduler.priority_order(view, &mut order);
            let first = order.into_iter().find(|w| eligible.contains(*w));
            // The active set is smaller than all that could issue.
            if picked.is_some() || !["two-level", "gates", "origami"].contains(&name) {
                assert_eq!(picked, first, "{name}");
            }
            picked
        });
    }
}

#[test]
fn the_first_of_a_set_is_the_first_in_the_priority_order() {
    for name in issue_policies() {
        let mut random = Random(7);
        exercise(name, |scheduler, view, eligible| {
            let picked = scheduler.pick(view, eligible, &mut Vec::new());
            let among = random.part(view.warps, 2);
            let mut order = Vec::new();
            scheduler.priority_order(view, &mut order);
            let first = order.into_iter().find(|w| among.contains(*w));
            assert_eq!(scheduler.first_of(view, &among, &mut Vec::new()), first, "{name}");
            picked
        });
    }
}

/// How often in a row a policy may pass over a warp that can issue, where it promises that. The others prefer some warps
/// for as long as these can issue: the last or the oldest one, those of a block or of a set, those at some place.
fn most_passed_over(name: &str) -> Option<u32> {
    // Everybody else has had a turn; `rrb` takes turns of blocks, and of warps inside each.
    ["lrr", "by-block blocks=rrb"].contains(&name).then_some(SLOTS as u32 - 1)
}

#[test]
fn a_warp_that_can_issue_is_not_passed_over_more_often_than_promised() {
    let mut promised = 0;
    for name in issue_policies() {
        let config = with_issue(&presets().remove(0).1, name);
        let mut scheduler = make(&config);
        let (mut table, mut warps, none) = (WarpTable::new(SLOTS), WarpSet::new(SLOTS), WarpSet::new(SLOTS));
        let blocks = vec![BlockState::default(); SLOTS / 6];
        for n in 0..SLOTS as u16 {
            warps.set(WarpId(n), true);
            scheduler.warp_changed(WarpId(n), true);
            table.form_static(WarpId(n), u32::from(n) / 6, u32::from(n), 0, u32::MAX);
        }
        let age: Vec<u64> = (0..SLOTS as u64).collect();
        let mut random = Random(3);
        let (mut passed, mut worst, mut lately) = (vec![0; SLOTS], 0, none.clone());
        for now in 0..5000 {
            // A warp that could issue still can; a few wait for memory for a while after they issued.
            let mut waits_for_memory = none.clone();
            lately.iter().filter(|_| random.next().is_multiple_of(3)).for_each(|w| waits_for_memory.set(w, true));
            let mut eligible = warps.clone();
            waits_for_memory.iter().for_each(|w| eligible.set(w, false));
            let places = places(&waits_for_memory, &none);
            let view = SchedulerView {
                now,
                warps: &warps,
                places: &places,
                table: &table,
                age: &age,
                issued: &age,
                blocks: &blocks,
                iterations: Iterations::default(),
                ops: &[],
            };
            let picked = scheduler.pick(&view, &eligible, &mut Vec::new()).expect("some can issue");
            scheduler.issued(&view, picked);
            for warp in warps.iter() {
                let is_over = eligible.contains(warp) && warp != picked;
                passed[warp.index()] = if is_over { passed[warp.index()] + 1 } else { 0 };
            }
            worst = worst.max(passed.iter().copied().max().unwrap_or(0));
            lately = waits_for_memory;
            lately.set(picked, true);
        }
        match most_passed_over(name) {
            Some(most) => {
                assert!(worst <= most, "{name} passed over a warp {worst} times in a row, {most} are promised");
                promised += 1;
            }
            None => {
                assert!(worst > SLOTS as u32, "{name} passes over a warp {worst} times: `most_passed_over` can say so")
            }
        }
    }
    assert_eq!(promised, 2);
}

#[test]
fn warps_come_before_those_behind_them_in_the_priority_order() {
    for name in issue_policies() {
        exercise(name, |scheduler, view, eligible| {
            let picked = scheduler.pick(view, eligible, &mut Vec::new());
            let mut order = Vec::new();
            scheduler.priority_order(view, &mut order);
            for pair in order.windows(2) {
                assert!(scheduler.is_before(view, pair[0], pair[1]), "{name}: {pair:?}");
                assert!(!scheduler.is_before(view, pair[1], pair[0]), "{name}: {pair:?}");
            }
            picked
        });
    }
}

#[test]
fn blocks_come_in_their_order() {
    let cta = |view: &SchedulerView<'_>, warp: WarpId| view.table.get(warp).cta;
    // The oldest block: no eligible warp is of a block that came earlier.
    exercise("by-block", |scheduler, view, eligible| {
        let picked = scheduler.pick(view, eligible, &mut Vec::new())?;
        let came = |block: u32| view.warps.iter().filter(|w| cta(view, *w) == block).map(|w| view.age[w.index()]).min();
        let first = eligible.iter().map(|w| came(cta(view, w))).min();
        assert_eq!(Some(came(cta(view, picked))), first);
        Some(picked)
    });
    // In rotation: another block every cycle, whoever issued.
    let (mut turns, mut blocks) = (0, BTreeSet::new());
    exercise("by-block blocks=rrb", |scheduler, view, eligible| {
        let picked = scheduler.pick(view, eligible, &mut Vec::new())?;
        let count = view.warps.iter().map(|w| u64::from(cta(view, w)) + 1).max().unwrap_or(1);
        let now = (view.now % count) as u32;
        if eligible.iter().any(|w| cta(view, w) == now) {
            assert_eq!(cta(view, picked), now);
            turns += 1;
            blocks.insert(now);
        }
        Some(picked)
    });
    assert!(turns > 1000 && blocks.len() == SLOTS / 6, "{turns} turns of {blocks:?}");
    // The last block, as long as one of its warps can issue.
    let (mut last, mut stayed) = (None, 0);
    exercise("by-block blocks=srr", |scheduler, view, eligible| {
        last = last.filter(|_| view.now != 0);
        let picked = scheduler.pick(view, eligible, &mut Vec::new())?;
        if let Some(block) = last.filter(|block| eligible.iter().any(|w| cta(view, w) == *block)) {
            assert_eq!(cta(view, picked), block);
            stayed += 1;
        }
        last = Some(cta(view, picked));
        Some(picked)
    });
    assert!(stayed > 1000, "{stayed}");
}

#[test]
fn warps_come_by_where_they_are() {
    let pc = |view: &SchedulerView<'_>, warp: WarpId| view.table.get(warp).pc;
    exercise("lowest-pc", |scheduler, view, eligible| {
        let picked = scheduler.pick(view, eligible, &mut Vec::new())?;
        assert_eq!(eligible.iter().map(|w| pc(view, w)).min(), Some(pc(view, picked)));
        Some(picked)
    });
    // One place until nobody is left there who can issue, then that of most threads.
    let (mut last, mut changes) = (None, 0);
    exercise("majority", |scheduler, view, eligible| {
        last = last.filter(|_| view.now != 0);
        let picked = scheduler.pick(view, eligible, &mut Vec::new())?;
        let here = last.filter(|place| eligible.iter().any(|w| pc(view, w) == *place));
        let threads = |place: u32| -> u32 {
            let there = view.warps.iter().filter(|w| pc(view, *w) == place);
            there.map(|w| view.table.get(w).mask.count_ones()).sum()
        };
        match here {
            Some(place) => assert_eq!(pc(view, picked), place),
            None => {
                let most = eligible.iter().map(|w| threads(pc(view, w))).max();
                assert_eq!(Some(threads(pc(view, picked))), most);
                changes += 1;
            }
        }
        last = Some(pc(view, picked));
        Some(picked)
    });
    assert!(changes > 100, "{changes}");
}

#[test]
fn replayed_a_scheduler_decides_the_same() {
    for name in issue_policies() {
        let record = || {
            let mut picks = Vec::new();
            exercise(name, |scheduler, view, eligible| {
                let picked = scheduler.pick(view, eligible, &mut Vec::new());
                picks.push(picked);
                picked
            });
            picks
        };
        assert!(record() == record(), "{name} depends on more than what it was told");
    }
}

/// Instructions each warp had issued when it ended, and what is still running.
#[derive(Default)]
struct Ended {
    running: BTreeMap<(u16, u16), ()>,
    insts: Vec<u64>,
}

impl Observer for Ended {
    fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::WarpStart { warp, .. } => drop(self.running.insert((event.sm, warp), ())),
            EventKind::WarpExit { warp, warp_insts, .. } => {
                self.running.remove(&(event.sm, warp));
                self.insts.push(warp_insts);
            }
            _ => {}
        }
    }
}

#[test]
fn no_warp_starves() {
    let source = "// run: grid=12 block=256\n// arg: out u32[3072] = zero\n.version 6.0\n.target sm_60\n\
        .address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p0;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
        ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 256, %r0;\n\
        mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd0, %rd0, %rd1;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nLOOP:\n\
        mad.lo.u32 %r3, %r3, 3, %r2;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 40;\n@%p0 bra LOOP;\n\
        st.global.u32 [%rd0], %r3;\nret;\n}\n";
    for (preset, config) in presets() {
        for scheduler in issue_policies() {
            let config = with_issue(&config, scheduler);
            let mut ended = Ended::default();
            let observer = std::cell::Cell::new(Some(&mut ended));
            let options = || {
                let observer = observer.take().map(|o| o as &mut dyn Observer);
                RunOptions { max_cycles: Some(1_000_000), observer, ..RunOptions::default() }
            };
            let result = run_timed(source, &config, options).unwrap().remove(0).result;
            assert!(matches!(result.ending, Ending::Completed), "{preset} with {scheduler}: {:?}", result.ending);
            assert_eq!(ended.insts.len() as u32, 12 * 256 / config.sm.warp_width, "{preset} with {scheduler}");
            assert!(ended.running.is_empty(), "{preset} with {scheduler}: {:?}", ended.running);
            let all = ended.insts[0];
            assert!(ended.insts.iter().all(|n| *n == all), "{preset} with {scheduler}: warps of equal work differ");
        }
    }
}

/// Sums over a shared array in ever fewer threads, with a barrier behind each step; every other block does more.
const BARRIERS: &str = "// run: grid=9 block=256\n// arg: out u32[9] = zero\n.version 6.0\n.target sm_60\n\
    .address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<4>;\n\
    .shared .align 4 .b8 s[1024];\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n\
    mov.u32 %r2, s;\nmad.lo.u32 %r3, %r0, 4, %r2;\nand.b32 %r4, %r1, 1;\nmul.lo.u32 %r5, %r4, %r0;\nmov.u32 %r6, 0;\n\
    WORK:\nadd.u32 %r6, %r6, 16;\nsetp.lt.u32 %p0, %r6, %r5;\n@%p0 bra WORK;\nst.shared.u32 [%r3], %r0;\n\
    mov.u32 %r7, 128;\nSTEP:\nbar.sync 0;\nsetp.ge.u32 %p1, %r0, %r7;\n@%p1 bra NEXT;\nmad.lo.u32 %r8, %r7, 4, %r3;\n\
    ld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r3];\nadd.u32 %r9, %r9, %r10;\nst.shared.u32 [%r3], %r9;\nNEXT:\n\
    shr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p0, %r7, 0;\n@%p0 bra STEP;\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 ret;\n\
    ld.shared.u32 %r11, [s];\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd0, %rd0, %rd1;\nst.global.u32 [%rd0], %r11;\nret;\n}\n";

#[test]
fn barriers_come_to_an_end_whoever_is_preferred_and_fetched_for() {
    for (preset, config) in presets() {
        for fetch in fetch_schedulers() {
            for issue in issue_policies() {
                let config = with_fetch(&with_issue(&config, issue), fetch);
                let run = |never_skip: bool| {
                    let options = || RunOptions { max_cycles: Some(1_000_000), never_skip, ..RunOptions::default() };
                    let result = run_timed(BARRIERS, &config, options).unwrap().remove(0).result;
                    assert!(matches!(result.ending, Ending::Completed), "{preset}, {issue}, {fetch}");
                    (result.cycles, result.total().sm)
                };
                let (cycles, counters) = run(false);
                assert!(
                    counters.barriers >= 8 * 9 * 256 / u64::from(config.sm.warp_width),
                    "{preset}, {issue}, {fetch}"
                );
                assert_eq!(run(true), (cycles, counters), "{preset}, {issue}, {fetch}: every cycle run");
            }
        }
    }
}

/// Looks at what it is told of blocks and warps, and issues from the first warp it finds.
#[derive(Default)]
struct Watchful;

impl IssueScheduler for Watchful {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        let slots = (0..view.table.slots() as u16).map(WarpId).filter(|w| view.table.get(*w).valid);
        let waits = |w: &WarpId| view.table.get(*w).blocked == Some(raddle_sim::seam::Cause::Barrier);
        for (slot, block) in view.blocks.iter().enumerate() {
            // The warps of all schedulers count, and a barrier that all have come to has let them go.
            let own = slots.clone().filter(|w| view.table.get(*w).cta as usize == slot);
            assert_eq!(block.waiting as usize, own.clone().filter(waits).count(), "cycle {}", view.now);
            assert!(block.waiting == 0 || block.since <= view.now);
            assert!(block.waiting == 0 || own.count() > block.waiting as usize);
        }
        order.extend(view.warps.iter());
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        // Each warp that can issue is said to be ready, and each other one waits for something that is named.
        let is_ready = |w: WarpId| view.place(w).is_ready();
        assert!(eligible.iter().all(is_ready), "cycle {}", view.now);
        for warp in view.warps.iter() {
            let at_barrier = view.table.get(warp).blocked == Some(raddle_sim::seam::Cause::Barrier);
            assert_eq!(at_barrier, view.place(warp) == Place::Barrier, "cycle {}", view.now);
            assert_ne!(view.place(warp), Place::Free, "cycle {}", view.now);
        }
        self.first_of(view, eligible, scratch)
    }
}

/// Wants none of its warps four times out of five.
#[derive(Default)]
struct Hesitant {
    asked: u32,
}

impl IssueScheduler for Hesitant {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
    }

    fn pick(&mut self, view: &SchedulerView<'_>, eligible: &WarpSet, scratch: &mut Vec<WarpId>) -> Option<WarpId> {
        self.asked += 1;
        if self.asked.is_multiple_of(5) { self.first_of(view, eligible, scratch) } else { None }
    }
}

/// Runs [`BARRIERS`] with a scheduler; returns the cycles, with every cycle run or not.
fn run_barriers<S: IssueScheduler + Default + 'static>(config: &MachineConfig, every_cycle: bool) -> u64 {
    use raddle_sim::seam::{MechanismInfo, Seam};
    let info = MechanismInfo { seam: Seam::Issue, name: "mine", summary: "", source: "", counters: &[], refuses: &[] };
    let mut registry = raddle_mech::registry();
    registry.issue(info, |_: raddle_mech::NoConfig, _: &MachineConfig| S::default());
    let config = with_issue(config, "mine");
    let job = raddle_sim::job::Job::new(BARRIERS, "k").unwrap();
    let mut job = job.buffer(&[0; 9]).unwrap();
    let options = RunOptions { max_cycles: Some(1_000_000), never_skip: every_cycle, ..RunOptions::default() };
    let result = job.run_with(&registry, &config, 9, 256, options).unwrap();
    assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
    assert_eq!(job.words(0), [255 * 128; 9]);
    assert!(result.total().sm.barrier_wait > 0);
    result.cycles
}

#[test]
fn schedulers_are_told_how_many_warps_of_a_block_wait_and_what_each_warp_waits_for() {
    for (_, config) in presets() {
        run_barriers::<Watchful>(&config, false);
    }
}

#[test]
fn a_scheduler_that_wants_none_of_its_warps_is_asked_again_in_the_next_cycle() {
    for (preset, config) in presets() {
        let eager = run_barriers::<Watchful>(&config, false);
        let cycles = run_barriers::<Hesitant>(&config, false);
        assert_eq!(run_barriers::<Hesitant>(&config, true), cycles, "{preset}: every cycle run");
        // One in five is taken: never five times as long, as much of the time goes to what nobody waits for.
        assert!(cycles > eager && cycles < 5 * eager, "{preset}: {eager} cycles became {cycles}");
    }
}
