//! Right memory: whatever the machine and the scheduler, kernels compute what they must.

use crate::common::{is_too_new, issue_schedulers, kernel_files, long, presets, with_issue};
use raddle_sim::gpu::RunOptions;
use raddle_testkit::kernel_file::check_timed;
use raddle_testkit::reference::{KERNELS, small};
use raddle_testkit::timing::run;

#[test]
fn reference_kernels_compute_the_same_everywhere() {
    for (preset, config) in presets() {
        for scheduler in issue_schedulers() {
            let config = with_issue(&config, scheduler);
            for name in KERNELS {
                let case = small(name);
                let result = run(&case, &config, RunOptions::default());
                let blocks: u32 = case.grid.iter().product();
                assert_eq!(result.ctas, u64::from(blocks), "{name} on {preset} with {scheduler}");
            }
        }
    }
}

/// What cannot be right on the timing model, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

#[test]
fn kernel_files_leave_the_memory_they_must() {
    let machines = presets();
    let files = kernel_files("ptx");
    let step = if long() { 1 } else { 10 };
    let mut wrong = Vec::new();
    for (n, (name, text)) in files.iter().enumerate().step_by(step) {
        if EXCEPTIONS.iter().any(|(file, _)| file == name) {
            continue;
        }
        // Each file on one machine in turn; all on all in the long run.
        for (m, (preset, config)) in machines.iter().enumerate() {
            if !long() && n / step % machines.len() != m {
                continue;
            }
            match check_timed(text, config) {
                Err(error) if is_too_new(name, &error) => {}
                Ok(()) => {}
                Err(error) => wrong.push(format!("{name} on {preset}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}
