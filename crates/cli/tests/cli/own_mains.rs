//! CUDA programs with a `main` as workloads of comparisons and experiments.
//!
//! They call `libcudart.so`, which is built beside `raddle`.

use super::own_programs::SCHEDULERS;
use super::{Ended, Folder, root};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("own_mains.cu");
const HEADER: &str = "#define BY 2.0f\n";
const PROGRAM: &str = "program = 'own.cu'\nexpect = { output = 'PASSED' }\n";

/// Builds the library that programs call, unless it is up to date: cargo builds what tests link with, and none links
/// with it.
fn build_library() {
    let program = Path::new(env!("CARGO_BIN_EXE_raddle"));
    let target = program.ancestors().nth(2).expect("it is in TARGET/debug");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--locked", "-p", "raddle-cudart", "--target-dir"]).arg(target);
    assert!(build.current_dir(root()).status().unwrap().success(), "libcudart.so cannot be built");
}

/// The program with these arguments; commands that ask whether programs are allowed are told so.
fn raddle(folder: &Path, args: &[&str]) -> Ended {
    let asks = matches!(args, ["compare" | "reproduce", ..] | ["lab", "run" | "worker", ..]);
    super::raddle(folder, &[args, if asks { &["--allow-programs"] } else { &[] }].concat())
}

/// A folder with a program, and a program file about it.
fn folder() -> Folder {
    build_library();
    Folder::new().with("own.cu", SOURCE).with("own_mains.h", HEADER).with("own.toml", PROGRAM)
}

fn json(ended: &Ended) -> serde_json::Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}\n{}{}", ended.out, ended.err))
}

/// Cycles of each bar of the only row that is no mean.
fn cycles(value: &serde_json::Value, bars: &[&str]) -> Vec<f64> {
    let rows = value["tables"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["is_mean"] == false).unwrap();
    bars.iter().map(|bar| row["cells"][bar]["value"].as_f64().unwrap()).collect()
}

#[test]
fn a_program_has_the_cycles_that_it_has_under_exec() {
    let folder = folder();
    let example = root().join("examples/cuda/matmul.cu");
    let text = format!("program = '{}'\nexpect = {{ output = 'PASS' }}\n", example.display());
    let folder = folder.with("matmul.toml", &text);
    let build = |args: &[&str]| assert_eq!(raddle(&folder.0, args).code, 0);
    build(&["cc", "own.cu", "-o", "own"]);
    build(&["cc", &example.display().to_string(), "-o", "matmul"]);
    let machine = ["--set", "gpu.sms=3", "--set", "sm.l1d.ways=2"];
    for program in ["own", "matmul"] {
        let file = format!("{program}.toml");
        let compare = [&["compare", &file, "--issue", "lrr,gto,two-level", "--plain", "--json"], &machine[..]].concat();
        let ended = raddle(&folder.0, &compare);
        assert_eq!(ended.code, 0, "{}", ended.err);
        let compared = cycles(&json(&ended), &["lrr", "gto", "two-level"]);
        let alone = |issue: &&str| {
            let path = format!("./{program}");
            let exec = [&["exec", "--issue", *issue, "--json"], &machine[..], &[path.as_str()]].concat();
            let ended = raddle(&folder.0, &exec);
            let value: serde_json::Value = serde_json::from_str(&ended.err).unwrap();
            value["kernels"].as_array().unwrap().iter().map(|kernel| kernel["cycles"].as_f64().unwrap()).sum::<f64>()
        };
        let alone: Vec<f64> = ["lrr", "gto", "two-level"].iter().map(alone).collect();
        assert_eq!(compared, alone, "{program}");
        assert!(alone[0] > 0.0 && alone.windows(2).any(|pair| pair[0] != pair[1]), "{alone:?}");
    }
}

