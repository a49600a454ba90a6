//! The suites that are known: which programs they have, how these are built and run, and how they say that a result is right.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// A program of a suite.
pub struct Program {
    pub name: String,
    pub folder: PathBuf,
    /// A command of the shell, in the program's folder.
    pub build: String,
    pub run: Run,
}

/// How a program is run.
pub enum Run {
    /// By a command of the shell, in its folder.
    Line(String),
    /// As `make run` would, with smaller arguments.
    Make,
    /// Not at all: there is no input.
    None,
}

/// A suite: its name where it is published, the folder with its programs, and how a folder in it becomes programs.
pub struct Suite {
    pub name: &'static str,
    pub address: &'static str,
    folder: &'static str,
    make: fn(&Path, String) -> Vec<Program>,
    /// Where its files look for others, when device code is compiled alone.
    pub includes: &'static str,
    /// Of how many files of device code one is tried.
    pub sample: usize,
    /// Whether a program without a check of its own is run on the reference interpreter too.
    pub compares: bool,
    /// What was changed of how its programs are built and run; nothing of their sources is.
    pub changes: &'static str,
}

pub const SUITES: &[Suite] = &[
    Suite {
        name: "gpu-rodinia",
        address: "yuhc/gpu-rodinia",
        folder: "cuda",
        make: rodinia,
        includes: "-I../util -I../../common -I../meschach_lib -I$FOLDER/cuda-samples/Common",
        sample: 1,
        compares: true,
        changes: "make gets `CUDA_DIR` and `SDK_DIR`; mummergpu also gets a header that its source does not include and a compiler option for its calls on \
                  null pointers; arguments are those in `xtask/src/suites/known.rs`, reduced for large inputs; a script writes the input \
                  files that the repository does not contain",
    },
    Suite {
        name: "polybenchGpu",
        address: "sgrauerg/polybenchGpu",
        folder: "CUDA",
        make: polybench,
        includes: "-I../../common",
        sample: 1,
        compares: true,
        changes: "nothing: `make`, then the program without arguments",
    },
    Suite {
        name: "Parboil",
        address: "abduld/Parboil",
        folder: "benchmarks",
        make: parboil,
        includes: "-I$FOLDER/Parboil/common/include",
        sample: 1,
        compares: false,
        changes: "one command for each CUDA version replaces its driver, which needs Python 2; its inputs are not published with it, \
                  so programs are compiled and not run",
    },
    Suite {
        name: "HeCBench",
        address: "zjin-lcf/HeCBench",
        folder: "src",
        make: hecbench,
        includes: "-I../include -I../../include",
        sample: 5,
        compares: false,
        changes: "`make`, then the commands of `make run` with smaller arguments: repetitions become 1; if that takes too long, \
                  numbers of 4,096 and more are divided by 16, then by 256; last, numbers from 64 up are divided by 8 too",
    },
    Suite {
        name: "llm.c",
        address: "karpathy/llm.c",
        folder: "dev/cuda",
        make: llm,
        includes: "",
        sample: 1,
        compares: true,
        changes: "nothing: `make` for each file; the first variant of the kernel runs, which needs no library",
    },
    Suite {
        name: "cuda-samples",
        address: "NVIDIA/cuda-samples",
        folder: "Samples",
        make: samples,
        includes: "-I../../../Common -I../../Common -I$FOLDER/cuda-samples/Common",
        sample: 2,
        compares: false,
        changes: "one command for each sample instead of its CMake project: all its `.cu` and `.cpp` files and `Common`",
    },
];

impl Suite {
    /// Where its programs are.
    pub fn top(&self, folder: &Path) -> PathBuf {
        folder.join(self.name).join(self.folder)
    }

    /// Its programs by name.
    pub fn programs(&self, folder: &Path) -> Result<Vec<Program>> {
        let top = self.top(folder);
        let mut programs = Vec::new();
        if let Ok(entries) = top.read_dir() {
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                programs.extend((self.make)(&path, name));
            }
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }
}

