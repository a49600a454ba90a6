//! Experiments, their store and what happens to it when things go wrong.

use super::{Folder, raddle, root};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const EXPERIMENT: &str = r#"title = "Two schedulers"
workloads = ["spmv", "scalar-prod", "walsh"]
size = "tiny"
baseline = { scheduler = "lrr" }

[repeats]
count = 4
vary = ["seed", "dispatch", "heap"]

[[axis]]
name = "scheduler"
key = "mechanism.issue"
values = ["lrr", "gto"]

[[figure]]
name = "speedup"
title = "Speedup"
metric = "cycles"
against = "speedup"
bars = "scheduler"
paper = [{ row = "spmv", bar = "gto", value = 1.1 }]
"#;

pub const POINTS: usize = 24;

pub fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(&folder.0).args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Every file of a report.
pub fn report(folder: &Folder, store: &str) -> Vec<(String, Vec<u8>)> {
    let ran = folder.raddle(&["lab", "report", "e.toml", "--store", store, "--output", "report"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let read = |name: &str| std::fs::read(folder.0.join("report").join(name)).unwrap();
    ["index.html", "speedup.svg", "speedup.png", "speedup.pdf", "speedup.csv", "points.csv"]
        .map(|name| (name.to_owned(), read(name)))
        .to_vec()
}

pub fn results(folder: &Folder, store: &str) -> usize {
    let ran = folder.raddle(&["lab", "ls", "--json", "--store", store]);
    if ran.code == 0 { ran.out.lines().count() } else { 0 }
}

/// What an undisturbed run reports.
pub fn undisturbed(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let ran = folder.raddle(&["lab", "run", "e.toml", "--store", "calm"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    report(folder, "calm")
}

#[test]
fn an_experiment_is_run_once_and_reported() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    // At the size of the file.
    let first = folder.raddle(&["reproduce", "e.toml", "--output", "r"]);
    assert_eq!((first.code, first.out.as_str()), (0, "r/index.html\n"), "{}", first.err);
    assert!(first.err.starts_with("24 points: 0 known, 24 run in "), "{}", first.err);
    let second = folder.raddle(&["lab", "run", "e.toml"]);
    assert!(second.err.starts_with("24 points: 24 known, 0 run in "), "{}", second.err);
    let page = std::fs::read_to_string(folder.0.join("r/index.html")).unwrap();
    assert!(page.contains("paper 1.100") && page.contains("mean, barrier"));

    let listed = folder.raddle(&["lab", "ls"]).out;
    assert_eq!(listed.lines().count(), 1 + POINTS);
    assert!(listed.lines().next().is_some_and(|line| line.contains(" mechanism.dispatch.first ")), "{listed}");
    let keys: Vec<&str> = listed.lines().skip(1).map(|line| &line[..12]).collect();
    let shown = folder.raddle(&["lab", "show", keys[0]]).out;
    assert!(shown.contains("\"sm.warp_insts\"") && shown.contains("\"warp_width\": 32"), "{shown}");
    let differ = folder.raddle(&["lab", "diff", keys[0], keys[1]]);
    assert_eq!(differ.code, 1);
    assert!(differ.out.lines().nth(1).is_some_and(|line| line.contains("cycles")), "{}", differ.out);
    folder.raddle(&["lab", "diff", keys[0], keys[0]]).expect(0, "", "no counter differs\n");
    let none = folder.raddle(&["lab", "show", "xyz"]);
    assert!(none.code == 2 && none.err.contains("there is no result `xyz`"), "{}", none.err);

    for name in ["a.csv", "a.parquet", "a.json"] {
        folder.raddle(&["lab", "export", name]).expect(0, "", &format!("24 results written to {name}\n"));
    }
    let kept = folder.raddle(&["lab", "gc"]);
    assert!(kept.out.starts_with("24 results kept, 0 of older versions dropped"), "{}", kept.out);
    assert_eq!(results(&folder, "raddle-store"), POINTS);
    let stores = folder.raddle(&["lab", "diff", "raddle-store", "raddle-store"]);
    stores.expect(0, "", "24 points in both, 0 only in the first, 0 only in the second\nno counter differs\n");
}

#[test]
fn what_is_swept_has_columns() {
    let text = "title = \"T\"\nworkloads = [\"spmv\"]\nsize = \"tiny\"\nset = [\"mechanism.issue=two-level\"]\n\
                [[axis]]\nname = \"active\"\nkey = \"mechanism.issue.active\"\nvalues = [2, 4]\n";
    let folder = Folder::new().with("e.toml", text);
    assert_eq!(folder.raddle(&["lab", "run", "e.toml"]).code, 0);
    let listed = folder.raddle(&["lab", "ls"]).out;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let head = ["key", "workload", "size", "sms", "issue", "divergence", "mechanism.issue.active", "seed", "heap"];
    assert_eq!(listed.lines().next().map(words).unwrap()[..9], head);
    let column = |lines: Vec<String>| lines.into_iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(
        column(listed.lines().skip(1).map(|line| words(line)[6].clone()).collect()),
        ["2", "4"].map(String::from).into()
    );
    let json = folder.raddle(&["lab", "ls", "--json"]).out;
    let value =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["mechanism.issue.active"].to_string();
    assert_eq!(column(json.lines().map(value).collect()), ["2", "4"].map(String::from).into());
    folder.raddle(&["lab", "export", "a.csv"]).expect(0, "", "2 results written to a.csv\n");
    let csv = std::fs::read_to_string(folder.0.join("a.csv")).unwrap();
    assert!(
        csv.lines().next().is_some_and(|head| head.split(',').any(|name| name == "mechanism_issue_active")),
        "{csv}"
    );
}

#[test]
fn one_figure_takes_only_what_it_shows() {
    let second = "[[figure]]\nname = \"gto\"\ntitle = \"Cycles of gto\"\nmetric = \"cycles\"\nbars = \"scheduler\"\nchoices = [\"gto\"]\n";
    let folder = Folder::new().with("e.toml", &format!("{EXPERIMENT}\n{second}"));
    let ran = folder.raddle(&["reproduce", "e.toml", "--size", "tiny", "--figure", "gto", "--output", "r"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.starts_with("12 points: 0 known, 12 run in "), "{}", ran.err);
    let page = std::fs::read_to_string(folder.0.join("r/index.html")).unwrap();
    assert!(page.contains("raddle reproduce e.toml --size tiny --figure gto") && !page.contains("Speedup"), "{page}");
    let wrong = folder.raddle(&["lab", "run", "e.toml", "--figure", "speedups"]);
    assert!(wrong.code == 2 && wrong.err.contains("did you mean `speedup`?"), "{}", wrong.err);
    let all = folder.raddle(&["reproduce", "all", "--size", "tiny", "--figure", "overall"]);
    assert!(all.code == 2 && all.err.contains("goes with one experiment"), "{}", all.err);
}

#[test]
fn workers_share_the_points() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let workers: Vec<Child> = ["0/3", "1/3", "2/3"]
        .map(|shard| start(&folder, &["lab", "worker", "e.toml", "--shard", shard, "--jobs", "1"]))
        .into();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let after = folder.raddle(&["lab", "run", "e.toml"]);
    assert!(after.err.starts_with("24 points: 24 known, 0 run"), "{}", after.err);
    assert_eq!(report(&folder, "raddle-store"), undisturbed(&folder));
}

#[test]
fn two_runs_at_once_end_in_one_store() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let mut both = [0, 1].map(|_| start(&folder, &["lab", "run", "e.toml"]));
    both.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    assert_eq!(results(&folder, "raddle-store"), POINTS);
    assert_eq!(report(&folder, "raddle-store"), undisturbed(&folder));
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_what_is_done_and_how_to_go_on() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(&folder.0).args(["lab", "run", "e.toml", "--jobs", "1"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while results(&folder, "raddle-store") == 0 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.try_wait().unwrap().is_none(), "it ended before it could be stopped");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let kept = results(&folder, "raddle-store");
    assert!(kept > 0 && kept < POINTS, "{kept}");
    assert_eq!(said, format!("stopped: {kept} of {POINTS} points have a result; run the same command to continue\n"));
    assert_eq!(ended.status.code(), Some(130));
    let listed = folder.raddle(&["lab", "ls"]);
    assert_eq!(listed.err, "", "nothing is half written");
    let rest = folder.raddle(&["lab", "run", "e.toml"]);
    assert!(rest.err.starts_with(&format!("24 points: {kept} known, {} run", POINTS - kept)), "{}", rest.err);
    assert_eq!(report(&folder, "raddle-store"), undisturbed(&folder));
}

#[test]
fn machine_files_are_read_and_their_mistakes_shown() {
    let text = EXPERIMENT.replacen("size =", "machine = \"small.toml\"\nsize =", 1);
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    let folder = folder.with("sub/e.toml", &text);
    let run = || folder.raddle(&["lab", "run", "sub/e.toml"]);
    let none = run();
    assert_eq!(none.code, 2);
    assert!(
        none.err.contains("cannot read sub/small.toml") && none.err.contains("--> sub/e.toml:3:11"),
        "{}",
        none.err
    );
    let folder = folder.with("sub/small.toml", "base = \"gtx480\"\n[gpu]\nsm = 2\n");
    let bad = folder.raddle(&["lab", "run", "sub/e.toml"]);
    assert_eq!(bad.code, 2);
    assert!(bad.err.contains("--> sub/small.toml:3:1") && bad.err.contains("did you mean"), "{}", bad.err);
    let folder = folder.with("sub/small.toml", "base = \"gtx480\"\n[gpu]\nsms = 2\n");
    let good = folder.raddle(&["reproduce", "sub/e.toml", "--size", "tiny", "--output", "r"]);
    assert_eq!(good.code, 0, "{}", good.err);
    let page = std::fs::read_to_string(folder.0.join("r/index.html")).unwrap();
    assert!(page.contains("Machine small.toml."), "as it is written, wherever it is");
}

#[test]
fn what_is_refused_is_told_and_is_no_failure() {
    let (from, to) =
        ("values = [\"lrr\", \"gto\"]", "[[axis.variant]]\nlabel = \"lrr\"\n[[axis.variant]]\nlabel = \"gto\"");
    let few = EXPERIMENT.replacen("key = \"mechanism.issue\"\n", "", 1).replacen(from, to, 1);
    let few = few.replacen("label = \"gto\"", "label = \"gto\"\nset = [\"sm.registers=4096\"]", 1);
    let folder = Folder::new().with("e.toml", &few.replacen("count = 4", "count = 2", 1));
    let ran = folder.raddle(&["lab", "run", "e.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains(" s, 2 refused\nrefused: ") && ran.err.contains("registers, an SM has 4096"),
        "{}",
        ran.err
    );
    let listed = folder.raddle(&["lab", "ls", "--failures"]).out;
    assert_eq!(listed.matches("\n    refused: a block needs ").count(), 2, "{listed}");
    let json = folder.raddle(&["lab", "ls", "--failures", "--json"]).out;
    assert!(json.lines().all(|line| line.contains("\"is_refusal\":true")), "{json}");
    let report = folder.raddle(&["lab", "report", "e.toml", "--output", "r"]);
    assert!(report.code == 0 && !report.err.contains("missing"), "nothing that could be there is: {}", report.err);
    let page = std::fs::read_to_string(folder.0.join("r/index.html")).unwrap();
    assert!(page.contains("<h2>Refused</h2>") && page.contains(">refused</td>"));
    assert!(page.contains(" <small>2 of 3</small>"), "a mean over two of three");
    let csv = std::fs::read_to_string(folder.0.join("r/speedup.csv")).unwrap();
    assert!(csv.contains("\nspeedup,\"mean, all\",true,gto,,") && csv.contains(",2,3,,"), "{csv}");
}

#[test]
fn mistakes_in_experiments_have_a_place() {
    let wrong = |from: &str, to: &str| {
        let folder = Folder::new().with("e.toml", &EXPERIMENT.replacen(from, to, 1));
        let ran = folder.raddle(&["lab", "run", "e.toml"]);
        assert_eq!(ran.code, 2);
        ran.err
    };
    assert_eq!(
        wrong("values =", "value ="),
        "error: unknown key `value`\n  --> e.toml:13:1\n   |\n13 | value = [\"lrr\", \"gto\"]\n   | ^^^^^\n   |\n   \
         = help: did you mean `values`?\n"
    );
    assert!(wrong("mechanism.issue", "mechanism.isue").contains("--> e.toml:13:"));
    assert!(wrong("\"gto\"]", "\"gto\", \"got\"]").contains("--> e.toml:13:25"));
    let missing = raddle(&root(), &["lab", "run", "matirx"]);
    assert!(missing.code == 2 && missing.err.contains("did you mean `matrix`?"), "{}", missing.err);
    let none = raddle(&root(), &["lab", "ls", "--store", "docs"]);
    assert!(none.code == 2 && none.err.contains("docs is not a store of results"), "{}", none.err);
}

#[test]
fn machines_are_compared_at_once() {
    let args = ["compare", "spmv", "walsh", "--issue", "lrr,gto", "--vary", "gpu.sms=2,4", "--size", "tiny"];
    let ran = raddle(&root(), &args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[0]), ["lrr", "sms=2", "lrr", "sms=4", "gto", "sms=2", "gto", "sms=4"]);
    assert_eq!(words(lines[4])[..2], ["spmv", "1.000"]);
    assert!(lines[3].starts_with("mean, all "), "means come first");
    let json = raddle(&root(), &[&args[..], &["--json", "--metric", "thread-ipc", "--plain"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let table = &json["tables"][0];
    assert_eq!(
        (&json["size"], &table["name"], &table["rows"][1]["row"]),
        (&"tiny".into(), &"thread-ipc".into(), &"mean, barrier".into())
    );
    assert!(
        table["about"].as_str().is_some_and(|about| about.starts_with("thread-instructions per cycle; means are harm"))
    );
    let full = &json["machines"][0];
    assert_eq!((&full["workload"], &full["sms"], &full["fill"]["sms"]), (&"spmv".into(), &2.into(), &2.into()));
    let waves = full["fill"]["blocks"].as_f64().unwrap() / full["fill"]["places"].as_f64().unwrap();
    assert_eq!(full["fill"]["waves"].as_f64(), Some(waves), "{full}");
    let is_full = |machine: &serde_json::Value| machine["fill"]["is_full"] == true;
    let all_full = json["machines"].as_array().unwrap().iter().all(is_full);
    assert_eq!(ran.err.contains("did not fill the SMs"), !all_full, "{}", ran.err);
    let mean = &table["rows"][2]["cells"]["lrr sms=2"];
    assert!(mean["value"].as_f64() > Some(0.0) && (&mean["over"], &mean["of"]) == (&2.into(), &2.into()), "{mean}");
    let wrong = raddle(&root(), &["compare", "spmv", "--issue", "lrr,gtoo", "--size", "tiny"]);
    assert!(wrong.code == 2 && wrong.err.contains("gtoo"), "{}", wrong.err);
}

/// Cycles of `walsh` by bar.
fn compared(args: &[&str]) -> Vec<f64> {
    let fixed =
        ["compare", "walsh", "--size", "tiny", "--issue", "two-level", "--metric", "cycles", "--plain", "--json"];
    let ran = raddle(&root(), &[&fixed[..], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let table = &json["tables"][0];
    let bars = table["bars"].as_array().unwrap().iter().map(|bar| bar.as_str().unwrap());
    bars.map(|bar| table["rows"][0]["cells"][bar]["value"].as_f64().unwrap()).collect()
}

#[test]
fn parameters_reach_the_mechanisms_that_have_them() {
    let run = |set: &[&str]| {
        let args = ["run", "walsh", "--size", "tiny", "--issue", "two-level", "--gating", "folding", "--json"];
        let ran = raddle(&root(), &[&args[..], set].concat());
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let cycles = json["launches"].as_array().unwrap().iter().map(|l| l["timing"]["cycles"].as_f64().unwrap());
        cycles.sum::<f64>()
    };
    let set = ["--set", "mechanism.gating.stages=9"];
    assert!(run(&set) > run(&[]), "more stages take longer");
    let both = ["--gating", "none,folding"];
    let (plain, changed) = (compared(&both), compared(&[&both[..], &set].concat()));
    assert_eq!((plain[1], changed[1]), (run(&[]), run(&set)));
    assert_eq!(plain[0], changed[0], "what has no such parameter is as it was");
    let vary = [&["--gating", "folding", "--vary", "mechanism.gating.stages=2,9"], &set[..]].concat();
    assert_eq!(compared(&vary), [plain[1], changed[1]], "what is varied overrides what all have");
    let wrong =
        raddle(&root(), &[&["compare", "walsh", "--size", "tiny", "--gating", "none,blackout"], &set[..]].concat());
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(
        wrong.err.contains("`mechanism.gating.stages`: no mechanism that is run has a parameter `stages`"),
        "{}",
        wrong.err
    );
}

#[test]
fn divergence_models_are_compared_in_five_tables() {
    let folder = Folder::new();
    let args =
        ["compare", "bfs", "nqueens", "ray-bvh", "--divergence", "pdom,dwf", "--preset", "fx5800", "--size", "tiny"];
    let ran = folder.raddle(&[&args[..], &["--csv", "a.csv", "--parquet", "a.parquet"]].concat());
    assert_eq!(ran.code, 0, "what is refused is no failure: {}", ran.err);
    assert!(ran.err.starts_with("size tiny, fx5800; the baseline is pdom\n"), "{}", ran.err);
    assert!(ran.err.contains("\nrefused: machine dwf, ray-bvh: divergence model `dwf`: a warp-wide"), "{}", ran.err);
    assert!(ran.err.contains("\nrefused: machine pdom, nqueens: a block needs "), "{}", ran.err);
    let tables: Vec<&str> = ran.out.split("\n\n").collect();
    let heads: Vec<&str> = tables.iter().filter_map(|table| table.split([':', ';', ',']).next()).collect();
    assert_eq!(heads, ["Normalised IPC", "SIMD efficiency", "Where issue slots go", "Memory traffic", "Deepest stack"]);
    assert!(
        tables[0]
            .starts_with("Normalised IPC: thread-instructions per cycle, relative to the baseline; means are harm")
    );
    assert!(tables[0].contains("1.000 (2 of 3)") && tables[0].contains(" (1 of 3)"), "{}", tables[0]);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert!(tables[0].lines().any(|line| words(line) == ["nqueens", "refused", "refused"]), "{}", tables[0]);
    let slots: Vec<f64> = words(tables[2].lines().nth(7).unwrap())[1..].iter().map(|n| n.parse().unwrap()).collect();
    assert!(slots.len() == 11 && (slots.iter().sum::<f64>() - 100.0).abs() < 0.1, "{slots:?}");
    assert!(
        !tables[4].contains("mean") && tables[4].lines().any(|line| words(line) == ["bfs", "4", "0"]),
        "{}",
        tables[4]
    );
    assert!(ran.out.lines().all(|line| line.chars().count() <= 120), "{}", ran.out);

    let csv = std::fs::read_to_string(folder.0.join("a.csv")).unwrap();
    assert!(csv.starts_with("figure,row,is_mean,bar,part,value,low,high,over,of,gap,"), "{csv}");
    assert!(
        csv.contains("\nstack-depth,bfs,false,pdom,,4,4,4,1,1,,") && csv.contains("\nslots,bfs,false,dwf,draining,"),
        "{csv}"
    );
    let bytes = std::fs::read(folder.0.join("a.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn several_metrics_and_kernels() {
    let args = ["compare", "bfs", "--divergence", "pdom,tbc", "--size", "tiny"];
    let more = ["--metric", "cycles,simd-efficiency", "--metric", "slots", "--metric", "cycles", "--kernels"];
    let ran = raddle(&root(), &[&args[..], &more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let tables: Vec<&str> = ran.out.split("\n\n").collect();
    assert_eq!(tables.len(), 3, "none twice: {}", ran.out);
    assert!(tables[0].contains("speedup: baseline cycles / own cycles; means are geometric"), "{}", tables[0]);
    assert!(tables[1].contains("SIMD efficiency, relative to the baseline"), "{}", tables[1]);
    assert!(tables.iter().all(|table| table.contains("\nbfs/")), "{}", ran.out);
    let wrong = raddle(&root(), &[&args[..], &["--metric", "cycles,cycle"]].concat());
    assert!(wrong.code == 2 && wrong.err.contains("did you mean `cycles`?"), "{}", wrong.err);
    let harmonic = [&args[..], &["--metric", "cycles", "--mean", "harmonic", "--json"]].concat();
    let json: serde_json::Value = serde_json::from_str(&raddle(&root(), &harmonic).out).unwrap();
    assert_eq!(json["tables"][0]["about"], "speedup: baseline cycles / own cycles; means are harmonic");
}

#[test]
fn without_slurm_its_commands_are_named() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(&folder.0).args(["lab", "run", "e.toml", "--slurm"]).env("PATH", &folder.0);
    let ran = command.output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{err}");
    assert!(err.contains("cannot run `scontrol`: No such file") && err.contains("--slurm is for"), "{err}");
}

/// Stands for `sbatch`, `squeue` and `scontrol`: runs every task at once.
const CLUSTER: &str = r#"#!/bin/sh
case "$0" in
*/scontrol) echo "MaxArraySize = 3" ;;
*/sbatch)
    for arg; do case "$arg" in --array=0-*) last=${arg#--array=0-} ;; */slurm/*) folder=$arg ;; esac; done
    cd "$folder" && cat >script && SLURM_ARRAY_TASK_ID=0
    while [ "$SLURM_ARRAY_TASK_ID" -le "$last" ]; do
        export SLURM_ARRAY_TASK_ID
        sh script >"$SLURM_ARRAY_TASK_ID.log" 2>&1
        SLURM_ARRAY_TASK_ID=$((SLURM_ARRAY_TASK_ID + 1))
    done ;;
esac
"#;

#[test]
fn points_are_run_by_tasks_of_job_arrays() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let bin = folder.0.join("it's bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["sbatch", "squeue", "scontrol"] {
        std::fs::write(bin.join(name), CLUSTER).unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(["lab", "run", "e.toml", "--store", "it's a store", "--slurm", "--points-per-task", "5"]);
    let ran = command.current_dir(&folder.0).env("PATH", path).output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert!(err.starts_with("24 points: 0 known, 24 run in "), "{err}");
    assert_eq!(report(&folder, "it's a store"), undisturbed(&folder));
    let list = folder.raddle(&["lab", "worker", "e.toml", "--points", "e.toml", "--task", "0"]);
    assert!(list.code == 2 && list.err.contains("e.toml is not a list of points"), "{}", list.err);
}

#[test]
fn figures_are_drawn_for_papers() {
    let folder = Folder::new().with("e.toml", EXPERIMENT);
    let compare = |more: &[&str]| {
        folder.raddle(
            &[&["compare", "spmv", "walsh", "--issue", "lrr,gto", "--size", "tiny", "--store", "s"], more].concat(),
        )
    };
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    let ran = compare(&["--output", "a.svg", "--width", "acm", "--data", "d"]);
    assert!(ran.code == 0 && ran.err.contains("a.svg: Cycles"), "{}", ran.err);
    assert!(read("a.svg").contains("width=\"84.700mm\""));
    assert!(read("d/cycles.csv").starts_with("figure,row,") && read("d/cycles.py").contains("speedup over lrr"));
    let ran = compare(&["--output", "b.svg", "--metric", "cycles,thread-ipc"]);
    assert!(ran.code == 0 && read("b-cycles.svg").contains("<svg") && read("b-thread-ipc.svg").contains("<svg"));
    let refused = |more: &[&str], why: &str| {
        let ran = compare(more);
        assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
    };
    refused(&["--width", "ieee"], "--output FILE");
    refused(&["--output", "a.svg", "--width", "wide"], "ieee-two, acm");
    refused(&["--output", "a.jpeg"], ".svg, .png or .pdf");
    let ran =
        folder.raddle(&["reproduce", "e.toml", "--size", "tiny", "--output", "r", "--width", "100", "--data", "n"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(read("r/speedup.svg").contains("width=\"100.000mm\"") && !read("r/speedup.svg").contains("dark"));
    assert!(read("r/index.html").contains("dark") && read("n/speedup.py").contains("matplotlib"));
}
