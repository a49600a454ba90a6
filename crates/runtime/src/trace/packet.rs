//! The packets of Perfetto's trace format that a trace is made of: names, numbers and types of fields are those of its schema,
//! and all that is not written is left out.

use prost::Message;

/// A trace, which is the list of its packets.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// Packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One packet.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds; here cycles of the core clock.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The sequence it is of.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Something that happens on a track.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// Names that are numbers from now on.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// Whether it needs names of packets before it.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// What a packet says of the names before it: that there are none.
pub const STATE_CLEARED: u32 = 1;
/// That it needs them.
pub const NEEDS_STATE: u32 = 2;

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The track it is under.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// There, if its values are numbers.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// In which order the tracks under it are shown.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its place among those under the same track.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// Tracks are shown by [`TrackDescriptor::sibling_order_rank`].
pub const ORDER_EXPLICIT: i32 = 3;

/// What the numbers of a track are.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// Their unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// Something that happens on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// Kinds, by number.
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    /// More about it.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// One of the constants below.
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Its name, by number.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// The value, on tracks of numbers.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
}

/// A slice begins.
pub const SLICE_BEGIN: i32 = 1;
/// The last slice that began ends.
pub const SLICE_END: i32 = 2;
/// Something that takes no time.
pub const INSTANT: i32 = 3;
/// A number.
pub const COUNTER: i32 = 4;

/// More about an event.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// What, by number.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// How much, if it is a number.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// The text, by number, if it is one.
    #[prost(uint64, optional, tag = "17")]
    pub string_value_iid: Option<u64>,
}

/// Names that are numbers from now on.
#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    /// Kinds of events.
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<InternedName>,
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedName>,
    /// Names of what more is said about them.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<InternedName>,
    /// Texts that are said about them.
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<InternedName>,
}

/// A name by its number.
#[derive(Clone, PartialEq, Message)]
pub struct InternedName {
    /// The number.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The name. Some of the schema's are bytes, which look the same in a file.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}
