//! Other people's CUDA programs: how many compile, run and are right, as they are. Their sources are in a folder outside of
//! the repository; nothing of them comes in but a table.
//!
//! A program is built by its own Makefile and run by its own command, with a toolkit of ours in the path. What each did is
//! kept in a file beside them, so that a run that was stopped goes on where it was.

mod known;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::files::target;
use known::{Program, SUITES, Suite};

/// The options of `cargo xtask suites`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder with the suites, each in a folder of the name it has where it is published
    folder: PathBuf,
    /// Only this suite; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only every N-th program
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// Seconds a program may run
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    limit: u64,
    /// Run nothing; write the page from what has been run
    #[arg(long)]
    page: bool,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Outcome {
    suite: String,
    program: String,
    verdict: Verdict,
    /// In a few words, where it is not right.
    why: String,
    seconds: u64,
}

/// How far a program came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Verdict {
    /// Its own check passed, or its output is the reference interpreter's.
    Right,
    /// It ran to its end and has nothing to say of its result.
    Unchecked,
    /// Its own check failed.
    Wrong,
    /// It ended with an error.
    Failed,
    /// It took longer than it may.
    TooLong,
    /// It does not compile.
    NotCompiled,
    /// It needs a library of the vendor's.
    Vendor,
}

/// Runs what has not been run, and writes the page.
pub fn run(args: &Args) -> Result {
    let kept = args.folder.join("outcomes.jsonl");
    let mut done: BTreeMap<(String, String), Outcome> = BTreeMap::new();
    for line in fs::read_to_string(&kept).unwrap_or_default().lines() {
        let outcome: Outcome = serde_json::from_str(line)?;
        done.insert((outcome.suite.clone(), outcome.program.clone()), outcome);
    }
    if !args.page {
        let tried = Tried::new(args)?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&kept)?;
        for suite in SUITES {
            if !args.only.is_empty() && !args.only.iter().any(|only| only == suite.name) {
                continue;
            }
            for program in suite.programs(&args.folder)?.into_iter().step_by(args.every.max(1)) {
                let key = (suite.name.to_owned(), program.name.clone());
                if done.contains_key(&key) {
                    continue;
                }
                let outcome = tried.program(suite, &program)?;
                println!(
                    "{} {}: {:?} {} s {}",
                    suite.name, program.name, outcome.verdict, outcome.seconds, outcome.why
                );
                writeln!(file, "{}", serde_json::to_string(&outcome)?)?;
                done.insert(key, outcome);
            }
        }
    }
    page::write(&args.folder, &done.into_values().collect::<Vec<_>>())
}

/// With what programs are tried.
struct Tried {
    toolkit: PathBuf,
    limit: Duration,
}

/// What a command did within its time.
struct Ran {
    /// None when it took too long.
    code: Option<i32>,
    text: String,
}

impl Tried {
    fn new(args: &Args) -> Result<Self> {
        let toolkit = args.folder.join("toolkit").canonicalize().unwrap_or_else(|_| args.folder.join("toolkit"));
        let raddle = target().join("release/raddle");
        let status = Command::new(&raddle).arg("toolkit").arg(&toolkit).status()?;
        if !status.success() {
            return Err(
                format!("{} cannot write a toolkit; build it with cargo build --release", raddle.display()).into()
            );
        }
        Ok(Self { toolkit: toolkit.canonicalize()?, limit: Duration::from_secs(args.limit) })
    }

    /// A command of the shell in a folder, as somebody with this toolkit would give it.
    fn shell(&self, folder: &Path, line: &str, engine: &str, limit: Duration) -> Result<Ran> {
        let (bin, lib) = (self.toolkit.join("bin"), self.toolkit.join("lib64"));
        let path = std::env::var("PATH").unwrap_or_default();
        let output = std::env::temp_dir().join(format!("raddle-suites-{}", std::process::id()));
        let file = fs::File::create(&output)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", &line.replace("$TOOLKIT", &self.toolkit.display().to_string())])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("CUDA_PATH", &self.toolkit)
            .env("LIBRARY_PATH", &lib)
            .env("LD_LIBRARY_PATH", &lib)
            .env("CPATH", self.toolkit.join("include"))
            .env("RADDLE_EXEC", format!("[\"--engine\",\"{engine}\",\"--quiet\"]"))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let code = wait(&mut child, limit)?;
        let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
        fs::remove_file(&output)?;
        Ok(Ran { code, text })
    }

    fn program(&self, suite: &Suite, program: &Program) -> Result<Outcome> {
        let start = Instant::now();
        let (verdict, why) = self.verdict(program)?;
        let seconds = start.elapsed().as_secs();
        Ok(Outcome { suite: suite.name.to_owned(), program: program.name.clone(), verdict, why, seconds })
    }

    fn verdict(&self, program: &Program) -> Result<(Verdict, String)> {
        if let Some(library) = known::vendor_library(&program.folder) {
            return Ok((Verdict::Vendor, library));
        }
        let built = self.shell(&program.folder, &program.build, "fast", Duration::from_secs(300))?;
        if built.code != Some(0) {
            return Ok((Verdict::NotCompiled, known::first_error(&built.text)));
        }
        let ran = self.shell(&program.folder, &program.run, "fast", self.limit)?;
        let Some(code) = ran.code else { return Ok((Verdict::TooLong, format!("over {} s", self.limit.as_secs()))) };
        match known::check(&ran.text) {
            Some(false) => Ok((Verdict::Wrong, known::first_error(&ran.text))),
            _ if code != 0 => Ok((Verdict::Failed, format!("exit {code}: {}", known::first_error(&ran.text)))),
            _ if ran.text.contains("raddle: ") => Ok((Verdict::Failed, known::first_error(&ran.text))),
            Some(true) => Ok((Verdict::Right, String::new())),
            None => {
                let again = self.shell(&program.folder, &program.run, "reference", self.limit)?;
                let is_equal = again.code == Some(0) && known::results(&again.text) == known::results(&ran.text);
                match is_equal && !known::results(&ran.text).is_empty() {
                    true => Ok((Verdict::Right, "output equal to the reference interpreter's".to_owned())),
                    false => Ok((Verdict::Unchecked, String::new())),
                }
            }
        }
    }
}

/// The exit code of a process; it and its children are ended when they take too long.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<i32>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(128)));
        }
        if start.elapsed() > limit {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-9", "--", &group]).status()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
