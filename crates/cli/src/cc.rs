//! `raddle cc` and `raddle toolkit`: CUDA programs compiled with clang; and the tools that clang and build systems call.

use crate::exec::library;
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_cuda::clang::Clang;
use raddle_cuda::{nvcc, toolkit, tools};
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
Compiles CUDA C++ with clang, free headers and libclc; nothing of the vendor's is needed. Options are those of
nvcc (-arch, -Xcompiler, -rdc=true, ...) or of clang (-O3, -I, -l, ...). Kernels are compiled for sm_70 if
nothing is said. The program runs with `raddle exec`, and by itself.

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
The folder looks like a CUDA toolkit: bin/nvcc, include, lib64, nvvm. Makefiles, CMake and clang find there
what they look for. It calls this program, which has to stay where it is.

Examples:
  raddle toolkit cuda
  make NVCC=$PWD/cuda/bin/nvcc CUDA_DIR=$PWD/cuda
  clang++-19 --cuda-path=cuda --cuda-gpu-arch=sm_70 saxpy.cu -o saxpy -Lcuda/lib64 -lcudart
  cmake -S . -B build -DCMAKE_CUDA_COMPILER=$PWD/cuda/bin/nvcc";

#[derive(clap::Args)]
pub struct ToolArgs {
    /// Which
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

/// What nvcc says of itself; build systems read the release.
fn version_text() -> String {
    let release = toolkit::VERSION;
    format!(
        "nvcc: compiles CUDA C++ with clang, part of Raddle {}\nCuda compilation tools, release {release}, V{release}.0\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn compile(args: &[String], folder: Option<&Path>) -> Result<Exit, Failure> {
    let plan = nvcc::translate(args)?;
    if plan.version {
        out::data(&version_text())?;
        return Ok(Exit::Good);
    }
    if let Some(option) = plan.refused {
        return Err(Problem::new(format!("{option} makes what only the vendor's tools can"))
            .help("PTX is made by -ptx")
            .into());
    }
    let clang = Clang::find()?;
    let folder = folder.map_or_else(|| library::toolkit(&clang), |folder| Ok(folder.to_owned()))?;
    let mut command = clang.command();
    command.arg(format!("--cuda-path={}", folder.display())).args(["-Wno-unknown-cuda-version", "-std=gnu++17"]);
    command.args(&plan.args);
    command.arg("-idirafter").arg(folder.join("include"));
    if plan.links {
        let libraries = folder.join("lib64");
        command
            .arg(format!("-L{}", libraries.display()))
            .arg("-lcudart")
            .arg(format!("-Wl,-rpath,{}", libraries.display()));
        command.args(["-lm", "-ldl", "-lpthread"]);
    }
    if plan.dry_run {
        out::data(&format!("{command:?}\n"))?;
        return Ok(Exit::Good);
    }
    let status = command.status().map_err(|e| Problem::new(format!("cannot run {}: {e}", clang.path.display())))?;
    Ok(Exit::Program(status.code().map_or(1, |code| code as u8)))
}
