//! `raddle cc` and `raddle toolkit`: CUDA programs compiled with clang; and the tools that clang and build systems call.

use crate::exec::library;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_cuda::clang::Clang;
use raddle_cuda::{launches, nvcc, relocatable, toolkit, tools};
use raddle_runtime::Problem;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = CC_HELP)]
pub struct Args {
    /// Files to compile and link, and options of nvcc or clang
    #[arg(value_name = "ARGS", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

const CC_HELP: &str = "\
Compiles CUDA C++ with clang, free headers and libclc; nothing from NVIDIA is needed. Accepts options of
nvcc (-arch, -Xcompiler, -rdc=true, ...) and of clang (-O3, -I, -l, ...). By default, kernels are compiled
for sm_70. You can run the program with `raddle exec`, or start it directly.

Examples:
  raddle cc saxpy.cu -o saxpy
  raddle cc -O3 -arch=sm_80 main.cu kernels.cu util.c -lm -o program
  raddle cc -ptx saxpy.cu";

#[derive(clap::Args)]
#[command(after_help = TOOLKIT_HELP)]
pub struct ToolkitArgs {
    /// Folder to write
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const TOOLKIT_HELP: &str = "\
The folder looks like a CUDA toolkit, with bin/nvcc, include, lib64 and nvvm, so Makefiles, CMake and clang
can use it. Its programs call this raddle program, which must stay where it is.

Examples:
  raddle toolkit cuda
  make NVCC=$PWD/cuda/bin/nvcc CUDA_DIR=$PWD/cuda
  clang++-19 --cuda-path=cuda --cuda-gpu-arch=sm_70 saxpy.cu -o saxpy -Lcuda/lib64 -lcudart
  cmake -S . -B build -DCMAKE_CUDA_COMPILER=$PWD/cuda/bin/nvcc -DCUDAToolkit_ROOT=$PWD/cuda";

#[derive(clap::Args)]
pub struct ToolArgs {
    /// The tool
    tool: String,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// `raddle cc`.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    compile(&args.args, None)
}

/// `raddle toolkit`.
pub fn write_toolkit(args: &ToolkitArgs) -> Result<Exit, Failure> {
    let clang = Clang::find()?;
    let (raddle, library) = (library::program()?, library::file()?);
    toolkit::write(&args.folder, &toolkit::Parts { raddle: &raddle, library: &library, clang: &clang })?;
    out::talk(&format!("wrote {}", args.folder.display()));
    Ok(Exit::Good)
}

/// `raddle tool`: what the files in a toolkit's `bin` call.
pub fn tool(args: &ToolArgs) -> Result<Exit, Failure> {
    match args.tool.as_str() {
        "nvcc" => return compile(&args.args, toolkit_of_caller().as_deref()),
        "ptxas" => tools::ptxas(&args.args)?,
        "fatbinary" => tools::fatbinary(&args.args)?,
        other => return Err(Problem::new(format!("there is no tool `{other}`")).into()),
    }
    Ok(Exit::Good)
}

/// The toolkit whose `nvcc` was called.
fn toolkit_of_caller() -> Option<PathBuf> {
    std::env::var_os("RADDLE_TOOLKIT").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// What nvcc says of itself; build systems read the release, and that it is clang that they have to talk to.
fn version_text(clang: &Clang) -> String {
    let (release, own) = (toolkit::VERSION, env!("CARGO_PKG_VERSION"));
    format!(
        "nvcc of Raddle {own}: clang version {}.0.0 with options of nvcc\nCuda compilation tools, release {release}, V{release}.0\n",
        clang.version
    )
}

fn compile(args: &[String], folder: Option<&Path>) -> Result<Exit, Failure> {
    let plan = nvcc::translate(args)?;
    if plan.version {
        out::data(&version_text(&Clang::find()?))?;
        return Ok(Exit::Good);
    }
    if let Some(option) = plan.refused {
        let problem = Problem::new(format!("{option} makes what only NVIDIA's tools can make"));
        return Err(problem.help("-ptx makes PTX").into());
    }
    let clang = Clang::find()?;
    let folder = folder.map_or_else(|| library::toolkit(&clang), |folder| Ok(folder.to_owned()))?;
    let calls = Calls { clang, folder, is_dry: plan.dry_run };
    match plan {
        plan if plan.links_device => calls.link_device(&plan),
        plan if plan.links => calls.link(&plan),
        plan => calls.run(&plan.line()),
    }
}

/// Calls of the compiler.
struct Calls {
    clang: Clang,
    /// The toolkit.
    folder: PathBuf,
    /// Prints them only.
    is_dry: bool,
}

impl Calls {
    fn run(&self, args: &[String]) -> Result<Exit, Failure> {
        let work = Work::new("overlay")?;
        let mut command = self.clang.command();
        let sources: Vec<&str> =
            args.windows(3).filter(|w| w[0] == "-x" && w[1] == "cuda").map(|w| w[2].as_str()).collect();
        if let Some(overlay) = launches::overlay(&sources, &work.0)? {
            command.arg("-ivfsoverlay").arg(overlay);
        }
        command.arg(format!("--cuda-path={}", self.folder.display()));
        command.args(["-Wno-unknown-cuda-version", "-Wno-unused-command-line-argument"]);
        // What nvcc takes without a word.
        command.args(["-Wno-reserved-user-defined-literal", "-Wno-register", "-Wno-c++11-narrowing"]).args(args);
        // Host code that overflows, asks whether `this` is null or reads words as others works in most compilers.
        for option in ["-fwrapv", "-fno-delete-null-pointer-checks", "-fno-strict-aliasing"] {
            command.args(["-Xarch_host", option]);
        }
        command.arg("-idirafter").arg(self.folder.join("include"));
        if self.is_dry {
            out::data(&format!("{command:?}\n"))?;
            return Ok(Exit::Good);
        }
        let cannot = |e| Problem::new(format!("cannot run {}: {e}", self.clang.path.display()));
        let status = command.status().map_err(cannot)?;
        Ok(Exit::Program(status.code().map_or(1, |code| code as u8)))
    }

    /// Compiles the sources and links a program. Objects whose kernels are linked together need one more object, which
    /// tells the runtime of each of them.
    fn link(&self, plan: &nvcc::Plan) -> Result<Exit, Failure> {
        let work = Work::new("objects")?;
        let mut args = Vec::new();
        for (number, arg) in plan.args.iter().enumerate() {
            let nvcc::Arg::Input { language, file } = arg else {
                args.extend(arg.words());
                continue;
            };
            let mut object = file.clone();
            if nvcc::Plan::is_source(arg) && plan.relocatable {
                object = work.file(&format!("{number}.o"));
                let exit = self.run(&plan.compiles(language, file, &object))?;
                if exit.code() != 0 {
                    return Ok(exit);
                }
            }
            let language = if object == *file { language.as_str() } else { "none" };
            args.extend(["-x", language, &object].map(str::to_owned));
        }
        if let Some(object) = self.stub(&inputs(&args), &work)? {
            args.extend(["-x".to_owned(), "none".to_owned(), object]);
        }
        let libraries = self.folder.join("lib64").display().to_string();
        args.extend([format!("-L{libraries}"), "-lcudart".to_owned(), format!("-Wl,-rpath,{libraries}")]);
        args.extend(["-lm", "-ldl", "-lpthread"].map(str::to_owned));
        if args.iter().any(|arg| arg.starts_with("-fopenmp")) {
            // OpenMP's libraries are clang's own, away from where the system looks.
            args.extend(self.clang.libraries().map(|folder| format!("-Wl,-rpath,{}", folder.display())));
        }
        self.run(&args)
    }

    /// The object that tells the runtime of relocatable objects, if there are any.
    fn stub(&self, inputs: &[String], work: &Work) -> Result<Option<String>, Failure> {
        let names = relocatable::registrations(inputs);
        if names.is_empty() {
            return Ok(None);
        }
        let (source, object) = (work.file("link.c"), work.file("link.o"));
        let cannot = |e: std::io::Error| Problem::new(format!("cannot write {source}: {e}"));
        std::fs::write(&source, relocatable::stub(&names)).map_err(cannot)?;
        let exit = self.run(&["-c", "-fPIC", "-x", "c", &source, "-o", &object].map(str::to_owned))?;
        if exit.code() == 0 { Ok(Some(object)) } else { Err(Problem::new("the device code cannot be linked").into()) }
    }

    /// `-dlink`: makes that object only, for a build system that links later.
    fn link_device(&self, plan: &nvcc::Plan) -> Result<Exit, Failure> {
        let work = Work::new("objects")?;
        let output = plan.args.iter().find_map(|arg| match arg {
            nvcc::Arg::Output(file) => Some(file.clone()),
            _ => None,
        });
        let output = output.unwrap_or_else(|| "a_dlink.o".to_owned());
        let source = work.file("link.c");
        let names = relocatable::registrations(&inputs(&plan.line()));
        let cannot = |e: std::io::Error| Problem::new(format!("cannot write {source}: {e}"));
        std::fs::write(&source, relocatable::stub(&names)).map_err(cannot)?;
        self.run(&["-c", "-fPIC", "-x", "c", &source, "-o", &output].map(str::to_owned))
    }
}

/// The files behind `-x none`.
fn inputs(args: &[String]) -> Vec<String> {
    args.windows(3).filter(|w| w[0] == "-x" && w[1] == "none").map(|w| w[2].clone()).collect()
}

/// A folder for what is made on the way, gone in the end.
struct Work(PathBuf);

impl Work {
    fn new(what: &str) -> Result<Self, Problem> {
        let folder = std::env::temp_dir().join(format!("raddle-cc-{what}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| Problem::new(format!("cannot make {}: {e}", folder.display())))?;
        Ok(Self(folder))
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
