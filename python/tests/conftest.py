"""Traces for the tests: those that `cargo xtask check-python` recorded, and those of the repository.

Environment: GAPII_TRACES, a folder with recorded traces; GAPII_LONG_TRACE, a trace of a million commands; GAPII_CTL, the
control tool.
"""

import functools
import json
import os
import pathlib
import struct
import subprocess

import pytest
import zstandard

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = sorted((ROOT / "tests/data/traces").glob("*.gapii"))
RECORDED = sorted(pathlib.Path(os.environ["GAPII_TRACES"]).glob("*.gapii"))
LONG = pathlib.Path(os.environ["GAPII_LONG_TRACE"])
TOOL = os.environ["GAPII_CTL"]
ALL = RECORDED + KEPT


@functools.lru_cache(maxsize=None)
def printed(*words):
    """What the tool prints; status 1 is a damaged trace."""
    ended = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout


def dumped(path, *options):
    return [json.loads(line) for line in printed("dump", path, "--json", *options).splitlines()]


def path_of(name):
    return next(path for path in ALL if path.stem == name)


def frames_of(path):
    """The header frame of a trace, and the frames of its blocks. Frames that can be skipped behind it are left out."""
    rest, header, blocks = path.read_bytes(), b"", []
    while rest:
        magic, length = struct.unpack("<II", rest[:8])
        if magic & 0xFFFFFFF0 == 0x184D2A50:
            header = header or rest[: 8 + length]
            rest = rest[8 + length :]
        else:
            frame = zstandard.ZstdDecompressor().decompressobj()
            frame.decompress(rest)
            blocks.append(rest[: len(rest) - len(frame.unused_data)])
            rest = frame.unused_data
    return header, blocks


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def path(request):
    return request.param
