"""Prints the functions in which a program spent most time in the driver, and the largest uploads of a trace.

usage: slowest_functions.py TRACE        a trace that was recorded with `gapii-ctl run --timing`
"""

import sys

import gapii
import polars


def main(path: str) -> None:
    trace = gapii.open(path)
    print(trace)
    table = polars.DataFrame(trace.to_arrow())
    times = table.group_by("function").agg(
        polars.len().alias("commands"), (polars.sum("duration_ns") / 1e6).alias("ms")
    )
    print(times.sort("ms", descending=True).head(10))

    uploads = []
    for command in trace.commands(function=["glBufferData", "glBufferSubData", "glTexImage2D"]):
        for memory in command.reads:
            uploads.append((memory.size or 0, command.seq, command.function, memory.hash))
    for size, seq, function, digest in sorted(uploads, key=lambda upload: -upload[0])[:5]:
        print(f"{size:>10} bytes by command {seq}, {function}: {digest}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
