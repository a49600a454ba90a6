//! Other people's CUDA programs: how many compile, run and are right, as they are. Their sources are in a folder outside of
//! the repository; nothing of them comes in but a table.
//!
//! A program is built by its own Makefile and run by its own command, with a toolkit of ours in the path. What each did is
//! kept in a file beside them, so that a run that was stopped goes on where it was.

mod arguments;
mod device_code;
mod inputs;
mod known;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::files::target;
use known::{Program, Run, SUITES, Suite};

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
    /// Seconds of processor time a program may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    limit: u64,
    /// Programs tried at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Try these programs again, by a part of SUITE/PROGRAM
    #[arg(long, value_name = "PART")]
    again: Vec<String>,
    /// The program that writes the toolkit; `target/release/raddle` unless given
    #[arg(long, value_name = "PROGRAM")]
    raddle: Option<PathBuf>,
    /// Compile the device code of every file alone and check its PTX, instead of running programs
    #[arg(long)]
    device_code: bool,
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
    /// The command it was run with.
    command: String,
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
    /// Its own check passed, and what it did then, mostly measuring, took longer than it may.
    CutOff,
    /// It took longer than it may.
    TooLong,
    /// It does not compile.
    NotCompiled,
    /// It compiles, and cannot run: its input is not published with it.
    NoInput,
    /// It needs a library that is not here: the vendor's, of graphics, MPI.
    NoLibrary,
}

/// Runs what has not been run, and writes the page.
pub fn run(args: &Args) -> Result {
    let kept = args.folder.join("outcomes.jsonl");
    let mut done: BTreeMap<(String, String), Outcome> = BTreeMap::new();
    for line in fs::read_to_string(&kept).unwrap_or_default().lines() {
        let outcome: Outcome = serde_json::from_str(line)?;
        done.insert((outcome.suite.clone(), outcome.program.clone()), outcome);
    }
    if args.device_code {
        let counts = device_code::run(args, &Tried::new(args)?)?;
        let path = args.folder.join("device.json");
        let mut kept: Vec<device_code::Counts> = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(_) => Vec::new(),
        };
        kept.retain(|old| counts.iter().all(|new| new.suite != old.suite));
        kept.extend(counts);
        fs::write(path, serde_json::to_vec_pretty(&kept)?)?;
    } else if !args.page {
        inputs::write(&args.folder)?;
        let tried = Tried::new(args)?;
        let open = open_programs(args, &done)?;
        let file = Mutex::new(fs::OpenOptions::new().create(true).append(true).open(&kept)?);
        let next = AtomicUsize::new(0);
        let results: Result<Vec<Vec<Outcome>>> = std::thread::scope(|scope| {
            let worker = || -> std::result::Result<Vec<Outcome>, String> {
                let mut own = Vec::new();
                while let Some((suite, program)) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = tried.program(suite, program).map_err(|error| error.to_string())?;
                    let Outcome { verdict, seconds, why, .. } = &outcome;
                    println!("{} {}: {verdict:?} {seconds} s {why}", suite.name, program.name);
                    let line = serde_json::to_string(&outcome).map_err(|error| error.to_string())?;
                    let mut file = file.lock().map_err(|error| error.to_string())?;
                    writeln!(file, "{line}").map_err(|error| error.to_string())?;
                    own.push(outcome);
                }
                Ok(own)
            };
            let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().map(|worker| Ok(worker.join().map_err(|_| "a worker ended")??)).collect()
        });
        for outcome in results?.into_iter().flatten() {
            done.insert((outcome.suite.clone(), outcome.program.clone()), outcome);
        }
    }
    page::write(&args.folder, &done.into_values().collect::<Vec<_>>())
}

