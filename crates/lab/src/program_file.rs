//! Program files as workloads: CUDA programs with a `main`, each run a process of its own.
//!
//! ```toml
//! program = "matmul.cu"
//! args = ["--size", 64]
//! inputs = ["data.txt"]
//! expect = { status = 0, output = "PASS" }
//! ```
//!
//! The simulator is inside the library that the program calls. It gets the machine in a file and leaves what it counted
//! in another: [`Counts`].

use crate::children::{self, End, Written};
use crate::experiment::Word;
use crate::key::Key;
use crate::launch_file::{cannot_read, placed};
use crate::record::KernelCounts;
use raddle_runtime::file::toml_problem;
use raddle_runtime::{Problem, input};
use raddle_sim::config::MachineConfig;
use raddle_workloads::Error as RunError;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use toml::Spanned;

/// Seconds that a run may take where the file says nothing.
const TIME_LIMIT: f64 = 3600.0;
/// The longest limit that can be given: a year.
const LONGEST: f64 = 366.0 * 86400.0;
/// The variable that says where libraries are.
pub const LIBRARIES: &str = "LD_LIBRARY_PATH";
/// Lines of a program's stderr that errors show.
const LINES: usize = 12;

/// Those who compile and start programs.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Whether the user has allowed it: a program file comes from anybody, and its program has the user's rights.
    pub is_allowed: bool,
    /// Refuses options of `raddle cc` that do more than say how a program is compiled.
    pub check: fn(&[String]) -> Result<(), Problem>,
    /// Compiles sources with options of `raddle cc`.
    pub build: fn(&[PathBuf], &[String]) -> Result<Built, Problem>,
    /// The command that starts a program on a simulated GPU, with options of `raddle exec`.
    pub command: fn(&Path, &[String]) -> Result<Command, Problem>,
}

/// A program that was compiled.
#[derive(Clone, Debug)]
pub struct Built {
    /// Where it is.
    pub program: PathBuf,
    /// The sources and all files of the user that they include.
    pub files: Vec<PathBuf>,
    /// What compiled it.
    pub compiler: String,
}

impl Default for Host {
    /// One that can do neither.
    fn default() -> Self {
        fn no() -> Problem {
            Problem::new("programs with a `main` cannot be run here")
        }
        Self { is_allowed: true, check: |_| Ok(()), build: |_, _| Err(no()), command: |_, _| Err(no()) }
    }
}

/// What the library in the program's process says of its launches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// What was counted.
    pub kernels: Vec<KernelCounts>,
    /// Why the machine does not run a kernel.
    pub refused: Option<String>,
    /// The first launch that could not be made, or did not come to its end.
    pub failed: Option<String>,
}

/// The option of `raddle exec` that says where [`Counts`] goes: a folder, in which each process writes a file.
pub const COUNTS: &str = "--counts";
/// The option that leaves bytes free before the first allocation.
pub const HEAP_OFFSET: &str = "--heap-offset";

/// The value of [`LIBRARIES`] for these folders and then those of another value. A value of nothing has no folders: after
/// a colon it would be the current one.
#[must_use]
pub fn library_path(first: &OsStr, others: Option<&OsStr>) -> OsString {
    let mut all = first.to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// A program file, with what all its runs have in common.
#[derive(Debug)]
pub struct ProgramFile {
    path: PathBuf,
    /// The folder it is in, in which the program runs.
    folder: PathBuf,
    program: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    inputs: Vec<PathBuf>,
    stdin: Option<PathBuf>,
    expect: Expect,
    time_limit: Duration,
    host: Host,
    /// Hash of the program as it was when the file was read.
    binary: Key,
    /// Hash of the program, or of what it was compiled from.
    pub(crate) kernels: Key,
    /// Hash of everything else that determines what it does.
    pub(crate) content: Key,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFile {
    program: Spanned<OneOrMore>,
    compile: Option<Spanned<Vec<Word>>>,
    #[serde(default)]
    args: Vec<Word>,
    #[serde(default)]
    inputs: Vec<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<Spanned<String>, Word>,
    stdin: Option<Spanned<String>>,
    #[serde(default)]
    expect: Expect,
    time_limit: Option<Spanned<f64>>,
}

/// What a run must end with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Expect {
    #[serde(default)]
    status: i32,
    #[serde(default)]
    output: String,
}

/// A text or a list of them.
struct OneOrMore(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || de::Error::custom("expected the name of a program, or a CUDA file, or a list of these");
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(one) => Ok(Self(vec![one])),
            toml::Value::Array(list) if !list.is_empty() => {
                let one = |value: toml::Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
                list.into_iter().map(one).collect::<Result<_, _>>().map(Self)
            }
            _ => Err(wrong()),
        }
    }
}

