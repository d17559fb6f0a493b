"""Prints how fast the commands of a trace are read: as Arrow's batches, and as objects. Argument: a trace."""

import sys
import time

import gapii
import pyarrow

trace = gapii.open(sys.argv[1])


def rate(count):
    """Commands per second, and per second of CPU time, of the best of three readings each."""
    rates = []
    for _ in range(3):
        begun, used = time.perf_counter(), time.process_time()
        commands = count()
        rates.append((commands / (time.perf_counter() - begun), commands / (time.process_time() - used)))
    best, best_of_cpu = map(max, zip(*rates))
    return f"{best / 1e6:.2f} million commands per second, {best_of_cpu / 1e6:.2f} million per CPU second"


def arrow(**options):
    return sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(trace.to_arrow(**options)))


print(f"trace of {trace.command_count} commands")
print("Arrow:", rate(arrow))
print("Arrow with arguments:", rate(lambda: arrow(args=True)))
print("objects:", rate(lambda: sum(1 for _ in trace.commands())))
