//! Thread block compaction with likely-convergence points.
//!
//! # What it models
//! The block-wide stack of `tbc` with the likely-convergence points of `pdom-lcp`. Threads that diverge inside a loop
//! with a `break` are gathered at the loop's backward branch and compacted there.
//!
//! # Source
//! Fung and Aamodt, HPCA 2011 (the TBC paper), sections 3 and 4. The results of the paper call this TBC.
//!
//! # Parameters
//! As for `tbc`.
//!
//! # Simplifications
//! As for `tbc` and `pdom-lcp`.
//!
//! # Counters
//! As for `tbc`.

use super::tbc;
use raddle_sim::seam::MechanismInfo;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    name: "tbc-lcp",
    summary: "thread block compaction with likely-convergence points before the post-dominator",
    source: "TBC paper (HPCA 2011), sections 3 and 4",
    ..tbc::INFO
};
