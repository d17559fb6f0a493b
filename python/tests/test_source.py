"""Traces that are opened from something other than a path."""

import gzip
import io
import struct
import subprocess
import sys
import tempfile
import threading
import time

import fsspec
import gapii
import polars
import pyarrow
import pytest
from conftest import LONG, TOOL, frames_of, path_of

PAGE = 1 << 20
"""Bytes that an object is asked for at once."""


class Object:
    """A file that has `read`, `seek` and `tell` alone, gives at most so many bytes at once, and notes what it was asked for."""

    def __init__(self, path, most=1 << 30):
        self.file, self.most, self.asked = io.BytesIO(path.read_bytes()), most, []
        self.reads = 0

    def read(self, size):
        self.reads += 1
        start = self.file.tell()
        time.sleep(0)
        part = self.file.read(min(size, self.most))
        assert self.reads == 1, "two threads read at the same time"
        self.asked.append((start, len(part)))
        self.reads -= 1
        return part

    def seek(self, offset, whence=0):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()


def shown(trace):
    """What a reader of a trace sees of its commands."""
    memory = [(m.param, m.hash, m.data and bytes(m.data)) for c in trace.commands() for m in c.reads]
    return [(c.seq, c.function, repr(c.args)) for c in trace.commands()], memory, trace.summary, len(trace.frames())


@pytest.mark.parametrize("most", [1 << 30, 1000])
def test_object_gives_the_commands_of_its_file(most):
    path = path_of("glmark2-es2")
    trace = gapii.open(Object(path, most))
    assert shown(trace) == shown(gapii.open(path))
    assert trace.path is None and trace.name == "the trace" and "the trace" in repr(trace)


def test_open_files_and_compressed_files_give_the_commands_of_the_path(tmp_path):
    path = path_of("client_arrays")
    expected = shown(gapii.open(path))
    with path.open("rb") as file:
        trace = gapii.open(file)
    assert shown(trace) == expected, "the file is closed"
    with tempfile.TemporaryFile() as file:
        file.write(path.read_bytes())
        assert shown(gapii.open(file)) == expected
    compressed = tmp_path / "trace.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert shown(gapii.open(gzip.open(compressed))) == expected
    assert shown(gapii.open(io.BytesIO(path.read_bytes()))) == expected


def test_bytes_that_are_not_needed_are_not_asked_for(tmp_path):
    """A trace with 16 MiB in front of its index, in a frame that readers skip."""
    whole, padding = path_of("glmark2-es2").read_bytes(), 16 * PAGE
    index_at, footer_at = struct.unpack("<QQ", whole[-24:-8])
    frame = struct.pack("<II", 0x184D2A5F, padding - 8) + bytes(padding - 8)
    trailer = struct.pack("<QQ", index_at + padding, footer_at + padding)
    path = tmp_path / "padded.gapii"
    path.write_bytes(whole[:index_at] + frame + whole[index_at:-24] + trailer + whole[-8:])
    padded = Object(path)
    trace = gapii.open(padded)
    assert shown(trace)[0] == shown(gapii.open(path_of("glmark2-es2")))[0]
    assert sum(size for _, size in padded.asked) <= 4 * PAGE


@pytest.fixture(scope="module")
def spread(tmp_path_factory):
    """A trace of a million commands, each block on two pages of its own, more than an object keeps. It has no index."""
    spread, blocks = frames_of(LONG)
    assert len(blocks) > 20
    for number, block in enumerate(blocks):
        end = (2 * number + 1) * PAGE - len(block) // 2
        spread += struct.pack("<II", 0x184D2A5F, end - len(spread) - 8)
        spread += bytes(end - len(spread)) + block
    path = tmp_path_factory.mktemp("spread") / "spread.gapii"
    path.write_bytes(spread)
    return path


def test_tables_of_an_object_are_read_by_several_threads_with_and_without_the_lock(spread):
    trace = gapii.open(Object(spread))
    count = gapii.open(LONG).command_count
    assert polars.DataFrame(trace.to_arrow(strict=False)).height == count
    rows = []
    threads = [
        threading.Thread(target=lambda: rows.append(pyarrow.table(trace.to_arrow(strict=False)).num_rows)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert rows == [count] * 3


def test_tool_gets_a_copy():
    path = path_of("glmark2-es2")
    seq = next(gapii.open(path).commands(frames=3, function="glDraw*")).seq
    section = "context.viewport"
    expected = gapii.open(path, tool=TOOL).state(seq, section=section)
    with path.open("rb") as file:
        traces = [gapii.open(source, tool=TOOL) for source in (file, Object(path))]
    for trace in traces:
        assert trace.state(seq, section=section) == expected
        assert trace.info()["commands"] == trace.command_count


def test_failures_of_an_object_are_errors():
    class Broken(Object):
        def read(self, size):
            raise OSError("the network is gone")

    with pytest.raises(gapii.Error, match="can't read the trace: OSError: the network is gone"):
        gapii.open(Broken(path_of("glmark2-es2")))
    with pytest.raises(gapii.Error, match="the trace: not a trace"):
        gapii.open(io.BytesIO(b"something else"))
    with pytest.raises(gapii.Error, match="not a trace"):
        gapii.open(io.BytesIO(b""))
    with pytest.raises(TypeError, match="a file with read and seek"):
        gapii.open(3)


def test_url_is_opened_with_fsspec(monkeypatch):
    path = path_of("client_arrays")
    with fsspec.open("memory://traces/a.gapii", "wb") as file:
        file.write(path.read_bytes())
    trace = gapii.open("memory://traces/a.gapii")
    assert trace.name == "memory://traces/a.gapii" and shown(trace) == shown(gapii.open(path))
    with pytest.raises(gapii.Error, match="can't open memory://traces/b.gapii"):
        gapii.open("memory://traces/b.gapii")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(gapii.Error, match="pip install fsspec s3fs"):
        gapii.open("s3://traces/a.gapii")


def test_trace_is_read_from_an_object_store(monkeypatch):
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in (("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "secret"), ("DEFAULT_REGION", "us-east-1")):
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.mkdir("traces")
        path = path_of("glmark2-es2")
        store.put_file(str(path), "traces/a.gapii")
        assert shown(gapii.open("s3://traces/a.gapii")) == shown(gapii.open(path))
        with store.open("traces/a.gapii") as file:
            assert gapii.open(file).name.endswith("traces/a.gapii")
    finally:
        server.stop()


def test_program_that_ends_while_an_object_is_read_ends(spread):
    """It takes 2 s to end, while which a thread that reads would get Python's lock."""
    program = """
import os, sys, time, gapii
class Slow:
    def __init__(self, path): self.file = open(path, "rb")
    def read(self, size): time.sleep(0.05); return self.file.read(size)
    def seek(self, *to): return self.file.seek(*to)
    def tell(self): return self.file.tell()
class Late:
    def __del__(self, sleep=time.sleep, write=os.write): sleep(2); write(1, b"ended")
sys.late = Late()
trace = gapii.open(Slow(sys.argv[1]))
commands = trace.commands(strict=False)
next(commands)
"""
    ended = subprocess.run([sys.executable, "-c", program, spread], capture_output=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, b"ended"), ended.stderr
