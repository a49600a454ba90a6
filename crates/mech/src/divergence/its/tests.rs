use super::parts::{Parts, State};
use super::waiting::WaitingLoops;
use raddle_exec::decode::Ends;
use raddle_exec::op::Class;
use raddle_exec::splits::Group;
use raddle_exec::{DeviceMemory, Image, Program};
use std::sync::Arc;

/// The running split diverges at `pc`.
fn part(parts: &mut Parts, pc: u32, groups: &[(u32, u32)], meeting: u32, is_inside: bool) {
    let running = parts.running().unwrap();
    parts.splits[running].pc = pc;
    let groups: Vec<_> = groups.iter().map(|&(pc, mask)| Group { pc, mask, depth: 0 }).collect();
    parts.diverge(running, &groups, meeting, is_inside);
}

/// The split that runs: where, and its lanes.
fn top(parts: &Parts) -> (u32, u32) {
    let split = parts.splits[parts.running().unwrap()];
    (split.pc, split.mask)
}

/// The running split comes to its convergence barrier.
fn come(parts: &mut Parts) {
    let running = parts.running().unwrap();
    parts.splits[running].pc = parts.meeting(running);
    assert!(parts.is_there(running));
    parts.arrive(running);
}

#[test]
fn both_sides_of_a_branch_continue_as_one() {
    let mut parts = Parts::new(0b1111);
    part(&mut parts, 3, &[(4, 0b0011), (9, 0b1100)], 20, false);
    assert_eq!((top(&parts), parts.count()), ((9, 0b1100), 3));
    come(&mut parts);
    assert_eq!(top(&parts), (4, 0b0011));
    come(&mut parts);
    assert_eq!((top(&parts), parts.count()), ((20, 0b1111), 1));
}

#[test]
fn nested_branches_meet_inside_out() {
    let mut parts = Parts::new(0b1111);
    part(&mut parts, 3, &[(4, 0b0001), (9, 0b1110)], 20, false);
    part(&mut parts, 9, &[(10, 0b0010), (12, 0b1100)], 15, false);
    come(&mut parts);
    come(&mut parts);
    assert_eq!(top(&parts), (15, 0b1110));
    come(&mut parts);
    come(&mut parts);
    assert_eq!(top(&parts), (20, 0b1111));
}

#[test]
fn nested_branches_that_meet_at_one_place_share_its_barrier() {
    let mut parts = Parts::new(0b111);
    part(&mut parts, 3, &[(4, 0b001), (9, 0b110)], 20, false);
    part(&mut parts, 9, &[(10, 0b010), (20, 0b100)], 20, false);
    assert_eq!(parts.count(), 3, "two splits and a barrier");
    come(&mut parts);
    come(&mut parts);
    assert_eq!(top(&parts), (20, 0b111));
}

#[test]
fn splits_that_jump_back_take_turns() {
    let mut parts = Parts::new(0b111);
    part(&mut parts, 3, &[(4, 0b001), (6, 0b010), (9, 0b100)], 20, false);
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push(top(&parts).0);
        parts.give_way(parts.running().unwrap());
    }
    assert_eq!(order, [9, 6, 4, 9, 6, 4]);
}

#[test]
fn lanes_that_jump_back_run_last_and_a_loop_has_one_barrier() {
    let mut parts = Parts::new(0b111);
    // Lane 0 breaks, by way of 8; the others go round.
    part(&mut parts, 6, &[(3, 0b110), (8, 0b001)], 10, false);
    assert_eq!(top(&parts), (8, 0b001));
    come(&mut parts);
    part(&mut parts, 6, &[(3, 0b100), (10, 0b010)], 10, false);
    assert_eq!((top(&parts), parts.count()), ((3, 0b100), 2));
    come(&mut parts);
    assert_eq!((top(&parts), parts.count()), ((10, 0b111), 1));
}

#[test]
fn lanes_that_end_leave_every_barrier() {
    let mut parts = Parts::new(0b1111);
    part(&mut parts, 3, &[(4, 0b0011), (9, 0b1100)], 20, false);
    part(&mut parts, 9, &[(10, 0b0100), (12, 0b1000)], 15, false);
    parts.exit(parts.running().unwrap(), 0b1000);
    come(&mut parts);
    assert_eq!(top(&parts), (15, 0b0100));
    come(&mut parts);
    // Of the two that are still expected at 20 one ends.
    parts.exit(parts.running().unwrap(), 0b0001);
    come(&mut parts);
    assert_eq!((top(&parts), parts.live), ((20, 0b0110), 0b0110));
    parts.exit(0, 0b0110);
    assert!(parts.splits.is_empty() && parts.count() == 0);
}

