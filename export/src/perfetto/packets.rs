//! The messages of Perfetto's trace format that an export writes, with the numbers of their fields in Perfetto's published
//! `.proto` files. Fields that no export writes are left out; a reader of protobuf skips nothing for that.

/// A file: packets, one after the other.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// The packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One packet. Of the messages it has one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// Readings of the clocks at one moment.
    #[prost(message, optional, tag = "6")]
    pub clock_snapshot: Option<ClockSnapshot>,
    /// Time of the event, by the clock of `timestamp_clock_id`.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The sequence of packets that shares interned names.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// An event on a track.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// Names that events refer to from here on.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// [`INCREMENTAL_STATE_CLEARED`] on the first packet, [`NEEDS_INCREMENTAL_STATE`] on those that refer to names.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// The clock of `timestamp`: one of the constants of [`clock`].
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// No interned name of the sequence holds any more.
pub const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// The packet refers to interned names.
pub const NEEDS_INCREMENTAL_STATE: u32 = 2;

/// Clocks by number.
pub mod clock {
    /// `CLOCK_REALTIME`.
    pub const REALTIME: u32 = 1;
    /// `CLOCK_MONOTONIC`.
    pub const MONOTONIC: u32 = 3;
    /// `CLOCK_BOOTTIME`.
    pub const BOOTTIME: u32 = 6;
}

/// Readings of several clocks at one moment.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockSnapshot {
    /// The readings.
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
    /// The clock that a viewer shows.
    #[prost(uint32, optional, tag = "2")]
    pub primary_trace_clock: Option<u32>,
}

/// Reading of a clock.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Clock {
    /// One of the constants of [`clock`].
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
}

/// A track. A track of a process or thread is named after it.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// Number by which events and other tracks refer to the track.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The process that the track stands for.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// The thread that the track stands for.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// The track above.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Present if the track has values of a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// A process.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    /// Process id.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ThreadDescriptor {
    /// Id of its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Thread id.
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    /// Name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct CounterDescriptor {
    /// [`UNIT_COUNT`] or [`UNIT_SIZE_BYTES`].
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// The counter counts things.
pub const UNIT_COUNT: i32 = 2;
/// The counter counts bytes.
pub const UNIT_SIZE_BYTES: i32 = 3;

/// An event on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// Values with names.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// One of the constants of [`kind`].
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Name of the event, interned.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Categories.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Name of the event, if it is not interned.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Value of the counter from this time on.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Flows that leave the slice.
    #[prost(fixed64, repeated, tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Flows that end at the slice.
    #[prost(fixed64, repeated, tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// Kinds of events.
pub mod kind {
    /// A slice begins.
    pub const SLICE_BEGIN: i32 = 1;
    /// The last slice that began on the track ends.
    pub const SLICE_END: i32 = 2;
    /// Something that takes no time.
    pub const INSTANT: i32 = 3;
    /// A value of a counter.
    pub const COUNTER: i32 = 4;
}

/// A value with a name.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// The value, if it is a number.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// The value, if it is a text.
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    /// Name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
}

/// Names with numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedData {
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<EventName>,
}

/// Name of events, and its number.
#[derive(Clone, PartialEq, prost::Message)]
pub struct EventName {
    /// The number.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}
