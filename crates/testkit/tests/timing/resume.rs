//! Runs that are stopped and go on from what was kept: not a counter differs from a run that was left alone.

use crate::common::{gating_schemes, issue_policies, long, presets, with_gating, with_issue};
use crate::determinism::tiny;
use crate::golden;
use crate::random::references;
use raddle_sim::config::{Choice, MachineConfig, MechanismConfig, random};
use raddle_sim::gpu::{GpuError, Keeper, Progress, RunOptions, Wish, WriteState};
use raddle_sim::result::LaunchResult;
use raddle_sim::saved::Pass;
use raddle_sim::seam::{IssueScheduler, MechanismInfo, SchedulerView, Seam, WarpId};
use raddle_testkit::reference::Case;
use raddle_testkit::timing::{machine, run, try_run};

/// Stops a launch at one of the questions, and keeps its state.
#[derive(Default)]
struct Stopper {
    asked: u64,
    stop_at: Option<u64>,
    state: Vec<u8>,
}

impl Keeper for Stopper {
    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if self.stop_at == Some(self.asked) { Wish::Stop } else { Wish::None }
    }

    fn windows(&self) -> u64 {
        7
    }

    fn keep(&mut self, _: Progress, state: WriteState<'_>) {
        state(&mut Pass::writing(&mut self.state)).unwrap();
    }
}

/// Runs a kernel in so many pieces, with other numbers of threads, and gives how many there were.
fn in_pieces(case: &Case, config: &MachineConfig, pieces: u64) -> (LaunchResult, u64) {
    let mut whole = Stopper::default();
    let _ = run(case, config, RunOptions { keeper: Some(&mut whole), ..RunOptions::default() });
    let step = (whole.asked / pieces).max(2);
    let mut state: Option<Vec<u8>> = None;
    for piece in 0.. {
        // Every piece but the first asks at its start, where the one before ended.
        let mut stopper = Stopper { stop_at: Some(step), ..Stopper::default() };
        let threads = 1 + piece as usize % 3;
        let options =
            RunOptions { keeper: Some(&mut stopper), resume: state.as_deref(), threads, ..RunOptions::default() };
        match try_run(case, config, options) {
            Ok(result) => return (result, piece),
            Err(GpuError::Stopped) => state = Some(stopper.state),
            Err(error) => panic!("{}: {error}", case.name),
        }
    }
    unreachable!()
}

fn check(name: &str, case: &Case, config: &MachineConfig, pieces: u64) -> u64 {
    let first = format!("{:#?}", run(case, config, RunOptions::default()));
    let (result, stops) = in_pieces(case, config, pieces);
    let other = format!("{result:#?}");
    let differs = first.lines().zip(other.lines()).find(|(a, b)| a != b);
    assert!(first == other, "{name}, stopped {stops} times: {differs:?}");
    stops
}

#[test]
fn golden_runs_go_on_to_the_same_counters() {
    let runs = golden::runs();
    let step = if long() { 1 } else { 3 };
    let stops: u64 = runs.iter().step_by(step).map(|(name, case, config)| check(name, case, config, 6)).sum();
    assert!(stops as usize > 2 * runs.len() / step, "only {stops} stops");
}

#[test]
fn every_issue_scheduler_and_gating_scheme_goes_on() {
    let mut config = machine("gtx480-v3", &["gpu.sms=3"]);
    for (n, policy) in issue_policies().into_iter().enumerate() {
        let case = tiny(["reduce", "diverge", "bfs"][n % 3]);
        check(policy, &case, &with_issue(&config, policy), 5);
    }
    config = with_issue(&config, "origami");
    for scheme in gating_schemes() {
        check(scheme, &tiny("stencil"), &with_gating(&config, scheme), 5);
    }
}

#[test]
fn odd_machines_go_on_to_the_same_counters() {
    let cases = references();
    for seed in 0..if long() { 60 } else { 12 } {
        let case = &cases[seed as usize % cases.len()];
        check(&format!("{} random({seed})", case.name), case, &random(seed), 8);
    }
}

#[test]
fn a_run_of_twenty_pieces() {
    let case = raddle_testkit::reference::diverge(4096);
    let stops = check("diverge", &case, &machine("gtx480", &[""; 0]), 20);
    assert!(stops >= 20, "{stops}");
}

/// What was kept of another launch, or is damaged, is refused and does not panic.
#[test]
fn another_state_is_refused() {
    let config = machine("gtx480", &["gpu.sms=2"]);
    let mut stopper = Stopper { stop_at: Some(9), ..Stopper::default() };
    let stopped = try_run(&tiny("matmul"), &config, RunOptions { keeper: Some(&mut stopper), ..RunOptions::default() });
    assert!(matches!(stopped, Err(GpuError::Stopped)));
    let state = stopper.state;
    let resume = |state: &[u8], name: &str, config: &MachineConfig| {
        let tried = try_run(&tiny(name), config, RunOptions { resume: Some(state), ..RunOptions::default() });
        matches!(tried, Err(GpuError::State(_)))
    };
    assert!(resume(&state, "stencil", &config));
    assert!(resume(&state, "matmul", &machine("gtx480", &["gpu.sms=3"])));
    for cut in (0..state.len()).step_by(state.len() / 50) {
        assert!(resume(&state[..cut], "matmul", &config));
    }
    let longer: Vec<u8> = state.iter().copied().chain([0]).collect();
    assert!(resume(&longer, "matmul", &config));
}

fn choice(seam: Seam, config: &mut MechanismConfig) -> &mut Choice {
    match seam {
        Seam::Divergence => &mut config.divergence,
        Seam::Issue => &mut config.issue,
        Seam::Fetch => &mut config.fetch,
        Seam::Dispatch => &mut config.dispatch,
        Seam::Ganging => &mut config.ganging,
        Seam::Gating => &mut config.gating,
        Seam::LogicalBlocks => &mut config.logical_blocks,
    }
}

#[test]
fn the_state_of_every_mechanism_can_be_saved() {
    let registry = raddle_mech::registry();
    let mut checked = 0;
    for mechanism in registry.iter() {
        let name = mechanism.info.name;
        for (preset, mut config) in presets() {
            *choice(mechanism.info.seam, &mut config.mechanism) = Choice::Name(name.to_owned());
            let Ok(mechanisms) = registry.check(&config) else { continue };
            mechanisms.can_be_saved().unwrap_or_else(|why| panic!("{name} on {preset}: {why}"));
            checked += 1;
        }
    }
    assert!(checked > 2 * registry.iter().count(), "{checked}");
}

/// One that has a field and does not say what it is.
struct Forgetful(u32);

impl IssueScheduler for Forgetful {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter().filter(|warp| u32::from(warp.0) != self.0));
    }
}

#[test]
fn a_mechanism_with_state_it_does_not_name_is_refused() {
    let info =
        MechanismInfo { seam: Seam::Issue, name: "forgetful", summary: "", source: "", counters: &[], refuses: &[] };
    let mut registry = raddle_mech::registry();
    registry.issue(info, |_: raddle_mech::NoConfig, _: &MachineConfig| Forgetful(99));
    let config = with_issue(&machine("gtx480", &[""; 0]), "forgetful");
    let refused = registry.check(&config).unwrap().can_be_saved().unwrap_err();
    assert_eq!(refused, "issue `forgetful` does not say how its state is saved");
}
