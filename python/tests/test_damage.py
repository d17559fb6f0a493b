"""Damaged traces give the readable part or an `Error`, and never end the process."""

import random

import gapii
import pyarrow
import pytest
from conftest import KEPT, ROOT

CORPUS = sorted((ROOT / "protocol/fuzz/corpus/trace_file").iterdir())
SMALLEST = min(KEPT, key=lambda path: path.stat().st_size)
SEED = 20


def read_all(path):
    """Reads everything that a trace has. Returns the number of commands, or None for a file that is not opened."""
    try:
        trace = gapii.open(path)
    except gapii.Error:
        return None
    repr(trace)
    trace.frames()
    count = 0
    for command in trace.commands(strict=False):
        count += 1
        (repr(command), command.args, command.result)
        for memory in command.reads + command.writes:
            (memory.data, memory.values, memory.hash, repr(memory))
    try:
        pyarrow.table(trace.to_arrow(args=True))
    except (gapii.Error, pyarrow.ArrowException, OSError):
        pass
    return count


def test_corpus_of_the_fuzzer():
    assert len(CORPUS) > 3
    for path in CORPUS:
        read_all(path)


@pytest.mark.parametrize("path", [SMALLEST, *(path for path in KEPT if path.stem in ("level_zero", "two_apis"))])
def test_trace_cut_at_many_places(path, tmp_path):
    whole = path.read_bytes()
    cut = tmp_path / "cut.gapii"
    counts = []
    for end in [*range(0, 64), *range(64, len(whole), len(whole) // 60)]:
        cut.write_bytes(whole[:end])
        counts.append(read_all(cut))
    assert counts[0] is None and counts[-1]


@pytest.mark.parametrize("path", [SMALLEST, *(path for path in KEPT if path.stem in ("level_zero", "two_apis"))])
def test_trace_with_flipped_bytes(path, tmp_path):
    chance = random.Random(SEED)
    whole = path.read_bytes()
    flipped = tmp_path / "flipped.gapii"
    counts = []
    for _ in range(120):
        changed = bytearray(whole)
        for _ in range(chance.choice([1, 1, 4])):
            changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        flipped.write_bytes(changed)
        counts.append(read_all(flipped))
    assert any(counts)
