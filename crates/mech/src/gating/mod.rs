//! Gating schemes.

mechanisms! { gating {
    none NoGating,
    watch Watch,
    folding Folding,
} and {
    conventional ByPipeline::conventional,
    blackout ByPipeline::blackout,
} }

mod pipelines;
mod power;
#[cfg(test)]
mod tests;

/// Says which machines schemes work on.
pub(crate) fn require(registry: &mut raddle_sim::seam::Registry) {
    registry.require(folding::INFO.seam, folding::INFO.name, folding::fits);
}

pub use folding::{Clusters, FoldingConfig, Wake};
pub use pipelines::ByPipeline;
pub use power::{Power, Times, lanes_of};
