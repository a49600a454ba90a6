//! The front end of a warp slot: decoded instructions, and what it has outstanding.

/// Decoded instructions a warp can hold at most.
pub const MAX_IBUFFER: u8 = 8;

/// It has issued a fence that is not done.
const FENCE: u32 = 1 << 30;

/// It continues after its fence or atomic when that is done.
const STAYS: u32 = 1 << 31;

/// The front end of a warp slot, and what it has outstanding.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Front {
    buffer: [u32; MAX_IBUFFER as usize],
    head: u8,
    len: u8,
    /// Where the next fetch goes.
    pub next_pc: u32,
    /// An instruction fetch is outstanding, or the fetched instructions are being decoded.
    pub fetching: bool,
    /// The outstanding fetch is of a path that the warp has left: it is dropped when it arrives.
    stale: bool,
    /// Instructions issued and not finished.
    pub in_flight: u32,
    /// The last one issued went to the load-store unit.
    pub last_is_memory: bool,
    /// Store acknowledgements to come.
    pub stores: u32,
    /// Atomic replies to come, and the marks [`FENCE`] and [`STAYS`]: nothing, for most warps at most times.
    ordered: u32,
    /// Its decoded instructions were dropped, and new ones have not come.
    pub redirected: bool,
}

impl Front {
    /// The first decoded instruction.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<u32> {
        (self.len > 0).then(|| self.buffer[usize::from(self.head % MAX_IBUFFER)])
    }

    /// Decoded instructions.
    #[inline]
    #[must_use]
    pub fn decoded(&self) -> u32 {
        u32::from(self.len)
    }

    /// Takes the first one.
    #[inline]
    pub fn pop(&mut self) {
        if self.len > 0 {
            self.head = (self.head + 1) % MAX_IBUFFER;
            self.len -= 1;
        }
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, pc: u32) {
        self.redirected = false;
        self.buffer[usize::from((self.head + self.len) % MAX_IBUFFER)] = pc;
        self.len += 1;
    }

    /// Whether the outstanding fetch is of a path that the warp has left.
    #[inline]
    #[must_use]
    pub fn fetches_stale(&self) -> bool {
        self.stale
    }

    /// The outstanding fetch, if any, is to be dropped when it arrives.
    pub fn drop_fetch(&mut self) {
        self.stale = self.fetching;
    }

    /// The outstanding fetch has arrived; whether it is to be dropped.
    #[inline]
    pub fn end_fetch(&mut self) -> bool {
        self.fetching = false;
        std::mem::take(&mut self.stale)
    }

    /// Drops all; the next fetch goes to `pc`.
    pub fn flush(&mut self, pc: u32) {
        self.redirected = true;
        self.len = 0;
        self.next_pc = pc;
    }

    /// Atomic replies to come.
    #[inline]
    #[must_use]
    pub fn atomics(&self) -> u32 {
        self.ordered & (FENCE - 1)
    }

    /// Whether it has issued a fence that is not done.
    #[must_use]
    pub fn has_fence(&self) -> bool {
        self.ordered & FENCE != 0
    }

    /// Whether it has a fence or atomics that are not done, so that nothing more is issued.
    #[inline]
    #[must_use]
    pub fn waits_in_order(&self) -> bool {
        self.ordered & !STAYS != 0
    }

    /// Whether it has any that are not done, or has not yet continued after one.
    #[inline]
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.ordered != 0
    }

    /// It issues a fence.
    pub fn begin_fence(&mut self) {
        self.ordered |= FENCE;
    }

    /// Its fence is done.
    pub fn end_fence(&mut self) {
        self.ordered &= !FENCE;
    }

    /// It issues atomics with this many replies.
    pub fn begin_atomics(&mut self, count: u32) {
        self.ordered += count;
    }

    /// One of them has come.
    pub fn atomic_done(&mut self) {
        self.ordered -= 1;
    }

    /// It continues after its fence or atomic when that is done.
    pub fn stay(&mut self) {
        self.ordered |= STAYS;
    }

    /// Whether it continues after it now; asked once.
    pub fn take_stay(&mut self) -> bool {
        let done = self.ordered == STAYS;
        if done {
            self.ordered = 0;
        }
        done
    }

    /// Whether nothing of it is left in the machine.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.stores == 0 && self.has_its_results()
    }

    /// Whether all its results have come; stores may be outstanding.
    pub fn has_its_results(&self) -> bool {
        self.in_flight == 0 && self.atomics() == 0
    }
}
