"""Reads a trace of Perfetto and a profile of the Firefox Profiler, and prints what they have as JSON.

Uses no code of the project: the messages of Perfetto come from the package `perfetto` of PyPI.
"""

import json
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def read_perfetto(path):
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    tracks, names, open_slices, last_end = {}, {}, {}, {}
    commands = frames = faults = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if not packet.HasField("track_event"):
            continue
        event, at = packet.track_event, packet.timestamp
        track = tracks.get(event.track_uuid)
        if track is None:
            faults += 1
            continue
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            # A slice begins inside the one that is open, or behind the last one. A wait within a hold comes before it.
            earliest = stack[-1] if stack else last_end.get(event.track_uuid, 0)
            faults += at < earliest and track.name != "held and waiting"
            stack.append(at)
            name = names.get(event.name_iid, event.name)
            faults += not name
            commands += track.HasField("thread")
            frames += track.name == "frames"
        elif event.type == TrackEvent.TYPE_SLICE_END:
            faults += not stack or at < stack[-1]
            stack[-1:] = []
            last_end[event.track_uuid] = at
    # A program may leave a group open.
    faults += sum(len(stack) for uuid, stack in open_slices.items() if tracks[uuid].name != "marks")
    return {"tracks": len(tracks), "commands": commands, "frames": frames, "faults": faults}


def read_profile(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    categories = [category["name"] for category in profile["meta"]["categories"]]
    fields = {
        schema["name"]: {field["key"] for field in schema["fields"]}
        for schema in profile["meta"]["markerSchema"]
    }
    instant, begin_only, end_only = 0, 2, 3
    commands = frames = faults = 0
    for thread in profile["threads"]:
        markers, names = thread["markers"], thread["stringArray"]
        columns = ["startTime", "endTime", "phase", "category", "name", "data"]
        faults += sum(len(markers[column]) != markers["length"] for column in columns)
        last_end = float("-inf")
        for begin, end, phase, category, name, data in zip(*(markers[column] for column in columns)):
            faults += not (0 <= category < len(categories) and 0 <= name < len(names))
            faults += not set(data) - {"type"} <= fields[data["type"]]
            faults += (begin is None) != (phase == end_only)
            faults += (end is None) != (phase in (instant, begin_only))
            faults += None not in (begin, end) and end < begin
            if data["type"] in ("command", "frame"):
                faults += begin < last_end
                last_end = end
            commands += data["type"] == "command"
            frames += data["type"] == "frame"
    return {"tracks": len(profile["threads"]), "commands": commands, "frames": frames, "faults": faults}


print(json.dumps({"perfetto": read_perfetto(sys.argv[1]), "firefox-profiler": read_profile(sys.argv[2])}))
