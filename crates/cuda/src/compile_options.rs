//! Which options a program file may give to the compiler: those that say how a program is compiled, and none that make
//! the compiler write, load or start something of the file's choice.

use crate::nvcc::{self, Arg};
use raddle_runtime::Problem;

/// Options as they are.
const EXACT: [&str; 26] = [
    "-w",
    "-g",
    "-s",
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-pthread",
    "-pipe",
    "-rdynamic",
    "-static-libstdc++",
    "-static-libgcc",
    "-nostdinc",
    "-nostdinc++",
    "-undef",
    "-trigraphs",
    "-m32",
    "-m64",
    "-mfma",
    "-mno-fma",
    "-mf16c",
    "-mpopcnt",
    "-Winvalid-pch",
    "-v",
    "-fopenmp",
    "-Qunused-arguments",
    "--no-cuda-version-check",
];

/// Beginnings of options; what follows is a number, a name or the path of something to read.
const STARTS: [&str; 28] = [
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-O",
    "-std=",
    "-stdlib=",
    "-march=",
    "-mtune=",
    "-mcpu=",
    "-msse",
    "-mssse",
    "-mavx",
    "-mno-sse",
    "-mno-avx",
    "-mbmi",
    "-ggdb",
    "-gdwarf",
    "-gline-",
    "-gcolumn-info",
    "-gno-",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "--cuda-gpu-arch=",
    "-mlong-double-",
];

/// Options whose value is the next word.
const WITH_VALUE: [&str; 7] = ["-include", "-isystem", "-idirafter", "-iquote", "-I", "-D", "-U"];

/// What may follow `-f` and `-fno-`, with `=` where a value follows.
const FLAGS: [&str; 82] = [
    "PIC",
    "PIE",
    "access-control",
    "aligned-allocation",
    "approx-func",
    "asm",
    "associative-math",
    "asynchronous-unwind-tables",
    "bracket-depth=",
    "builtin",
    "caret-diagnostics",
    "char8_t",
    "color-diagnostics",
    "common",
    "complex-arithmetic=",
    "concepts",
    "constexpr-depth=",
    "constexpr-steps=",
    "coroutines",
    "cuda-approx-transcendentals",
    "cuda-flush-denormals-to-zero",
    "cuda-short-ptr",
    "cxx-exceptions",
    "data-sections",
    "delayed-template-parsing",
    "delete-null-pointer-checks",
    "denormal-fp-math=",
    "denormal-fp-math-f32=",
    "diagnostics-color",
    "diagnostics-color=",
    "elide-constructors",
    "error-limit=",
    "exceptions",
    "excess-precision=",
    "fast-math",
    "finite-loops",
    "finite-math-only",
    "float-store",
    "fp-contract=",
    "fp-model=",
    "freestanding",
    "function-sections",
    "gnu89-inline",
    "gpu-approx-transcendentals",
    "gpu-default-stream=",
    "gpu-defer-diag",
    "gpu-flush-denormals-to-zero",
    "gpu-rdc",
    "honor-infinities",
    "honor-nans",
    "inline",
    "inline-functions",
    "keep-static-consts",
    "lax-vector-conversions",
    "math-errno",
    "max-errors=",
    "merge-all-constants",
    "ms-extensions",
    "omit-frame-pointer",
    "openmp",
    "permissive",
    "pic",
    "pie",
    "reciprocal-math",
    "rounding-math",
    "rtti",
    "sanitize=",
    "short-enums",
    "signed-char",
    "signed-zeros",
    "slp-vectorize",
    "stack-protector",
    "strict-aliasing",
    "strict-overflow",
    "template-depth=",
    "trapping-math",
    "tree-vectorize",
    "unroll-loops",
    "unsafe-math-optimizations",
    "unsigned-char",
    "vectorize",
    "wrapv",
];

/// What the linker may be told, with `=` where a value follows.
const FOR_LINKER: [&str; 14] = [
    "-rpath=",
    "--as-needed",
    "--no-as-needed",
    "--start-group",
    "--end-group",
    "--whole-archive",
    "--no-whole-archive",
    "--export-dynamic",
    "-E",
    "--gc-sections",
    "-Bstatic",
    "-Bdynamic",
    "--allow-multiple-definition",
    "--no-undefined",
];

/// Options of nvcc that this program ignores, but that would write files.
const IGNORED: [&str; 6] = ["-keep", "--keep", "-keep-dir", "--keep-dir", "-odir", "--output-directory"];

