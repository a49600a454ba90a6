//! Mechanisms, one file each, and the registry of all of them.
//!
//! A mechanism's file has its documentation, its parameters, what it is registered with and its behaviour. Adding one is
//! a file and a line in the `mod.rs` beside it.
#![forbid(unsafe_code)]

/// The mechanisms of a seam, a line each: the file, which is named after the mechanism, and the type; and those that are
/// made by another function of such a type. `cargo fmt` does not see files that a macro names; `cargo xtask fmt` does.
macro_rules! mechanisms {
    ($seam:ident { $($file:ident $Type:ident,)+ } $(and { $($variant:ident $Of:ident::$make:ident,)+ })?) => {
        $(
            mod $file;
            pub use $file::$Type;
        )+
        $($(mod $variant;)+)?

        /// Adds all of them.
        pub fn register(registry: &mut raddle_sim::seam::Registry) {
            $(registry.$seam($file::INFO, $Type::new);)+
            $($(registry.$seam($variant::INFO, $Of::$make);)+)?
        }
    };
}

pub mod area;
pub mod cost;
pub mod dispatch;
pub mod divergence;
pub mod fetch;
pub mod ganging;
pub mod gating;
pub mod issue;
pub mod logical_blocks;

#[cfg(test)]
mod extremes;

use raddle_sim::seam::{Registry, Seam};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every mechanism of this crate.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    divergence::register(&mut registry);
    issue::register(&mut registry);
    fetch::register(&mut registry);
    dispatch::register(&mut registry);
    ganging::register(&mut registry);
    gating::register(&mut registry);
    gating::require(&mut registry);
    logical_blocks::register(&mut registry);
    registry.mark_built_in();
    // Gangs that memory splits were left whole while their SM slept.
    registry.revise(Seam::Ganging, "vws", 2);
    registry
}

/// No parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}
