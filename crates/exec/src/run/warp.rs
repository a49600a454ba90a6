//! A warp of the functional machine.

use crate::core::{Home, Lanes};
use crate::lanes::LANES;
use crate::splits::Splits;
use std::sync::Arc;

/// A thread per lane.
pub(super) type Homes = Arc<[Home; LANES]>;

/// A warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub(super) row: u32,
    /// First lane of the warp in its row.
    pub(super) base: u32,
    /// A thread per lane, when they are not the row's.
    pub(super) homes: Option<Homes>,
    /// Its parts.
    pub(super) parts: Splits,
}

impl Warp {
    pub(super) fn new(row: u32, base: u32, mask: u32, homes: Option<Homes>) -> Self {
        Self { row, base, homes, parts: Splits::new(mask) }
    }

    /// Whose registers the warp works on, given its own homes (taken out so that the warp may
    /// change meanwhile).
    pub(super) fn lanes(row: u32, homes: Option<&Homes>) -> Lanes<'_> {
        homes.map_or(Lanes::Row(row), |h| Lanes::Gathered(h))
    }
}
