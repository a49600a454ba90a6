//! Reconvergence at the immediate post-dominator, and earlier at likely-convergence points.
//!
//! # What it models
//! The per-warp stack of `pdom`, with likely-convergence points. A `break` moves the post-dominator of the branches
//! around it to a place after the loop, although most lanes still reach the loop's backward branch together. When a
//! warp diverges at such a branch, its stack gets an extra entry for that place. A split that reaches the place is
//! taken off the stack and merged into the entry. The entry runs when nothing is left above it. Lanes that never reach
//! the place continue to the post-dominator as before.
//!
//! # Source
//! TBC paper (HPCA 2011), section 4. As there, the likely-convergence point of a branch is the block that ends in the
//! closest enclosing backward branch. A branch whose post-dominator is inside that loop has none.
//!
//! # Parameters
//! Which side of a branch runs first.
//!
//! # Simplifications
//! As in `pdom`. When all splits above it wait at a barrier, the entry at the likely-convergence point runs without
//! them. Lanes that arrive there later continue on their own.
//!
//! # Counters
//! `divergent_branches`, and `issued_*` by active lanes.

use super::pdom;
use raddle_sim::seam::MechanismInfo;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    name: "pdom-lcp",
    summary: "per-warp reconvergence stack with likely-convergence points before the post-dominator",
    source: "TBC paper (HPCA 2011), section 4",
    ..pdom::INFO
};
