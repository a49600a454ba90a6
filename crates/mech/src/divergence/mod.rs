//! Divergence models.

mod block;
mod pool;
mod warps;

mechanisms! { divergence {
    pdom Pdom,
    dwf Dwf,
    tbc Tbc,
    its Its,
} and {
    pdom_lcp Pdom::with_likely_convergence,
    dwf_wb Dwf::with_warp_barriers,
    tbc_lcp Tbc::with_likely_convergence,
} }