/// Refuses options that do more than say how a program is compiled; `words` are those of nvcc or clang.
///
/// # Errors
/// At the first that does.
pub fn check(words: &[String]) -> Result<(), Problem> {
    if let Some(word) = words.iter().find(|word| IGNORED.iter().any(|name| is_named(word, name))) {
        return Err(refused(word));
    }
    // A file of options could have any.
    if let Some(word) = words.iter().find(|word| word.starts_with('@')) {
        return Err(refused(word));
    }
    // Options need an input to be understood.
    let all: Vec<String> = words.iter().cloned().chain(["program.cu".to_owned()]).collect();
    let plan = nvcc::translate(&all)?;
    let for_linker: Vec<&str> = plan.args.iter().filter_map(of_linker).flat_map(|tokens| tokens.split(',')).collect();
    if let Some(token) = wrong_for_linker(&for_linker) {
        return Err(refused(&format!("-Wl,{token}")));
    }
    let mut args = plan.args.iter().filter(|arg| of_linker(arg).is_none());
    while let Some(arg) = args.next() {
        match arg {
            Arg::Output(file) => return Err(refused(&format!("-o {file}"))),
            Arg::Input { file, language } if file.starts_with(['-', '@']) || language.starts_with('@') => {
                return Err(refused(file));
            }
            Arg::Input { .. } => {}
            Arg::Option(word) | Arg::Link(word) if WITH_VALUE.contains(&word.as_str()) => match args.next() {
                Some(Arg::Option(value)) if !value.starts_with(['@', '-']) => {}
                _ => return Err(refused(word)),
            },
            Arg::Option(word) | Arg::Link(word) if is_allowed(word) => {}
            Arg::Option(word) | Arg::Link(word) => return Err(refused(word)),
        }
    }
    match plan.links && !plan.dry_run && !plan.version && plan.refused.is_none() {
        true => Ok(()),
        false => Err(Problem::new("`compile` has an option with which no program is made")
            .help("give only options that say how the program is compiled, such as -O3 -DN=64 -lm")),
    }
}

fn refused(word: &str) -> Problem {
    Problem::new(format!("`compile` cannot have `{word}`")).help(
        "a program file may say how its program is compiled (-O3, -D, -I, -std=, -arch, -f..., -W..., -l), but not \
         what is written, loaded or started; where the program goes is chosen by raddle. To use other options, \
         compile with `raddle cc` and name the program: program = \"./program\"",
    )
}

fn is_named(word: &str, name: &str) -> bool {
    word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
}

/// Whether a word is in a list; there, `=` at the end says that a value follows.
fn is_of(list: &[&str], word: &str) -> bool {
    list.iter().any(|name| if name.ends_with('=') { word.starts_with(name) } else { word == *name })
}

/// Whether a word, which is no file and not for the linker, is an option of the lists.
fn is_allowed(word: &str) -> bool {
    if let Some(flag) = word.strip_prefix("-f") {
        return is_of(&FLAGS, flag.strip_prefix("no-").unwrap_or(flag));
    }
    let is_for_others = ["-Wa,", "-Wp,"].iter().any(|start| word.starts_with(start));
    let is_warning = word.starts_with("-W") && !is_for_others;
    EXACT.contains(&word) || is_warning || STARTS.iter().any(|start| word.starts_with(start))
}

/// What an argument says to the linker, separated by commas.
fn of_linker(arg: &Arg) -> Option<&str> {
    match arg {
        Arg::Link(word) | Arg::Option(word) => word.strip_prefix("-Wl,"),
        _ => None,
    }
}

