"""What a trace is opened from: the path of a file, an open file, or an object with `read` and `seek`, such as one of fsspec."""

import io
import os
import pathlib
import re
import tempfile
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

from ._native import Error

if TYPE_CHECKING:
    from .trace import Trace

PathLike = Union[str, "os.PathLike[str]"]


class Readable(Protocol):
    """An object that a trace can be read from, in any order."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> Any: ...
    def tell(self) -> int: ...


TraceLike = Union[PathLike, Readable]


class Source:
    """A file, or an object that takes its place. It stays the same if its path is replaced, or it is closed."""

    path: Optional[PathLike] = None
    """Path that the compiled part opens; None for an object."""
    object: Optional[Readable] = None
    name: str = "the trace"
    """Name in messages."""
    own_path: Optional[pathlib.Path] = None
    """Path that the trace was opened with."""
    _kept: Optional[io.FileIO] = None
    """The file, or a copy of the object."""

    def __init__(self, of: TraceLike) -> None:
        if isinstance(of, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", of):
            self.name, self.object = of, _opened(of)
        elif isinstance(of, (str, os.PathLike)):
            self.path, self.name, self.own_path = of, os.fsdecode(of), pathlib.Path(of)
        elif not all(hasattr(of, method) for method in ("read", "seek", "tell")):
            raise TypeError(f"a trace is opened from a path, or from a file with read and seek, not from {of!r}")
        else:
            names = (getattr(of, attribute, None) for attribute in ("full_name", "name"))
            self.name = next((name for name in names if isinstance(name, str)), self.name)
            file = _file_of(of)
            if file is None:
                self.object = of
            else:
                self._kept = io.FileIO(os.dup(file.fileno()))
                self.path = f"/proc/self/fd/{self._kept.fileno()}"

    def file(self, trace: "Trace") -> str:
        """Returns a path for other programs. An object is copied to a file without a name the first time."""
        if self.own_path is not None:
            return os.fspath(self.own_path)
        if self._kept is None:
            with tempfile.TemporaryFile(prefix="gapii-python-") as copy:
                self._kept = io.FileIO(os.dup(copy.fileno()))
            trace._save(f"/proc/self/fd/{self._kept.fileno()}")
        return f"/proc/{os.getpid()}/fd/{self._kept.fileno()}"


def _opened(url: str) -> Readable:
    try:
        import fsspec  # type: ignore[import-untyped]
    except ImportError:
        raise Error(
            f"{url} needs the package fsspec, and that of the store; install them with `pip install fsspec s3fs` for s3, with "
            "`gcsfs` for gs, with `adlfs` for az"
        ) from None
    try:
        return fsspec.open(url, "rb").open()
    except Exception as error:
        raise Error(f"can't open {url}: {error}") from error


def _file_of(of: Any) -> Optional[io.FileIO]:
    """Returns the file that an object reads as it is. Others with a `fileno` may read something else: what is compressed."""
    if isinstance(of, io.BufferedRandom):
        of.flush()
    raw = of.raw if isinstance(of, (io.BufferedReader, io.BufferedRandom)) else of
    return raw if isinstance(raw, io.FileIO) else None
