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
    /// Each store is acknowledged by a reply, for which fences wait. Otherwise nothing waits for a store that has left
    /// the SM.
    pub write_replies: bool,
    /// Flits that the injection port of an SM or a slice holds before it refuses more.
    pub injection_buffer: u32,
    /// Flits that an input of the crossbar holds.
    pub input_buffer: u32,
    /// Flits that an output of the crossbar holds.
    pub output_buffer: u32,
    /// Most flits that an input can send, and an output can accept, in a cycle inside the crossbar. An output forwards
    /// one flit in a cycle.
    pub speedup: u32,
    /// An input whose packet has left can send the next one in the same cycle, to an output that has not been served
    /// yet.
    pub several_outputs: bool,
    /// Interconnect cycles from the crossbar to the far side. In core cycles, this must be at least `gpu.window`.
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
    /// Sectors that can be outstanding, requested from DRAM.
    pub mshr_entries: u32,
    /// Accesses that can wait for one sector.
    pub mshr_merges: u32,
    /// Requests that can wait for the queue to DRAM.
    pub miss_queue: u32,
    /// Core cycles before a request reaches the queue in front of the cache.
    pub rop_latency: u32,
    /// `rop_latency` also applies to texture fetches; otherwise they go to the queue at once.
    pub rop_for_textures: bool,
    /// Requests that the slice's port of the interconnect holds. Further requests stay in the network.
    pub inbox: u32,
    /// Requests that the queue in front of the cache holds.
    pub input_queue: u32,
    /// Requests that the queue to DRAM holds.
    pub to_dram_queue: u32,
    /// Replies that the queue from DRAM holds.
    pub from_dram_queue: u32,
    /// Replies that the queue to the interconnect holds.
    pub output_queue: u32,
}

/// DRAM channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Channels.
    pub channels: u32,
    /// Bytes that one column command moves.
    pub burst_bytes: u32,
    /// Core cycles before a request reaches the channel's queue.
    pub latency: u32,
    /// Requests that the scheduler considers.
    pub queue: u32,
    /// Replies that can wait for the L2.
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
    /// First those for the open row; among equals, the oldest first.
    FrFcfs,
}

/// How an address becomes channel, bank, row and column: the channel is (address >> `channel_shift`) modulo the
/// channels; the quotient, shifted back over the bits below, is then cut into bit fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressConfig {
    /// Low bits that stay inside a channel.
    pub channel_shift: u32,
    /// How an address selects channel and slice.
    pub slice_hash: SliceHash,
    /// The meaning of each bit, one letter a bit, highest bit first: `S` inside a burst, `C` column, `B` bank, `R` row.
    /// Dots are ignored. The lowest bank bits also select the L2 slice.
    pub fields: String,
}

/// How an address selects channel and slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceHash {
    /// By bits of the address alone.
    None,
    /// By those bits and the 19 bits above them (15 for 32 slices), taken as a polynomial. It is reduced modulo another
    /// polynomial, whose degree is the number of those bits (x^6 + x + 1 for 64 slices). The numbers of channels and
    /// slices are powers of two.
    Polynomial,
}

/// DRAM command timing in cycles of the command clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramTiming {
    /// Column command to column command.
    pub ccd: u32,
    /// Column command to column command inside a bank group; 0 if it is the same as `ccd`.
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
    /// Command cycles that the data of one column command take.
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
