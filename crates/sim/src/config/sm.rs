//! Parameters of an SM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One streaming multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// What its instruction set is, as the number of `sm_70`: a kernel with an instruction that needs a newer one is refused; 0
    /// takes every instruction.
    pub arch: u32,
    /// Lanes of a warp: 4, 8, 16 or 32.
    pub warp_width: u32,
    /// Lanes of an execution pipeline; a wider warp occupies it for several cycles.
    pub simd_width: u32,
    /// Slices of the datapath, each with the lanes of a narrow warp and with schedulers, units and a fetch scheduler of its
    /// own; 1, or as many as warps make 32 lanes. What slices want of memory in a cycle is one access.
    pub slices: u32,
    /// Sub-cores: each has registers, collector units and arithmetic units of its own, for the warps of its schedulers; 1 where
    /// all schedulers share them. What `sm.collector` and `sm.units` say is of each. Warp `w` is of sub-core `w` modulo this.
    pub subcores: u32,
    /// Resident threads at most.
    pub threads: u32,
    /// Resident thread blocks at most.
    pub ctas: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Registers per thread are rounded up to a multiple of this.
    pub register_grain: u32,
    /// Shared memory in bytes.
    pub shared_bytes: u32,
    /// Warps issue one instruction at a time: the next only when the one before has been written back.
    pub single_in_flight: bool,
    /// Which side of a branch a warp runs first when its lanes part.
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
    /// What costs nothing, to see what it costs.
    pub ideal: IdealConfig,
    /// How the lanes of a memory access become requests.
    pub coalescing: Coalescing,
    /// L1 instruction cache.
    pub l1i: CacheConfig,
    /// L1 data cache.
    pub l1d: CacheConfig,
    /// What only the data cache has.
    pub data: DataCacheConfig,
    /// Constant cache; kernel parameters go through it.
    pub l1c: CacheConfig,
    /// Texture cache.
    pub l1t: TextureCacheConfig,
    /// A fence waits until the stores before it are acknowledged too, not only until its loads have come.
    pub fence_waits_for_stores: bool,
    /// A fence empties the L1 data cache of its SM when it is done.
    pub fence_empties_l1d: bool,
    /// Replies the load-store unit holds before the port to the interconnect stalls.
    pub response_queue: u32,
    /// Replies the SM's port of the interconnect holds.
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
    /// Every warp always has its next instruction: no cache, no buffer, no wrong path.
    pub ideal: bool,
    /// Decoded instructions a warp holds.
    pub ibuffer: u32,
    /// Instructions one fetch brings.
    pub width: u32,
    /// Warps fetched for in a cycle: the ports of the L1 instruction cache.
    pub warps_per_cycle: u32,
    /// What is fetched is decoded in the same cycle, the last fetch of a cycle aside; otherwise all in the next.
    pub decode_at_once: bool,
    /// Fetch for a warp only when its buffer is empty; otherwise as soon as one fetch fits.
    pub only_when_empty: bool,
    /// Bytes an instruction takes in memory.
    pub instruction_bytes: u32,
    /// A warp whose line has come after a miss is fetched for again, in its turn, and then hits; otherwise the line goes to
    /// decode at once, before other fetches.
    pub refetch: bool,
    /// Bytes of the instruction cache of a slice, in lines of 32 bytes; 0 for none.
    pub l0_bytes: u32,
}

/// Issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueConfig {
    /// Schedulers; warp `w` belongs to scheduler `w` modulo this.
    pub schedulers: u32,
    /// Instructions of one warp a scheduler issues in a cycle at most.
    pub per_warp: u32,
    /// The scheduler that goes first changes every cycle; otherwise scheduler 0 always does. Who goes first gets the last
    /// place in front of a unit.
    pub rotate: bool,
}

