//! Dynamic warp formation with warp barriers.
//!
//! # What it models
//! Static warps stay whole until they diverge. When a whole static warp diverges at a branch, the model sets up a warp
//! barrier at the branch's immediate post-dominator. Until they reach that barrier, the threads form warps with other
//! threads as under `dwf`. A thread that reaches its barrier leaves its warp and waits. When all threads of the static
//! warp have arrived, the static warp is whole again. So threads can fall behind only between a divergence and its
//! post-dominator. Outside divergent code, a program may rely on whole warps.
//!
//! # Source
//! TBC paper (HPCA 2011), section 2.4.
//!
//! # Parameters
//! None.
//!
//! # Simplifications
//! As for `dwf`. After a branch without a post-dominator, threads stay free until they end. The only warp-wide
//! operation allowed is `bar.warp.sync` for all threads of a warp; it does not wait for threads that have ended.
//!
//! # Counters
//! As for `dwf`.

use super::dwf;
use raddle_sim::seam::MechanismInfo;

pub(super) const INFO: MechanismInfo = MechanismInfo {
    name: "dwf-wb",
    summary: "dynamic warp formation that makes static warps whole again after divergent code",
    source: "TBC paper (HPCA 2011), section 2.4",
    ..dwf::INFO
};
