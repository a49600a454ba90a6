//! `--trace` and `--intervals`.

use crate::{Folder, raddle, root};

const SAXPY: [&str; 2] = ["run", "examples/saxpy.toml"];

/// Runs an example; files go to a folder that is named `{}`.
fn saxpy(folder: &Folder, more: &[&str]) -> crate::Ended {
    let more: Vec<String> = more.iter().map(|arg| arg.replace("{}", &folder.0.display().to_string())).collect();
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    raddle(&root(), &[&SAXPY[..], &more].concat())
}

#[track_caller]
fn refused(more: &[&str], message: &str) {
    let ended = saxpy(&Folder::new(), more);
    assert!(ended.code == 2 && ended.err.contains(message), "`{message}` is not in:\n{}", ended.err);
}

#[test]
fn a_trace_and_its_intervals_are_written() {
    let folder = Folder::new();
    let ended = saxpy(&folder, &["--trace", "{}/a.pftrace", "--intervals", "{}/a.parquet", "--interval", "50"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let trace = std::fs::read(folder.0.join("a.pftrace")).unwrap();
    let has = |text: &str| trace.windows(text.len()).any(|part| part == text.as_bytes());
    for text in
        ["launches", "SM 0", "scheduler 1", "warp 3", "memory partition 5", "warp IPC", "saxpy", "memory_dependence"]
    {
        assert!(has(text), "{text}");
    }
    assert!(!has("SM 1"));
    assert!(std::fs::read(folder.0.join("a.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn host_threads_do_not_change_a_trace() {
    let folder = Folder::new();
    for (threads, file) in [("1", "{}/1.pftrace"), ("3", "{}/3.pftrace")] {
        let ended = saxpy(&folder, &["--threads", threads, "--trace-sms", "0-2", "--trace", file]);
        assert_eq!(ended.code, 0, "{}", ended.err);
    }
    let [one, three] = ["1", "3"].map(|name| std::fs::read(folder.0.join(format!("{name}.pftrace"))).unwrap());
    assert!(one == three && one.len() > 10_000);
}

#[test]
fn a_trace_that_is_cut_says_so() {
    let folder = Folder::new();
    let name = folder.0.join("bfs.pftrace").display().to_string();
    let args = ["run", "bfs", "--size", "tiny", "--trace-sms", "0-14", "--trace-limit", "1", "--trace", &name];
    let ended = raddle(&root(), &args);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("bytes and does not show all: choose SMs and cycles with --trace-sms"), "{}", ended.err);
    assert!(std::fs::metadata(&name).unwrap().len() <= 1_000_000);
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(&["--engine", "fast", "--trace", "{}/a"], "--trace needs the engine `timing`");
    refused(&["--sample", "blocks=50%", "--trace", "{}/a"], "--trace cannot show a run with --sample");
    refused(&["--interval", "5"], "--interval needs --trace or --intervals");
    refused(&["--intervals", "{}/a.csv"], "end its name in .parquet");
    refused(&["--trace", "{}/a", "--trace-sms", "0,99"], "there is no SM 99 to trace: the machine has 15");
    refused(&["--trace", "{}/a", "--trace-cycles", "5"], "`5` is no range of cycles such as 1000..5000");
    refused(&["--trace-sms", "1"], "--trace <FILE>");
    refused(&["--trace", "{}/no/a"], "cannot write");
    let ended = raddle(&root(), &["profile", "examples/saxpy.toml", "--trace", "a"]);
    assert!(ended.err.contains("--trace is for `raddle run`"), "{}", ended.err);
}
