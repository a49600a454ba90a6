//! The file of a trace: packets written as they come, names as numbers, no more bytes than allowed.

use super::packet::{
    COUNTER, CounterDescriptor, DebugAnnotation, INSTANT, InternedData, InternedName, NEEDS_STATE, ORDER_EXPLICIT,
    SLICE_BEGIN, SLICE_END, STATE_CLEARED, Trace, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::error::Error;
use prost::Message;
use raddle_sim::packet::Cycle;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

/// The one sequence all packets are of.
const SEQUENCE: u32 = 1;

/// A track, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track(u64);

/// What more is said about an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note<'a> {
    Number(u64),
    Text(&'a str),
}

/// What an event is.
#[derive(Clone, Copy, Debug)]
pub(super) struct What<'a> {
    /// Its kind: events of different kinds may have the same name.
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
    pub(super) notes: &'a [(&'static str, Note<'a>)],
}

/// Texts that have numbers.
#[derive(Default)]
struct Names {
    numbers: BTreeMap<String, u64>,
    /// Those the file has not been told of.
    new: Vec<InternedName>,
}

impl Names {
    fn number(&mut self, name: &str) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_owned(), number);
        self.new.push(InternedName { iid: Some(number), name: Some(name.to_owned()) });
        number
    }
}

/// A trace that is being written.
pub(super) struct TraceFile {
    out: BufWriter<File>,
    path: String,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
    bytes: u64,
    /// The most bytes.
    limit: u64,
    /// What is outside of these cycles is left out.
    cycles: Range<Cycle>,
    kinds: Names,
    names: Names,
    note_names: Names,
    note_texts: Names,
    tracks: u64,
    buffer: Vec<u8>,
    is_full: bool,
}

impl TraceFile {
    /// An empty one.
    pub(super) fn create(path: &Path, limit: u64, cycles: Range<Cycle>) -> Result<Self, Error> {
        let path = (path, path.display().to_string());
        let file = File::create(path.0).map_err(|source| Error::Write { path: path.1.clone(), source })?;
        let mut file = Self {
            out: BufWriter::with_capacity(1 << 16, file),
            path: path.1,
            error: None,
            bytes: 0,
            limit,
            cycles,
            kinds: Names::default(),
            names: Names::default(),
            note_names: Names::default(),
            note_texts: Names::default(),
            tracks: 0,
            buffer: Vec::new(),
            is_full: false,
        };
        file.send(TracePacket { sequence_flags: Some(STATE_CLEARED), ..TracePacket::default() });
        Ok(file)
    }

    /// Bytes written so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The cycles it shows.
    pub(super) fn cycles(&self) -> &Range<Cycle> {
        &self.cycles
    }

    /// Whether something had to be left out because of the limit.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// A track under another, at this place among those there.
    pub(super) fn track(&mut self, name: &str, under: Option<Track>, rank: i32) -> Track {
        self.any_track(name, under, rank, None)
    }

    /// The same for numbers.
    pub(super) fn counter_track(&mut self, name: &str, under: Track, rank: i32, unit: &str) -> Track {
        let counter = CounterDescriptor { unit_name: Some(unit.to_owned()) };
        self.any_track(name, Some(under), rank, Some(counter))
    }

    fn any_track(&mut self, name: &str, under: Option<Track>, rank: i32, counter: Option<CounterDescriptor>) -> Track {
        self.tracks += 1;
        let descriptor = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name.to_owned()),
            parent_uuid: under.map(|track| track.0),
            child_ordering: counter.is_none().then_some(ORDER_EXPLICIT),
            sibling_order_rank: Some(rank),
            counter,
        };
        self.send(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
        Track(self.tracks)
    }

    /// Something that takes from one cycle to another, of which what is outside of the file's cycles is cut off.
    pub(super) fn slice(&mut self, track: Track, cycles: Range<Cycle>, what: What<'_>) {
        let (from, to) = (cycles.start.max(self.cycles.start), cycles.end.min(self.cycles.end));
        if from < to {
            let event = self.event(track, SLICE_BEGIN, what);
            self.send_event(from, event);
            let end = TrackEvent { r#type: Some(SLICE_END), track_uuid: Some(track.0), ..TrackEvent::default() };
            self.send_event(to, end);
        }
    }

    /// Something that takes no time.
    pub(super) fn instant(&mut self, track: Track, at: Cycle, what: What<'_>) {
        if self.cycles.contains(&at) {
            let event = self.event(track, INSTANT, what);
            self.send_event(at, event);
        }
    }

    /// A number from a cycle on.
    pub(super) fn count(&mut self, track: Track, at: Cycle, value: f64) {
        let event = TrackEvent {
            r#type: Some(COUNTER),
            track_uuid: Some(track.0),
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.send_event(at, event);
    }

    fn event(&mut self, track: Track, kind: i32, what: What<'_>) -> TrackEvent {
        let note = |(name, note): &(&'static str, Note<'_>)| {
            let name_iid = Some(self.note_names.number(name));
            match note {
                Note::Number(value) => {
                    DebugAnnotation { name_iid, uint_value: Some(*value), ..DebugAnnotation::default() }
                }
                Note::Text(text) => {
                    let string_value_iid = Some(self.note_texts.number(text));
                    DebugAnnotation { name_iid, string_value_iid, ..DebugAnnotation::default() }
                }
            }
        };
        TrackEvent {
            debug_annotations: what.notes.iter().map(note).collect(),
            category_iids: vec![self.kinds.number(what.kind)],
            r#type: Some(kind),
            name_iid: Some(self.names.number(what.name)),
            track_uuid: Some(track.0),
            ..TrackEvent::default()
        }
    }

    fn send_event(&mut self, at: Cycle, event: TrackEvent) {
        self.send(TracePacket {
            timestamp: Some(at),
            track_event: Some(event),
            sequence_flags: Some(NEEDS_STATE),
            ..TracePacket::default()
        });
    }

    fn send(&mut self, mut packet: TracePacket) {
        let new = [&mut self.kinds, &mut self.names, &mut self.note_names, &mut self.note_texts];
        let [kinds, names, note_names, note_texts] = new.map(|names| std::mem::take(&mut names.new));
        let interned = InternedData {
            event_categories: kinds,
            event_names: names,
            debug_annotation_names: note_names,
            debug_annotation_string_values: note_texts,
        };
        packet.interned_data = (interned != InternedData::default()).then_some(interned);
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        self.buffer.clear();
        // A packet of a trace of its own: traces one after another are one trace.
        let trace = Trace { packet: vec![packet] };
        trace.encode(&mut self.buffer).expect("a buffer grows");
        let bytes = self.buffer.len() as u64;
        // A packet that is left out may have had names that others need.
        self.is_full |= self.bytes + bytes > self.limit;
        if self.is_full || self.error.is_some() {
            return;
        }
        match self.out.write_all(&self.buffer) {
            Ok(()) => self.bytes += bytes,
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let written = self.error.take().map_or_else(|| self.out.flush(), Err);
        written.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}
