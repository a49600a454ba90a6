//! Parameters of an SM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One streaming multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Its instruction set, as the number in `sm_70`. A kernel with an instruction that needs a newer one is refused; 0
    /// accepts every instruction.
    pub arch: u32,
    /// Lanes of a warp: 4, 8, 16 or 32.
    pub warp_width: u32,
    /// Lanes of an execution pipeline; a wider warp occupies it for several cycles.
    pub simd_width: u32,
    /// Slices of the datapath: 1, or as many as there are narrow warps in 32 lanes. Each slice has the lanes of one
    /// narrow warp, and its own schedulers, units and fetch scheduler. What the slices ask of memory in a cycle is one
    /// access.
    pub slices: u32,
    /// Sub-cores; 1 if all schedulers share registers and units. Each sub-core has its own registers, collector units
    /// and arithmetic units, for the warps of its schedulers. The keys in `sm.collector` and `sm.units` count those of
    /// one sub-core. Warp `w` belongs to sub-core `w` modulo this.
    pub subcores: u32,
    /// Most resident threads.
    pub threads: u32,
    /// Most resident thread blocks.
    pub ctas: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Registers per thread are rounded up to a multiple of this.
    pub register_grain: u32,
    /// Shared memory in bytes.
    pub shared_bytes: u32,
    /// A warp has only one instruction in flight: it issues the next one after the last one has been written back.
    pub single_in_flight: bool,
    /// Which side of a branch a warp runs first when its lanes diverge.
    pub first_side: FirstSide,
    /// Instruction fetch.
    pub fetch: FetchConfig,
    /// Issue.
    pub issue: IssueConfig,
    /// Operand collector and register banks.
    pub collector: CollectorConfig,
    /// Execution units.
    pub units: UnitsConfig,
    /// Latency and initiation interval by kind of instruction.
    pub latency: LatencyConfig,
    /// Shared memory timing.
    pub shared: SharedConfig,
    /// Parts of the machine that can be made free, to see what they cost.
    pub ideal: IdealConfig,
    /// How the lanes of a memory access become requests.
    pub coalescing: Coalescing,
    /// L1 instruction cache.
    pub l1i: CacheConfig,
    /// L1 data cache.
    pub l1d: CacheConfig,
    /// Parameters that only the data cache has.
    pub data: DataCacheConfig,
    /// Constant cache; kernel parameters go through it.
    pub l1c: CacheConfig,
    /// Texture cache.
    pub l1t: TextureCacheConfig,
    /// A fence waits until the loads before it have completed and the stores before it are acknowledged; otherwise it
    /// waits for the loads only.
    pub fence_waits_for_stores: bool,
    /// A fence invalidates the whole L1 data cache of its SM when it is done.
    pub fence_empties_l1d: bool,
    /// Replies that the load-store unit can hold before the port to the interconnect stalls.
    pub response_queue: u32,
    /// Replies that the SM's port of the interconnect can hold.
    pub ejection_buffer: u32,
}

impl SmConfig {
    /// Issue schedulers of all slices.
    #[must_use]
    pub fn schedulers(&self) -> u32 {
        self.issue.schedulers * self.slices.max(1)
    }

    /// SPs of all sub-cores.
    #[must_use]
    pub fn sps(&self) -> u32 {
        self.units.sp * self.subcores.max(1)
    }
}

/// Which side of a branch a warp runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstSide {
    /// The side that jumps.
    Taken,
    /// The side without the highest lane.
    LowLanes,
}

