//! Processes that begin and end in many ways, libraries with kernels that are loaded and closed, and programs with their
//! heap at low addresses.

use super::{Tried, output};
use crate::Result;
use crate::files::root;
use std::process::{Command, Output, Stdio};

const TESTS: &str = "crates/cudart/tests";

/// A way of `process.cu`, its exit code, how many tables are printed, and what the program prints.
type Way = (&'static str, i32, usize, &'static [&'static str]);

const MAIN: &str = "main: error 0, 42";
const WAYS: [Way; 15] = [
    ("return", 0, 1, &[MAIN]),
    ("exit", 3, 1, &[MAIN]),
    ("quick", 3, 1, &[MAIN]),
    ("_exit", 3, 0, &[MAIN]),
    ("abort", 134, 0, &[MAIN]),
    // An exception that would leave a function of the library ends the process.
    ("throws", 134, 0, &[MAIN]),
    ("blocked", 0, 1, &[MAIN]),
    ("static", 0, 1, &[MAIN, "destructor: error 0, 42"]),
    ("only-static", 0, 1, &["destructor: error 0, 42"]),
    ("atexit", 0, 1, &[MAIN, "atexit: error 0, 42"]),
    ("only-atexit", 0, 1, &["atexit: error 0, 42"]),
    ("thread-local", 0, 1, &["thread: error 0, 42", "destructor of a thread: error 0, 42"]),
    ("threads", 0, 1, &["thread: error 0, 42"; 4]),
    // A child has no part in its parent's device, and one of its own if its parent has none.
    ("fork", 0, 1, &[MAIN, "child: error 3, 41", "last 3, count 3", "child ended with 0", "parent: error 0, 42"]),
    ("fork-before", 0, 2, &["child: error 0, 42", "last 0, count 1", "child ended with 0", "parent: error 0, 42"]),
];

/// Options with which no program can have a device, and what is said once in each process that asks for one.
const WRONG: [([&str; 2], &str); 2] = [
    (["--trace", "/nonexistent/x.pftrace"], "cannot write /nonexistent/x.pftrace"),
    (["--intervals", "x.csv"], "intervals are not written as x.csv"),
];

/// How a program comes to its first call.
const FIRST_CALLS: [&str; 6] = ["failed", "only-static", "only-atexit", "threads", "thread-local", "fork"];

/// How often a library is loaded and closed.
const LOADS: &str = "100";

impl Tried {
    fn compile(&self, options: &[&str], source: &str, name: &str) -> Result {
        let source = root().join(TESTS).join(source);
        output(self.raddle(&["cc"]).args(options).arg(source).args(["-o", name])).map(drop)
    }

    /// Runs a program, for a minute at most. Its standard input is neither written nor closed.
    fn attempt(&self, options: &[&str], program: &[&str]) -> Result<Output> {
        let mut command = Command::new("timeout");
        command.arg("60").arg(&self.raddle).arg("exec").args(options).args(program).current_dir(&self.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let _input = child.stdin.take();
        Ok(child.wait_with_output()?)
    }

    /// However a process ends, destructors can launch kernels, and the table is printed once.
    pub(super) fn processes(&self) -> Result {
        self.compile(&[], "process.cu", "process")?;
        for (way, code, tables, lines) in WAYS {
            for engine in ["fast", "timing"] {
                let done = self.attempt(&["--engine", engine], &["./process", way])?;
                let [text, errors] = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes));
                let is_right = text.lines().eq(["begins"].iter().chain(lines).copied());
                let printed = errors.lines().filter(|line| line.starts_with("kernel ")).count();
                if !is_right || done.status.code() != Some(code) || printed != tables {
                    let status = done.status;
                    return Err(format!("process {way} under {engine} ended with {status}\n{text}{errors}").into());
                }
            }
        }
        for (options, said) in WRONG {
            for way in FIRST_CALLS {
                let done = self.attempt(&options, &["./process", way])?;
                let errors = String::from_utf8_lossy(&done.stderr);
                if done.status.code() != Some(2) || errors.matches(said).count() != 1 {
                    let status = done.status;
                    return Err(format!("process {way} with {options:?} ended with {status}\n{errors}").into());
                }
            }
        }
        Ok(())
    }

    /// Nothing is left of a library that is closed.
    pub(super) fn plugins(&self) -> Result {
        let library = ["-shared", "-Xcompiler", "-fPIC"];
        self.compile(&library, "plugin.cu", "plugin.so")?;
        self.compile(&[&library[..], &["-rdc=true"]].concat(), "plugin.cu", "linked.so")?;
        self.compile(&["-ldl"], "plugin_host.cu", "plugin_host")?;
        for name in ["./plugin.so", "./linked.so"] {
            let done = self.attempt(&["--engine", "fast"], &["./plugin_host", name, LOADS])?;
            if !done.status.success() {
                let text = String::from_utf8_lossy(&done.stdout);
                return Err(format!("plugin_host {name} ended with {}\n{text}", done.status).into());
            }
        }
        Ok(())
    }

    /// The program's own memory is never where the device's is, wherever it is loaded.
    pub(super) fn addresses(&self) -> Result {
        for (options, name) in [(&["-Xcompiler", "-no-pie"][..], "low"), (&[], "high")] {
            self.compile(options, "addresses.cu", name)?;
            self.run(&["--engine", "fast"], &format!("./{name}"))?;
        }
        Ok(())
    }
}