/// Whether a text is that of a program file, or was meant to be.
pub(crate) fn is_one(text: &str) -> bool {
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    let is_close = || table.keys().any(|key| raddle_ptx::diag::closest(key, ["program", "module"]) == Some("program"));
    table.contains_key("program") || (!table.contains_key("module") && is_close())
}

/// The option that allows programs, and the variable that does.
pub const ALLOW: &str = "--allow-programs";
/// Set to 1, it allows programs.
pub const ALLOW_VARIABLE: &str = "RADDLE_ALLOW_PROGRAMS";

/// Says what a file would run, and how to allow it.
fn not_allowed(program: &Spanned<OneOrMore>, args: &[String]) -> Problem {
    let names = &program.get_ref().0;
    let what = match names.iter().any(|name| is_source(Path::new(name))) {
        true => "would be compiled and run",
        false => "would be run",
    };
    let words: Vec<String> = names.iter().chain(args).map(|word| quoted(word)).collect();
    Problem::new(format!("programs are not allowed; this {what}, with your rights: {}", words.join(" ")))
        .at(Some(program.span()))
        .help(format!("if you trust the file and the program, run the command with {ALLOW}, or set {ALLOW_VARIABLE}=1"))
}

/// A word of a command, in quotes where it has anything but letters, digits and some signs.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-+/=,:%@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.escape_debug()),
    }
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["cu", "cpp", "cc", "cxx", "c"].iter().any(|known| ending == *known))
}

fn hash(path: &Path) -> Result<Key, Problem> {
    input::bytes(path, input::MAX_DATA).map(|bytes| Key::of(&bytes)).map_err(|error| cannot_read(path, &error))
}

/// What there is to run, and the hash of what it is made of.
fn program(raw: &RawFile, folder: &Path, host: Host) -> Result<(PathBuf, Key), Problem> {
    let at = Some(raw.program.span());
    let paths: Vec<PathBuf> = raw.program.get_ref().0.iter().map(|name| folder.join(name)).collect();
    let has_sources = paths.iter().any(|path| is_source(path));
    if let Some(missing) = paths.iter().find(|path| !path.is_file()) {
        let problem = Problem::new(format!("there is no file {}", missing.display())).at(at);
        return Err(match has_sources {
            true => problem,
            false => problem.help("`raddle cc FILE.cu -o PROGRAM` makes one; `program` can also be the .cu file"),
        });
    }
    if !has_sources {
        if let Some(compile) = &raw.compile {
            let problem = Problem::new("`compile` is for a program that is a CUDA file").at(Some(compile.span()));
            return Err(problem.help("this one is compiled already"));
        }
        let [one] = &paths[..] else {
            let problem = Problem::new("a list must have the CUDA files of one program").at(at);
            return Err(problem.help("their names end in .cu"));
        };
        return Ok((one.clone(), hash(one)?));
    }
    let options: Vec<String> =
        raw.compile.iter().flat_map(|compile| compile.get_ref().iter().map(|word| word.0.clone())).collect();
    if let Some(compile) = &raw.compile {
        (host.check)(&options).map_err(|problem| problem.at(Some(compile.span())))?;
    }
    let built = (host.build)(&paths, &options).map_err(|problem| problem.at(at))?;
    let files = built.files.iter().map(|path| hash(path)).collect::<Result<Vec<_>, _>>()?;
    let all = json!([["files", files], ["options", options], ["compiler", built.compiler]]);
    Ok((built.program, Key::of(all.to_string().as_bytes())))
}

impl ProgramFile {
    /// Reads a program file and what it names; sources are compiled.
    ///
    /// # Errors
    /// When one of them cannot be used; the message has the place in the file.
    pub fn read(path: &Path, host: Host) -> Result<Self, Problem> {
        let text = input::text(path).map_err(|error| cannot_read(path, &error))?;
        Self::parse(path, &text, host).map_err(|problem| placed(path, &text, problem))
    }