/// The programs that are to be tried.
fn open_programs(args: &Args, done: &BTreeMap<(String, String), Outcome>) -> Result<Vec<(&'static Suite, Program)>> {
    let mut open = Vec::new();
    for suite in SUITES.iter().filter(|suite| args.only.is_empty() || args.only.iter().any(|only| only == suite.name)) {
        for program in suite.programs(&args.folder)?.into_iter().step_by(args.every.max(1)) {
            let name = format!("{}/{}", suite.name, program.name);
            let is_done = done.contains_key(&(suite.name.to_owned(), program.name.clone()));
            let is_again = args.again.iter().any(|part| name.contains(part.as_str()));
            if is_again || (!is_done && args.again.is_empty()) {
                open.push((suite, program));
            }
        }
    }
    Ok(open)
}

/// With what programs are tried.
struct Tried {
    raddle: PathBuf,
    toolkit: PathBuf,
    limit: Duration,
}

/// What a command did within its time.
struct Ran {
    /// None when it took too long.
    code: Option<i32>,
    text: String,
    /// The files it wrote, and their bytes in short.
    written: BTreeMap<String, u64>,
}

/// Why a program without a check of its own is right.
const COMPARED: &str = "output equal to the reference interpreter's";

/// What a program did that hardware may forgive.
fn outside(text: &str) -> String {
    if text.contains("outside-read") { "; reads outside of its memory".to_owned() } else { String::new() }
}

/// How a shell says that a process has used up its processor time.
const KILLED: [i32; 2] = [128 + 9, 128 + 24];
/// Kilobytes of address space a program may take, so that one of them does not end the others.
const MEMORY: u64 = 12_000_000;

impl Tried {
    fn new(args: &Args) -> Result<Self> {
        let toolkit = args.folder.join("toolkit").canonicalize().unwrap_or_else(|_| args.folder.join("toolkit"));
        let raddle = args.raddle.clone().unwrap_or_else(|| target().join("release/raddle"));
        let status = Command::new(&raddle).arg("toolkit").arg(&toolkit).status()?;
        if !status.success() {
            return Err(
                format!("{} cannot write a toolkit; build it with cargo build --release", raddle.display()).into()
            );
        }
        let (raddle, toolkit) = (raddle.canonicalize()?, toolkit.canonicalize()?);
        Ok(Self { raddle, toolkit, limit: Duration::from_secs(args.limit) })
    }

