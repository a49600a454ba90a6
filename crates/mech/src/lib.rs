//! Mechanisms, one file each, and the registry of all of them.
//!
//! A mechanism's file has its documentation, its parameters, its registration and its behaviour. Adding one is a
//! file and two lines in the `mod.rs` beside it.
#![forbid(unsafe_code)]

pub mod dispatch;
pub mod divergence;
pub mod fetch;
pub mod gating;
pub mod issue;

use raddle_sim::seam::Registry;
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
    gating::register(&mut registry);
    registry
}

/// No parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}