    fn parse(path: &Path, text: &str, host: Host) -> Result<Self, Problem> {
        let raw: RawFile = toml::from_str(text).map_err(|error| toml_problem(&error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let time_limit = raw.time_limit.as_ref().map_or(TIME_LIMIT, |limit| *limit.get_ref());
        if !(time_limit > 0.0 && time_limit <= LONGEST) {
            let at = raw.time_limit.as_ref().map(Spanned::span);
            let problem = Problem::new(format!("`time-limit` must be more than 0 seconds, not {time_limit}")).at(at);
            return Err(problem.help(format!("without it, the limit is {TIME_LIMIT} seconds; {LONGEST} are the most")));
        }
        let mut env = BTreeMap::new();
        for (name, value) in &raw.env {
            let text = name.get_ref();
            if text.is_empty() || text.contains(['=', '\0']) || value.0.contains('\0') || text == "RADDLE_EXEC" {
                return Err(Problem::new(format!("`{text}` cannot be set for a program")).at(Some(name.span())));
            }
            env.insert(text.clone(), value.0.clone());
        }
        let args: Vec<String> = raw.args.iter().map(|word| word.0.clone()).collect();
        if args.iter().any(|arg| arg.contains('\0')) {
            return Err(Problem::new("`args` cannot have a null character"));
        }
        let named = |name: &Spanned<String>| {
            let path = folder.join(name.get_ref());
            hash(&path).map(|key| (path, key)).map_err(|problem| problem.at(Some(name.span())))
        };
        let inputs = raw.inputs.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let stdin = raw.stdin.as_ref().map(named).transpose()?;
        if !host.is_allowed {
            return Err(not_allowed(&raw.program, &args));
        }
        let (program, kernels) = program(&raw, folder, host)?;
        let program = std::path::absolute(&program).map_err(|error| cannot_read(&program, &error))?;
        // Whether the library is there, and is the one it calls.
        (host.command)(&program, &[])?;
        let mut own = Self {
            path: path.to_owned(),
            folder: if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() },
            binary: hash(&program)?,
            program,
            args,
            env,
            inputs: inputs.into_iter().map(|(path, _)| path).collect(),
            stdin: stdin.map(|(path, _)| path),
            expect: raw.expect,
            time_limit: Duration::from_secs_f64(time_limit),
            host,
            kernels,
            content: Key::of(&[]),
        };
        own.content = own.content()?;
        Ok(own)
    }

    /// The hash of everything but the program that determines what it does. How long it may take does not.
    fn content(&self) -> Result<Key, Problem> {
        let inputs = self.inputs.iter().map(|path| hash(path)).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<String> = self.inputs.iter().map(|path| self.relative(path)).collect();
        let stdin = self.stdin.as_deref().map(hash).transpose()?;
        let all = json!([
            ["args", self.args],
            ["env", self.env],
            ["inputs", names, inputs],
            ["stdin", stdin],
            ["expect", self.expect],
        ]);
        Ok(Key::of(all.to_string().as_bytes()))
    }

    /// A path as the file has it.
    fn relative(&self, path: &Path) -> String {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        path.strip_prefix(folder).unwrap_or(path).display().to_string()
    }

    /// The name of the file without its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Outputs that every run compares with what is right.
    pub(crate) fn checked(&self) -> usize {
        usize::from(!self.expect.output.is_empty())
    }

    /// Runs it.
    pub(crate) fn run(&self, how: &How<'_>) -> Result<Vec<KernelCounts>, RunError> {
        self.check_unchanged()?;
        let exchange = Exchange::new(how)?;
        let mut command = (self.host.command)(&self.program, &exchange.options)?;
        let stdin = self.stdin.as_deref().map_or_else(
            || Ok(Stdio::null()),
            |path| input::open(path).map(Stdio::from).map_err(|error| cannot_read(path, &error)),
        );
        // The library of the simulator is found before all others.
        let own =
            command.get_envs().find(|(name, _)| *name == LIBRARIES).and_then(|(_, value)| value.map(OsStr::to_owned));
        command.args(&self.args).envs(&self.env).current_dir(&self.folder).stdin(stdin?);
        if let (Some(own), Some(more)) = (own, self.env.get(LIBRARIES)) {
            command.env(LIBRARIES, library_path(&own, Some(OsStr::new(more))));
        }
        let ran = children::run(command, &self.expect.output, self.time_limit, how.is_stopping);
        let (end, [out, err]) = ran.map_err(|error| {
            Problem::new(format!("cannot run {}: {error}", self.program.display()))
                .help("compile a program with `raddle cc FILE.cu -o PROGRAM`")
        })?;
        let wrong = |text: String| RunError::Wrong(text + &end_of_errors(&err));
        let status = match end {
            End::Stopped => {
                let checkpoint = Err("programs have no checkpoints".to_owned());
                return Err(RunError::Runtime(raddle_runtime::Error::Interrupted { checkpoint }));
            }
            End::Late => {
                let seconds = self.time_limit.as_secs_f64();
                let help = "`time-limit` in the program file raises the limit";
                return Err(wrong(format!("the program was ended after its time limit of {seconds} s; {help}")));
            }
            End::Own(status) => status,
        };
        let counts = exchange.counts()?;
        if let Some(refused) = counts.iter().find_map(|counts| counts.refused.clone()) {
            return Err(RunError::Runtime(raddle_runtime::Error::Refused(refused)));
        }
        if let Some(failed) = counts.iter().find_map(|counts| counts.failed.clone()) {
            return Err(wrong(failed));
        }
        if status.code() != Some(self.expect.status) {
            let (ended, wanted) = (ended(status), self.expect.status);
            return Err(wrong(format!("the program {ended}; status {wanted} is expected")));
        }
        if !out.has_text {
            let (text, last) = (&self.expect.output, out.last_lines(LINES, "    "));
            let last = if last.is_empty() { " nothing".to_owned() } else { last };
            return Err(wrong(format!("the program did not print `{text}`; the end of what it printed:{last}")));
        }
        let mut counts = counts.into_iter().filter(|counts| !counts.kernels.is_empty());
        match (counts.next(), counts.next()) {
            (Some(one), None) => Ok(one.kernels),
            (None, _) => {
                let help = "a program made by `raddle cc`, or linked with a shared CUDA runtime, does";
                Err(wrong(format!("the program launched no kernel on the simulated GPU; {help}")))
            }
            (Some(_), Some(_)) => {
                Err(wrong("several processes launched kernels; a program file is about one of them".to_owned()))
            }
        }
    }

    /// Refuses files that are no longer those of the key: the result would have the wrong name for ever.
    fn check_unchanged(&self) -> Result<(), Problem> {
        if hash(&self.program)? == self.binary && self.content()? == self.content {
            return Ok(());
        }
        let path = self.path.display();
        let message = format!("the program of {path}, or data it reads, has changed since the runs were planned");
        Err(Problem::new(message).help("run the same command again"))
    }
}

/// The last lines on stderr, for an error.
fn end_of_errors(err: &Written) -> String {
    match err.last_lines(LINES, "    ") {
        none if none.is_empty() => String::new(),
        lines => format!("\n  the end of its stderr:{lines}"),
    }
}

/// How a process ended.
fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let hint = match signal {
            6 => " (it aborted)",
            11 => " (host code used an invalid pointer, perhaps a device pointer)",
            _ => "",
        };
        return format!("was ended by signal {signal}{hint}");
    }
    status.code().map_or_else(|| "was ended".to_owned(), |code| format!("ended with status {code}"))
}