    /// A command of the shell in a folder, as somebody with this toolkit would give it.
    fn shell(&self, folder: &Path, line: &str, engine: &str, limit: Duration) -> Result<Ran> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (bin, lib) = (self.toolkit.join("bin"), self.toolkit.join("lib64"));
        let path = std::env::var("PATH").unwrap_or_default();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let output = std::env::temp_dir().join(format!("raddle-suites-{}-{number}", std::process::id()));
        let file = fs::File::create(&output)?;
        let started = SystemTime::now();
        // Line by line, so that what it has said is there when it is ended.
        let mut command = Command::new("stdbuf");
        command
            .args([
                "-oL",
                "sh",
                "-c",
                &format!("ulimit -v {MEMORY}; ulimit -t {}; {}", limit.as_secs(), self.place(line)),
            ])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("CUDA_PATH", &self.toolkit)
            .env("CUDA_HOME", &self.toolkit)
            .env("LIBRARY_PATH", &lib)
            .env("LD_LIBRARY_PATH", &lib)
            .env("CPATH", self.toolkit.join("include"))
            .env("RADDLE_EXEC", format!("[\"--engine\",\"{engine}\",\"--quiet\",\"--on-fault\",\"warn\"]"))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        // Beside other work it takes longer than its processor time.
        let code = wait(&mut child, limit * 4)?.filter(|code| !KILLED.contains(code));
        let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
        fs::remove_file(&output)?;
        Ok(Ran { code, text, written: written(folder, started) })
    }

    /// A command with the places of this machine in it.
    fn place(&self, line: &str) -> String {
        let folder = self.toolkit.parent().unwrap_or(&self.toolkit).display().to_string();
        line.replace("$TOOLKIT", &self.toolkit.display().to_string()).replace("$FOLDER", &folder)
    }

    fn program(&self, suite: &Suite, program: &Program) -> Result<Outcome> {
        let start = Instant::now();
        let mut command = String::new();
        let (verdict, why) = self.verdict(suite, program, &mut command)?;
        let seconds = start.elapsed().as_secs();
        Ok(Outcome { suite: suite.name.to_owned(), program: program.name.clone(), verdict, why, seconds, command })
    }

    fn verdict(&self, suite: &Suite, program: &Program, command: &mut String) -> Result<(Verdict, String)> {
        if let Some(library) = known::missing_library(&program.folder) {
            return Ok((Verdict::NoLibrary, library));
        }
        let built = self.shell(&program.folder, &program.build, "fast", Duration::from_secs(300))?;
        if built.code != Some(0) {
            return Ok((Verdict::NotCompiled, known::first_error(&built.text)));
        }
        let lines = match &program.run {
            Run::None => return Ok((Verdict::NoInput, String::new())),
            Run::Line(line) => vec![line.clone()],
            Run::Make => {
                let listed = self.shell(&program.folder, "make -n run", "fast", self.limit)?;
                arguments::commands(&program.folder, &listed.text)
            }
        };
        let mut last = (Verdict::Failed, "nothing to run".to_owned());
        for (index, line) in lines.into_iter().enumerate() {
            let (verdict, why) = self.judge(suite, program, &line)?;
            if index > 0 && matches!(verdict, Verdict::Wrong | Verdict::Failed) {
                // It may need the numbers it was published with, for which there is no time.
                last.1 += &format!("; as `{line}`: {why}");
                break;
            }
            last = (verdict, why);
            *command = line;
            if verdict != Verdict::TooLong {
                break;
            }
        }
        Ok(last)
    }

    /// What a command of a program that compiled shows.
    fn judge(&self, suite: &Suite, program: &Program, line: &str) -> Result<(Verdict, String)> {
        let ran = self.shell(&program.folder, line, "fast", self.limit)?;
        let Some(code) = ran.code else {
            let verdict = if known::check(&ran.text) == Some(true) { Verdict::CutOff } else { Verdict::TooLong };
            return Ok((verdict, format!("over {} s", self.limit.as_secs())));
        };
        match known::check(&ran.text) {
            result if (code != 0 || result == Some(false)) && known::lacks_input(&ran.text) => {
                Ok((Verdict::NoInput, known::first_error(&ran.text)))
            }
            Some(false) => Ok((Verdict::Wrong, known::first_error(&ran.text))),
            _ if code != 0 => Ok((Verdict::Failed, format!("exit {code}: {}", known::first_error(&ran.text)))),
            _ if ran.text.contains("did not complete") && !ran.text.contains("as expected") => {
                Ok((Verdict::Failed, known::first_error(&ran.text)))
            }
            Some(true) => Ok((Verdict::Right, outside(&ran.text))),
            None if !suite.compares => Ok((Verdict::Unchecked, String::new())),
            None => {
                let again = self.shell(&program.folder, line, "reference", self.limit)?;
                let (ours, theirs) = (known::results(&ran.text), known::results(&again.text));
                let says_something = !ours.is_empty() || !ran.written.is_empty();
                match says_something && again.code == Some(0) && ours == theirs && ran.written == again.written {
                    true => Ok((Verdict::Right, format!("{COMPARED}{}", outside(&ran.text)))),
                    false => Ok((Verdict::Unchecked, String::new())),
                }
            }
        }
    }
}

/// The files in a folder that were written since then, and their bytes in short.
fn written(folder: &Path, since: SystemTime) -> BTreeMap<String, u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut found = BTreeMap::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let Ok(data) = entry.metadata() else { continue };
        let is_new = data.is_file() && data.modified().is_ok_and(|time| time >= since);
        if let (true, Ok(bytes)) = (is_new, fs::read(entry.path())) {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            found.insert(entry.file_name().to_string_lossy().into_owned(), hasher.finish());
        }
    }
    found
}

/// The exit code of a process; it and its children are ended when they take too long.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<i32>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            // The shell itself has no code when it was replaced by the program.
            #[cfg(unix)]
            let signal = std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0);
            #[cfg(not(unix))]
            let signal = 0;
            return Ok(Some(status.code().unwrap_or(128 + signal)));
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