/// Instruction fetch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchConfig {
    /// Every warp always has its next instruction: there is no cache, no buffer and no wrong path.
    pub ideal: bool,
    /// Decoded instructions that a warp's buffer holds.
    pub ibuffer: u32,
    /// Instructions that one fetch brings.
    pub width: u32,
    /// Warps for which instructions are fetched in a cycle: the ports of the L1 instruction cache.
    pub warps_per_cycle: u32,
    /// All fetches of a cycle but the last are decoded in the same cycle; otherwise all are decoded in the next cycle.
    pub decode_at_once: bool,
    /// Instructions are fetched for a warp only when its buffer is empty; otherwise as soon as one fetch fits.
    pub only_when_empty: bool,
    /// Bytes of an instruction in memory.
    pub instruction_bytes: u32,
    /// When a line arrives after a miss, the warp fetches again, in its turn, and then hits. Otherwise the line goes to
    /// decode at once, before other fetches.
    pub refetch: bool,
    /// Bytes of the L0 instruction cache of a slice, in lines of 32 bytes; 0 for no such cache.
    pub l0_bytes: u32,
}

/// Issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueConfig {
    /// Schedulers; warp `w` belongs to scheduler `w` modulo this.
    pub schedulers: u32,
    /// Most instructions of one warp that a scheduler issues in a cycle.
    pub per_warp: u32,
    /// Which scheduler comes first changes every cycle; otherwise it is always scheduler 0. The first one gets the last
    /// free place in front of a unit.
    pub rotate: bool,
}

/// Operand collector and register banks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectorConfig {
    /// Instructions read their operands through the collector; otherwise they go to their unit in the cycle after
    /// issue.
    pub enabled: bool,
    /// Register banks. A bank serves one read or write of a warp's register in a cycle.
    pub banks: u32,
    /// Collector units of the SP pipelines.
    pub sp_units: u32,
    /// Collector units of the SFU pipeline.
    pub sfu_units: u32,
    /// Collector units of the load-store pipeline.
    pub mem_units: u32,
    /// Instructions that the SP collectors accept, and that they send, in a cycle.
    pub sp_ports: u32,
    /// Instructions that the SFU collectors accept, and that they send, in a cycle.
    pub sfu_ports: u32,
    /// Instructions that the load-store collectors accept, and that they send, in a cycle.
    pub mem_ports: u32,
    /// Collector units that serve every pipeline; 0 if each pipeline has its own, as the keys above say.
    pub any_units: u32,
    /// Steps of the collector in a cycle. In each step a bank delivers once, and instructions enter and leave.
    pub steps: u32,
}

/// Execution units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsConfig {
    /// SP pipelines.
    pub sp: u32,
    /// Lanes of an SP, each with an integer and a floating-point pipeline. Thread `t` of a warp runs on lane `t` modulo
    /// this. Fewer lanes than `sm.simd_width` run at a multiple of the core clock. The value matters for gating and
    /// energy, not for time.
    pub sp_lanes: u32,
    /// SFU pipelines; with 0 their instructions go to the SPs.
    pub sfu: u32,
    /// Pipelines for integers, logic, moves and control; with 0 these instructions go to the SPs.
    pub int: u32,
    /// Pipelines for double precision; with 0 these instructions go to the SFUs.
    pub dp: u32,
    /// Tensor cores, which matrix instructions need.
    pub tensor: u32,
    /// Instructions for the SPs that can be issued before one leaves for the collectors; likewise for the INT
    /// pipelines.
    pub sp_issue: u32,
    /// The same for the SFUs, the double-precision pipelines and the tensor cores.
    pub sfu_issue: u32,
    /// The same for the load-store unit.
    pub mem_issue: u32,
    /// Most results written back in a cycle.
    pub writeback: u32,
    /// Cycles from the end of an instruction in its pipeline to the first cycle in which another one may read its
    /// result; 0 if results are forwarded to the pipelines.
    pub result_cycles: u32,
    /// Integer multiplications and multiply-adds go to the SFUs.
    pub sfu_int_mul: bool,
    /// One pipeline serves arithmetic and memory instructions. An instruction occupies it until all lanes of its warp
    /// have entered, `sm.simd_width` in a cycle. A memory instruction occupies it until it has sent its requests.
    /// Nothing else issues in that time.
    pub unified: bool,
}

