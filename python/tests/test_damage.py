"""Damaged traces give the readable part or an `Error`, and never end the process."""

import random

import gapii
import pyarrow
import pytest
import zstandard
from conftest import KEPT, ROOT, frames_of

CORPUS = sorted((ROOT / "protocol/fuzz/corpus/trace_file").iterdir())
WITH_BLOCKS = [path for path in KEPT if path.stem in ("level_zero", "timed", "tool", "two_apis")]
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
    table = pyarrow.table(trace.to_arrow(args=True, strict=False))
    assert table.num_rows == count
    return count


def blocks_of(path):
    """The header frame of a trace, and the records of its blocks. Frames that can be skipped behind it are left out."""
    header, blocks = frames_of(path)
    return header, [zstandard.ZstdDecompressor().decompressobj().decompress(block) for block in blocks]


def test_corpus_of_the_fuzzer():
    counts = {path.stem: read_all(path) for path in CORPUS}
    assert counts["whole"] > 10 and all(counts.values())


def test_trace_cut_at_many_places(tmp_path):
    whole = next(path for path in CORPUS if path.stem == "whole").read_bytes()
    cut = tmp_path / "cut.gapii"
    counts = []
    for end in range(0, len(whole), 5):
        cut.write_bytes(whole[:end])
        counts.append(read_all(cut))
    assert counts[0] is None and counts[-1] > 10 and 0 in counts


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_trace_with_a_changed_byte(path, tmp_path):
    chance = random.Random(SEED)
    whole = path.read_bytes()
    changed = tmp_path / "changed.gapii"
    counts = set()
    for at in range(0, len(whole), 16):
        flipped = whole[at] ^ (1 << chance.randrange(8))
        changed.write_bytes(whole[:at] + bytes([flipped]) + whole[at + 1 :])
        counts.add(read_all(changed))
    assert None in counts and len(counts) > 2


@pytest.mark.parametrize("path", WITH_BLOCKS, ids=lambda path: path.stem)
def test_records_with_changed_bytes_behind_right_checksums(path, tmp_path):
    chance = random.Random(SEED)
    header, blocks = blocks_of(path)
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    changed = tmp_path / "changed.gapii"

    def count(change):
        frames = [compressor.compress(bytes(change(bytearray(block)))) for block in blocks]
        changed.write_bytes(header + b"".join(frames))
        return read_all(changed)

    def flipped(block):
        for _ in range(chance.choice([1, 4, 16])):
            block[chance.randrange(len(block))] = chance.choice([0, 0xFF, chance.randrange(256)])
        return block

    assert count(lambda block: block) == len(list(gapii.open(path).commands()))
    counts = [count(flipped) for _ in range(50)]
    assert len(set(counts)) > 3
