//! nvcc's command line in clang's words, so that other people's Makefiles work. Options of clang pass as they are.

use raddle_runtime::Problem;
use std::path::Path;

/// One argument of clang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// For compiling, and for linking too.
    Option(String),
    /// For linking alone.
    Link(String),
    /// The output.
    Output(String),
    /// A file, and its language.
    Input {
        /// As clang names it; `none` for objects and libraries.
        language: String,
        /// Its path.
        file: String,
    },
}

/// What one call is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Arguments for clang, but for those that say where the toolkit is.
    pub args: Vec<Arg>,
    /// Whether a program or a shared library is linked.
    pub links: bool,
    /// Whether kernels of several files are linked together (`-rdc=true`).
    pub relocatable: bool,
    /// Prints what would be called and does not call it.
    pub dry_run: bool,
    /// Asks for the version.
    pub version: bool,
    /// Objects are linked for the device only (`-dlink`).
    pub links_device: bool,
    /// What nvcc would make and nothing here can.
    pub refused: Option<String>,
}

impl Plan {
    /// All arguments, as one call of clang takes them.
    #[must_use]
    pub fn line(&self) -> Vec<String> {
        self.args.iter().flat_map(Arg::words).collect()
    }

    /// The arguments that compile one input into an object.
    #[must_use]
    pub fn compiles(&self, language: &str, file: &str, object: &str) -> Vec<String> {
        let options = self.args.iter().filter(|arg| matches!(arg, Arg::Option(_))).flat_map(Arg::words);
        let rest = ["-c", "-x", language, file, "-o", object].map(str::to_owned);
        options.chain(rest).collect()
    }

    /// Whether an input has to be compiled.
    #[must_use]
    pub fn is_source(arg: &Arg) -> bool {
        matches!(arg, Arg::Input { language, .. } if language != "none")
    }
}

impl Arg {
    /// The words of it on a command line.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Option(word) | Self::Link(word) => vec![word.clone()],
            Self::Output(file) => vec!["-o".to_owned(), file.clone()],
            Self::Input { language, file } => vec!["-x".to_owned(), language.clone(), file.clone()],
        }
    }
}

/// Whether an option is for the linker.
fn is_for_linker(option: &str) -> bool {
    ["-l", "-L", "-Wl,", "-shared", "-static", "-rdynamic"].iter().any(|start| option.starts_with(start))
}

/// Options of nvcc that change nothing here; those with `true` have a value behind them.
const IGNORED: [(&str, bool); 48] = [
    ("--ptxas-options", true),
    ("-Xptxas", true),
    ("-Xcudafe", true),
    ("-Xnvlink", true),
    ("-Xfatbin", true),
    ("-Xarchive", true),
    ("-nvlink-options", true),
    ("--nvlink-options", true),
    ("-ccbin", true),
    ("--compiler-bindir", true),
    ("-maxrregcount", true),
    ("--maxrregcount", true),
    ("-cudart", true),
    ("--cudart", true),
    ("-t", true),
    ("--threads", true),
    ("-diag-suppress", true),
    ("--diag-suppress", true),
    ("-diag-error", true),
    ("-diag-warn", true),
    ("-code", true),
    ("--gpu-code", true),
    ("-keep-dir", true),
    ("--keep-dir", true),
    ("-odir", true),
    ("-m", true),
    ("--machine", true),
    ("--default-stream", true),
    ("-default-stream", true),
    ("-res-usage", false),
    ("--resource-usage", false),
    ("-m64", false),
    ("-G", false),
    ("--device-debug", false),
    ("-keep", false),
    ("--keep", false),
    ("--source-in-ptx", false),
    ("--expt-relaxed-constexpr", false),
    ("-expt-relaxed-constexpr", false),
    ("--expt-extended-lambda", false),
    ("-expt-extended-lambda", false),
    ("--extended-lambda", false),
    ("-extended-lambda", false),
    ("--compress-all", false),
    ("-no-compress", false),
    ("-forward-unknown-to-host-compiler", false),
    ("--forward-unknown-to-host-compiler", false),
    ("-restrict", false),
];

