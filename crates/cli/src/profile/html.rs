//! A profile as one page that works without a network.

use super::{cause_name, kernel_json};
use crate::sources::Sources;
use raddle_cuda::names;
use raddle_runtime::profile::KernelProfile;
use raddle_sim::seam::Cause;
use serde_json::{Map, Value, json};

/// Styles, script and the place of the data.
const PAGE: &str = include_str!("page.html");
/// Where the data goes.
const DATA: &str = "/*DATA*/";

/// The page; `about` says what was run.
pub fn page(kernels: &[KernelProfile], sources: &Sources<'_>, about: &str) -> String {
    let all: Vec<Value> = kernels
        .iter()
        .map(|kernel| {
            let mut value = kernel_json(kernel, sources);
            value["name"] = names::short(&kernel.kernel).into();
            value
        })
        .collect();
    let mut files = Map::new();
    for file in kernels.iter().flat_map(|kernel| &kernel.lines).filter_map(|line| line.line.file.as_ref()) {
        if let Some(lines) = sources.file(file) {
            files.insert(file.clone(), lines.into());
        }
    }
    let stalls = Cause::ALL.iter().filter(|cause| **cause != Cause::NoWarp);
    let stalls = stalls.map(|cause| json!({"key": cause.name(), "name": cause_name(*cause)}));
    let issued = json!({"key": "issued", "name": "with an instruction"});
    let causes: Vec<Value> = std::iter::once(issued).chain(stalls).collect();
    let data = json!({"about": about, "causes": causes, "kernels": all, "files": files, "ptx": sources.ptx_lines()});
    // Nothing in the data may end the element it is in.
    PAGE.replace(DATA, &data.to_string().replace("</", "<\\/").replace("<!--", "<\\!--"))
}
