//! CUDA files where PTX files can be: device code compiled, and then as PTX.

use crate::exec::library;
use raddle_cuda::clang::Clang;
use raddle_cuda::{names, nvcc};
use raddle_runtime::{Error, Plan, Problem, PtxFile};
use std::path::Path;

/// Compiles the kernels of a file.
pub fn compile(path: &Path) -> Result<PtxFile, Error> {
    compile_in(None, path)
}

/// The same for a file in a folder that is not named in errors and listings, such as a temporary one.
pub fn compile_in(folder: Option<&Path>, path: &Path) -> Result<PtxFile, Error> {
    let clang = Clang::find()?;
    let toolkit = library::toolkit_for_kernels(&clang)?;
    let file = path.display().to_string();
    let plan = nvcc::translate(&["-ptx", "-lineinfo", &file, "-o", "-"].map(str::to_owned))?;
    let mut command = clang.command();
    command.arg(format!("--cuda-path={}", toolkit.display())).args(["-Wno-unknown-cuda-version"]).args(plan.line());
    if let Some(folder) = folder {
        command.arg(format!("-fdebug-prefix-map={}=", folder.display())).current_dir(folder);
    }
    let cannot = |e| Problem::new(format!("cannot run {}: {e}", clang.path.display()));
    let output = command.output().map_err(cannot)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Problem::new(format!("{file} does not compile:\n{}", text.trim_end())).into());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    PtxFile::parse(&format!("{file} (as PTX)"), text)
}

/// The module of a launch file, in PTX or CUDA. Launches may call the kernels of a CUDA file as its source does.
pub fn module(plan: &mut Plan) -> Result<PtxFile, Error> {
    if plan.module.extension().is_none_or(|ending| ending != "cu") {
        return PtxFile::read(&plan.module);
    }
    let ptx = compile(&plan.module)?;
    for name in plan.launches_mut().filter_map(|launch| launch.kernel.as_mut()) {
        *name = kernel(&ptx, name);
    }
    Ok(ptx)
}

/// The kernel that is meant by a name as it stands in the source; other names stay as they are.
pub fn kernel(ptx: &PtxFile, name: &str) -> String {
    let kernels: Vec<&str> = ptx.module.kernels().map(|(_, f)| f.name.as_str()).collect();
    if kernels.contains(&name) {
        return name.to_owned();
    }
    let mut found = kernels.iter().filter(|kernel| names::short(kernel) == name);
    match (found.next(), found.next()) {
        (Some(one), None) => (*one).to_owned(),
        _ => name.to_owned(),
    }
}