/// Options that are the same with one dash more or less, or have another name.
const RENAMED: [(&str, &[&str]); 22] = [
    ("--compile", &["-c"]),
    ("-lineinfo", &["-gline-tables-only"]),
    ("--generate-line-info", &["-gline-tables-only"]),
    ("--debug", &["-g"]),
    ("-use_fast_math", &["-ffast-math", "-fcuda-flush-denormals-to-zero", "-fcuda-approx-transcendentals"]),
    ("--use_fast_math", &["-ffast-math", "-fcuda-flush-denormals-to-zero", "-fcuda-approx-transcendentals"]),
    ("-fmad=false", &["-ffp-contract=off"]),
    ("--fmad=false", &["-ffp-contract=off"]),
    ("-fmad=true", &[]),
    ("--fmad=true", &[]),
    ("-ftz=true", &["-fcuda-flush-denormals-to-zero"]),
    ("--ftz=true", &["-fcuda-flush-denormals-to-zero"]),
    ("--shared", &["-shared"]),
    ("--verbose", &["-v"]),
    ("-ptx", &["--cuda-device-only", "-S"]),
    ("--ptx", &["--cuda-device-only", "-S"]),
    ("--preprocess", &["-E"]),
    ("--disable-warnings", &["-w"]),
    ("-M", &["-M"]),
    ("--generate-dependencies", &["-M"]),
    ("--extra-device-vectorization", &[]),
    ("-allow-unsupported-compiler", &[]),
];

/// Options with a value that has another name in clang; the value may come behind `=` or as the next argument.
const VALUED: [(&str, &str); 16] = [
    ("--output-file", "-o"),
    ("--include-path", "-I"),
    ("--library-path", "-L"),
    ("--library", "-l"),
    ("--define-macro", "-D"),
    ("--undefine-macro", "-U"),
    ("--pre-include", "-include"),
    ("--system-include", "-isystem"),
    ("--optimize", "-O"),
    ("--std", "-std="),
    ("-std", "-std="),
    ("-rpath", "-Wl,-rpath,"),
    ("-MF", "-MF"),
    ("-MT", "-MT"),
    ("-MQ", "-MQ"),
    ("-o", "-o"),
];

/// Options with a value that clang spells the same; the value is the next argument.
const WITH_NEXT: [&str; 12] = [
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-idirafter",
    "-iquote",
    "-Xclang",
    "-target",
    "-arch_device",
];

/// Translates a command line.
///
/// # Errors
/// When an option lacks its value.
pub fn translate(args: &[String]) -> Result<Plan, Problem> {
    let mut t = Translator::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        t.option(arg, &mut args)?;
    }
    t.finish()
}

#[derive(Default)]
struct Translator {
    plan: Plan,
    /// Machines kernels are compiled for: numbers such as 70.
    machines: Vec<u32>,
    inputs: Vec<String>,
    /// The language that `-x` says.
    language: Option<String>,
    makes: Option<&'static str>,
    has_level: bool,
    has_debug: bool,
    /// Asked for a file between two steps.
    is_step: bool,
}

type Rest<'a> = std::slice::Iter<'a, String>;

