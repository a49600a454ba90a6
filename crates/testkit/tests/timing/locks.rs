//! Lanes of a warp that wait for each other. Without time all of them finish; on the timing model it depends on the
//! divergence model. `docs/src/deviations.md` has the table.

use crate::common::{divergence_models, with_divergence};
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::Ending;
use raddle_testkit::kernel_file::{check_text, check_timed, run_timed};
use raddle_testkit::timing;

const LOCK: &str = include_str!("kernels/lock_between_lanes.ptx");
const FLAG: &str = include_str!("kernels/flag_between_lanes.ptx");

#[test]
fn lanes_that_wait_for_each_other_finish_on_the_engines_without_time() {
    check_text(LOCK).unwrap();
    check_text(FLAG).unwrap();
}

/// Whether a kernel completes under a divergence model.
fn completes(source: &str, model: &str) -> bool {
    let machine = with_divergence(&timing::gtx480("lrr", &["gpu.sms=2"]), model);
    let options = || RunOptions { max_cycles: Some(300_000), ..RunOptions::default() };
    let timed = run_timed(source, &machine, options).unwrap();
    match &timed[0].result.ending {
        Ending::Completed => {
            check_timed(source, &machine).unwrap_or_else(|e| panic!("{model}: {e}"));
            true
        }
        Ending::CycleLimit => false,
        other => panic!("{model}: {other:?}"),
    }
}

#[test]
fn what_the_documents_say_of_locks_is_true() {
    let page = include_str!("../../../../docs/src/deviations.md");
    let (_, table) = page.split_once("## Locks between lanes").unwrap();
    for model in divergence_models() {
        let row = table.lines().find(|line| line.starts_with(&format!("| `{model}` |"))).expect(model);
        let says = |column: usize| row.split('|').nth(column).map(str::trim);
        let word = |source| Some(if completes(source, model) { "finishes" } else { "spins" });
        assert_eq!((says(2), says(3)), (word(LOCK), word(FLAG)), "{model}");
    }
}