/// Operand collector and register banks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectorConfig {
    /// Operands are read through it; otherwise an instruction goes to its unit in the cycle after issue.
    pub enabled: bool,
    /// Register banks; a bank serves one read or write of a warp's register in a cycle.
    pub banks: u32,
    /// Collector units of the SP pipelines.
    pub sp_units: u32,
    /// Collector units of the SFU pipeline.
    pub sfu_units: u32,
    /// Collector units of the load-store pipeline.
    pub mem_units: u32,
    /// Instructions the SP collectors take and send in a cycle.
    pub sp_ports: u32,
    /// Instructions the SFU collectors take and send in a cycle.
    pub sfu_ports: u32,
    /// Instructions the load-store collectors take and send in a cycle.
    pub mem_ports: u32,
    /// Collector units that serve every pipeline; 0 where each pipeline has its own, as the keys above say.
    pub any_units: u32,
    /// Steps in a cycle: in each a bank delivers once, and instructions come and leave.
    pub steps: u32,
}

/// Execution units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsConfig {
    /// SP pipelines.
    pub sp: u32,
    /// Lanes an SP is built of, each with an integer and a floating-point pipeline. Thread `t` of a warp is on lane `t`
    /// modulo this; fewer than `sm.simd_width` run at a multiple of the core clock. For gating and energy, not for time.
    pub sp_lanes: u32,
    /// SFU pipelines; 0 sends their instructions to the SPs.
    pub sfu: u32,
    /// Pipelines for integers, logic, moves and control; 0 sends these instructions to the SPs.
    pub int: u32,
    /// Pipelines for double precision; 0 sends these instructions to the SFUs.
    pub dp: u32,
    /// Tensor cores: matrix instructions need them.
    pub tensor: u32,
    /// Instructions for the SPs that can be issued before one leaves for the collectors, and for the INT pipelines.
    pub sp_issue: u32,
    /// The same for the SFUs, and for those of double precision and tensor cores.
    pub sfu_issue: u32,
    /// The same for the load-store unit.
    pub mem_issue: u32,
    /// Results written back in a cycle.
    pub writeback: u32,
    /// Cycles from the end of an instruction in its pipeline to the first one in which another may read its result; 0 where
    /// results are forwarded to the pipelines.
    pub result_cycles: u32,
    /// Integer multiplications and multiply-adds go to the SFUs.
    pub sfu_int_mul: bool,
    /// One pipeline serves arithmetic and memory instructions. An instruction occupies it until all lanes of its warp have
    /// entered, `sm.simd_width` in a cycle, and a memory instruction until it has handed out its requests; nothing else
    /// issues in that time.
    pub unified: bool,
}

/// Latency and initiation interval of one kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpTiming {
    /// Cycles in the pipeline.
    pub latency: u32,
    /// Cycles before the pipeline takes the next instruction.
    pub interval: u32,
}

/// Latency and initiation interval by kind of instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyConfig {
    /// Moves, comparisons, selections, conversions, logic, shifts, branches, barriers and all that is not below.
    pub simple: OpTiming,
    /// Bits that are counted, looked for or reversed: `popc`, `clz`, `bfind`, `fns`, `brev`.
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
    /// Half-precision additions; of `f16x2` both at once.
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
    /// A product of matrices of 16 by 16 and 16 by 16 elements of 16 bits (on the tensor cores). Others occupy a tensor core in
    /// proportion to their products and the bits of a factor, double precision four times as long.
    pub tensor: OpTiming,
}

/// Shared memory timing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedConfig {
    /// Banks of 4 bytes.
    pub banks: u32,
    /// Cycles from access to data.
    pub latency: u32,
    /// Groups of lanes served one after another: 1 for the whole warp at once, 2 for half warps.
    pub groups: u32,
}

/// What costs nothing, to see what it costs. Memory has the same contents in the end; no machine is built so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealConfig {
    /// An access to global memory or a texture makes no more requests than the bytes its lanes ask for would fill.
    pub coalescing: bool,
    /// An access to shared memory takes one cycle, whatever banks its lanes want.
    pub banks: bool,
    /// Loads and stores of global, local and texture memory take as long as those of shared memory without conflicts.
    pub memory: bool,
    /// Those of local memory do.
    pub local: bool,
    /// Lanes whose atomics are on the same bytes share a request.
    pub atomics: bool,
}

