"""Reads traces of gapii, also while they are recorded: frames, commands with their arguments and memory, tables for Arrow.

    import gapii

    trace = gapii.open("gears.gapii")
    for command in trace.commands(frames=10, function="glDraw*"):
        print(command.seq, command.function, command.args)

docs/python.md of the project describes the package.
"""

from ._native import Arrow, Command, Commands, DamagedError, Error, Frame, Memory
from .capture import Capture, capture
from .tool import record
from .trace import Trace, open
from .values import Enum, Flags, Pointer

__all__ = [
    "Arrow",
    "Capture",
    "Command",
    "Commands",
    "DamagedError",
    "Enum",
    "Error",
    "Flags",
    "Frame",
    "Memory",
    "Pointer",
    "Trace",
    "capture",
    "open",
    "record",
]
