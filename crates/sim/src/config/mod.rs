//! The machine: every parameter of the timing model, as plain data.
//!
//! A preset is a TOML file with one value for every field here; nothing has a hidden default. Times are in cycles of
//! the clock of the part they belong to, and sizes are in bytes, unless the name says otherwise.

mod field;
mod import;
mod load;
mod memory;
mod preset;
mod problem;
mod random;
mod sm;
mod validate;

pub use field::{Field, Keys, Kind, Section, file_schema, keys, schema};
pub use import::{Imported, Left, import};
pub use load::{Machine, Source};
pub use memory::{AddressConfig, DramConfig, DramScheduler, DramTiming, InterconnectConfig, L2Config, SliceHash};
pub use preset::{DEFAULT_PRESET, PRESETS, Preset, preset};
pub use problem::{Origin, Problem};
pub use random::random;
pub use sm::{
    CacheConfig, Coalescing, CollectorConfig, DataCacheConfig, FetchConfig, FirstSide, IdealConfig, IssueConfig,
    LatencyConfig, OpTiming, SetIndex, SharedConfig, SmConfig, TextureCacheConfig, UnitsConfig, WritePolicy,
};
pub use validate::validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// The GPU as a whole.
    pub gpu: GpuConfig,
    /// Clock frequencies. Only their ratios matter.
    pub clock: ClockConfig,
    /// One streaming multiprocessor.
    pub sm: SmConfig,
    /// The network between SMs and memory partitions.
    pub interconnect: InterconnectConfig,
    /// L2 cache: one slice per sub-partition.
    pub l2: L2Config,
    /// DRAM channels.
    pub dram: DramConfig,
    /// The mechanism of each seam.
    pub mechanism: MechanismConfig,
}

/// The GPU as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Core cycles that SMs and partitions run on their own before their messages are exchanged. At most
    /// `interconnect.latency`, converted to core cycles. The same for any number of host threads.
    pub window: u32,
}

/// Clock frequencies in MHz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockConfig {
    /// SMs.
    pub core: u32,
    /// Interconnect.
    pub interconnect: u32,
    /// L2 slices.
    pub l2: u32,
    /// DRAM command clock.
    pub dram: u32,
}

/// The mechanism of each seam, with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanismConfig {
    /// Which threads form a warp.
    pub divergence: Choice,
    /// Which warp issues.
    pub issue: Choice,
    /// For which warp instructions are fetched.
    pub fetch: Choice,
    /// Which block goes to which SM.
    pub dispatch: Choice,
    /// Which warps of different slices issue in lockstep.
    pub ganging: Choice,
    /// Which lanes are powered.
    pub gating: Choice,
    /// When a warp of a virtual block takes its next logical block, and which of its warps it becomes.
    pub logical_blocks: Choice,
}

/// A mechanism by name, with parameters: `"gto"`, or `{ name = "two-level", active = 8 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Choice {
    /// The name alone: every parameter has its default.
    Name(String),
    /// A table with `name` and parameters.
    Table(std::collections::BTreeMap<String, Value>),
}

impl Choice {
    /// The mechanism's name; empty when the table has none.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Table(table) => match table.get("name") {
                Some(Value::Text(name)) => name,
                _ => "",
            },
        }
    }
}

/// The value of a mechanism's parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}