/// Arguments of Rodinia's programs, where theirs are too large or there are none.
const RODINIA: [(&str, &str); 23] = [
    ("b+tree", "./b+tree.out file ../../data/b+tree/mil.txt command ../../data/b+tree/command.txt"),
    ("backprop", "./backprop 65536"),
    ("bfs", "./bfs.out ../../data/bfs/graph4096.txt"),
    ("cfd", "./euler3d ../../data/cfd/fvcorr.domn.097K"),
    ("dwt2d", "./dwt2d 192.bmp -d 192x192 -f -5 -l 3"),
    ("gaussian", "./gaussian -s 64"),
    ("heartwall", "./heartwall ../../data/heartwall/test.avi 2"),
    ("hotspot", "./hotspot 64 2 10 ../../data/hotspot/temp_64 ../../data/hotspot/power_64 output.out"),
    ("hotspot3D", "./3D 64 8 10 ../../data/hotspot3D/power_64x8 ../../data/hotspot3D/temp_64x8 output.out"),
    ("huffman", "./pavle ../../data/huffman/test1024_H2.206587175259.in"),
    ("hybridsort", "./hybridsort r"),
    ("kmeans", "./kmeans -o -i ../../data/kmeans/100"),
    ("lavaMD", "./lavaMD -boxes1d 4"),
    ("leukocyte", "./CUDA/leukocyte ../../data/leukocyte/testfile.avi 2"),
    ("lud", "cuda/lud_cuda -s 256 -v"),
    ("mummergpu", "bin/mummergpu ../../data/mummergpu/reference.fna ../../data/mummergpu/queries.fna"),
    ("myocyte", "./myocyte.out 100 1 0"),
    ("nn", "./nn filelist_4 -r 5 -lat 30 -lng 90"),
    ("nw", "./needle 256 10"),
    (
        "particlefilter",
        // Its seed is the time, which stands still here: it is the same under both engines.
        "faketime -f '2000-01-01 00:00:00' sh -c './particlefilter_naive -x 32 -y 32 -z 4 -np 256 && \
         ./particlefilter_float -x 32 -y 32 -z 4 -np 256'",
    ),
    ("pathfinder", "./pathfinder 10000 20 20"),
    ("srad", "cd srad_v2 && ./srad 128 128 0 31 0 31 0.5 2"),
    ("streamcluster", "./sc_gpu 10 20 16 1024 1024 100 none output.txt 1"),
];

fn rodinia(folder: &Path, name: String) -> Vec<Program> {
    let Some((_, run)) = RODINIA.iter().find(|(known, _)| *known == name) else { return Vec::new() };
    let variables = "CUDA_DIR=$TOOLKIT SDK_DIR=$FOLDER/home/sdk";
    // It forgets a header that older compilers brought along, and asks whether `this` is null, which newer ones take for no question.
    let more = match name.as_str() {
        "mummergpu" => "CXX='g++ -fopenmp -include unistd.h -fno-delete-null-pointer-checks'",
        _ => "",
    };
    let build = format!("make clean >/dev/null 2>&1; HOME=$FOLDER/home make {variables} {more}");
    vec![Program { name, folder: folder.to_owned(), build, run: Run::Line((*run).to_owned()) }]
}

/// Files in a folder that end like this, by name.
pub fn files(folder: &Path, endings: &[&str]) -> Vec<String> {
    let names = folder.read_dir().into_iter().flatten().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| endings.iter().any(|ending| name.ends_with(ending))).collect();
    names.sort();
    names
}

fn polybench(folder: &Path, name: String) -> Vec<Program> {
    if files(folder, &[".cu"]).is_empty() {
        return Vec::new();
    }
    let build = "rm -f *.exe; make".to_owned();
    vec![Program { name, folder: folder.to_owned(), build, run: Run::Line("./*.exe".to_owned()) }]
}

fn hecbench(folder: &Path, name: String) -> Vec<Program> {
    if !name.ends_with("-cuda") || !folder.join("Makefile").is_file() {
        return Vec::new();
    }
    let build = "make clean >/dev/null 2>&1; make".to_owned();
    vec![Program { name, folder: folder.to_owned(), build, run: Run::Make }]
}

/// One program for each folder `src/cuda*` with its own sources and Parboil's library.
fn parboil(folder: &Path, name: String) -> Vec<Program> {
    let mut programs = Vec::new();
    for entry in folder.join("src").read_dir().into_iter().flatten().flatten() {
        let version = entry.file_name().to_string_lossy().into_owned();
        let source = entry.path();
        if !version.starts_with("cuda") || files(&source, &[".cu"]).is_empty() {
            continue;
        }
        let makefile = fs::read_to_string(source.join("Makefile")).unwrap_or_default();
        let objects = makefile.lines().find_map(|line| line.strip_prefix("SRCDIR_OBJS")).unwrap_or_default();
        let stems: Vec<&str> =
            objects.split([' ', '=']).filter_map(|object| object.trim().strip_suffix(".o")).collect();
        let own = files(&source, &[".cu", ".c", ".cc", ".cpp"]);
        let own = own.iter().filter(|file| file.rsplit_once('.').is_some_and(|(stem, _)| stems.contains(&stem)));
        let list = own.cloned().collect::<Vec<_>>().join(" ");
        let library = "$FOLDER/Parboil/common";
        let build = format!("nvcc -O2 -I{library}/include {list} {library}/src/parboil_cuda.c -o program -lcuda -lm");
        programs.push(Program { name: format!("{name}/{version}"), folder: source, build, run: Run::None });
    }
    programs
}

fn llm(file: &Path, name: String) -> Vec<Program> {
    let (Some(stem), Some(folder)) = (name.strip_suffix(".cu"), file.parent()) else { return Vec::new() };
    let build = format!("make CI=true GPU_COMPUTE_CAPABILITY= {stem}");
    vec![Program { name: stem.to_owned(), folder: folder.to_owned(), build, run: Run::Line(format!("./{stem} 1")) }]
}

