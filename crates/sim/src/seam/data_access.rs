//! What mechanisms learn about the data cache, if they ask for it.

use super::WarpId;

/// What became of a request at the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DataOutcome {
    /// The line is present. A load gets its data at once.
    Hit,
    /// The line is already outstanding; a load waits for it together with earlier ones.
    Pending,
    /// A load has requested the line, or a store was forwarded to memory.
    Miss,
    /// The cache has no room for it. The request is tried again in every cycle, but reported once.
    Refused,
    /// The data of a load that missed, or that waited for an outstanding line, have arrived.
    Came,
}

/// A request of a warp, and what became of it at the data cache of its SM. Requests of one instruction follow each
/// other, one for each line. Requests that bypass the cache are not reported.
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