/// How a point runs a program.
pub(crate) struct How<'a> {
    pub machine: &'a MachineConfig,
    pub threads: usize,
    pub heap_offset: u64,
    /// Whether somebody asks for the end.
    pub is_stopping: &'a dyn Fn() -> bool,
}

/// The folder in which a run gets its machine and leaves what it counted; it goes away with the run.
struct Exchange {
    folder: PathBuf,
    options: Vec<String>,
}

impl Exchange {
    fn new(how: &How<'_>) -> Result<Self, Problem> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = of_process().join(number.to_string());
        let cannot =
            |error: &dyn std::fmt::Display| Problem::new(format!("cannot write {}: {error}", folder.display()));
        let machine = toml::to_string(how.machine).map_err(|error| cannot(&error))?;
        let file = folder.join("machine.toml");
        std::fs::create_dir_all(&folder).map_err(|error| cannot(&error))?;
        let mut own = Self { folder: folder.clone(), options: Vec::new() };
        std::fs::write(&file, machine).map_err(|error| cannot(&error))?;
        let counts = folder.join("counts");
        std::fs::create_dir_all(&counts).map_err(|error| cannot(&error))?;
        let (file, counts) = (file.display().to_string(), counts.display().to_string());
        let (threads, heap) = (how.threads.clamp(1, 256).to_string(), how.heap_offset.to_string());
        let options = ["--config", &file, "--threads", &threads, HEAP_OFFSET, &heap, COUNTS, &counts, "--quiet"];
        own.options = options.map(str::to_owned).to_vec();
        Ok(own)
    }

    /// What every process said, in no order.
    fn counts(&self) -> Result<Vec<Counts>, Problem> {
        let folder = self.folder.join("counts");
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.map_err(|error| cannot_read(&folder, &error))?.path();
            let text = input::text(&path).map_err(|error| cannot_read(&path, &error))?;
            serde_json::from_str(&text).map_err(|error| {
                let problem = Problem::new(format!("what the program's library counted cannot be read: {error}"));
                problem.help("is libcudart.so of the same version as this program?")
            })
        };
        std::fs::read_dir(&folder).map_err(|error| cannot_read(&folder, &error))?.map(read).collect()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        // Others may have theirs.
        let _ = std::fs::remove_dir(of_process());
    }
}

/// The folder of all runs of this process.
fn of_process() -> PathBuf {
    std::env::temp_dir().join(format!("raddle-run-{}", std::process::id()))
}

/// Ends all programs; from here on none is started. For those who end the process in the midst of the work.
pub fn end_all() {
    children::end_all();
    let _ = std::fs::remove_dir_all(of_process());
}