#[test]
fn the_last_one_that_ends_opens_the_barrier_for_those_that_wait() {
    let mut parts = Parts::new(0b11);
    part(&mut parts, 3, &[(4, 0b01), (20, 0b10)], 20, false);
    parts.exit(parts.running().unwrap(), 0b01);
    assert_eq!(top(&parts), (20, 0b10));
}

#[test]
fn who_has_left_a_waiting_loop_waits_for_two_rounds() {
    let mut parts = Parts::new(0b111);
    part(&mut parts, 6, &[(7, 0b001), (3, 0b110)], 7, true);
    parts.go_round(0b110);
    assert_eq!(top(&parts), (3, 0b110), "the others may leave in the next round");
    parts.go_round(0b110);
    assert_eq!((top(&parts), parts.take_let_go()), ((7, 0b001), 1));
    // It does not wait for them, nor they for it.
    parts.exit(parts.running().unwrap(), 0b001);
    come(&mut parts);
    assert_eq!(top(&parts), (7, 0b110));
}

#[test]
fn who_was_never_inside_waits_on() {
    let mut parts = Parts::new(0b111);
    // Lane 2 goes past the loop, lanes 0 and 1 into it; all reconverge after it.
    part(&mut parts, 2, &[(3, 0b011), (7, 0b100)], 7, false);
    part(&mut parts, 6, &[(7, 0b001), (3, 0b010)], 7, true);
    (0..2).for_each(|_| parts.go_round(0b010));
    assert_eq!(top(&parts), (7, 0b001), "the lane that was inside continues");
    parts.exit(parts.running().unwrap(), 0b001);
    (0..1023).for_each(|_| parts.go_round(0b010));
    assert_eq!(top(&parts), (3, 0b010));
    parts.go_round(0b010);
    assert_eq!(top(&parts), (7, 0b100), "but not for ever");
}

#[test]
fn places_of_barriers_are_used_again() {
    let mut parts = Parts::new(0b1111);
    part(&mut parts, 3, &[(4, 0b0011), (9, 0b1100)], 50, false);
    // Both sides diverge and reconverge in turn, so that one barrier is always in use.
    part(&mut parts, 9, &[(10, 0b0100), (12, 0b1000)], 15, false);
    for _ in 0..100 {
        parts.splits.rotate_left(1);
        part(&mut parts, 20, &[(21, 0b0001), (22, 0b0010)], 25, false);
        come(&mut parts);
        come(&mut parts);
    }
    assert!(parts.count() <= 5, "{}", parts.count());
}

#[test]
fn lanes_that_others_wait_for_at_a_warp_wide_operation_continue() {
    let mut parts = Parts::new(0b11);
    part(&mut parts, 3, &[(4, 0b01), (9, 0b10)], 9, false);
    assert_eq!(top(&parts), (4, 0b01));
    assert!(!parts.unblock(&Ends::default()), "nobody is in need");
    parts.splits[0].state = State::Sync { wanted: 0b11, anywhere: true };
    assert_eq!((parts.running(), parts.complete_sync()), (None, None));
    assert!(parts.unblock(&Ends::default()));
    assert_eq!(top(&parts), (9, 0b10));
    let running = parts.running().unwrap();
    parts.splits[running].state = State::Sync { wanted: 0b11, anywhere: true };
    assert_eq!(parts.complete_sync().map(|(_, lanes)| lanes), Some(0b11));
}

#[test]
fn splits_that_leave_an_operation_together_are_one() {
    let mut parts = Parts::new(0b1111);
    part(&mut parts, 3, &[(5, 0b0001), (5, 0b0110), (9, 0b1000)], 20, false);
    parts.splits[0].state = State::Barrier(1);
    parts.splits[1].state = State::Barrier(1);
    assert_eq!(top(&parts), (9, 0b1000));
    parts.release(|split| split.state == State::Barrier(1));
    assert_eq!(top(&parts), (9, 0b1000), "what runs is not disturbed");
    assert_eq!((parts.splits.len(), parts.splits[0].pc, parts.splits[0].mask), (2, 6, 0b0111));
}

/// A kernel and what it may call.
fn program(before: &str, body: &str) -> Program {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{before}\n.visible .entry k(.param .u64 a)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.local .b32 slot;\nld.param.u64 %rd0, [a];\n\
         {body}\nret;\n}}\n"
    );
    let (module, diagnostics) = raddle_ptx::load(&text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
    Program::new(&image, &image.kernel("k").unwrap()).unwrap()
}

