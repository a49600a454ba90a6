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

pub use folding::{Clusters, FoldingConfig, Wake};
pub use pipelines::ByPipeline;
pub use power::{Power, Times, lanes_of};
