//! Runs that are killed or stopped and go on from a checkpoint: what they print and write is what a run that was left
//! alone does.

use super::Folder;
use super::lab::start;
use super::lab_store::Random;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The output of `--json` without the time on this machine.
pub fn timeless(text: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("seconds");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    strip(&mut value);
    value
}

fn read(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(folder.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// When the last checkpoint was written.
fn written(folder: &Folder) -> Option<SystemTime> {
    std::fs::metadata(folder.0.join("state/last.checkpoint")).and_then(|about| about.modified()).ok()
}

/// Waits for another checkpoint; false when the run has ended before.
fn next_checkpoint(folder: &Folder, child: &mut Child, before: Option<SystemTime>) -> bool {
    let begun = Instant::now();
    while written(folder) == before {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint is written");
        std::thread::sleep(Duration::from_micros(500));
    }
    true
}

/// Kills a run so many times, each soon after it has written a checkpoint, and lets it go on to its end. Everything
/// must be as when it is left alone.
fn kill(what: &[&str], kills: usize) {
    let folder = Folder::new();
    let whole = folder.raddle(&[&["run"], what, &["--json", "--stats", "whole.csv", "--threads", "1"]].concat());
    assert_eq!(whole.code, 0, "{}", whole.err);
    let mut random = Random(0x2545_f491_4f6c_dd1d ^ what.len() as u64);
    let options = ["--json", "--stats", "cut.csv", "--checkpoint", "state", "--every", "10ms", "--resume", "--threads"];
    let mut hits = 0;
    let last = loop {
        let threads = ["1", "2", "3"][random.below(3) as usize];
        let args = [&["run"], what, &options, &[threads]].concat();
        if hits == kills {
            break folder.raddle(&args);
        }
        let before = written(&folder);
        let mut child = start(&folder, &args);
        assert!(next_checkpoint(&folder, &mut child, before), "{what:?} ended after {hits} of {kills} kills");
        // Some come in the midst of writing the next one.
        std::thread::sleep(Duration::from_micros(random.below(12_000)));
        // SIGKILL, which cannot be caught, to this process alone.
        let _ = child.kill();
        let _ = child.wait();
        hits += 1;
    };
    assert!(last.code == 0 && last.err.starts_with("resuming from state/last.checkpoint: launch "), "{}", last.err);
    assert_eq!(last.err.lines().count(), 1);
    assert!(timeless(&whole.out) == timeless(&last.out), "{what:?}: the results are other ones");
    assert!(read(&folder, "whole.csv") == read(&folder, "cut.csv"), "{what:?}: the counters are other ones");
    assert!(!folder.0.join("state").exists(), "a run that has ended leaves no checkpoints");
}

/// Runs with several launches and with mechanisms at every seam.
const RUNS: [&[&str]; 7] = [
    &["bfs", "--divergence", "tbc"],
    &["bfs", "--divergence", "dwf", "--issue", "majority"],
    &["bfs", "--preset", "vws-sm", "--ganging", "vws"],
    &["needleman-wunsch", "--divergence", "tbc-lcp", "--check"],
    &["mandelbrot", "--virtualize", "same-lane", "--issue", "vtw"],
    &["hotspot", "--issue", "origami", "--gating", "folding"],
    &["spmv", "--fetch", "cff", "--dispatch", "fill-first", "--issue", "two-level"],
];

#[test]
fn a_run_goes_on_after_kills() {
    kill(&["bfs"], 3);
    kill(RUNS[5], 1);
}

/// All of it: `cargo nextest run -p raddle-cli --run-ignored only twenty_kills`.
#[test]
#[ignore = "takes two minutes; a sample of it always runs"]
fn every_mechanism_goes_on_after_twenty_kills() {
    kill(&["bfs"], 20);
    for (n, what) in RUNS.into_iter().enumerate() {
        kill(what, if n < 3 { 20 } else { 5 });
    }
}

const KERNEL: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry turn(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %q<2>;\n\
    ld.param.u64 %d1, [p]; ld.param.u32 %r5, [n];\n\
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n\
    mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\nagain:\n\
    ld.global.u32 %r4, [%d1]; mad.lo.u32 %r4, %r4, 1664525, 1013904223; st.global.u32 [%d1], %r4;\n\
    sub.u32 %r5, %r5, 1; setp.ne.u32 %q1, %r5, 0; @%q1 bra again; ret;\n}\n";

fn launches(folder: Folder, count: u32, seed: u32) -> Folder {
    let text = format!(
        "module = \"k.ptx\"\n[buffers.data]\ntype = \"u32\"\nlen = 4096\nfill = \"lcg:{seed}:1023\"\n\
         [[launch]]\nkernel = \"turn\"\ngrid = 16\nblock = 256\nargs = [\"data\", {count}]\nrepeat = 3\n\
         [[output]]\nbuffer = \"data\"\nnpy = \"data.npy\"\n"
    );
    folder.with("k.ptx", KERNEL).with("l.toml", &text)
}

/// Starts a run with checkpoints and stops it by a signal after its first.
#[cfg(unix)]
fn stop(folder: &Folder, args: &[&str], signal: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(&folder.0).args(args).stdout(Stdio::null()).stderr(Stdio::piped());
    let before = written(folder);
    let mut child = command.spawn().unwrap();
    assert!(next_checkpoint(folder, &mut child, before), "it ended before it could be stopped");
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    (ended.status.code().unwrap_or(-1), String::from_utf8(ended.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn a_run_that_is_told_to_stop_says_how_to_go_on() {
    let folder = launches(Folder::new(), 400, 1);
    let whole = folder.raddle(&["run", "l.toml", "--json"]);
    assert_eq!(whole.code, 0, "{}", whole.err);
    let memory = read(&folder, "data.npy");
    std::fs::remove_file(folder.0.join("data.npy")).unwrap();
    let args = ["run", "l.toml", "--json", "--checkpoint", "state", "--every", "5ms"];
    let said = "stopped; the checkpoint is in state: run the same command with --resume to continue\n";
    assert_eq!(stop(&folder, &args, "-TERM"), (6, said.to_owned()));
    let resume = [&args[..], &["--resume"]].concat();
    let (code, said) = stop(&folder, &resume, "-INT");
    let lines: Vec<&str> = said.lines().collect();
    assert!(code == 6 && lines[0].starts_with("resuming from state/last.checkpoint: launch "), "{said}");
    assert_eq!(lines[1..], ["stopped; the checkpoint is in state: run the same command to continue"]);
    assert!(!folder.0.join("data.npy").exists());

    // Of another run: what differs is said, and nothing is lost.
    let refused = |args: &[&str], why: &str| {
        let ended = folder.raddle(&[&resume[..], args].concat());
        assert!(
            ended.code == 2 && ended.err.contains("belongs to another run") && ended.err.contains(why),
            "{}",
            ended.err
        );
    };
    refused(&["--issue", "lrr"], "mechanism.issue was gto, is lrr");
    refused(&["--set", "gpu.sms=14"], "gpu.sms was 15, is 14");
    refused(&["--registers", "20"], "--registers was None, is Some(20)");
    let other = |text: &str, why: &str| {
        let original = read(&folder, "l.toml");
        std::fs::write(folder.0.join("l.toml"), String::from_utf8(original.clone()).unwrap().replace("lcg:1:", text))
            .unwrap();
        refused(&[], why);
        std::fs::write(folder.0.join("l.toml"), original).unwrap();
    };
    other("lcg:2:", "launch 1 has other input");
    let kernel = KERNEL.replace("1664525", "1664527");
    std::fs::write(folder.0.join("k.ptx"), kernel).unwrap();
    refused(&[], "PTX was ");
    std::fs::write(folder.0.join("k.ptx"), KERNEL).unwrap();

    // Damaged: the one before is used.
    let last = folder.0.join("state/last.checkpoint");
    let mut bytes = std::fs::read(&last).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&last, bytes).unwrap();
    let ended = folder.raddle(&resume);
    let said = "warning: state/last.checkpoint cannot be used: it is damaged: its hash is wrong\n\
        resuming from state/before.checkpoint: launch ";
    assert!(ended.code == 0 && ended.err.starts_with(said), "{}", ended.err);
    assert!(timeless(&whole.out) == timeless(&ended.out));
    assert!(memory == read(&folder, "data.npy"));
    let again = folder.raddle(&resume);
    assert_eq!((again.code, again.err.as_str()), (0, "no checkpoint in state: starting from the beginning\n"));
}

#[test]
fn checkpoints_need_the_timing_model_and_a_folder() {
    let folder = launches(Folder::new(), 1, 1);
    let fails = |args: &[&str], why: &str| {
        let ended = folder.raddle(&[&["run", "l.toml"], args].concat());
        assert!(ended.code == 2 && ended.err.contains(why), "{}", ended.err);
    };
    fails(&["--checkpoint", "state", "--engine", "fast"], "--checkpoint needs the engine `timing`");
    fails(&["--resume"], "--checkpoint");
    fails(&["--every", "10m"], "--checkpoint");
    fails(&["--checkpoint", "state", "--every", "10"], "such as 500ms, 90s, 10m or 2h");
    let measured = folder.raddle(&["measure", "barriers", "l.toml", "--checkpoint", "state"]);
    assert!(measured.code == 2 && measured.err.contains("--checkpoint is for `raddle run`"), "{}", measured.err);
    // A folder that cannot be written to is said, and the run goes on.
    std::fs::write(folder.0.join("file"), "").unwrap();
    let ended = folder.raddle(&["run", "l.toml", "--checkpoint", "file/state", "--every", "0ms"]);
    assert!(
        ended.code == 0 && ended.err.matches("warning: no checkpoint in file/state: ").count() == 1,
        "{}",
        ended.err
    );
    assert!(!Path::new("file/state").exists());
}

/// Points of a store go on where they were killed.
#[cfg(unix)]
#[test]
fn a_point_goes_on_after_kills() {
    let experiment = "title = 'T'\nworkloads = ['bfs']\nsize = 'small'\n[[axis]]\nname = 'i'\nkey = 'mechanism.issue'\n\
        values = ['gto']\n";
    let folder = Folder::new().with("e.toml", experiment);
    let run = |store: &str| ["lab", "run", "e.toml", "--checkpoint-every", "20ms", "--store", store].map(str::to_owned);
    let calm = folder.raddle(&run("calm").each_ref().map(String::as_str));
    assert_eq!(calm.code, 0, "{}", calm.err);
    let export = |store: &str| {
        let file = format!("{store}.csv");
        assert_eq!(folder.raddle(&["lab", "export", &file, "--store", store]).code, 0);
        read(&folder, &file)
    };
    let args = run("store");
    let args = args.each_ref().map(String::as_str);
    let points = || std::fs::read_dir(folder.0.join("store/checkpoints")).map_or(0, Iterator::count);
    let last = || {
        let mut folders = std::fs::read_dir(folder.0.join("store/checkpoints")).ok()?;
        let path = folders.next()?.ok()?.path().join("last.checkpoint");
        std::fs::metadata(path).and_then(|about| about.modified()).ok()
    };
    for signal in ["-KILL", "-TERM", "-KILL"] {
        let before = last();
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        let mut child = command.current_dir(&folder.0).args(args).stderr(Stdio::piped()).spawn().unwrap();
        while last() == before {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
            std::thread::sleep(Duration::from_micros(500));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        if signal == "-TERM" {
            let said = "stopped: 0 of 1 points have a result; run the same command to continue\n";
            assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()), (Some(130), said));
        }
        assert_eq!(points(), 1);
    }
    let ended = folder.raddle(&args);
    assert!(ended.code == 0 && ended.err.starts_with("1 point: 0 known, 1 run"), "{}", ended.err);
    assert!(export("calm") == export("store"));
    assert!(!folder.0.join("store/checkpoints").exists(), "a point that has ended leaves no checkpoints");
}
