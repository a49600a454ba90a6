//! Runs the built program the way users do.
#![allow(missing_docs, reason = "tests")]

mod checkpoint;
mod config;
mod execute;
mod habits;
mod input;
mod lab;
mod lab_store;
mod loops;
mod outside;
mod own_mains;
mod own_programs;
mod profile;
mod ptx;
mod run;
mod sampling;
mod timing;
mod trace;
mod workloads;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The top folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("raddle-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(self, name: &str, text: &str) -> Self {
        std::fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn raddle(&self, args: &[&str]) -> Ended {
        raddle(&self.0, args)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a command ended.
struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl Ended {
    #[track_caller]
    fn expect(self, code: i32, out: &str, err: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (code, out, err), "stderr:\n{}", self.err);
    }
}

fn raddle(folder: &Path, args: &[&str]) -> Ended {
    run_program(Path::new(env!("CARGO_BIN_EXE_raddle")), folder, args)
}

fn run_program(program: &Path, folder: &Path, args: &[&str]) -> Ended {
    let command = Command::new(program).args(args).current_dir(folder).output();
    let Output { status, stdout, stderr } = command.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

/// The kernel of `examples/saxpy.ptx`.
fn saxpy() -> String {
    std::fs::read_to_string(root().join("examples/saxpy.ptx")).unwrap()
}

#[test]
fn every_command_has_help_with_an_example() {
    let commands: [&[&str]; 34] = [
        &[],
        &["run"],
        &["exec"],
        &["profile"],
        &["cc"],
        &["toolkit"],
        &["ptx"],
        &["ptx", "check"],
        &["ptx", "print"],
        &["ptx", "cfg"],
        &["ptx", "regs"],
        &["ptx", "virtualize"],
        &["ptx", "link"],
        &["config"],
        &["config", "show"],
        &["config", "schema"],
        &["config", "import"],
        &["list"],
        &["list", "presets"],
        &["list", "mechanisms"],
        &["list", "counters"],
        &["list", "workloads"],
        &["workloads"],
        &["workloads", "build"],
        &["workloads", "check"],
        &["workloads", "virtualize"],
        &["measure"],
        &["measure", "barriers"],
        &["measure", "warp-divergence"],
        &["phases"],
        &["cost"],
        &["doctor"],
        &["completions"],
        &["man"],
    ];
    for command in commands {
        let help = raddle(&root(), &[command, &["--help"]].concat());
        assert_eq!(help.code, 0);
        assert!(help.out.contains("Example"), "{command:?} has no example:\n{}", help.out);
        for line in help.out.lines() {
            assert!(line.chars().count() <= 110, "{command:?} has a long line: {line}");
        }
    }
}

#[test]
fn usage_errors_end_with_2() {
    assert_eq!(raddle(&root(), &["walk"]).code, 2);
    assert_eq!(raddle(&root(), &["run"]).code, 2);
    let width = raddle(&root(), &["run", "x.ptx", "--warp-width", "7"]);
    assert_eq!(width.code, 2);
    assert!(width.err.contains("[possible values: 4, 8, 16, 32]"), "{}", width.err);
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    folder.raddle(&["ptx", "check", "nothing.ptx"]).expect(
        2,
        "",
        "error: cannot read nothing.ptx: No such file or directory (os error 2)\n",
    );
}
