//! A profile as one page that works without a network.

use super::{Profiled, data};
use raddle_lab::svg::script_json;
use raddle_sim::seam::Cause;
use serde_json::{Map, Value, json};

/// Styles, script and the place of the data.
const PAGE: &str = include_str!("page.html");
/// Where the data goes.
const DATA: &str = "/*DATA*/";

/// The page.
pub fn page(profiled: &Profiled) -> String {
    let Profiled { kernels, about, .. } = profiled;
    let mut all = data::kernels(profiled);
    let (mut files, mut texts) = (Map::new(), Vec::new());
    for (kernel, value) in kernels.iter().zip(&mut all) {
        // Kernels of one file share its text.
        let text = json!(kernel.sources.ptx_lines());
        let at = texts.iter().position(|known| *known == text).unwrap_or(texts.len());
        if at == texts.len() {
            texts.push(text);
        }
        value["ptx_text"] = at.into();
        for file in kernel.profile.lines.iter().filter_map(|line| line.line.file.as_ref()) {
            if let Some(lines) = kernel.sources.file(file) {
                files.insert(file.clone(), lines.into());
            }
        }
    }
    let stalls = Cause::ALL.iter().filter(|cause| **cause != Cause::NoWarpResident);
    let stalls = stalls.map(|cause| json!({"key": cause.name(), "name": cause.text()}));
    let issued = json!({"key": "issued", "name": "with an instruction"});
    let causes: Vec<Value> = std::iter::once(issued).chain(stalls).collect();
    let data = json!({"about": about, "causes": causes, "kernels": all, "files": files, "ptx": texts});
    PAGE.replace(DATA, &script_json(&data))
}