/// Latency and initiation interval of one kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpTiming {
    /// Cycles in the pipeline.
    pub latency: u32,
    /// Cycles before the pipeline accepts the next instruction.
    pub interval: u32,
}

/// Latency and initiation interval by kind of instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyConfig {
    /// Moves, comparisons, selections, conversions, logic, shifts, branches, barriers and all that is not listed below.
    pub simple: OpTiming,
    /// Counting, finding and reversing bits: `popc`, `clz`, `bfind`, `fns`, `brev`.
    pub bits: OpTiming,
    /// Integer additions and subtractions.
    pub int_add: OpTiming,
    /// Integer minimum and maximum.
    pub int_max: OpTiming,
    /// Integer multiplications.
    pub int_mul: OpTiming,
    /// Integer multiply-add.
    pub int_mad: OpTiming,
    /// Integer division (on the SFU).
    pub int_div: OpTiming,
    /// Single-precision additions.
    pub f32_add: OpTiming,
    /// Single-precision minimum and maximum.
    pub f32_max: OpTiming,
    /// Single-precision multiplications.
    pub f32_mul: OpTiming,
    /// Single-precision `mad`.
    pub f32_mad: OpTiming,
    /// Fused multiply-add, single precision.
    pub f32_fma: OpTiming,
    /// Single-precision division (on the SFU).
    pub f32_div: OpTiming,
    /// Half-precision additions; `f16x2` does both at once.
    pub f16_add: OpTiming,
    /// Half-precision minimum and maximum.
    pub f16_max: OpTiming,
    /// Half-precision multiplications.
    pub f16_mul: OpTiming,
    /// Fused multiply-add, half precision.
    pub f16_fma: OpTiming,
    /// Double-precision additions (on the SFU).
    pub f64_add: OpTiming,
    /// Double-precision minimum and maximum (on the SFU).
    pub f64_max: OpTiming,
    /// Double-precision multiplications (on the SFU).
    pub f64_mul: OpTiming,
    /// Double-precision `mad` (on the SFU).
    pub f64_mad: OpTiming,
    /// Fused multiply-add, double precision.
    pub f64_fma: OpTiming,
    /// Double-precision division (on the SFU).
    pub f64_div: OpTiming,
    /// Double-precision square root and reciprocals (on the SFU).
    pub f64_sqrt: OpTiming,
    /// Square root, reciprocal, sine, exponential and the like (on the SFU).
    pub transcendental: OpTiming,
    /// Shuffles.
    pub shuffle: OpTiming,
    /// A product of two matrices of 16 by 16 elements of 16 bits (on the tensor cores). Other products occupy a tensor
    /// core in proportion to their multiplications and to the bits of a factor; double precision takes four times as
    /// long.
    pub tensor: OpTiming,
}

/// Shared memory timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedConfig {
    /// Banks of 4 bytes.
    pub banks: u32,
    /// Cycles from an access to its data.
    pub latency: u32,
    /// Groups of lanes that are served one after another: 1 for the whole warp at once, 2 for half warps.
    pub groups: u32,
}

/// Parts of the machine that can be made free, to see what they cost. No real machine is like that. Memory has the same
/// contents in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealConfig {
    /// An access to global memory or a texture makes no more requests than the bytes that its lanes ask for could fill.
    pub coalescing: bool,
    /// An access to shared memory takes one cycle, whichever banks its lanes access.
    pub banks: bool,
    /// Loads and stores of global, local and texture memory take as long as those of shared memory without conflicts.
    pub memory: bool,
    /// Loads and stores of local memory take that long.
    pub local: bool,
    /// Atomics of several lanes on the same bytes share a request.
    pub atomics: bool,
}

/// How the lanes of a memory access become requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coalescing {
    /// One request for each cache line the warp touches.
    WholeWarp,
    /// One request for each sector the warp touches, as with compute capability 7.0.
    Sectors,
    /// Each half warp on its own: segments of 32, 64 or 128 bytes by element size, reduced to the part that is touched,
    /// as with compute capability 1.3.
    HalfWarp,
}

