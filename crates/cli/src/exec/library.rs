//! Where the library is that programs call.

use raddle_cuda::clang::Clang;
use raddle_cuda::toolkit;
use raddle_runtime::Problem;
use std::path::{Path, PathBuf};

/// The name under which it is built.
const FILE: &str = "libcudart.so";

/// The library itself, where this program carries it: see the build script.
const EMBEDDED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Its file: the one inside this program, or the one that was built with it.
pub fn file() -> Result<PathBuf, Problem> {
    if let Some(bytes) = EMBEDDED {
        return extracted(bytes);
    }
    let program = std::env::current_exe().map_err(|e| Problem::new(format!("cannot find this program: {e}")))?;
    let folders = program.ancestors().skip(1).take(2).flat_map(|folder| [folder.to_owned(), folder.join("deps")]);
    let found = folders.map(|folder| folder.join(FILE)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Problem::new(format!("there is no {FILE} beside this program, which CUDA programs need"))
            .help("build it with: cargo build --release -p raddle-cudart")
    })
}

/// The library inside this program as a file.
fn extracted(bytes: &[u8]) -> Result<PathBuf, Problem> {
    let folder = toolkit::cache()?.join(format!("library-{}", toolkit::digest(bytes)));
    let file = folder.join(FILE);
    if !file.is_file() {
        let cannot = |e: std::io::Error| Problem::new(format!("cannot write {}: {e}", file.display()));
        std::fs::create_dir_all(&folder).map_err(cannot)?;
        let new = folder.join(format!("{FILE}.{}", std::process::id()));
        std::fs::write(&new, bytes).map_err(cannot)?;
        std::fs::rename(&new, &file).map_err(cannot)?;
    }
    Ok(file)
}

/// A folder in which programs find it under all its names.
pub fn folder() -> Result<PathBuf, Problem> {
    let file = file()?;
    let name = toolkit::digest(file.display().to_string().as_bytes());
    let folder = toolkit::cache()?.join(format!("lib-{name}"));
    toolkit::write_libraries(&folder, &file)
        .map_err(|e| Problem::new(format!("cannot write {}: {e}", folder.display())))?;
    Ok(folder)
}

/// The variable that names the program where another one, such as Python, has this one inside.
const PROGRAM_VARIABLE: &str = "RADDLE_PROGRAM";

/// This program, which the tools of a toolkit call.
pub fn program() -> Result<PathBuf, Problem> {
    if let Some(path) = std::env::var_os(PROGRAM_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    std::env::current_exe().map_err(|e| Problem::new(format!("cannot find this program: {e}")))
}

/// The toolkit of this user.
pub fn toolkit(clang: &Clang) -> Result<PathBuf, Problem> {
    toolkit_with(&file()?, clang)
}

/// A toolkit to compile kernels with; programs can be linked with it only where the library is there.
pub fn toolkit_for_kernels(clang: &Clang) -> Result<PathBuf, Problem> {
    toolkit_with(&file().unwrap_or_else(|_| PathBuf::from(FILE)), clang)
}

fn toolkit_with(library: &Path, clang: &Clang) -> Result<PathBuf, Problem> {
    toolkit::cached(&toolkit::Parts { raddle: &program()?, library, clang })
}
