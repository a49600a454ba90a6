//! Reconvergence at the immediate post-dominator, and before it where that is likely.
//!
//! # What it models
//! The per-warp stack of `pdom` with likely-convergence points. A `break` moves the post-dominator of the branches
//! around it behind the loop, although most lanes still meet where the loop goes round. A warp that parts at such a
//! branch gets a further stack entry at that place. Parts that come by are taken off the stack and merged into it; it
//! runs when nothing is left above it. Lanes that never come by go on to the post-dominator as before.
//!
//! # Source
//! TBC paper (HPCA 2011), section 4. As there, the likely-convergence point of a branch is the block that ends in the
//! closest enclosing backward branch; a branch whose post-dominator is inside that loop has none.
//!
//! # Parameters
//! Which side of a branch runs first.
//!
//! # Simplifications
//! As in `pdom`. When all parts above wait at a barrier, the entry at the likely-convergence point runs without them,
//! and those who come later go on by themselves.
//!
//! # Counters
//! `divergent_branches`, and the buckets `issued_*` by active lanes.

use super::pdom;
use raddle_sim::seam::MechanismInfo;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    name: "pdom-lcp",
    summary: "per-warp reconvergence stack with likely-convergence points before the post-dominator",
    source: "TBC paper (HPCA 2011), section 4",
    ..pdom::INFO
};