/// What a cache does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// The cache is never written.
    ReadOnly,
    /// Global stores are written through and invalidate the line; local stores stay until the line is replaced. A store
    /// never allocates a line.
    GlobalThroughLocalBack,
    /// Stores stay until the line is replaced. A miss allocates a line, whose other bytes are fetched when they are
    /// read.
    Back,
    /// Stores are written through, and their bytes also stay. A miss allocates a line, whose other bytes are fetched
    /// when they are read.
    ThroughAllocate,
}

/// How an address selects a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// The bits above the line offset.
    Linear,
    /// For 32 sets of 128 bytes: the exclusive or of bits 7 to 11 with bits 13, 14, 15, 17, 19.
    Fermi,
    /// For 32 or 64 sets: the bits above the line offset as a polynomial, modulo x^5 + x^2 + 1 or x^6 + x + 1.
    Polynomial,
}

/// A cache of the SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Sets; 0 for no cache. Data then come from the L2, and instructions and constants are available at once.
    pub sets: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Lines of a set.
    pub ways: u32,
    /// How an address selects a set.
    pub index: SetIndex,
    /// What stores do.
    pub write: WritePolicy,
    /// Lines that can be outstanding, each with the accesses that wait for it.
    pub mshr_entries: u32,
    /// Accesses that can wait for one line.
    pub mshr_merges: u32,
    /// Requests that can wait for the interconnect.
    pub miss_queue: u32,
    /// Cycles from an access to its tag look-up.
    pub latency: u32,
    /// A line is reserved when the miss is sent, so a set can be full of reserved lines; otherwise when its data
    /// arrive.
    pub allocate_on_miss: bool,
}

/// Parameters that only the data cache has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataCacheConfig {
    /// Bytes that a miss fetches: the line, or a sector of it.
    pub sector: u32,
    /// Banks, selected by the sector of an address. Each bank looks up one request in a cycle.
    pub banks: u32,
    /// Bytes that the data cache and shared memory share; 0 if each has its own. A launch takes as much for shared
    /// memory as its blocks need. `sm.l1d.ways` is the number of ways when it takes nothing.
    pub unified_bytes: u32,
    /// How many of these bytes shared memory can take, in kilobytes, ascending, as in "0 8 16".
    pub shared_options: String,
    /// Lines with stored bytes are not replaced while less than this percentage of the lines has stored bytes.
    pub modified_percent: u32,
}

impl DataCacheConfig {
    /// The sizes that shared memory can have, in bytes; none if the text is not a list of numbers.
    #[must_use]
    pub fn options(&self) -> Option<Vec<u32>> {
        let bytes = |word: &str| word.parse().ok().and_then(|n: u32| n.checked_mul(1024));
        self.shared_options.split_whitespace().map(bytes).collect()
    }

    /// The ways of the cache in a launch that needs this many bytes of shared memory. With none it would have `ways`.
    #[must_use]
    pub fn ways(&self, ways: u32, shared_bytes: u32) -> u32 {
        if self.unified_bytes == 0 {
            return ways;
        }
        let taken = self.options().and_then(|all| all.into_iter().find(|bytes| *bytes >= shared_bytes));
        let left = self.unified_bytes.saturating_sub(taken.unwrap_or(shared_bytes));
        let ways =
            (u64::from(ways) * u64::from(left) + u64::from(self.unified_bytes) / 2) / u64::from(self.unified_bytes);
        u32::try_from(ways).unwrap_or(u32::MAX).max(1)
    }
}

/// The texture cache. Fetches leave it in the order in which they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureCacheConfig {
    /// Sets.
    pub sets: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Fetches in flight, hits and misses; an instruction makes one fetch for each line it reads.
    pub fragments: u32,
    /// Requests that can wait for the interconnect.
    pub requests: u32,
    /// Lines that can be outstanding.
    pub reorder: u32,
    /// Completed fetches that can wait for the write-back port.
    pub results: u32,
}
