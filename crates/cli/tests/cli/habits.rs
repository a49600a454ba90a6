//! What people expect of every program: a version, completions, colours where they are wanted, an answer to Ctrl-C.

use crate::{Folder, raddle, root, saxpy};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn the_version_names_the_epoch() {
    let said = raddle(&root(), &["--version"]);
    let epoch = format!("epoch {} of the timing model)\n", raddle_sim::EPOCH);
    assert!(said.code == 0 && said.out.starts_with("raddle ") && said.out.ends_with(&epoch), "{}", said.out);
}

#[test]
fn shells_and_man_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = raddle(&root(), &["completions", shell]);
        assert!(script.code == 0 && script.out.contains("reproduce"), "{shell}: {}", script.err);
    }
    let folder = Folder::new();
    let written = folder.raddle(&["man", "man1"]);
    assert_eq!(written.code, 0, "{}", written.err);
    for page in ["raddle.1", "raddle-run.1", "raddle-lab-run.1"] {
        let text = std::fs::read_to_string(folder.0.join("man1").join(page)).unwrap();
        assert!(text.contains(".TH "), "{page}");
    }
}

#[test]
fn colours_are_a_choice() {
    let folder = Folder::new();
    let wrong = |color: &str| folder.raddle(&["--color", color, "run", "no-workload"]).err;
    assert!(wrong("always").contains("\u{1b}["));
    assert!(!wrong("never").contains('\u{1b}') && !wrong("auto").contains('\u{1b}'), "this is no terminal");
}

#[test]
fn a_quiet_run_says_nothing() {
    let args = ["run", "examples/saxpy.toml"];
    let said = raddle(&root(), &args);
    assert!(said.out.contains("  cycles ") && said.err.is_empty(), "{}", said.err);
    let quiet = raddle(&root(), &[&args[..], &["--quiet"]].concat());
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (0, "", ""));
}

#[test]
fn the_doctor_says_what_is_missing() {
    let said = raddle(&root(), &["doctor"]);
    assert!(said.code == 0 && said.out.contains("\nclang ") && said.out.contains("needed for"), "{}", said.out);
    let found = raddle(&root(), &["doctor", "--json"]).out;
    let names: Vec<Value> =
        found.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone()).collect();
    assert!(names.contains(&"dot".into()) && names.contains(&"Slurm".into()), "{names:?}");
    // Without a path there is nothing.
    let nothing = Command::new(env!("CARGO_BIN_EXE_raddle")).arg("doctor").env("PATH", "").output().unwrap();
    let text = String::from_utf8(nothing.stdout).unwrap();
    assert!(text.contains("to get clang: apt-get install clang-19"), "{text}");
}

#[test]
fn archives_of_arrays_are_refused() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("x.npz", "PK");
    let args = ["run", "saxpy.ptx", "-g", "1", "-b", "1", "-a", "1", "-a", "1", "-a", "buf:f32:@x.npz", "-a", "0"];
    let said = folder.raddle(&args);
    assert!(said.code == 2 && said.err.contains("x.npz is an archive of arrays"), "{}", said.err);
    assert!(said.err.contains("np.save"), "{}", said.err);
}

#[test]
fn lists_fit_a_terminal() {
    let narrow = raddle(&root(), &["list", "workloads"]).out;
    let wide = raddle(&root(), &["list", "workloads", "--wide"]).out;
    assert!(wide.len() > narrow.len() && wide.contains("kernels") && !narrow.contains("kernels"));
    for line in narrow.lines().chain(raddle(&root(), &["list", "mechanisms"]).out.lines()) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

/// A kernel that never ends.
const ENDLESS: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry endless()
{
again:
    bra again;
}
";

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_far_a_run_has_come() {
    let folder = Folder::new().with("endless.ptx", ENDLESS);
    let child = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["run", "endless.ptx", "--grid", "2", "--block", "32"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(
        said.starts_with("stopped in launch 1 at cycle ") && said.ends_with(": 0 of 2 blocks had ended\n"),
        "{said}"
    );
}