/// For every branch that jumps back, whether it is of a waiting loop.
fn waits(before: &str, body: &str) -> Vec<bool> {
    let program = program(before, body);
    let loops = WaitingLoops::new(&program);
    let back = |pc: &u32| {
        let op = &program.ops[*pc as usize];
        op.class == Class::Branch && op.target <= *pc
    };
    (0..program.ops.len() as u32).filter(back).map(|pc| loops.goes_round(pc)).collect()
}

#[test]
fn loops_that_end_when_others_do_something_wait() {
    let cas = "L: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;";
    assert_eq!(waits("", cas), [true]);
    for load in ["ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.acquire.gpu.u32", "ld.global.cg.u32"] {
        let flag = format!("L: {load} %r0, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;");
        assert_eq!(waits("", &flag), [true], "{load}");
    }
    let plain = "L: ld.global.u32 %r0, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;";
    assert_eq!(waits("", plain), [false], "a value that others may not change");
    let fenced = "L: membar.gl;\nld.global.u32 %r0, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra L;";
    assert_eq!(waits("", fenced), [true]);
}

#[test]
fn loops_with_atomics_that_end_anyway_do_not_wait() {
    let count = "mov.u32 %r1, 0;\nL: atom.global.add.u32 %r0, [%rd0], 1;\nadd.u32 %r2, %r2, %r0;\nadd.u32 %r1, %r1, 1;\n\
                 setp.lt.u32 %p0, %r1, 9;\n@%p0 bra L;";
    assert_eq!(waits("", count), [false]);
    // What is done inside depends on the atomic, when the loop ends does not.
    let visit = "mov.u32 %r1, 0;\nL: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra N;\n\
                 add.u32 %r2, %r2, 1;\nN: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 9;\n@%p0 bra L;";
    assert_eq!(waits("", visit), [false]);
    assert_eq!(waits("", &format!("O: {visit}\nsetp.lt.u32 %p2, %r2, 100;\n@%p2 bra O;")), [false, true]);
}

#[test]
fn what_the_end_depends_on_is_followed() {
    // Through a branch around the jump that leaves.
    let around =
        "L: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra N;\nbra E;\nN: bra L;\nE:";
    assert_eq!(waits("", around), [true]);
    let branches = "L: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra N;\nbra E;\nM: bra L;\nN: bra M;\nE:";
    assert_eq!(waits("", branches), [true, false]);
    // Through what a branch chooses.
    let done = "mov.u32 %r1, 0;\nL: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra N;\n\
                mov.u32 %r1, 1;\nN: setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;";
    assert_eq!(waits("", done), [true]);
    // Through memory of the thread.
    let spilled = "L: atom.global.cas.b32 %r0, [%rd0], 0, 1;\nst.local.u32 [slot], %r0;\nld.local.u32 %r1, [slot];\n\
                   setp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;";
    assert_eq!(waits("", spilled), [true]);
    // Through a call.
    let function = ".func (.param .b32 got) take(.param .b64 lock)\n{\n.reg .b32 %r;\n.reg .b64 %rd;\n\
                    ld.param.u64 %rd, [lock];\natom.cas.b32 %r, [%rd], 0, 1;\nst.param.b32 [got], %r;\nret;\n}\n";
    let call = "L: {\n.param .b64 lock;\n.param .b32 got;\nst.param.b64 [lock], %rd0;\ncall (got), take, (lock);\n\
                ld.param.b32 %r0, [got];\n}\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra L;";
    assert_eq!(waits(function, call), [true]);
    assert_eq!(waits(&function.replace("atom.cas.b32 %r, [%rd], 0, 1", "ld.u32 %r, [%rd]"), call), [false]);
}

#[test]
fn lanes_that_leave_are_known() {
    let body = "S: @%p1 bra E;\nld.volatile.global.u32 %r0, [%rd0];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra S;\nE:";
    let loops = WaitingLoops::new(&program("", body));
    // Operation 0 loads the parameter.
    assert!(loops.leaves(1, 0b01, 0b10) && !loops.leaves(1, 0, 0b11));
    assert!(loops.leaves(4, 0b01, 0b10) && !loops.leaves(4, 0b11, 0));
    assert!(!loops.leaves(2, 0b01, 0b10));
    assert_eq!([0, 1, 2, 3, 4, 5].map(|pc| loops.is_inside(pc)), [false, true, true, true, true, false]);
}
