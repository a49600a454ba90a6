//! The seams by name, and their keys in machine files.

use crate::config::{Choice, MechanismConfig};

/// The seams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seam {
    /// Which threads form a warp.
    Divergence,
    /// Which warp issues.
    Issue,
    /// For which warp instructions are fetched.
    Fetch,
    /// Which block goes to which SM.
    Dispatch,
    /// Which warps of different slices issue in lockstep.
    Ganging,
    /// Which lanes are powered.
    Gating,
    /// When a warp of a virtual block takes its next logical block, and which of its warps it becomes.
    LogicalBlocks,
}

impl Seam {
    /// All seams.
    pub const ALL: [Self; 7] =
        [Self::Divergence, Self::Issue, Self::Fetch, Self::Dispatch, Self::Ganging, Self::Gating, Self::LogicalBlocks];

    /// The key under `mechanism` in a machine file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Divergence => "divergence",
            Self::Issue => "issue",
            Self::Fetch => "fetch",
            Self::Dispatch => "dispatch",
            Self::Ganging => "ganging",
            Self::Gating => "gating",
            Self::LogicalBlocks => "logical_blocks",
        }
    }

    /// The mechanism that a machine has in this seam.
    #[must_use]
    pub fn choice(self, config: &MechanismConfig) -> &Choice {
        match self {
            Self::Divergence => &config.divergence,
            Self::Issue => &config.issue,
            Self::Fetch => &config.fetch,
            Self::Dispatch => &config.dispatch,
            Self::Ganging => &config.ganging,
            Self::Gating => &config.gating,
            Self::LogicalBlocks => &config.logical_blocks,
        }
    }
}
