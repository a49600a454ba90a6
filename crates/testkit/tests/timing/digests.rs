//! Golden digests: every counter of every part and every event of many runs are what they were.
//!
//! Golden cycles say that a change moves results; digests say that one meant to move nothing does not. A run is made
//! twice, with and without somebody who listens. `RADDLE_DIGESTS=FOLDER` writes a trace for each run: of two builds, the
//! first line that differs says in which thousand cycles they part.

use crate::common::{divergence_models, fetch_schedulers, issue_policies, with_divergence, with_fetch, with_issue};
use crate::golden;
use crate::random::references;
use raddle_sim::config::{MachineConfig, random};
use raddle_sim::gpu::RunOptions;
use raddle_testkit::digest::{Digest, Listener};
use raddle_testkit::reference::Case;
use raddle_testkit::timing::run;
use std::fmt::Write as _;
use std::path::Path;

/// Random machines, and more of them under `its`.
const MACHINES: u64 = 60;
const INDEPENDENT: u64 = 4;

/// The line of a run.
fn line(name: &str, case: &Case, config: &MachineConfig) -> String {
    let quiet = run(case, config, RunOptions::default());
    let mut listener = Listener::default();
    let heard = run(case, config, RunOptions { observer: Some(&mut listener), ..RunOptions::default() });
    let digest = Digest::of_counters(&quiet);
    assert_eq!(digest, Digest::of_counters(&heard), "{name}: who listens changes nothing");
    if let Some(folder) = std::env::var_os("RADDLE_DIGESTS") {
        let file = Path::new(&folder).join(name.replace([' ', '='], "-"));
        std::fs::write(&file, listener.trace()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
    format!("{name:<92}{:>9}  {:016x}  {:016x}\n", quiet.cycles, digest.0, listener.digest().0)
}

fn head() -> String {
    format!("{:<92}{:>9}  {:<16}  {:<16}\n", "run", "cycles", "counters", "events")
}

#[test]
fn golden_runs_are_what_they_were_to_the_last_counter() {
    let lines: String = golden::runs().iter().map(|(name, case, config)| line(name, case, config)).collect();
    golden::compare("digests.txt", &(head() + &lines));
}

#[test]
fn random_machines_are_what_they_were_to_the_last_counter() {
    let (policies, fetches) = (issue_policies(), fetch_schedulers());
    let models: Vec<_> = divergence_models().into_iter().filter(|model| *model != "its").collect();
    let cases = references();
    let mut text = head();
    for seed in 0..MACHINES + INDEPENDENT {
        let n = seed as usize;
        let (policy, fetch) = (policies[n % policies.len()], fetches[n % fetches.len()]);
        let config = with_fetch(&with_issue(&random(seed), policy), fetch);
        // Every third machine regroups or reconverges in another way, where it may.
        let name = if seed < MACHINES { models[n / 3 % models.len()] } else { "its" };
        let other = with_divergence(&config, name);
        let fits = (n.is_multiple_of(3) || name == "its") && raddle_mech::registry().check(&other).is_ok();
        let (config, model) = if fits { (other, name) } else { (config, "pdom") };
        for case in cases.iter().skip(n % 2).step_by(2) {
            let name = format!("{} random({seed}) {policy} {model} {fetch}", case.name);
            let _ = write!(text, "{}", line(&name, case, &config));
        }
    }
    golden::compare("random-digests.txt", &text);
}
