"""Commands, frames and blobs are those that `gapii-ctl` prints."""

import copy
import json
import math
import pathlib
import struct
import threading
import time

import gapii
import numpy
import pytest
from conftest import ALL, RECORDED, TOOL, dumped, path_of, printed


def shown(value):
    """A value as `dump --json` has it."""
    if isinstance(value, (gapii.Enum, gapii.Flags, gapii.Pointer)):
        return str(value)
    if isinstance(value, gapii.Memory):
        return {"size": value.size, "hash": value.hash}
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "NaN")
    if isinstance(value, list):
        return [shown(element) for element in value]
    return value


def agrees(value, expected):
    """Whether a shown value is that of the tool, which writes 32-bit floats with fewer digits."""
    if isinstance(expected, dict) and isinstance(value, dict) and "hash" in expected:
        return value["size"] == expected["size"] and value["hash"] == expected["hash"]
    if isinstance(expected, list) and isinstance(value, list):
        return len(value) == len(expected) and all(map(agrees, value, expected))
    if isinstance(expected, (int, float)) and isinstance(value, float):
        return value == expected or struct.pack("f", value) == struct.pack("f", expected)
    if isinstance(expected, dict) and "values" in expected and isinstance(value, list):
        return agrees(value, expected["values"])
    return value == expected and isinstance(value, bool) == isinstance(expected, bool)


def test_commands_are_those_of_dump(path):
    expected = dumped(path)
    commands = list(gapii.open(path).commands(strict=False))
    assert len(commands) == len(expected)
    assert commands or path.stem == "empty"
    for command, line in zip(commands, expected):
        own = (command.seq, command.pid, command.tid, command.context, command.frame, command.function)
        assert own == tuple(line[key] for key in ("seq", "pid", "tid", "context", "frame", "name"))
        times = (command.begin_ns, command.duration_ns, command.time_ns, command.gpu_begin_ns, command.gpu_ns)
        keys = ("begin_ns", "driver_ns", "time_ns", "gpu_begin_ns", "gpu_ns")
        assert times == tuple(line.get(key) for key in keys)
        only = [{"begin_ns": line["gpu_begin_ns"], "gpu_ns": line["gpu_ns"]}] if "gpu_ns" in line else []
        executions = [(it["begin_ns"], it["gpu_ns"]) for it in line.get("gpu_executions", only)]
        assert command.gpu_executions == executions
        flags = (command.is_setup, command.is_skipped, command.is_tracers, command.in_flight)
        assert flags == tuple(line.get(key, False) for key in ("setup", "skipped", "tracer", "in_flight"))
        named = (command.names, command.role, command.text)
        assert named == (line.get("names", {}), line.get("role"), line.get("text")), line["seq"]
        args = command.args
        assert list(args) == list(line["args"])
        for name, value in args.items():
            assert agrees(shown(value), line["args"][name]), (line["seq"], name, value, line["args"][name])
        assert agrees(shown(command.result), line["result"]), (line["seq"], command.result)


def test_objects_have_words_and_commands_have_roles():
    commands = list(gapii.open(path_of("glmark2-es2")).commands())
    swap = next(command for command in commands if command.function == "eglSwapBuffers")
    assert swap.names == {"dpy": "display 1", "surface": "surface 1"} and swap.role is None
    assert {command.role for command in commands if command.function.startswith("glDraw")} == {"draw"}
    # Words are learned from the commands before, also from those that are not listed.
    path = path_of("glmark2-es2")
    assert next(gapii.open(path).commands(function="eglSwapBuffers")).names == swap.names
    assert next(gapii.open(path).commands(frames=range(2, 3), function="eglSwapBuffers")).names == {}


def test_memory_is_that_of_dump(path):
    """The ranges of the tool stand behind the memory of the arguments."""
    for command, line in zip(gapii.open(path).commands(strict=False), dumped(path)):
        for own, expected in ((command.reads, line.get("reads", [])), (command.writes, line.get("writes", []))):
            assert len(own) >= len(expected)
            ranges = own[len(own) - len(expected) :]
            for memory, other in zip(ranges, expected):
                assert (memory.param, memory.size, memory.hash) == (other["param"], other["size"], other["hash"])
                assert hex(memory.address) == other["address"]


def test_bytes_are_those_of_the_blob():
    checked = 0
    for path in RECORDED:
        trace = gapii.open(path)
        blobs = {m.hash: m for c in trace.commands() for m in c.reads if m.is_blob and m.data is not None}
        for hash, memory in list(blobs.items())[:5]:
            data = memory.data
            assert isinstance(data, memoryview) and data.readonly and len(data) == memory.size
            assert data == trace.blob(hash) == trace.blob(hash[:12])
            assert memory.data.obj is data.obj, "a second view copies nothing"
            assert printed("blob", path, hash, "--json").startswith("{")
            checked += 1
    assert checked > 5


