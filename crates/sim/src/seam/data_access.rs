//! What mechanisms that ask for it are told of the data cache.

use super::WarpId;

/// What became of a request at the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DataOutcome {
    /// The line is there. A load has its data with it.
    Hit,
    /// The line is outstanding already; a load waits for it with others.
    Pending,
    /// A load has requested the line, or a store was forwarded to memory.
    Miss,
    /// The cache has no room for it. It is tried again in every cycle, and told of once.
    Refused,
    /// The data of a load that missed, or waited with others, are on the way to its registers.
    Came,
}

/// A request of a warp, and what became of it at the data cache of its SM. Requests of one instruction follow each
/// other, one for each line; those that go past the cache are not told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DataAccess {
    /// The warp that made it.
    pub warp: WarpId,
    /// The instruction.
    pub pc: u32,
    /// Lanes of the warp it is for.
    pub lanes: u32,
    /// Address of the line.
    pub line: u64,
    /// It is a store.
    pub is_store: bool,
    /// What became of it.
    pub outcome: DataOutcome,
}
