"""Reads a timeline with the classes of Perfetto's own schema."""

from dataclasses import dataclass, field

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema


@dataclass
class Slice:
    track: str
    kind: str
    name: str
    start: int
    end: int
    notes: dict = field(default_factory=dict)


@dataclass
class Timeline:
    slices: list
    instants: list
    # By track: times and values.
    counters: dict
    tracks: dict


def refuse_unknown(message):
    """The schema knows every field."""
    unknown = [entry.field_number for entry in UnknownFieldSet(message)]
    assert not unknown, f"{message.DESCRIPTOR.name} has no fields {unknown}"
    for descriptor, value in message.ListFields():
        if descriptor.message_type:
            is_list = not hasattr(value, "DESCRIPTOR")
            for part in value if is_list else [value]:
                refuse_unknown(part)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


class Names:
    """Numbers that stand for texts, as packets introduce them."""

    def __init__(self):
        self.kinds, self.names, self.notes, self.texts = {}, {}, {}, {}

    def add(self, data):
        self.kinds.update((entry.iid, entry.name) for entry in data.event_categories)
        self.names.update((entry.iid, entry.name) for entry in data.event_names)
        self.notes.update((entry.iid, entry.name) for entry in data.debug_annotation_names)
        self.texts.update((entry.iid, text(entry.str)) for entry in data.debug_annotation_string_values)

    def event(self, track, at, event):
        def value(note):
            return note.uint_value if note.HasField("uint_value") else self.texts[note.string_value_iid]

        notes = {self.notes[note.name_iid]: value(note) for note in event.debug_annotations}
        return Slice(track, self.kinds[event.category_iids[0]], self.names[event.name_iid], at, at, notes)


def read(path):
    trace = schema.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    names, tracks, opened = Names(), {}, {}
    timeline = Timeline([], [], {}, tracks)
    kinds = schema.TrackEvent
    for packet in trace.packet:
        refuse_unknown(packet)
        names.add(packet.interned_data)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            over = tracks[track.parent_uuid] + "/" if track.HasField("parent_uuid") else ""
            tracks[track.uuid] = over + track.name
        if not packet.HasField("track_event"):
            continue
        event, at = packet.track_event, packet.timestamp
        track = tracks[event.track_uuid]
        if event.type == kinds.TYPE_SLICE_BEGIN:
            opened.setdefault(track, []).append(names.event(track, at, event))
        elif event.type == kinds.TYPE_SLICE_END:
            ended = opened[track].pop()
            ended.end = at
            timeline.slices.append(ended)
        elif event.type == kinds.TYPE_COUNTER:
            timeline.counters.setdefault(track, []).append((at, event.double_counter_value))
        else:
            timeline.instants.append(names.event(track, at, event))
    assert not any(opened.values()), "every slice ends"
    return timeline
