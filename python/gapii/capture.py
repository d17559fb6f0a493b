"""A capture whose commands are read while it is recorded. `gapii-ctl` records it; a second thread reads."""

import os
import subprocess
import tempfile
import threading
import weakref
from typing import TYPE_CHECKING, Any, IO, Iterator, Optional, Sequence, cast

from . import tool as _tool
from ._native import Command, Error, _follow
from .source import PathLike
from .trace import Trace, Words, words_of

END_SECONDS = 10
"""How long `gapii-ctl` and the program may take to end."""
SAID_BYTES = 1 << 16
"""Bytes that are kept of what `gapii-ctl` and the program said last."""


class Capture(Iterator[Command]):
    """The commands of a capture, about 0.2 s after they were called. `gapii.capture` makes it.

    The iterator ends when the capture does. `close`, the end of a `with` block, and the end of the object's life end a capture
    that still runs, and the program that was started for it. What was recorded by then can still be iterated.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        path: Optional[PathLike],
        function: Optional[Words],
        thread: Optional[Words],
        strict: bool,
        tool: Optional[PathLike],
    ) -> None:
        found, self._tool, self._path = _tool.find(tool), tool, path
        self._is_run, self._is_judged, self._is_closed = words[0] == "run", False, False
        self._spool: IO[bytes] = cast(
            "IO[bytes]", tempfile.TemporaryFile(prefix="gapii-python-") if path is None else open(path, "x+b")
        )
        try:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            self._process = subprocess.Popen([found, *words], bufsize=0, **streams)
        except OSError as error:
            self._forget_empty()
            raise Error(f"can't run {found}: {error.strerror}") from error
        self._end = weakref.finalize(self, _end, self._process)
        self._said = _Said(cast("IO[bytes]", self._process.stderr))
        with cast("IO[bytes]", self._process.stdout) as pipe:
            selected = words_of(function), words_of(thread)
            self._commands = _follow(pipe.fileno(), self._spool.fileno(), *selected, strict)

    def __iter__(self) -> "Capture":
        return self

    def __next__(self) -> Command:
        try:
            return next(self._commands)
        except StopIteration:
            self._judge(None)
            raise
        except Error as error:
            self._judge(error)
            raise

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the capture, and the program that was started for it, and waits for both, up to 10 s.

        The iterator then gives the commands that were recorded.
        """
        self._is_closed = self._is_closed or self._process.poll() is None
        self._end()

    @property
    def exit_status(self) -> Optional[int]:
        """Exit status of `gapii-ctl`, which is the program's if the capture started it; None while it runs."""
        return self._process.poll()

    @property
    def trace(self) -> Trace:
        """The whole trace, once the capture has ended."""
        if self._process.poll() is None:
            raise Error("the capture has not ended; `close()` ends it")
        return Trace(self._spool if self._path is None else self._path, tool=self._tool)

    def _judge(self, failure: Optional[Error]) -> None:
        """Waits for `gapii-ctl`, and raises its failure, which says more than that of the reader."""
        if self._is_judged:
            return
        self._is_judged = True
        status = self._process.wait()
        said = self._said.all()
        self._forget_empty()
        if self._is_closed:
            return
        if status < 0:
            raise Error(f"gapii-ctl was ended by signal {-status}") from failure
        if status in (125, 126, 127) if self._is_run else status != 0:
            ended = subprocess.CompletedProcess(self._process.args, status, b"", said)
            raise Error(_tool.sentence(ended)) from failure

    def _forget_empty(self) -> None:
        """Removes the file of a capture that did not begin."""
        if self._path is not None and os.fstat(self._spool.fileno()).st_size == 0:
            os.unlink(self._path)


def capture(
    command: Optional[Sequence[PathLike]] = None,
    *,
    app: Optional[Any] = None,
    frames: Optional[int] = None,
    function: Optional[Words] = None,
    thread: Optional[Words] = None,
    path: Optional[PathLike] = None,
    options: Sequence[str] = (),
    strict: bool = True,
    tool: Optional[PathLike] = None,
) -> Capture:
    """Records a program, and returns an iterator over its commands while it runs.

        for command in gapii.capture(["glxgears"], frames=100, function="glDraw*"):
            print(command.frame, command.function, command.args)

    With `command` the program is started, and ends with the capture. Otherwise a program that runs under gapii is recorded:
    `app` is its process id or name; it can be left out if there is one. `frames` ends the capture after so many frames.
    `function` and `thread` choose commands as in `Trace.commands`; all are recorded. `path` names a new file for the trace;
    without it the trace is deleted with the iterator. `options` are options of `gapii-ctl run` or `start`.

    A trace that is cut gives `DamagedError` behind its commands, unless `strict` is False. A failure of `gapii-ctl` is an
    `Error` with its sentence.
    """
    if command is not None and app is not None:
        raise TypeError("a capture has a command or an app, not both")
    limit = [] if frames is None else [f"--frames={int(frames)}"]
    if command is not None:
        words = ["run", "--quit", *limit, *options, "-o", "-", "--", *(os.fspath(word) for word in command)]
    else:
        chosen = [] if app is None else [f"--app={app}"]
        words = ["start", *chosen, *limit, *options, "-o", "-"]
    return Capture(words, path=path, function=function, thread=thread, strict=strict, tool=tool)


class _Said:
    """Reads what is said, so that nobody waits to say it, and keeps the end of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, args=(stream,), name="gapii-said", daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while True:
                part = stream.read(SAID_BYTES)
                if not part:
                    return
                self._kept += part
                del self._kept[:-SAID_BYTES]

    def all(self) -> bytes:
        # A process that the program left behind may keep it open.
        self._thread.join(timeout=1)
        return bytes(self._kept)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
