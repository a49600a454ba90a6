//! Parameters of the memory side: networks, L2, DRAM.

use super::SetIndex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The network between SMs and memory partitions: a crossbar each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterconnectConfig {
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Bytes of a request besides the data it carries.
    pub header_bytes: u32,
    /// Bytes of a reply besides the data it carries.
    pub reply_header_bytes: u32,
    /// A store is acknowledged by a reply, for which fences wait. Otherwise nobody waits for it once it has left the SM.
    pub write_replies: bool,
    /// Flits an SM's or slice's injection port holds before it refuses more.
    pub injection_buffer: u32,
    /// Flits an input of the crossbar holds.
    pub input_buffer: u32,
    /// Flits an output of the crossbar holds.
    pub output_buffer: u32,
    /// Flits an input may send and an output take in a cycle inside the crossbar; outputs pass on one.
    pub speedup: u32,
    /// An input whose packet has left may send the next one in the same cycle, to an output that has not had its turn.
    pub several_outputs: bool,
    /// Interconnect cycles from leaving the crossbar to the far side. In core cycles, at least `gpu.window`.
    pub latency: u32,
}

/// L2 cache: one slice per sub-partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Slices per DRAM channel.
    pub slices: u32,
    /// Sets of a slice; 0 for no L2.
    pub sets: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Bytes of a sector, the unit of requests and replies; a divisor of the line.
    pub sector: u32,
    /// Lines of a set.
    pub ways: u32,
    /// How the part of an address that its slice sees selects a set.
    pub index: SetIndex,
    /// Misses that can be outstanding: sectors asked of DRAM.
    pub mshr_entries: u32,
    /// Accesses that can wait for one sector.
    pub mshr_merges: u32,
    /// Requests waiting for the queue to DRAM.
    pub miss_queue: u32,
    /// Core cycles a request spends before it reaches the queue in front of the cache.
    pub rop_latency: u32,
    /// Texture fetches spend them too; otherwise they go to the queue at once.
    pub rop_for_textures: bool,
    /// Requests the slice's port of the interconnect holds before the network has to keep them.
    pub inbox: u32,
    /// Requests the queue in front of the cache holds.
    pub input_queue: u32,
    /// Requests the queue to DRAM holds.
    pub to_dram_queue: u32,
    /// Replies the queue from DRAM holds.
    pub from_dram_queue: u32,
    /// Replies the queue to the interconnect holds.
    pub output_queue: u32,
}

/// DRAM channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Channels.
    pub channels: u32,
    /// Bytes one column command moves.
    pub burst_bytes: u32,
    /// Core cycles until a request reaches the channel's queue.
    pub latency: u32,
    /// Requests the scheduler looks at.
    pub queue: u32,
    /// Replies waiting for the L2.
    pub return_queue: u32,
    /// Which waiting request a bank takes next.
    pub scheduler: DramScheduler,
    /// Banks.
    pub banks: u32,
    /// Bank groups; a bank's group is its number modulo this.
    pub bank_groups: u32,
    /// How an address becomes channel, bank, row and column.
    pub address: AddressConfig,
    /// Command timing.
    pub timing: DramTiming,
}

/// Which waiting request a bank takes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// In order of arrival.
    Fifo,
    /// First those of the open row, oldest first.
    FrFcfs,
}

/// How an address becomes channel, bank, row and column: the channel is (address >> `channel_shift`) modulo the
/// channels; the quotient, shifted back over the bits below, is then cut into bit fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressConfig {
    /// Low bits that stay inside a channel.
    pub channel_shift: u32,
    /// How channel and slice are told from the address.
    pub slice_hash: SliceHash,
    /// Fields from the lowest bit up, one letter a bit: `S` inside a burst, `C` column, `B` bank, `R` row; written
    /// highest bit first, dots ignored. The lowest bank bits also select the L2 slice.
    pub fields: String,
}

/// How channel and slice are told from an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceHash {
    /// As the address says.
    None,
    /// What the address says, and the 19 bits above it (15 for 32 slices), as a polynomial modulo one of the degree of their number of bits
    /// (x^6 + x + 1 for 64 slices). The numbers of channels and slices are powers of two.
    Polynomial,
}

/// DRAM command timing in cycles of the command clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramTiming {
    /// Column command to column command.
    pub ccd: u32,
    /// The same inside a bank group; 0 for no difference.
    pub ccdl: u32,
    /// Activate to activate of another bank.
    pub rrd: u32,
    /// Activate to read.
    pub rcd: u32,
    /// Activate to write.
    pub rcdwr: u32,
    /// Activate to precharge.
    pub ras: u32,
    /// Precharge to activate.
    pub rp: u32,
    /// Activate to activate of the same bank.
    pub rc: u32,
    /// Read to data.
    pub cl: u32,
    /// Write to data.
    pub wl: u32,
    /// Last written data to read command.
    pub cdlr: u32,
    /// Last written data to precharge.
    pub wr: u32,
    /// Read to precharge inside a bank group.
    pub rtpl: u32,
    /// Command cycles one column command's data take.
    pub burst: u32,
}

impl DramTiming {
    /// How long commands wait for each other, by key: all but the rate of transfers (`ccd`, `ccdl`, `burst`).
    pub(crate) fn waits(&self) -> [(&'static str, u32); 11] {
        [
            ("rrd", self.rrd),
            ("rcd", self.rcd),
            ("rcdwr", self.rcdwr),
            ("ras", self.ras),
            ("rp", self.rp),
            ("rc", self.rc),
            ("cl", self.cl),
            ("wl", self.wl),
            ("cdlr", self.cdlr),
            ("wr", self.wr),
            ("rtpl", self.rtpl),
        ]
    }
}
