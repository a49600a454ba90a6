//! What others want to know of warps that come, go and move, in the order in which it happened.

use crate::event::EventKind;
use crate::saved;
use crate::seam::{DataAccess, WarpId};
use raddle_ptx::num::fit;

/// What happened to a warp, for its scheduler.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(in super::super) enum Notice {
    /// It came to the SM, or its slot was freed.
    Changed(WarpId, bool),
    /// It came to a barrier, or may leave it.
    Barrier(WarpId, bool),
    /// What a request of it found at the data cache.
    Data(DataAccess),
}

/// Who moved, where warps of neighbouring slots go together.
#[derive(serde::Serialize, serde::Deserialize)]
struct Moved {
    /// Slots of a group.
    group: usize,
    groups: Vec<u16>,
}

/// News of warps.
#[derive(Default)]
pub(in super::super) struct News {
    notices: Vec<Notice>,
    moved: Option<Moved>,
    /// Who is in which warp, if somebody listens.
    told: Option<Vec<EventKind>>,
    /// A fence has ended.
    fence: bool,
    /// Schedulers want to know what requests find at the data cache.
    watches_data: bool,
}

saved!(News { values: notices, moved, fence; fixed: told, watches_data });

impl News {
    /// Says from now on who is in which warp.
    pub(in super::super) fn listen(&mut self) {
        self.told = Some(Vec::new());
    }

    /// Says from now on what requests find at the data cache.
    pub(in super::super) fn watch_data(&mut self) {
        self.watches_data = true;
    }

    /// Whether it does.
    #[inline]
    pub(in super::super) fn watches_data(&self) -> bool {
        self.watches_data
    }

    /// A request of a warp has found something at the data cache, or nothing.
    pub(in super::super) fn data_access(&mut self, access: DataAccess) {
        if self.watches_data {
            self.notice(Notice::Data(access));
        }
    }

    /// Remembers from now on which groups of this many neighbouring slots have a warp that moved.
    pub(in super::super) fn watch_groups(&mut self, slots: usize) {
        self.moved = Some(Moved { group: slots, groups: Vec::new() });
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// A warp has come to a barrier and waits.
    pub(in super::super) fn arrives(&mut self, warp: WarpId) {
        self.notice(Notice::Barrier(warp, true));
    }

    /// A warp leaves a barrier.
    pub(in super::super) fn leaves(&mut self, warp: WarpId) {
        self.notice(Notice::Barrier(warp, false));
    }

    /// A warp may be elsewhere than after its instruction.
    #[inline]
    pub(super) fn moved(&mut self, warp: WarpId) {
        if let Some(Moved { group, groups }) = &mut self.moved {
            let number = fit(warp.index() / *group);
            if groups.last() != Some(&number) {
                groups.push(number);
            }
        }
    }

    /// Where to tell who is in a warp, if somebody listens.
    pub(super) fn listeners(&mut self) -> Option<&mut Vec<EventKind>> {
        self.told.as_mut()
    }

    #[inline]
    pub(super) fn fence_ended(&mut self) {
        self.fence = true;
    }

    /// Whether something happened that schedulers want to know.
    #[inline]
    pub(in super::super) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// What happened to warps, for their schedulers.
    pub(in super::super) fn take_notices(&mut self) -> impl Iterator<Item = Notice> + '_ {
        self.notices.drain(..)
    }

    /// Who is in which warp, for those who listen.
    pub(in super::super) fn take_told(&mut self) -> impl Iterator<Item = EventKind> + '_ {
        self.told.iter_mut().flat_map(|told| told.drain(..))
    }

    /// A group of neighbouring slots with a warp that moved.
    pub(in super::super) fn take_moved(&mut self) -> Option<usize> {
        self.moved.as_mut()?.groups.pop().map(usize::from)
    }

    /// Whether a fence has ended; it is asked once.
    #[inline]
    pub(in super::super) fn take_fence(&mut self) -> bool {
        std::mem::take(&mut self.fence)
    }
}