fn samples(group: &Path, _name: String) -> Vec<Program> {
    let mut programs = Vec::new();
    for entry in group.read_dir().into_iter().flatten().flatten() {
        let folder = entry.path();
        let sources = files(&folder, &[".cu", ".cpp"]);
        if !sources.iter().any(|name| name.ends_with(".cu")) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let build = format!("nvcc -std=c++17 -I. -I../../../Common {} -o {name} -lcuda -lpthread", sources.join(" "));
        programs.push(Program { run: Run::Line(format!("./{name}")), name, folder, build });
    }
    programs
}

/// Headers of libraries that only the vendor has, of graphics, of MPI and of other systems.
const MISSING: [&str; 28] = [
    "DirectX",
    "D3D",
    "nvmedia",
    "drm_",
    "thrust/",
    "cub/",
    "cublas",
    "cusparse",
    "cufft",
    "cusolver",
    "curand.h",
    "cudnn",
    "nccl.h",
    "npp",
    "nvjpeg",
    "cutensor",
    "mpi.h",
    "nvrtc.h",
    "cuda/std/",
    "cuda/atomic",
    "GL/",
    "vulkan",
    "cutlass",
    "cudla",
    "EGL",
    "nvsci",
    "nvgraph",
    "cuda/barrier",
];

/// The library of the vendor's, or of graphics, that a file of a folder includes.
pub fn missing_library(folder: &Path) -> Option<String> {
    // Its kernels are its own; the names of the library it compares them with are enough.
    if folder.ends_with("llm.c/dev/cuda") {
        return None;
    }
    // Includes a header of graphics, which the system has, and calls nothing of it.
    if folder.ends_with("hybridsort") {
        return None;
    }
    files(folder, &[".cu", ".cuh", ".h", ".hpp", ".cpp"]).iter().find_map(|name| missing_header(&folder.join(name)))
}

/// Whether a header is one of those.
pub fn is_missing(header: &str) -> bool {
    MISSING.iter().any(|start| header.starts_with(start))
}

/// The library of the vendor's, or of graphics, that a file includes.
pub fn missing_header(file: &Path) -> Option<String> {
    let text = fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut included = text.lines().filter(|line| line.trim_start().starts_with("#include"));
    included.find_map(|line| {
        let is_in = |header: &&&str| line.contains(&format!("<{header}")) || line.contains(&format!("\"{header}"));
        MISSING.iter().find(is_in).map(|header| format!("needs {header}"))
    })
}

/// What a program says of its own result: right, wrong, or nothing.
pub fn check(text: &str) -> Option<bool> {
    let low = text.to_lowercase().replace("failed as expected", "");
    if let Some((_, after)) = low.split_once("non-matching") {
        let count = after.lines().next().and_then(|line| line.rsplit(':').next()).map(str::trim);
        return Some(count == Some("0"));
    }
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    if has(&["fail", "incorrect", "mismatch", "not match", "wrong"])
        && !has(&["0 fail", "failed: 0", "failures: 0", "mismatch: 0"])
    {
        return Some(false);
    }
    let words =
        ["pass", "success", "correct", "results match", "error rate: 0", "verified", "all results are ok", "test ok"];
    has(&words).then_some(true)
}

/// The first line that says what went wrong.
pub fn first_error(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let found = ["raddle: ", "error[", "error:", "fatal error", "undefined reference", "FAIL", "Error", "error"];
    let line = found.iter().find_map(|word| lines().find(|line| line.contains(word)));
    let line = line.or_else(|| lines().next_back()).unwrap_or("");
    line.chars().take(160).collect()
}

/// Whether a program says that a file is not there that it wants to read.
pub fn lacks_input(text: &str) -> bool {
    let said = [
        "failed to load file",
        "failed to open file",
        "error reading graph file",
        "cannot be opened for read",
        "could not find a sub-directory",
        "unable to open input",
        "error opening the file",
        "cannot read file",
        "was not opened successfully",
        "no such file",
        "cannot open input file",
        "failed to recognize format of file",
    ];
    text.lines().any(|line| said.iter().any(|words| line.to_lowercase().contains(words)))
}

/// The lines of an output that do not speak of time.
pub fn results(text: &str) -> Vec<&str> {
    let words = [
        "time",
        "second",
        " ms",
        " us",
        "gb/s",
        "flop",
        "elapsed",
        "took",
        "execution:",
        " back:",
        "s]",
        "page 0x",
        "speed",
        "bandwidth",
        "raddle:",
        "init:",
        "memalloc:",
        "htod:",
        "exec:",
        "dtoh:",
        "close:",
        "total:",
        " s, ",
        " % :",
    ];
    let is_result =
        |line: &&str| !line.trim_end().ends_with(" s") && words.iter().all(|word| !line.to_lowercase().contains(word));
    text.lines().filter(is_result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_what_they_found() {
        let known = [
            ("Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 0\n", Some(true)),
            ("Non-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 12\n", Some(false)),
            ("Test PASSED", Some(true)),
            ("FAIL", Some(false)),
            ("time 3 s", None),
        ];
        known.iter().for_each(|(text, want)| assert_eq!(check(text), *want, "{text}"));
        assert_eq!(results("a 1\nTime: 3 s\nb"), ["a 1", "b"]);
        assert_eq!(first_error("x\n a.cu:1: error: no\nlast"), "a.cu:1: error: no");
    }
}
