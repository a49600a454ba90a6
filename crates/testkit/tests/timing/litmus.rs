//! Memory-order litmus kernels: one right answer under every scheduler, on the reference machine and on odd ones.

use crate::common::{issue_schedulers, kernel_files, litmus, presets, with_issue};
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::{RunOptions, SmOrder};
use raddle_testkit::kernel_file::{check_text, check_timed, run_timed};

/// Files that say nothing about memory, or that need more blocks at once than every machine holds.
const SPECIAL: [&str; 2] = ["race.ptx", "global-barrier.ptx"];

fn machines() -> Vec<(String, MachineConfig)> {
    let mut machines: Vec<_> = presets().into_iter().map(|(name, config)| (name.to_owned(), config)).collect();
    machines.extend((0..10).map(|seed| (format!("random({seed})"), random(seed))));
    machines
}

/// Whether this many small blocks are resident at once.
fn holds(config: &MachineConfig, blocks: u32) -> bool {
    config.gpu.sms * config.sm.ctas.min(config.sm.threads / 32) >= blocks
}

fn check_everywhere(name: &str, text: &str, machines: &[(String, MachineConfig)]) {
    for (machine, config) in machines {
        for scheduler in issue_schedulers() {
            check_timed(text, &with_issue(config, scheduler))
                .unwrap_or_else(|e| panic!("{name} on {machine} with {scheduler}: {e}"));
        }
    }
}

#[test]
fn litmus_kernels_have_their_one_answer() {
    let machines = machines();
    let files = kernel_files("litmus");
    assert!(files.len() >= 9, "kernels are missing");
    for (name, text) in files.iter().filter(|(name, _)| !SPECIAL.contains(&name.as_str())) {
        check_everywhere(name, text, &machines);
    }
}

#[test]
fn a_barrier_across_resident_blocks_lets_all_through() {
    let mut machines = machines();
    machines.retain(|(_, config)| holds(config, 2));
    assert!(machines.len() >= 8, "too few machines hold two blocks");
    check_everywhere("global-barrier", &litmus("global-barrier"), &machines);
}

#[test]
fn litmus_kernels_have_the_same_answer_without_time() {
    for (name, text) in kernel_files("litmus") {
        check_text(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn a_race_has_the_same_winner_in_every_run() {
    let text = litmus("race");
    for (machine, config) in machines() {
        let run = |order, never_skip| {
            let options = || RunOptions { order, never_skip, max_cycles: Some(400_000), ..RunOptions::default() };
            run_timed(&text, &config, options).unwrap().remove(0)
        };
        let first = run(SmOrder::Forward, false);
        let winner = first.words(0)[0];
        assert!((1..=384).contains(&winner), "{machine}: {winner} was stored by nobody");
        for order in [SmOrder::Forward, SmOrder::Reverse, SmOrder::Shuffled(3), SmOrder::Shuffled(4)] {
            for never_skip in [false, true] {
                let again = run(order, never_skip);
                assert_eq!(again.buffers, first.buffers, "{machine}, {order:?}, never skip: {never_skip}");
            }
        }
    }
}
