"""A trace: what the compiled part reads, and what `gapii-ctl` answers."""

import pathlib
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _native, tool as _tool
from .source import PathLike, Source, TraceLike

Numbers = Union[int, range]
Words = Union[str, int, Sequence[Union[str, int]]]


class Trace(_native.Trace):
    """A trace. It stays this file even if its path is replaced; only `gapii-ctl` opens the path again."""

    _tool: Optional[PathLike]
    _source: Source

    def __new__(cls, source: TraceLike, *, tool: Optional[PathLike] = None) -> "Trace":
        of = Source(source)
        made = super().__new__(cls, of.path, of.object, of.name)
        made._source, made._tool = of, tool
        return made

    @property
    def path(self) -> Optional[pathlib.Path]:
        """Path that the trace was opened with; None if it was opened with an object or a URL."""
        return self._source.own_path

    @property
    def summary(self) -> Dict[str, Any]:
        """What `gapii-ctl info --json` says without the drivers: frames, commands, processes, losses, bytes."""
        return _printed(self._summary())

    @property
    def frame_count(self) -> int:
        """Number of frames that ended, over all processes."""
        return self.summary["frames"]

    @property
    def command_count(self) -> int:
        """Number of commands that took effect."""
        return self.summary["commands"]

    @property
    def apis(self) -> List[str]:
        """APIs with commands: "egl", "gl", "glx", "level_zero"."""
        return self.summary["apis"]

    @property
    def processes(self) -> List[Dict[str, Any]]:
        """The processes, each with pid, name, exe, apis and frames."""
        return self.summary["processes"]

    @property
    def drivers(self) -> List[Dict[str, Any]]:
        """The drivers that the program used. Runs `gapii-ctl info`."""
        return self.info()["drivers"]

    def commands(
        self,
        *,
        frames: Optional[Numbers] = None,
        commands: Optional[Numbers] = None,
        function: Optional[Words] = None,
        thread: Optional[Words] = None,
        strict: bool = True,
    ) -> _native.Commands:
        """Returns an iterator over the commands, in the order in which they took effect.

        A command is listed if it fits every argument that is given. `frames` and `commands` are a number or a range.
        `function` is a name or several, in which * and ? match. `thread` is a thread id or a name, or several.

        Behind the readable part of a damaged trace the iterator raises `DamagedError`; with `strict=False` it ends.
        """
        return self._commands(*_selection(frames, commands, function, thread), strict)

    def to_arrow(
        self,
        *,
        frames: Optional[Numbers] = None,
        commands: Optional[Numbers] = None,
        function: Optional[Words] = None,
        thread: Optional[Words] = None,
        strict: bool = True,
        args: bool = False,
    ) -> _native.Arrow:
        """Returns a table of the commands, for libraries with Arrow's PyCapsule interface.

        The columns are seq, frame, pid, tid, context, function, begin_ns and duration_ns. With `args` a column has the
        arguments as JSON, as in `gapii-ctl dump --json`; null if that is longer than 64 KiB.
        """
        return self._to_arrow(*_selection(frames, commands, function, thread), strict, args)

    def info(self) -> Dict[str, Any]:
        """Returns what `gapii-ctl info --json` prints."""
        return _tool.answer(self._tool, ["info", "--", self._file()])

    def problems(self) -> Dict[str, Any]:
        """Returns what `gapii-ctl problems --json` prints: what is wrong in the trace."""
        return _tool.answer(self._tool, ["problems", "--", self._file()])

    def state(self, seq: int, *, section: Optional[str] = None, object: Optional[str] = None) -> Dict[str, Any]:
        """Returns the state after a command: all of it, or a section or an object, such as "texture:5"."""
        parts = [] if section is None else [f"--section={section}"]
        parts += [] if object is None else [f"--object={object}"]
        return _tool.answer(self._tool, ["state", f"--at={int(seq)}", *parts, "--", self._file()])

    def picture(self, seq: int) -> bytes:
        """Returns a PNG of the first colour attachment after a command. The trace is played on this machine's driver."""
        return self.pictures(seq)[0]

    def pictures(self, seq: int, *, depth: bool = False) -> List[bytes]:
        """Returns PNGs of all colour attachments after a command and, with `depth`, of the depth buffer."""
        parts = ["--depth"] if depth else []
        return _tool.pictures(self._tool, [f"--at={int(seq)}", *parts, "--", self._file()])

    def __repr__(self) -> str:
        return f"<gapii.Trace {self.name!r}: {self.frame_count} frames, {self.command_count} commands>"

    def _file(self) -> str:
        return self._source.file(self)


def open(source: TraceLike, *, tool: Optional[PathLike] = None) -> Trace:
    """Opens a trace: a path, a file that is open, an object with `read` and `seek`, or a URL such as "s3://bucket/x.gapii", which
    needs fsspec. `tool` is the path of `gapii-ctl`, which `info`, `problems`, `state` and `picture` run; otherwise the
    one on PATH is used.

    Raises `Error` for a file that can't be read or is no trace. A cut or damaged trace is opened; see `Trace.problem`.
    """
    return Trace(source, tool=tool)


Bounds = Optional[Tuple[int, int]]


def _selection(
    frames: Optional[Numbers], commands: Optional[Numbers], function: Optional[Words], thread: Optional[Words]
) -> Tuple[Bounds, Bounds, List[str], List[str]]:
    return _bounds("frames", frames), _bounds("commands", commands), words_of(function), words_of(thread)


def _bounds(name: str, numbers: Optional[Numbers]) -> Bounds:
    if numbers is None:
        return None
    if isinstance(numbers, int):
        numbers = range(numbers, numbers + 1)
    if not isinstance(numbers, range) or numbers.step != 1:
        raise TypeError(f"{name} is a number or a range with step 1, not {numbers!r}")
    if numbers.start < 0:
        raise ValueError(f"{name} are counted from 0, and {numbers.start} is less")
    return numbers.start, max(numbers.start, numbers.stop)


def _printed(value: Any) -> Any:
    """Renames counts of commands as `gapii-ctl` does: a trace file has older names for them."""
    if isinstance(value, dict):
        return {_RENAMED.get(name, name): _printed(inner) for name, inner in value.items()}
    return [_printed(inner) for inner in value] if isinstance(value, list) else value


_RENAMED = {name: name.replace("calls", "commands") for name in ("calls", "reentrant_calls", "foreign_calls")}


def words_of(words: Optional[Words]) -> List[str]:
    """Returns words as a list."""
    if words is None:
        return []
    if isinstance(words, (str, int)):
        words = [words]
    return [str(word) for word in words]
