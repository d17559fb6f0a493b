"""Prints how fast the commands of a trace are read: as Arrow's batches, and as objects. Argument: a trace."""

import sys
import time

import gapii
import pyarrow

trace = gapii.open(sys.argv[1])


def rate(count):
    """Commands per second of the best of three readings."""
    best = 0.0
    for _ in range(3):
        begun = time.perf_counter()
        commands = count()
        best = max(best, commands / (time.perf_counter() - begun))
    return f"{best / 1e6:.2f} million commands per second"


def arrow(**options):
    return sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(trace.to_arrow(**options)))


print(f"trace of {trace.command_count} commands")
print("Arrow:", rate(arrow))
print("Arrow with arguments:", rate(lambda: arrow(args=True)))
print("objects:", rate(lambda: sum(1 for _ in trace.commands())))
