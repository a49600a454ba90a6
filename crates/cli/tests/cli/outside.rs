//! A program with a scheduler of its own, `examples/my_raddle.rs`, does everything `raddle` does.

use super::{Ended, Folder, raddle, root, run_program};
use std::path::{Path, PathBuf};

/// The program, which Cargo builds with the tests.
fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().unwrap();
    let name = format!("my_raddle{}", std::env::consts::EXE_SUFFIX);
    let path = folder.join("examples").join(name);
    assert!(path.exists(), "run `cargo build -p raddle-cli --examples` first");
    path
}

fn mine(folder: &Path, args: &[&str]) -> Ended {
    run_program(&program(), folder, args)
}

#[track_caller]
fn good(folder: &Path, args: &[&str]) -> Ended {
    let ended = mine(folder, args);
    assert_eq!(ended.code, 0, "{args:?}: {}", ended.err);
    ended
}

const EXPERIMENT: &str = r#"title = "Mine"
workloads = ["spmv"]
size = "tiny"

[[axis]]
name = "scheduler"
key = "mechanism.issue"
values = ["all"]

[[figure]]
name = "speedup"
title = "Speedup"
metric = "cycles"
against = "speedup"
bars = "scheduler"
"#;

#[test]
fn it_is_run_and_listed_by_its_name() {
    let ran = good(&root(), &["run", "examples/saxpy.toml", "--issue", "youngest"]);
    assert!(ran.out.contains("  cycles "), "{}", ran.out);
    good(&root(), &["run", "spmv", "--size", "tiny", "--issue", "youngest"]);
    good(&root(), &["measure", "barriers", "examples/saxpy.toml", "--issue", "youngest"]);
    let folder = Folder::new();
    let kept = ["run", "spmv", "--size", "tiny", "--issue", "youngest", "--checkpoint", "state", "--every", "0ms"];
    assert!(!good(&folder.0, &kept).err.contains("warning"), "its state is saved");
    good(&root(), &["workloads", "measure", "spmv", "--size", "tiny", "--issue", "youngest"]);
    let listed = good(&root(), &["list"]).out;
    assert_eq!(listed.lines().filter(|line| line.contains("  youngest  ")).count(), 1);
    assert_eq!(listed.lines().filter(|line| *line == "issue").count(), 1, "it is among the others");
    assert!(listed.contains("added by my_raddle 1\n"), "{listed}");
    let json = good(&root(), &["list", "mechanisms", "--json"]).out;
    assert_eq!(json.matches("\"origin\":\"my_raddle 1\"").count(), 1, "{json}");
    let shown = good(&root(), &["config", "show", "--issue", "youngest"]).out;
    assert!(shown.contains("mechanism.issue          = \"youngest\""), "{shown}");
}

#[test]
fn it_is_compared_and_swept_beside_the_others() {
    let folder = Folder::new().with("mine.toml", &EXPERIMENT.replace("\"all\"", "\"gto\", \"youngest\""));
    let folder = folder.with("all.toml", EXPERIMENT);
    let table = good(&folder.0, &["compare", "spmv", "--size", "tiny", "--issue", "gto,youngest"]).out;
    assert!(table.starts_with("        gto  youngest\nspmv  1.000 "), "{table}");
    let ran = good(&folder.0, &["lab", "run", "mine.toml"]).err;
    assert!(ran.starts_with("2 points: 0 known, 2 run in "), "{ran}");
    let ran = good(&folder.0, &["lab", "worker", "all.toml", "--shard", "0/1"]).err;
    assert!(ran.contains(": 2 known, ") && !ran.contains("failed"), "{ran}");
    good(&folder.0, &["lab", "report", "all.toml", "--output", "report"]);
    let csv = std::fs::read_to_string(folder.0.join("report/speedup.csv")).unwrap();
    assert!(csv.contains("spmv,false,youngest,"), "{csv}");
    assert!(std::fs::read_to_string(folder.0.join("report/index.html")).unwrap().contains("youngest"));
    good(&folder.0, &["lab", "export", "all.csv"]);
    let all = std::fs::read_to_string(folder.0.join("all.csv")).unwrap();
    assert!(all.contains(",youngest,{},") && all.contains(",my_raddle 1,"), "{all}");
}

#[test]
fn its_counters_are_in_all_outputs() {
    let saxpy = root().join("examples/saxpy.toml").display().to_string();
    let folder = Folder::new().with("mine.toml", &EXPERIMENT.replace("\"all\"", "\"gto\", \"youngest\""));
    let text = good(&folder.0, &["run", &saxpy, "--issue", "youngest", "--stats", "s.csv"]).out;
    assert!(text.lines().any(|line| line.starts_with("  issue.youngest       changes ")), "{text}");
    let json = good(&folder.0, &["run", &saxpy, "--issue", "youngest", "--json"]).out;
    assert!(json.contains(r#""mechanisms":{"issue.youngest":{"changes":"#), "{json}");
    let stats = std::fs::read_to_string(folder.0.join("s.csv")).unwrap();
    assert_eq!(stats.lines().filter(|line| line.contains(",issue.youngest,")).count(), 15, "one for each SM");
    let plain = good(&folder.0, &["run", &saxpy, "--json"]).out;
    assert!(!plain.contains("issue.youngest"), "what a machine does not have is not there");

    let metric = ["--metric", "issue.youngest.changes", "--plain"];
    let table =
        good(&folder.0, &[&["compare", "spmv", "--size", "tiny", "--issue", "gto,youngest"], &metric[..]].concat());
    let row: Vec<&str> = table.out.lines().last().unwrap_or_default().split_whitespace().collect();
    assert!(matches!(row[..], ["spmv", "0", changes] if changes != "0"), "{}", table.out);
    let close = mine(&folder.0, &["compare", "spmv", "--metric", "issue.youngest.change"]).err;
    assert!(close.contains("did you mean `issue.youngest.changes`?"), "{close}");
    good(&folder.0, &["lab", "run", "mine.toml"]);
    // A program that does not know the mechanism still reads its results.
    let keys: Vec<String> = raddle(&folder.0, &["lab", "ls"]).out.lines().skip(1).map(|l| l[..12].to_owned()).collect();
    let differ = raddle(&folder.0, &["lab", "diff", &keys[0], &keys[1]]).out;
    assert!(differ.contains("issue.youngest.changes"), "{differ}");
    assert_eq!(raddle(&folder.0, &["lab", "export", "all.csv"]).code, 0);
    let all = std::fs::read_to_string(folder.0.join("all.csv")).unwrap();
    assert!(all.lines().next().unwrap_or_default().ends_with(",issue_youngest_changes"), "{all}");
}

#[test]
fn messages_know_it() {
    let wrong = mine(&root(), &["run", "examples/saxpy.toml", "--issue", "yungest"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("there is no `yungest` (did you mean `youngest`?)"), "{}", wrong.err);
    let there = raddle(&root(), &["run", "examples/saxpy.toml", "--issue", "youngest"]);
    assert!(there.err.contains("there is no `youngest`"), "raddle itself does not have it: {}", there.err);
}