/// How the lanes of a memory access become requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coalescing {
    /// One request for each cache line the warp touches.
    WholeWarp,
    /// One request for each sector the warp touches: compute capability 7.0.
    Sectors,
    /// Half warp by half warp, segments of 32, 64 or 128 bytes by element size, shrunk to what is touched: compute
    /// capability 1.3.
    HalfWarp,
}

/// What a cache does with stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// It is never written.
    ReadOnly,
    /// Global stores go through and invalidate the line, local ones stay until the line is replaced. A store
    /// never brings a line in.
    GlobalThroughLocalBack,
    /// Stores stay until the line is replaced; a miss takes a line and its bytes are fetched when read.
    Back,
    /// Stores go through, and their bytes stay too: a miss takes a line, whose other bytes are fetched when read.
    ThroughAllocate,
}

/// How an address selects a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// The bits above the line offset.
    Linear,
    /// For 32 sets of 128 bytes: bits 7 to 11 with bits 13, 14, 15, 17, 19 by exclusive or.
    Fermi,
    /// For 32 or 64 sets: the bits above the line offset as a polynomial, modulo x^5 + x^2 + 1 or x^6 + x + 1.
    Polynomial,
}

/// A cache of the SM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheConfig {
    /// Sets; 0 for no cache: data then come from the L2, instructions and constants are there at once.
    pub sets: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Lines of a set.
    pub ways: u32,
    /// How an address selects a set.
    pub index: SetIndex,
    /// What stores do.
    pub write: WritePolicy,
    /// Misses that can be outstanding: lines, each with what waits for it.
    pub mshr_entries: u32,
    /// Accesses that can wait for one line.
    pub mshr_merges: u32,
    /// Requests waiting for the interconnect.
    pub miss_queue: u32,
    /// Cycles from access to tag look-up.
    pub latency: u32,
    /// A line is reserved when the miss is sent (and a set can be full of reserved lines); otherwise when it comes.
    pub allocate_on_miss: bool,
}

/// What only the data cache has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataCacheConfig {
    /// Bytes a miss fetches: the line, or a sector of it.
    pub sector: u32,
    /// Banks, by the sector of an address. Each looks up one request in a cycle.
    pub banks: u32,
    /// Bytes that data cache and shared memory share; 0 where each has its own. A launch takes what its blocks need for shared
    /// memory, and `sm.l1d.ways` is what the cache has when that is nothing.
    pub unified_bytes: u32,
    /// How many of them shared memory can have, in kilobytes, ascending, as in "0 8 16".
    pub shared_options: String,
    /// Lines with stored bytes are not replaced while they are fewer than this many in a hundred.
    pub modified_percent: u32,
}

impl DataCacheConfig {
    /// What shared memory can have, in bytes; nothing where the text is none of numbers.
    #[must_use]
    pub fn options(&self) -> Option<Vec<u32>> {
        let bytes = |word: &str| word.parse().ok().and_then(|n: u32| n.checked_mul(1024));
        self.shared_options.split_whitespace().map(bytes).collect()
    }

    /// The ways of a cache that has `ways` when nothing is taken for shared memory, in a launch that needs this many bytes for it.
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

/// The texture cache: fetches leave it in the order in which they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureCacheConfig {
    /// Sets.
    pub sets: u32,
    /// Bytes of a line.
    pub line: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Fetches that are not done, hits and misses: one for each line that an instruction reads.
    pub fragments: u32,
    /// Requests waiting for the interconnect.
    pub requests: u32,
    /// Lines that can be outstanding.
    pub reorder: u32,
    /// Fetches that are done and wait for the write-back port.
    pub results: u32,
}
