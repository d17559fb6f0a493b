"""Reads traces of gapii: frames, commands with their arguments and memory, and tables for Arrow.

    import gapii

    trace = gapii.open("gears.gapii")
    for command in trace.commands(frames=10, function="glDraw*"):
        print(command.seq, command.function, command.args)

docs/python.md of the project describes the package.
"""

from ._native import Arrow, Command, Commands, DamagedError, Error, Frame, Memory
from .tool import record
from .trace import Trace, open
from .values import Enum, Flags, Pointer

__all__ = [
    "Arrow",
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
    "open",
    "record",
]
