//! What several tests need.

use raddle_sim::seam::Seam;

/// Every divergence model, each with the scheduler its paper has it with.
pub fn models() -> Vec<(&'static str, &'static str)> {
    let registry = raddle_mech::registry();
    let names = registry.iter().filter(|m| m.info.seam == Seam::Divergence).map(|m| m.info.name);
    let scheduler = |name: &str| match name {
        "dwf" | "dwf-wb" => "majority",
        "tbc" | "tbc-lcp" => "by-block",
        _ => "lrr",
    };
    names.map(|name| (name, scheduler(name))).collect()
}