#[test]
fn a_compiled_program_and_workloads_stand_in_one_table() {
    let folder = folder().with("own.toml", "program = \"./own\"\n");
    let before = raddle(&folder.0, &["compare", "own.toml"]);
    assert_eq!(before.code, 2);
    let said = "error: own.toml:1:11: there is no file ./own\n";
    assert!(before.err.replace("//", "/").starts_with(said), "{}", before.err);
    assert_eq!(raddle(&folder.0, &["cc", "own.cu", "-o", "own"]).code, 0);
    let saxpy = root().join("examples/saxpy.toml").display().to_string();
    let args = ["compare", "own.toml", "spmv", &saxpy, "--size", "tiny", "--issue", "lrr,gto", "--kernels", "--json"];
    let ended = raddle(&folder.0, &args);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.starts_with("--size does not apply to launch files and programs: own, saxpy\n"), "{}", ended.err);
    let value = json(&ended);
    let rows: Vec<&str> =
        value["tables"][0]["rows"].as_array().unwrap().iter().map(|row| row["row"].as_str().unwrap()).collect();
    assert!(rows.iter().filter(|row| row.starts_with("own/")).count() == 2, "{rows:?}");
    assert!(!ended.out.contains("PASSED"), "what programs print is not shown");
}

const EXPERIMENT: &str = "\
title = \"Own programs\"
workloads = [\"own.toml\", \"spmv\"]
size = \"tiny\"

[repeats]
count = 2
vary = [\"heap\", \"dispatch\"]
";

const ALL_KEYS: &str = "\
program = [\"own.cu\"]
compile = [\"-O3\", \"-DUNUSED=1\"]
args = [\"scale\", 1]
inputs = [\"data.txt\"]
env = { OWN = 7 }
stdin = \"word.txt\"
expect = { status = 0, output = \"read hello, OWN is 7, PASSED\" }
time-limit = 200
";

#[test]
fn experiments_run_programs_again_when_something_they_read_has_changed() {
    build_library();
    let folder = Folder::new();
    std::fs::create_dir_all(folder.0.join("sub")).unwrap();
    let folder = folder
        .with("sub/own.cu", SOURCE)
        .with("sub/own_mains.h", HEADER)
        .with("sub/own.toml", ALL_KEYS)
        .with("sub/data.txt", "1")
        .with("sub/word.txt", "hello\n")
        .with("sub/e.toml", &[EXPERIMENT, SCHEDULERS].concat());
    let run = || {
        let ended = raddle(&folder.0, &["lab", "run", "sub/e.toml"]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        ended.err.split(" in ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(run(), "8 points: 0 known, 8 run");
    assert_eq!(run(), "8 points: 8 known, 0 run");
    let write = |name: &str, text: &str| std::fs::write(folder.0.join("sub").join(name), text).unwrap();
    write("own.toml", &(ALL_KEYS.replace("200", "300") + "# a comment\n"));
    assert_eq!(run(), "8 points: 8 known, 0 run", "neither makes a difference to what a run does");
    let again = "8 points: 4 known, 4 run";
    write("data.txt", "2");
    assert_eq!(run(), again, "an input");
    write("own_mains.h", "#define BY 3.0f\n");
    assert_eq!(run(), again, "a header");
    write("own.cu", &SOURCE.replace("i % 3", "i % 5"));
    assert_eq!(run(), again, "the source");
    write("own.toml", &ALL_KEYS.replace("UNUSED=1", "UNUSED=2"));
    assert_eq!(run(), again, "an option of the compiler");
    write("own.toml", &ALL_KEYS.replace("\"scale\", 1", "\"scale\", 2"));
    assert_eq!(run(), again, "an argument");
    // Results do not depend on where the files are, nor on the number of threads.
    let folder_of = |name: &str| folder.0.join(name).display().to_string();
    let other = Folder::new();
    let worker = ["lab", "worker", &folder_of("sub/e.toml"), "--shard", "0/1", "--store", &folder_of("raddle-store")];
    let ended = raddle(&other.0, &worker);
    assert!(ended.err.contains("8 points: 8 known, 0 run"), "{}", ended.err);
    let list = raddle(&folder.0, &["lab", "ls"]);
    assert!(list.out.contains("own.toml") && list.out.contains("spmv"), "{}", list.out);
    assert_eq!(raddle(&folder.0, &["lab", "export", "all.csv"]).code, 0);
    let table = std::fs::read_to_string(folder.0.join("all.csv")).unwrap();
    assert!(table.lines().any(|line| line.contains("own.toml") && line.contains("pick")), "{table}");
    let report = raddle(&folder.0, &["lab", "report", "sub/e.toml", "--output", "r"]);
    assert_eq!((report.code, report.out.as_str()), (0, "r/index.html\n"), "{}", report.err);
    let page = raddle(&folder.0, &["reproduce", "sub/e.toml", "--output", "again"]);
    assert_eq!((page.code, page.out.as_str()), (0, "again/index.html\n"), "{}", page.err);
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert_eq!(read("r/speedup.csv"), read("again/speedup.csv"));
    assert!(read("r/speedup.csv").lines().any(|line| line.contains("own")), "{}", read("r/speedup.csv"));
}

#[test]
fn a_failure_says_what_happened_and_does_not_stop_other_points() {
    let folder = folder();
    let said = |toml: &str| {
        std::fs::write(folder.0.join("own.toml"), toml).unwrap();
        let ended = raddle(&folder.0, &["compare", "own.toml", "spmv", "--size", "tiny", "--plain", "--json"]);
        let value = json(&ended);
        let rows = value["tables"][0]["rows"].as_array().unwrap();
        let spmv = rows.iter().find(|row| row["row"] == "spmv").unwrap();
        assert!(spmv["cells"]["gtx480"]["value"].as_f64().unwrap() > 0.0, "the other point has a result");
        let said = ended.err.lines().skip_while(|line| !line.starts_with("failed: ")).collect::<Vec<_>>().join("\n");
        let said = said
            .strip_prefix("failed: own.toml - (")
            .and_then(|said| said.split_once(") seed "))
            .unwrap_or(("", &said))
            .1;
        let said = said.split_once(": ").map_or(said, |(_, said)| said).to_owned();
        (ended.code, said, ended.err)
    };
    let with = |args: &str| said(&format!("program = 'own.cu'\nargs = ['{args}']\n"));
    let (code, text, all) = with("status");
    assert_eq!(code, 1, "{all}");
    let lines: String = (88..100).map(|n| format!("\n    line {n}")).collect();
    assert_eq!(text, format!("the program ended with status 3; status 0 is expected\n  the end of its stderr:{lines}"));
    let (_, text, _) = with("abort");
    assert_eq!(text, "the program was ended by signal 6 (it aborted); status 0 is expected");
    let (_, text, _) = with("none");
    assert!(text.starts_with("the program launched no kernel on the simulated GPU"), "{text}");
    let (_, text, _) = with("fault");
    assert!(text.starts_with("kernel `pick(float const*, float*, int)` did not complete: fault\n"), "{text}");
    assert!(text.contains("the end of its stderr:") && text.ends_with("    the device says no"), "{text}");
    let (_, text, _) = said("program = 'own.cu'\nexpect = { output = 'DONE' }\n");
    assert!(
        text.starts_with(
            "the program did not print `DONE`; the end of what it printed:\n    read nothing, OWN is not set"
        ),
        "{text}"
    );
    let begun = Instant::now();
    let (_, text, _) = said("program = 'own.cu'\nargs = ['sleep']\ntime-limit = 2\n");
    assert!(text.starts_with("the program was ended after its time limit of 2 s"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    // What a machine does not run by design is no failure.
    let (code, _, all) = with("crowd");
    assert_eq!(code, 0, "{all}");
    assert!(
        all.contains("refused: machine gtx480, own: a block needs 400000 bytes of shared memory, an SM has 49152"),
        "{all}"
    );
    let (code, _, all) = said("program = 'own.cu'\nargs = ['status']\nexpect = { status = 3 }\n");
    assert_eq!((code, all.contains("failed")), (0, false), "{all}");
}

#[test]
fn a_mistake_in_a_program_file_has_its_place() {
    let folder = folder().with("e.toml", "title = 'T'\nworkloads = ['own.toml']\n");
    let wrong = |toml: &str| {
        std::fs::write(folder.0.join("own.toml"), toml).unwrap();
        let ended = raddle(&folder.0, &["compare", "own.toml"]);
        assert_eq!(ended.code, 2, "{}", ended.err);
        ended.err
    };
    let unknown = wrong("program = 'own.cu'\ntime_limit = 3\n");
    assert_eq!(unknown, "error: own.toml:2:1: unknown key `time_limit`\n |\n = help: did you mean `time-limit`?\n");
    assert!(wrong("progam = 'own.cu'\n").contains("own.toml:1:1: unknown key `progam`"));
    assert!(wrong("program = 'own.cu'\nexpect = { outputs = 'x' }\n").contains("own.toml:2:12: unknown key `outputs`"));
    assert!(wrong("program = 'own.cu'\ninputs = ['none']\n").contains("own.toml:2:11: cannot read none: "));
    assert!(wrong("program = 'own.cu'\nstdin = 'none'\n").contains("own.toml:2:9: cannot read none: "));
    assert!(wrong("program = 'own.cu'\ntime-limit = 0\n").contains("own.toml:2:14: `time-limit` must be more than 0"));
    assert!(wrong("program = 'own.cu'\nenv = { RADDLE_EXEC = 1 }\n").contains("own.toml:2:9: `RADDLE_EXEC` cannot be"));
    assert!(wrong("program = []\n").contains("own.toml:1:11: expected the name of a program"));
    assert!(wrong("program = 'own.toml'\ncompile = ['-O3']\n").contains("own.toml:2:11: `compile` is for"));
    assert!(wrong("program = ['own.toml', 'e.toml']\n").contains("own.toml:1:11: a list must have the CUDA files"));
    let folder = folder.with("bad.cu", "int main() { return nothing; }\n").with("bad.toml", "program = 'bad.cu'\n");
    let bad = raddle(&folder.0, &["compare", "bad.toml"]);
    assert_eq!(bad.code, 2);
    assert!(bad.err.starts_with("error: bad.toml:1:11: bad.cu does not compile:\n"), "{}", bad.err);
    let folder = folder.with("own.toml", PROGRAM);
    let run = raddle(&folder.0, &["run", "own.toml"]);
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("error: this is a program file, not a launch file\n"), "{}", run.err);
}

#[test]
fn what_needs_the_kernels_of_a_program_before_it_runs_says_so() {
    let folder = folder();
    let wrong = |more: &str| {
        std::fs::write(folder.0.join("e.toml"), [EXPERIMENT, SCHEDULERS, more].concat()).unwrap();
        raddle(&folder.0, &["lab", "run", "e.toml"])
    };
    let kernels = wrong("\n[kernels]\nown = [\"pick\"]\n");
    assert_eq!(kernels.code, 2);
    assert!(kernels.err.starts_with("error: kernels of `own.toml` cannot be named here\n"), "{}", kernels.err);
    let timeline = "\n[[timeline]]\nname = \"t\"\ntitle = \"T\"\nworkload = \"own\"\nkernel = \"pick\"\nfirst = 1\n";
    let timeline = wrong(timeline);
    assert!(timeline.err.starts_with("error: kernels of `own.toml` cannot be named here\n"), "{}", timeline.err);
    let looped = wrong("\n[[axis]]\nname = \"loop\"\nkey = \"virtualize\"\nvalues = [\"no\", \"software\"]\n");
    assert_eq!(looped.code, 0, "{}", looped.err);
    let why = "own: kernels of a program file cannot be put in a loop over logical blocks";
    assert!(looped.err.contains("left out: ") && looped.err.contains(why), "{}", looped.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_programs() {
    use std::process::{Command, Stdio};
    let folder = folder().with("own.toml", "program = 'own.cu'\nargs = ['sleep']\n");
    let kept = folder.0.join("e.toml");
    std::fs::write(&kept, "title = 'T'\nworkloads = ['own.toml']\n").unwrap();
    for (args, code) in [(&["compare", "own.toml"][..], 130), (&["lab", "run", "e.toml"], 130)] {
        let asleep = folder.0.join("asleep");
        let _ = std::fs::remove_file(&asleep);
        let child = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(args)
            .env("RADDLE_ALLOW_PROGRAMS", "1")
            .current_dir(&folder.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let raddle = child.id();
        let begun = Instant::now();
        let id = loop {
            match std::fs::read_to_string(&asleep) {
                Ok(id) if !id.is_empty() => break id,
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{args:?} never runs the program");
        };
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(said.contains("stopped: 0 of 1 points have a result"), "{said}");
        // What is gone has no state, or waits for its parent to hear of it. It had 100 s to sleep.
        let begun = Instant::now();
        loop {
            let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{args:?}: {state}");
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = std::env::temp_dir().join(format!("raddle-run-{raddle}"));
        assert!(!left.exists(), "{} is left", left.display());
    }
}

#[test]
fn examples_of_the_book_are_program_files() {
    let page = std::fs::read_to_string(root().join("docs/src/guide/experiments.md")).unwrap();
    let (_, rest) = page.split_once("#### Programs with a `main`").unwrap();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let folder = folder().with("own.toml", &example.replace("matmul.cu", "own.cu").replace("\"--size\"", "\"scale\""));
    let ended = raddle(&folder.with("weights.txt", "1").0, &["compare", "own.toml"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
}

/// Rows of a table, each with the values of these columns.
fn rows(table: &Path, columns: &[&str]) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(table).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let places: Vec<usize> = columns.iter().map(|name| head.iter().position(|known| known == name).unwrap()).collect();
    lines.map(|line| places.iter().map(|place| line[*place].clone()).collect()).collect()
}

#[test]
fn all_programs_of_a_command_are_in_its_table() {
    let folder = folder();
    assert_eq!(raddle(&folder.0, &["cc", "own.cu", "-o", "own"]).code, 0);
    let exec = |options: &[&str], script: &str| {
        let ended = raddle(&folder.0, &[&["exec"], options, &["sh", "-c", script]].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        ended
    };
    let launches = |table: &str| {
        let mut all = rows(&folder.0.join(table), &["process", "program", "launch", "kernel"]);
        all.dedup();
        all
    };
    exec(&["--stats", "one.csv"], "./own");
    let one = launches("one.csv");
    assert!(!one.is_empty() && one.iter().all(|row| row[0] == "0" && row[1] == "own"), "{one:?}");
    // One after another, at once, in another folder, and one that uses no GPU.
    exec(&["--stats", "all.csv"], "mkdir -p sub; cp own sub/other; ./own; true; ./own & (cd sub && ./other); wait");
    let all = launches("all.csv");
    assert_eq!(all.len(), 3 * one.len(), "{all:?}");
    let numbers: Vec<String> = all.iter().map(|row| row[2].clone()).collect();
    assert_eq!(numbers, (0..all.len()).map(|n| n.to_string()).collect::<Vec<_>>(), "launches are counted through");
    let kernels = |of: &[Vec<String>]| of.iter().map(|row| row[3].clone()).collect::<Vec<_>>();
    all.chunks(one.len()).enumerate().for_each(|(process, part)| {
        assert_eq!(kernels(part), kernels(&one));
        assert!(part.iter().all(|row| row[0] == process.to_string()), "{part:?}");
    });
    assert_eq!(all.iter().filter(|row| row[1] == "other").count(), one.len());
    let none = exec(&["--stats", "none.csv"], "true");
    assert!(none.err.contains("no kernel was launched: none.csv has no rows"), "{}", none.err);
    let said = exec(&["--trace", "t.pftrace", "--profile", "--html", "p.html"], "./own; ./own").err;
    assert!(["t.pftrace", "t.1.pftrace", "p.html", "p.1.html"].iter().all(|file| folder.0.join(file).exists()));
    assert!(said.contains("another program of this command came first: t.1.pftrace is of own"), "{said}");
}

#[test]
fn an_empty_library_path_stays_without_the_current_folder() {
    build_library();
    for (set, end) in [("", ""), ("/a:/b", ":/a:/b")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.args(["exec", "sh", "-c", "echo \"$LD_LIBRARY_PATH\""]).env("LD_LIBRARY_PATH", set);
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let (folder, rest) = out.trim_end().split_at(out.find(':').unwrap_or(out.trim_end().len()));
        assert!(Path::new(folder).is_absolute() && rest == end, "{out}");
    }
}

#[test]
fn programs_run_only_if_they_are_allowed() {
    let folder = Folder::new()
        .with("sh.toml", "program = \"/bin/sh\"\nargs = [\"-c\", \"touch ran\"]\n")
        .with("cu.toml", "program = [\"a.cu\", \"b.cu\"]\nargs = [\"--size\", 64]\n")
        .with("e.toml", &[&EXPERIMENT.replace("own.toml", "sh.toml"), SCHEDULERS].concat());
    let help = "= help: if you trust the file and the program, run the command with --allow-programs, or set \
        RADDLE_ALLOW_PROGRAMS=1\n";
    let commands: [&[&str]; 5] = [
        &["compare", "sh.toml"],
        &["compare", "spmv", "sh.toml", "--store", "s"],
        &["lab", "run", "e.toml"],
        &["lab", "worker", "e.toml", "--shard", "0/1"],
        &["reproduce", "e.toml"],
    ];
    for command in commands {
        let ended = super::raddle(&folder.0, command);
        assert_eq!(ended.code, 2, "{command:?}: {}", ended.err);
        let said = "error: sh.toml:1:11: programs are not allowed; this would be run, with your rights: \
            /bin/sh -c 'touch ran'\n";
        assert!(ended.err.starts_with(said) && ended.err.contains(help), "{command:?}: {}", ended.err);
        assert!(!folder.0.join("ran").exists(), "{command:?}");
        let none = folder.0.join("raddle-store").exists() || folder.0.join("s").exists();
        assert!(!none, "{command:?} writes nothing");
    }
    let sources = super::raddle(&folder.0, &["compare", "cu.toml"]);
    assert!(sources.err.contains("this would be compiled and run, with your rights: a.cu b.cu --size 64\n"));
    // Nothing of others is in the experiments that come with Raddle.
    let own = super::raddle(&folder.0, &["lab", "report", "matrix", "--size", "tiny"]);
    assert!(!own.err.contains("--allow-programs"), "{}", own.err);
    build_library();
    let allowed = super::raddle(&folder.0, &["compare", "sh.toml", "--allow-programs"]);
    assert!(allowed.err.contains("launched no kernel") && folder.0.join("ran").exists(), "{}", allowed.err);
}

#[test]
fn options_of_the_compiler_write_nothing_elsewhere() {
    let folder = folder().with("precious", "kept");
    let options = [
        ("-DX=1', '-o', 'precious", "-o precious"),
        ("-oprecious", "-oprecious"),
        ("-Xcompiler', '-MD,-MF,precious", "-MD"),
        ("-save-temps", "-save-temps"),
        ("-Xlinker', '-Map=precious", "-Wl,-Map=precious"),
        ("-fplugin=precious", "-fplugin=precious"),
        ("@precious", "@precious"),
    ];
    for (option, named) in options {
        let folder = folder.0.join("own.toml");
        std::fs::write(&folder, format!("program = 'own.cu'\ncompile = ['{option}']\n")).unwrap();
        let folder = folder.parent().unwrap();
        for command in [&["compare", "own.toml"][..], &["lab", "report", "e.toml"]] {
            std::fs::write(folder.join("e.toml"), "title = 'T'\nworkloads = ['own.toml']\n").unwrap();
            let ended = raddle(folder, command);
            assert_eq!(ended.code, 2, "{option}: {}", ended.err);
            assert!(ended.err.contains(&format!("own.toml:2:11: `compile` cannot have `{named}`\n")), "{}", ended.err);
        }
        assert_eq!(std::fs::read_to_string(folder.join("precious")).unwrap(), "kept", "{option}");
    }
}