def test_elements_are_what_numpy_reads():
    checked = 0
    for path in ALL:
        for command in gapii.open(path).commands(strict=False):
            for memory in command.reads:
                if memory.dtype is None or memory.data is None or not memory.values:
                    continue
                array = numpy.frombuffer(memory.data, dtype=memory.dtype)
                if not isinstance(memory.values[0], bool):
                    numpy.testing.assert_array_equal(array, numpy.array([*map(float, memory.values)]))
                    checked += 1
            if checked > 300:
                return
    assert checked > 10


def test_frames_are_those_of_frames(path):
    answer = json.loads(printed("frames", path, "--json") or '{"frames": []}')
    frames = gapii.open(path).frames()
    own = [(f.process, f.number, f.seq, f.commands, f.time_ns, f.duration_ns) for f in frames]
    keys = ("process", "frame", "seq", "commands", "time_ns", "duration_ns")
    assert own == [tuple(frame[key] for key in keys) for frame in answer["frames"]]


def test_summary_is_that_of_info(path):
    trace = gapii.open(path, tool=TOOL)
    answer = trace.info()
    assert {**answer, **trace.summary} == answer
    assert (trace.frame_count, trace.command_count) == (answer["frames"], answer["commands"])
    assert (trace.apis, trace.processes, trace.drivers) == (answer["apis"], answer["processes"], answer["drivers"])
    assert (trace.problem is None) == (answer.get("tail") is None)


def test_selection_is_that_of_dump():
    path = path_of("glmark2-es2")
    trace = gapii.open(path)

    def check(options, **selection):
        seqs = [command.seq for command in trace.commands(**selection)]
        assert seqs == [line["seq"] for line in dumped(path, *options)]
        assert seqs

    check(["--frames", "3"], frames=3)
    check(["--frames", "3..6"], frames=range(3, 6))
    check(["--commands", "40..90"], commands=range(40, 90))
    check(["--function", "glDraw*"], function="glDraw*")
    check(["--function", "glDraw*", "--function", "eglSwap*"], function=["glDraw*", "eglSwap*"])
    check(["--frames", "2..9", "--commands", "0..3000"], frames=range(2, 9), commands=range(3000))
    tid = next(trace.commands()).tid
    check(["--thread", str(tid)], thread=tid)
    assert list(trace.commands(frames=range(3, 3))) == []
    assert list(trace.commands(commands=range(0, 0))) == []


def test_mistakes_are_told():
    trace = gapii.open(path_of("glmark2-es2"))
    for selection, kind in [
        ({"frames": "3"}, TypeError),
        ({"frames": range(0, 9, 2)}, TypeError),
        ({"commands": -1}, ValueError),
        ({"function": "glNoSuch"}, gapii.Error),
    ]:
        with pytest.raises(kind):
            trace.commands(**selection)
    with pytest.raises(gapii.Error, match="there is no file"):
        gapii.open("/no/such.gapii")
    with pytest.raises(gapii.Error, match="it is a folder"):
        gapii.open("/tmp")
    with pytest.raises(gapii.Error, match="not a trace"):
        gapii.open(__file__)
    with pytest.raises(gapii.Error, match="has no blob whose hash begins with"):
        trace.blob("0" * 32)
    with pytest.raises(gapii.Error, match="1 to 32 hexadecimal digits"):
        trace.blob("x")


def test_damage_is_raised_behind_the_readable_part():
    trace = gapii.open(path_of("cut"))
    assert "is cut at byte" in trace.problem
    commands = trace.commands()
    read = 0
    with pytest.raises(gapii.DamagedError, match="everything before it is complete"):
        for _ in commands:
            read += 1
    assert read == len(list(trace.commands(strict=False))) > 0


def test_iterator_that_is_left_ends_its_thread():
    trace = gapii.open(path_of("glmark2-es2"))
    for _ in range(50):
        next(trace.commands())
    deadline = time.monotonic() + 30
    while any("gapii-read" in p.read_text() for p in pathlib.Path("/proc/self/task").glob("*/comm")):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_values_are_numbers_with_names():
    commands = gapii.open(path_of("glmark2-es2")).commands(function=["glClear", "glDraw*"])
    clear = next(command for command in commands if command.function == "glClear")
    mask = clear.args["mask"]
    assert mask & 0x4000 and "GL_COLOR_BUFFER_BIT" in mask.names and "GL_COLOR_BUFFER_BIT" in str(mask)
    draw = next(command for command in commands if command.function.startswith("glDraw"))
    mode = draw.args["mode"]
    assert mode.name == str(mode) == f"{mode}" and mode.name.startswith("GL_TRI") and mode in range(4, 7)
    assert str(gapii.Enum(0x1F)) == "0x1f" and str(gapii.Flags(0)) == "0"
    assert copy.copy(mode).name == mode.name and copy.copy(mask).names == mask.names
