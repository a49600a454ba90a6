//! What these tests share.

use raddle_sim::config::{Choice, MachineConfig, PRESETS};
use raddle_sim::seam::Seam;
use raddle_testkit::timing;
use std::path::{Path, PathBuf};

/// Every registered issue scheduler.
pub fn issue_schedulers() -> Vec<&'static str> {
    let registry = raddle_mech::registry();
    let names: Vec<_> = registry.iter().filter(|m| m.info.seam == Seam::Issue).map(|m| m.info.name).collect();
    assert!(names.len() >= 4, "the registry has lost issue schedulers: {names:?}");
    names
}

/// A machine with another issue scheduler.
pub fn with_issue(config: &MachineConfig, scheduler: &str) -> MachineConfig {
    let mut config = config.clone();
    config.mechanism.issue = Choice::Name(scheduler.to_owned());
    config
}

/// Every preset.
pub fn presets() -> Vec<(&'static str, MachineConfig)> {
    PRESETS.iter().map(|p| (p.name, timing::machine(p.name, &[""; 0]))).collect()
}

/// Whether everything is to be run, not a sample.
pub fn long() -> bool {
    std::env::var_os("RADDLE_LONG").is_some()
}

/// A folder of `tests`.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// The kernel files of a folder below `tests` and of those in it, sorted, with their text.
pub fn kernel_files(name: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder(name)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ptx") {
                files.push(path);
            }
        }
    }
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(folder(name)).unwrap().display().to_string();
        (shown, text)
    };
    files.into_iter().map(read).collect()
}

/// One litmus kernel.
pub fn litmus(name: &str) -> String {
    std::fs::read_to_string(folder("litmus").join(format!("{name}.ptx"))).unwrap()
}
