//! What SMs and memory partitions send each other.

use raddle_exec::atomics::AtomicWork;

/// Time in cycles of the core clock since the launch.
pub type Cycle = u64;

/// Why a request was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Purpose {
    /// Instruction fetch.
    #[default]
    Inst,
    /// Constant or parameter load.
    Const,
    /// Texture fetch.
    Texture,
    /// Global load.
    GlobalRead,
    /// Global store.
    GlobalWrite,
    /// Local load.
    LocalRead,
    /// Local store that goes through, or a line of local data written back by the L1.
    LocalWrite,
    /// Atomic or reduction in global memory.
    Atomic,
}

impl Purpose {
    /// Whether it brings data to the memory side and gets an acknowledgement without data.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::GlobalWrite | Self::LocalWrite)
    }
}

/// What an SM calls a request; only the SM that made it knows what it represents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Token(pub u32);

/// Who made requests that no operation of the launch made: fetches of instructions.
pub const NO_ORIGIN: u32 = u32::MAX;

/// An SM's request for (part of) one line. It is answered by one [`Reply`] for each of its sectors.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Request {
    /// Who asks.
    pub sm: u16,
    /// Chosen by the SM; comes back in the replies.
    pub token: Token,
    /// Why.
    pub purpose: Purpose,
    /// First byte; a multiple of the L2 sector.
    pub address: u64,
    /// Bytes, a multiple of the L2 sector; inside one L2 line.
    pub bytes: u32,
    /// Nobody waits for the answer (an L1 write-back): no reply is sent.
    pub posted: bool,
    /// Bytes written, bit n is byte n from `address`; all ones for reads.
    pub byte_mask: u128,
    /// What an atomic does, executed at the partition when its last sector is served.
    pub atomic: Option<Box<AtomicWork>>,
    /// The operation that made it, for profiles: its number after where those of the launch begin, or [`NO_ORIGIN`].
    pub origin: u32,
}

impl Request {
    /// Bytes of its packet: writes and atomics carry data.
    #[must_use]
    pub fn packet_bytes(&self, header: u32) -> u32 {
        header + if self.purpose.is_write() || self.atomic.is_some() { self.bytes } else { 0 }
    }
}

/// The answer for one sector of a request.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Reply {
    /// For whom.
    pub sm: u16,
    /// The request's token.
    pub token: Token,
    /// The request's purpose.
    pub purpose: Purpose,
    /// The atomic with its results, in the last reply of its request.
    pub atomic: Option<Box<AtomicWork>>,
}

impl Reply {
    /// Bytes of its packet, at least one: all but acknowledgements carry a sector.
    #[must_use]
    pub fn packet_bytes(&self, header: u32, sector: u32) -> u32 {
        (header + if self.purpose.is_write() { 0 } else { sector }).max(1)
    }
}
