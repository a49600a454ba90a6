//! Dynamic warp formation with warp barriers.
//!
//! # What it models
//! Static warps stay whole until they diverge. A branch at which a whole one diverges sets up a warp barrier at its
//! immediate post-dominator. Until then its threads form warps with others as under `dwf`; those that come to their
//! barrier leave the warp they are in and wait there, and when all threads of the static warp are there, it is whole
//! again. So threads that fall behind do so between a divergence and its post-dominator only, and what a program may
//! assume of a warp outside of divergent code holds.
//!
//! # Source
//! TBC paper (HPCA 2011), section 2.4.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! As for `dwf`. Where a branch has no post-dominator, its threads are free until they end. Of warp-wide operations only
//! `bar.warp.sync` of all threads of a warp is allowed; those that have ended are not waited for.
//!
//! # Counters
//! As for `dwf`.

use super::dwf;
use raddle_sim::seam::MechanismInfo;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    name: "dwf-wb",
    summary: "dynamic warp formation; static warps are whole again behind their divergent code",
    source: "TBC paper (HPCA 2011), section 2.4",
    ..dwf::INFO
};
