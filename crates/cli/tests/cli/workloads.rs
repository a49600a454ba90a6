//! Workloads by name.

use super::{Folder, raddle, root};

#[test]
fn a_workload_is_run_by_its_name() {
    let folder = Folder::new();
    let ran = folder.raddle(&["run", "spmv", "--size", "tiny", "--stats", "stats.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("spmv_csr  grid 22  block 192\n"), "{}", ran.out);
    assert!(ran.out.ends_with("1 output is right\n"), "{}", ran.err);
    let stats = std::fs::read_to_string(folder.0.join("stats.csv")).unwrap();
    assert!(stats.contains("spmv_csr"));
}

#[test]
fn launches_of_a_kernel_are_counted_together() {
    let ran = raddle(&root(), &["run", "bfs", "--size", "tiny", "--engine", "fast", "--check"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let heads: Vec<&str> = ran.out.lines().filter(|line| line.contains("  block ")).collect();
    assert_eq!(heads.len(), 2, "{}", ran.err);
    assert!(heads.iter().all(|head| head.ends_with(" times")), "{}", ran.err);
    assert!(ran.out.contains("  memory is equal to the reference interpreter's"), "{}", ran.err);
}

#[test]
fn seeds_make_other_inputs() {
    let insts = |seed| {
        let args = ["run", "spmv", "--size", "tiny", "--engine", "fast", "--json", "--seed", seed];
        let ran = raddle(&root(), &args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.split("\"thread_insts\":").nth(1).map(|rest| rest[..8].to_owned())
    };
    assert_ne!(insts("1"), insts("2"));
    assert_eq!(insts("2"), insts("2"));
}

#[test]
fn an_unknown_workload_gets_advice() {
    let folder = Folder::new().with("kernel", "");
    let error = "error: there is no workload `coulom`\n |\n = help: did you mean `coulomb`?\n";
    folder.raddle(&["run", "coulom"]).expect(2, "", error);
    let error = "error: there is no workload `kernel`\n |\n = help: for the file of that name, write ./kernel\n";
    folder.raddle(&["run", "kernel"]).expect(2, "", error);
    folder.raddle(&["workloads", "build"]).expect(
        2,
        "",
        "error: there is no crates/workloads/suite here\n |\n = help: run this in a clone of the repository of Raddle\n",
    );
}

#[test]
fn options_of_the_other_kind_are_refused() {
    let wrong = |args: &[&str]| {
        let ended = raddle(&root(), args);
        assert_eq!(ended.code, 2);
        ended.err.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        wrong(&["run", "bfs", "--grid", "4"]),
        "error: --grid cannot be given with a workload, which sets it itself"
    );
    assert_eq!(
        wrong(&["run", "examples/saxpy.toml", "--size", "tiny"]),
        "error: --size is for workloads, and examples/saxpy.toml is a file"
    );
}

#[test]
fn a_launch_that_stops_ends_the_run() {
    let ended = raddle(&root(), &["run", "walsh", "--size", "tiny", "--max-cycles", "100"]);
    assert_eq!(ended.code, 5, "{}", ended.err);
    assert!(ended.err.contains("error[cycle-limit]"), "{}", ended.err);
}

#[test]
fn workloads_are_listed_checked_and_measured() {
    let listed = raddle(&root(), &["list", "workloads"]);
    assert!(listed.out.starts_with("name "), "{}", listed.out);
    assert!(listed.out.contains("\nmri-q  "), "{}", listed.out);
    let checked = raddle(&root(), &["workloads", "check", "scalar-prod", "walsh"]);
    assert_eq!((checked.code, checked.out.lines().count()), (0, 14), "{}", checked.out);
    let measured = raddle(&root(), &["measure", "barriers", "scalar-prod", "--size", "tiny"]);
    assert!(measured.out.starts_with("scalar_prod: 8 blocks, 128 warps\n  waiting at barriers"), "{}", measured.out);
}