/// The first of the linker's words that is not in the list.
fn wrong_for_linker<'t>(tokens: &[&'t str]) -> Option<&'t str> {
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        let is_good = match *token {
            // Their value is the next word, as in `-rpath,folder` and `-z,now`.
            "-rpath" | "-z" | "-soname" => tokens.next().is_some_and(|value| !value.starts_with(['@', '-'])),
            token => is_of(&FOR_LINKER, token) || token.starts_with("-l") || token.starts_with("-L"),
        };
        if !is_good {
            return Some(token);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(line: &str) -> Result<(), Problem> {
        check(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_programs_are_compiled_with_is_allowed() {
        for line in [
            "",
            "-O3 -DN=64 -D N=64 -UX -I inc -Iinc -isystem sys -include a.h --std=c++17 -std c++14",
            "-arch=sm_80 -gencode arch=compute_60,code=sm_60 -rdc=true -use_fast_math --fmad=false -lineinfo",
            "-Xcompiler -fopenmp,-Wall -Xptxas -v -maxrregcount=32 --expt-extended-lambda -t 4 --threads=4",
            "-Xlinker -rpath,there -Xlinker -rpath -Xlinker there -lm -L. -lown -Wl,-rpath,here -Xlinker -rpath=here -Wl,-z,now -rpath here -rdynamic -pthread",
            "-ffast-math -fno-exceptions -ffp-contract=off -fno-strict-aliasing -march=native -Werror -Wno-unused -g",
            "helper.cu util.c more.o libown.a -x cu other.cpp",
        ] {
            assert_eq!(checked(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn what_writes_loads_or_starts_is_refused() {
        for line in [
            "-o /any/path",
            "-o/any/path",
            "-DX=1 --output-file=/any/path",
            "--output-file /any/path",
            "--output=/any/path",
            "-Xcompiler -o,/any/path",
            "-Xcompiler=-o/any/path",
            "-Xcompiler \"-o,/any\"",
            "-MD -MF /any/path",
            "-MF /any/path",
            "-MMD",
            "-MD",
            "-Wp,-MD,/any/path",
            "-Xpreprocessor -MD",
            "-MJ /any/path",
            "-save-temps",
            "--save-temps=obj",
            "-save-stats=obj",
            "-dumpdir /any",
            "-keep",
            "--keep-dir /any",
            "--keep-dir=/any",
            "-odir=/any",
            "-ftime-trace=/any/path",
            "-ftime-trace",
            "-fsave-optimization-record",
            "-foptimization-record-file=/any",
            "-fcrash-diagnostics-dir=/any",
            "-fmodules-cache-path=/any",
            "-fmodules",
            "-fproc-stat-report=/any",
            "-fprofile-generate=/any",
            "-fprofile-instr-generate=/any",
            "-fstack-usage",
            "-gsplit-dwarf",
            "-gsplit-dwarf=single",
            "--serialize-diagnostics /any",
            "-serialize-diagnostics /any",
            "-dependency-file /any",
            "-coverage",
            "--coverage",
            "-fplugin=evil.so",
            "-fpass-plugin=evil.so",
            "-fplugin-arg-a-b",
            "-Xclang -load -Xclang evil.so",
            "-Xclang=-load",
            "-mllvm -load=evil.so",
            "-fuse-ld=/any/evil",
            "--ld-path=/any/evil",
            "-B /any",
            "-B/any",
            "--prefix=/any",
            "-wrapper /any/evil",
            "-fintegrated-cc1",
            "-specs=evil",
            "--config=evil.cfg",
            "--config evil.cfg",
            "--gcc-toolchain=/any",
            "--sysroot=/any",
            "-isysroot /any",
            "-resource-dir /any",
            "--cuda-path=/any",
            "--ptxas-path=/any",
            "-ccc-gcc-name evil",
            "-Xcuda-ptxas -o",
            "-Xcuda-fatbinary --image",
            "-Xarch_device -o",
            "-Xarch_host -o/any",
            "-Xassembler -o",
            "-Xlinker -o -Xlinker /any/path",
            "-Xlinker -Map=/any/path",
            "-Wl,-o,/any/path",
            "-Wl,-Map,/any/path",
            "-Wl,-Map=/any/path",
            "-Wl,--dependency-file=/any",
            "-Wl,-plugin,evil.so",
            "-Wl,-T,evil.ld",
            "-T evil.ld",
            "-Wl,@evil",
            "-Wl,-rpath,@evil",
            "-Wl,-rpath",
            "-Xlinker -rpath,-o",
            "-Wa,-a=/any/path",
            "-z -o",
            "@evil",
            "-include @evil",
            "-I @evil",
            "-x @evil",
            "-c",
            "-S",
            "-E",
            "-M",
            "-MM",
            "-ptx",
            "-cuda",
            "-cubin",
            "-dc",
            "--dryrun",
            "--version",
            "-dlink",
            "-shared",
            "-###",
            "-emit-llvm",
            "--cuda-device-only",
            "-unknown-option",
        ] {
            assert!(checked(line).is_err(), "{line}");
        }
    }

    #[test]
    fn it_is_said_what_is_refused() {
        let problem = checked("-DX=1 -o overwritten").unwrap_err();
        assert_eq!(problem.message, "`compile` cannot have `-o overwritten`");
        assert!(problem.help.unwrap_or_default().contains("compile with `raddle cc`"));
    }
}
