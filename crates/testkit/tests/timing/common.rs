//! What these tests share.

use raddle_sim::config::{Choice, MachineConfig, PRESETS, Value};
use raddle_sim::seam::Seam;
use raddle_testkit::timing;
use std::path::{Path, PathBuf};

fn registered(seam: Seam, least: usize) -> Vec<&'static str> {
    let registry = raddle_mech::registry();
    let names: Vec<_> = registry.iter().filter(|m| m.info.seam == seam).map(|m| m.info.name).collect();
    assert!(names.len() >= least, "the registry has lost mechanisms: {names:?}");
    names
}

/// Every registered issue scheduler.
pub fn issue_schedulers() -> Vec<&'static str> {
    registered(Seam::Issue, 10)
}

/// Every registered issue scheduler, with all parameters that make another one of it.
pub fn issue_policies() -> Vec<&'static str> {
    let mut all = issue_schedulers();
    all.extend(["by-block blocks=rrb", "by-block blocks=srr", "by-block inside=gto", "by-block blocks=srr inside=gto"]);
    all.push("saws inside=lrr");
    all
}

/// Every registered fetch scheduler.
pub fn fetch_schedulers() -> Vec<&'static str> {
    registered(Seam::Fetch, 3)
}

/// Every registered divergence model.
pub fn divergence_models() -> Vec<&'static str> {
    registered(Seam::Divergence, 7)
}

/// Every registered gating scheme, with all parameters that make another one of it.
pub fn gating_schemes() -> Vec<&'static str> {
    let mut all = registered(Seam::Gating, 5);
    all.extend(["folding shift=true", "folding wake=issue", "folding adaptive=false"]);
    all
}

/// A mechanism: its name, and parameters as `key=value`.
fn choice(text: &str) -> Choice {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let parameters: Vec<_> = words.filter_map(|word| word.split_once('=')).collect();
    if parameters.is_empty() {
        return Choice::Name(name);
    }
    let parameters = [("name", name.as_str())].into_iter().chain(parameters);
    let value = |text: &str| match (text.parse::<bool>(), text.parse::<i64>()) {
        (Ok(flag), _) => Value::Bool(flag),
        (_, Ok(number)) => Value::Int(number),
        _ => Value::Text(text.to_owned()),
    };
    Choice::Table(parameters.map(|(key, text)| (key.to_owned(), value(text))).collect())
}

/// A machine with another issue scheduler: its name, and parameters as `key=value`.
pub fn with_issue(config: &MachineConfig, scheduler: &str) -> MachineConfig {
    let mut config = config.clone();
    config.mechanism.issue = choice(scheduler);
    config
}

/// A machine with another fetch scheduler.
pub fn with_fetch(config: &MachineConfig, scheduler: &str) -> MachineConfig {
    let mut config = config.clone();
    config.mechanism.fetch = choice(scheduler);
    config
}

/// A machine with another divergence model: its name, and parameters as `key=value`.
pub fn with_divergence(config: &MachineConfig, model: &str) -> MachineConfig {
    let mut config = config.clone();
    config.mechanism.divergence = choice(model);
    config
}

/// A machine with another gating scheme: its name, and parameters as `key=value`.
pub fn with_gating(config: &MachineConfig, scheme: &str) -> MachineConfig {
    let mut config = config.clone();
    config.mechanism.gating = choice(scheme);
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

/// Whether a file is refused as it should be: matrices need tensor cores, and some instructions a newer machine.
pub fn is_too_new(name: &str, error: &str) -> bool {
    let is_matrix = ["matrix/", "trap/"].iter().any(|start| name.starts_with(start));
    is_matrix && error.contains("needs tensor cores") || error.contains("needs sm_")
}
