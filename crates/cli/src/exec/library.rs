//! Where the library is that programs call.

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

/// This program, which the tools of a toolkit call.
pub fn program() -> Result<PathBuf, Problem> {
    std::env::current_exe().map_err(|e| Problem::new(format!("cannot find this program: {e}")))
}

/// The toolkit of this user.
pub fn toolkit(clang: &raddle_cuda::clang::Clang) -> Result<PathBuf, Problem> {
    let (raddle, library) = (program()?, file()?);
    toolkit::cached(&toolkit::Parts { raddle: &raddle, library: Path::new(&library), clang })
}