impl Translator {
    fn option(&mut self, arg: &str, rest: &mut Rest<'_>) -> Result<(), Problem> {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) if arg.starts_with('-') => (name, Some(value)),
            _ => (arg, None),
        };
        let mut take = |value: Option<&str>| -> Result<String, Problem> {
            let next = || rest.next().cloned().ok_or_else(|| Problem::new(format!("{name} needs a value")));
            value.map_or_else(next, |value| Ok(value.to_owned()))
        };
        if let Some((_, to)) = RENAMED.iter().find(|(from, _)| *from == arg) {
            to.iter().for_each(|option| self.push(option));
            return Ok(());
        }
        if let Some((_, has_value)) = IGNORED.iter().find(|(from, _)| *from == name) {
            if *has_value {
                take(value)?;
            }
            return Ok(());
        }
        match name {
            "-arch" | "--gpu-architecture" | "--gpu-name" => {
                let value = take(value)?;
                self.machines.extend(machine(&value));
            }
            "--cuda-gpu-arch" | "--offload-arch" => self.machines.extend(value.and_then(machine)),
            "-gencode" | "--generate-code" => {
                let value = take(value)?;
                self.machines.extend(value.split("code=").skip(1).flat_map(|code| {
                    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter_map(machine).collect::<Vec<_>>()
                }));
            }
            "-Xcompiler" | "--compiler-options" | "-Xarch_host" => {
                let value = take(value)?;
                let parts = value.split([',', ' ']).filter(|part| !part.is_empty());
                parts.for_each(|part| self.push(part.trim_matches(['"', '\''])));
            }
            "-Xlinker" | "--linker-options" => {
                let value = take(value)?;
                value.split(',').for_each(|part| self.push(&format!("-Wl,{part}")));
            }
            "-rdc" | "--relocatable-device-code" => self.plan.relocatable = take(value)? == "true",
            "-fgpu-rdc" => self.plan.relocatable = true,
            "-dc" | "--device-c" => {
                self.plan.relocatable = true;
                self.push("-c");
            }
            "-x" => {
                let language = take(value)?;
                self.language = Some(if language == "cu" { "cuda".to_owned() } else { language });
            }
            "-V" | "--version" => self.plan.version = true,
            "--dryrun" | "-dryrun" => self.plan.dry_run = true,
            "-cuda" | "--cuda" => {
                // nvcc writes the host code after its own passes; here it is the preprocessed host code.
                ["--cuda-host-only", "-E"].iter().for_each(|word| self.push(word));
                self.is_step = true;
            }
            "-dlink" | "--device-link" => self.plan.links_device = true,
            "-cubin" | "--cubin" | "-fatbin" | "--fatbin" | "-lib" | "--lib" | "--run" | "-run" => {
                self.plan.refused = Some(name.to_owned());
            }
            "-O" if value.is_none() => {
                let level = take(None)?;
                self.level(&level);
            }
            _ if VALUED.iter().any(|(from, _)| *from == name) => {
                let value = take(value)?;
                let to = VALUED.iter().find(|(from, _)| *from == name).map_or("", |(_, to)| *to);
                match to {
                    "-o" => self.plan.args.push(Arg::Output(value)),
                    "-include" | "-isystem" | "-MF" | "-MT" | "-MQ" => {
                        [to, &value].iter().for_each(|word| self.push(word));
                    }
                    "-O" => self.level(&value),
                    _ => self.push(&format!("{to}{value}")),
                }
            }
            _ if WITH_NEXT.contains(&arg) => {
                let value = take(None)?;
                let is_joined = matches!(arg, "-l" | "-L");
                match is_joined {
                    true => self.push(&format!("{arg}{value}")),
                    false => [arg, &value].iter().for_each(|word| self.push(word)),
                }
            }
            _ if arg.starts_with("-O") => self.level(&arg[2..]),
            _ if arg.starts_with('-') && arg.len() > 1 => self.push(arg),
            _ => self.input(arg),
        }
        Ok(())
    }

    fn level(&mut self, level: &str) {
        self.has_level = true;
        self.push(&format!("-O{level}"));
    }

    /// Adds an option of clang, and remembers what it makes.
    fn push(&mut self, option: &str) {
        self.has_debug |= option.starts_with("-g") && !option.starts_with("-gcc");
        if let Some(what) = ["-c", "-S", "-E", "-M", "-MM"].into_iter().find(|what| *what == option) {
            self.makes = Some(what);
        }
        let word = option.to_owned();
        self.plan.args.push(if is_for_linker(option) { Arg::Link(word) } else { Arg::Option(word) });
    }

    /// Adds an input with its language, because clang called as a C++ compiler compiles `.c` files as C++.
    fn input(&mut self, file: &str) {
        let ending = Path::new(file).extension().and_then(|e| e.to_str()).unwrap_or("");
        let language = match (&self.language, ending) {
            (Some(language), _) => language.as_str(),
            (None, "cu") => "cuda",
            (None, "c") => "c",
            (None, "cpp" | "cc" | "cxx" | "C" | "cp") => "c++",
            (None, _) => "none",
        };
        self.plan.args.push(Arg::Input { language: language.to_owned(), file: file.to_owned() });
        self.inputs.push(file.to_owned());
    }

    fn finish(mut self) -> Result<Plan, Problem> {
        self.plan.links = self.makes.is_none() && !self.inputs.is_empty() && !self.plan.links_device;
        if self.inputs.is_empty() && !self.plan.version {
            return Err(Problem::new("there is no input file").help("example: raddle cc saxpy.cu -o saxpy"));
        }
        // nvcc names its outputs `a.ptx` and not `a.s`.
        let has = |wanted: &str| self.plan.args.iter().any(|arg| matches!(arg, Arg::Option(word) if word == wanted));
        let is_ptx = has("--cuda-device-only") && self.makes == Some("-S");
        let has_output = self.plan.args.iter().any(|arg| matches!(arg, Arg::Output(_)));
        if is_ptx
            && !has_output
            && let [input] = &self.inputs[..]
        {
            let name = Path::new(input).with_extension("ptx");
            let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            self.plan.args.push(Arg::Output(name));
        }
        if self.is_step
            && !has_output
            && let [input] = &self.inputs[..]
        {
            let name = Path::new(input).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            self.plan.args.push(Arg::Output(format!("{name}.cpp.ii")));
        }
        // Compilers of C only warn of a standard of C++, but for clang.
        let is_c = |arg: &Arg| matches!(arg, Arg::Input { language, .. } if language == "c");
        let is_standard = |arg: &Arg| matches!(arg, Arg::Option(word) if word.starts_with("-std=c++"));
        let mut inputs = self.plan.args.iter().filter(|arg| matches!(arg, Arg::Input { .. }));
        if inputs.all(is_c) {
            self.plan.args.retain(|arg| !is_standard(arg));
        }
        let mut first = Vec::new();
        // nvcc optimises unless it is told not to.
        if !self.has_level {
            first.push("-O2".to_owned());
        }
        let newest =
            self.machines.iter().max().copied().unwrap_or(DEFAULT_MACHINE).clamp(OLDEST_MACHINE, NEWEST_MACHINE);
        first.push(format!("--cuda-gpu-arch=sm_{newest}"));
        // Messages name lines of the source.
        if !self.has_debug {
            first.push("-gline-tables-only".to_owned());
        }
        if self.plan.relocatable {
            first.push("-fgpu-rdc".to_owned());
        }
        self.plan.args.splice(0..0, first.into_iter().map(Arg::Option));
        Ok(self.plan)
    }
}

