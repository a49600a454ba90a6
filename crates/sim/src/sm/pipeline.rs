//! One pipeline for arithmetic and memory instructions (`sm.units.unified`): when it takes the next one.

use super::{Build, Sm};
use crate::packet::Cycle;
use crate::seam::Cause;

/// The pipeline that all instructions of an SM enter.
#[derive(Default)]
pub(super) struct UnifiedPipeline {
    /// When the last warp that issued has entered it with all its lanes.
    pub(super) free_at: Cycle,
}

impl UnifiedPipeline {
    /// When it takes the next instruction, if that is still to come.
    pub(super) fn next_event(&self, now: Cycle) -> Option<Cycle> {
        (self.free_at > now).then_some(self.free_at)
    }
}

impl<B: Build> Sm<'_, B> {
    /// Whether a memory instruction occupies the one pipeline: it hands out its requests, or is about to.
    #[inline]
    pub(super) fn memory_is_in_the_way(&self) -> bool {
        self.is_unified() && (self.ldst.is_occupied() || self.slices.has_memory())
    }

    /// Whether an instruction may issue as far as the one pipeline is concerned; always, where units have their own.
    #[inline]
    pub(super) fn pipeline_is_open(&self, now: Cycle) -> bool {
        let free = |pipeline: &UnifiedPipeline| pipeline.free_at <= now && !self.memory_is_in_the_way();
        B::PLAIN || self.pipeline.as_ref().is_none_or(free)
    }

    /// Why a ready warp cannot enter the one pipeline.
    pub(super) fn pipeline_cause(&self) -> Cause {
        match self.memory_is_in_the_way() {
            true if self.ldst.is_stalled() => Cause::BackPressure,
            true => Cause::UnitMem,
            false => Cause::UnitSp,
        }
    }
}
