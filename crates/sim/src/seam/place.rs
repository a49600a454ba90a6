//! What a warp could do next, or why it cannot.

use super::Cause;
use crate::kernel::UnitKind;

/// What a warp could do next, or why it cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Place {
    /// Not in use.
    #[default]
    Free,
    /// Can issue to the SPs.
    ReadySp,
    /// Can issue to the SFU.
    ReadySfu,
    /// Can issue to the load-store unit.
    ReadyMem,
    /// Can issue to the tensor cores.
    ReadyTensor,
    /// Can issue to the pipelines of double precision.
    ReadyDp,
    /// Can issue to the pipelines for integers.
    ReadyInt,
    /// Its decoded instruction is not the one it is at.
    Hazard,
    /// Waits for a register from memory.
    MemoryDependence,
    /// Waits for a register from an arithmetic unit, or for the instruction before it.
    ArithmeticDependence,
    /// Has no decoded instruction, because what was fetched was from elsewhere.
    Redirected,
    /// Has no decoded instruction.
    Starved,
    /// At a fence, or waiting for atomics.
    Fence,
    /// Held by a mechanism.
    Held,
    /// Waiting for its next logical block, or, before using shared memory, for siblings in the previous one.
    Sibling,
    /// At a barrier, or waiting for lanes of its warp.
    Barrier,
    /// Ended, with something of it still in flight.
    Ended,
    /// Ended, with nothing in flight.
    Drained,
}

impl Place {
    /// Those that a warp may leave when an instruction ends.
    pub(crate) const WAITS_FOR_RESULTS: [Self; 4] =
        [Self::MemoryDependence, Self::ArithmeticDependence, Self::Fence, Self::Ended];

    /// Why a slot is empty if no warp of its scheduler is further than this; `None` if a warp is ready, or there is no
    /// warp.
    #[must_use]
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::Free => None,
            Self::ReadySp | Self::ReadySfu | Self::ReadyMem | Self::ReadyTensor | Self::ReadyDp | Self::ReadyInt => {
                None
            }
            Self::Hazard | Self::Redirected => Some(Cause::WrongPath),
            Self::MemoryDependence => Some(Cause::MemoryDependence),
            Self::ArithmeticDependence => Some(Cause::ArithmeticDependence),
            Self::Starved => Some(Cause::NotFetched),
            Self::Fence => Some(Cause::Fence),
            Self::Held => Some(Cause::Mechanism),
            Self::Sibling => Some(Cause::Sibling),
            Self::Barrier => Some(Cause::Barrier),
            Self::Ended | Self::Drained => Some(Cause::Draining),
        }
    }

    /// Ready to issue to a unit.
    #[inline]
    #[must_use]
    pub fn ready(unit: UnitKind) -> Self {
        match unit {
            UnitKind::Sp => Self::ReadySp,
            UnitKind::Sfu => Self::ReadySfu,
            UnitKind::Mem => Self::ReadyMem,
            UnitKind::Tensor => Self::ReadyTensor,
            UnitKind::Dp => Self::ReadyDp,
            UnitKind::Int => Self::ReadyInt,
        }
    }

    /// Whether it can issue, if its unit accepts an instruction.
    #[inline]
    #[must_use]
    pub fn is_ready(self) -> bool {
        matches!(
            self,
            Self::ReadySp | Self::ReadySfu | Self::ReadyMem | Self::ReadyTensor | Self::ReadyDp | Self::ReadyInt
        )
    }

    /// Whether a warp may leave it when an instruction ends.
    #[inline]
    #[must_use]
    pub fn waits_for_results(self) -> bool {
        Self::WAITS_FOR_RESULTS.contains(&self)
    }

    /// Whether schedulers see it as waiting: at a barrier, at a fence, held, or ended.
    #[inline]
    #[must_use]
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Fence | Self::Held | Self::Sibling | Self::Barrier | Self::Ended | Self::Drained)
    }
}
