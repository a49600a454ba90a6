//! A folder that looks like a CUDA toolkit, for compilers and build systems that want one.

use crate::clang::Clang;
use raddle_runtime::Problem;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names, from the top of the folder, and texts of the files that are the same everywhere.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
/// The version of CUDA whose interface the headers have.
pub const VERSION: &str = "12.3";
/// Programs in `bin`, each a call of `raddle`.
const TOOLS: [&str; 3] = ["nvcc", "ptxas", "fatbinary"];
/// Under which names programs look for the runtime library, and for the driver's.
const RUNTIME: [&str; 4] = ["libcudart.so", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"];
const DRIVER: [&str; 2] = ["libcuda.so", "libcuda.so.1"];

/// What a toolkit is made from.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The program `raddle`, which the tools call.
    pub raddle: &'a Path,
    /// The runtime library.
    pub library: &'a Path,
    /// The compiler.
    pub clang: &'a Clang,
}

/// Writes a toolkit into a folder, which is made if there is none.
///
/// # Errors
/// When the folder cannot be written, or the device library not be made.
pub fn write(folder: &Path, parts: &Parts<'_>) -> Result<(), Problem> {
    write_files(folder, parts).map_err(|e| Problem::new(format!("cannot write {}: {e}", folder.display())))?;
    let library = folder.join("nvvm/libdevice/libdevice.10.bc");
    parts.clang.device_library(&folder.join("device/libdevice.cpp"), &library)
}

fn write_files(folder: &Path, parts: &Parts<'_>) -> io::Result<()> {
    for part in ["bin", "include", "lib64/stubs", "nvvm/libdevice", "device"] {
        fs::create_dir_all(folder.join(part))?;
    }
    for (name, text) in FILES {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    for tool in TOOLS {
        let toolkit = "RADDLE_TOOLKIT=\"$(dirname \"$(dirname \"$(readlink -f \"$0\")\")\")\"";
        let script = format!(
            "#!/bin/sh\n{toolkit}\nexport RADDLE_TOOLKIT\nexec '{}' tool {tool} \"$@\"\n",
            quoted(parts.raddle)
        );
        write_program(&folder.join("bin").join(tool), &script)?;
    }
    let json = format!("{{\n  \"cuda\": {{ \"name\": \"Raddle\", \"version\": \"{VERSION}.0\" }}\n}}\n");
    fs::write(folder.join("version.json"), json)?;
    fs::write(folder.join("version.txt"), format!("CUDA Version {VERSION}.0\n"))?;
    let libraries = folder.join("lib64");
    write_libraries(&libraries, parts.library)?;
    replace(&libraries.join("stubs/libcuda.so"), |path| link(parts.library, path))?;
    // What is linked statically elsewhere is the same library here; and there is nothing in the device runtime.
    fs::write(libraries.join("libcudart_static.a"), "INPUT(-lcudart)\n")?;
    fs::write(libraries.join("libcudadevrt.a"), "!<arch>\n")?;
    // Their headers hold all there is of them.
    for name in ["libcublas.so", "libcublasLt.so"] {
        fs::write(libraries.join(name), "INPUT(-lcudart)\n")?;
    }
    replace(&folder.join("lib"), |path| link(Path::new("lib64"), path))
}

/// Gives the library all names under which programs look for it.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_libraries(folder: &Path, library: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for name in RUNTIME.iter().chain(&DRIVER) {
        let path = folder.join(name);
        // Another process may be looking at it.
        if fs::read_link(&path).ok().as_deref() != Some(library) {
            replace(&path, |path| link(library, path))?;
        }
    }
    Ok(())
}

/// A short name for what programs are compiled with: headers and the device library.
#[must_use]
pub fn version() -> String {
    let all: Vec<&[u8]> = FILES.iter().flat_map(|(name, text)| [name.as_bytes(), b"\0", text.as_bytes()]).collect();
    digest(&all.concat())
}

/// A short name for contents.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// A path inside quotes of the shell.
fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\'', r"'\''")
}

fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    make(path)
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn link(to: &Path, path: &Path) -> io::Result<()> {
    fs::copy(to, path).map(drop)
}

fn write_program(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// The toolkit of this user for this version of everything, made at first use.
///
/// # Errors
/// When it cannot be made.
pub fn cached(parts: &Parts<'_>) -> Result<PathBuf, Problem> {
    let mut hash = blake3::Hasher::new();
    for (name, text) in FILES {
        hash.update(name.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
    }
    let Parts { raddle, library, clang } = parts;
    hash.update(format!("{} {} {clang:?}", raddle.display(), library.display()).as_bytes());
    let folder = cache()?.join(format!("toolkit-{}", &hash.finalize().to_hex()[..16]));
    if folder.join("nvvm/libdevice/libdevice.10.bc").is_file() {
        return Ok(folder);
    }
    // Two that come at the same time each make one, and one of them is taken.
    let new = folder.with_extension(std::process::id().to_string());
    if let Err(problem) = write(&new, parts) {
        let _ = fs::remove_dir_all(&new);
        return Err(problem);
    }
    let moved = fs::rename(&new, &folder);
    if moved.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Problem::new(format!("cannot make {}", folder.display()))),
    }
}

/// Where this user's programs keep what they can make again.
///
/// # Errors
/// When there is no home.
pub fn cache() -> Result<PathBuf, Problem> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".cache"));
    let found = variable("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("raddle"));
    let folder = found.ok_or_else(|| {
        Problem::new("there is no folder for what is compiled once").help("set HOME or XDG_CACHE_HOME")
    })?;
    fs::create_dir_all(&folder).map_err(|e| Problem::new(format!("cannot make {}: {e}", folder.display())))?;
    Ok(folder)
}