/// Without a word about it, kernels are compiled for this machine.
const DEFAULT_MACHINE: u32 = 70;
/// What clang 19 compiles for.
const OLDEST_MACHINE: u32 = 50;
const NEWEST_MACHINE: u32 = 90;

/// The number in `sm_70`, `compute_70` or `70`.
fn machine(name: &str) -> Option<u32> {
    let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_")).unwrap_or(name);
    number.trim_end_matches(['a', 'f']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Plan {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        translate(&args).unwrap()
    }

    fn args(line: &str) -> String {
        plan(line).line().join(" ").replace(" -gline-tables-only", "")
    }

    #[test]
    fn a_makefile_s_lines_are_understood() {
        let known = [
            ("a.cu -o a", "-O2 --cuda-gpu-arch=sm_70 -x cuda a.cu -o a"),
            ("-arch=sm_80 -O3 -c a.cu", "--cuda-gpu-arch=sm_80 -O3 -c -x cuda a.cu"),
            ("-arch sm_20 -Xptxas -v a.cu b.c c.o", "-O2 --cuda-gpu-arch=sm_50 -x cuda a.cu -x c b.c -x none c.o"),
            (
                "-gencode arch=compute_60,code=sm_60 -gencode=arch=compute_70,code=\"sm_70,compute_70\" a.cu",
                "-O2 --cuda-gpu-arch=sm_70 -x cuda a.cu",
            ),
            ("-Xcompiler -fopenmp,-Wall a.cu -lm", "-O2 --cuda-gpu-arch=sm_70 -fopenmp -Wall -x cuda a.cu -lm"),
            ("--std c++14 -I inc -DX=1 a.cu", "-O2 --cuda-gpu-arch=sm_70 -std=c++14 -I inc -DX=1 -x cuda a.cu"),
            (
                "-use_fast_math -lineinfo -x cu a.cpp",
                "-O2 --cuda-gpu-arch=sm_70 -ffast-math -fcuda-flush-denormals-to-zero -fcuda-approx-transcendentals -x cuda a.cpp",
            ),
            ("-cuda a.cu", "-O2 --cuda-gpu-arch=sm_70 --cuda-host-only -E -x cuda a.cu -o a.cu.cpp.ii"),
            ("-std=c++17 -c b.c", "-O2 --cuda-gpu-arch=sm_70 -c -x c b.c"),
            ("-ptx a.cu", "-O2 --cuda-gpu-arch=sm_70 --cuda-device-only -S -x cuda a.cu -o a.ptx"),
        ];
        known.iter().for_each(|(line, want)| assert_eq!(args(line), *want, "{line}"));
        assert!(plan("a.cu").links && !plan("-c a.cu").links && !plan("-M a.cu").links);
        assert!(
            plan("-dc a.cu").relocatable && plan("-rdc=true a.o").relocatable && !plan("-rdc=false a.o").relocatable
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(translate(&["-o".to_owned()]).is_err());
        assert!(translate(&["-O3".to_owned()]).unwrap_err().message.contains("no input file"));
        assert!(plan("-dlink a.o").links_device && !plan("-dlink a.o").links);
        assert_eq!(plan("-cubin a.cu").refused.as_deref(), Some("-cubin"));
        assert!(translate(&["--version".to_owned()]).unwrap().version);
    }
}
