"""Runs `gapii-ctl`. A failure of it is an `Error` with its sentence. It runs without a shell."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, List, Optional, Sequence

from ._native import Error
from .source import PathLike

if TYPE_CHECKING:
    from .trace import Trace


def find(tool: Optional[PathLike]) -> str:
    """Returns the path of the tool: the one that is named, or `gapii-ctl` on PATH."""
    if tool is not None:
        return os.fspath(tool)
    found = shutil.which("gapii-ctl")
    if found is None:
        raise Error('gapii-ctl is not on PATH; install gapii, or name it: `gapii.open(path, tool="…/gapii-ctl")`')
    return found


def answer(tool: Optional[PathLike], words: Sequence[str]) -> Any:
    """Returns what the tool prints with `--json`. An answer beside a failure counts, as of a damaged trace."""
    ended = _run(tool, [words[0], "--json", *words[1:]])
    if ended.stdout.strip():
        return json.loads(ended.stdout)
    raise Error(sentence(ended))


def pictures(tool: Optional[PathLike], words: Sequence[str]) -> List[bytes]:
    """Returns the PNG files that a replay writes, by their names."""
    with tempfile.TemporaryDirectory(prefix="gapii-python-") as folder:
        ended = _run(tool, ["replay", f"--images={folder}", *words])
        files = sorted(pathlib.Path(folder).glob("*.png"))
        if files:
            return [file.read_bytes() for file in files]
        if ended.returncode != 0:
            raise Error(sentence(ended))
        raise Error("the command drew to nothing that has a picture")


def record(
    command: Sequence[PathLike],
    path: PathLike,
    *,
    frames: Optional[int] = None,
    options: Sequence[str] = (),
    tool: Optional[PathLike] = None,
) -> "Trace":
    """Runs a program, records it, and opens the trace when the program has ended.

    `frames` records so many frames and then ends the program. `options` are options of `gapii-ctl run`, such as
    `["--timing"]`. A file that exists is overwritten only with `["--force"]`. The program's own output is not shown.
    """
    from .trace import Trace

    limit = [] if frames is None else [f"--frames={frames}", "--quit"]
    words = ["run", *limit, *options, "-o", os.fspath(path), "--", *(os.fspath(word) for word in command)]
    ended = _run(tool, words)
    # `run` returns the status of the program, except for these.
    if ended.returncode in (125, 126, 127):
        raise Error(sentence(ended))
    return Trace(path, tool=tool)


def sentence(ended: "subprocess.CompletedProcess[bytes]") -> str:
    """Returns the sentence of a failure: with `--json`, `message` of the field `error` of the last line.

    The program that the tool runs may say something, too.
    """
    said = ended.stderr.decode(errors="replace")
    lines = [line for line in said.splitlines() if line.strip()]
    if not lines:
        return f"gapii-ctl ended with status {ended.returncode}"
    try:
        return str(json.loads(lines[-1])["error"]["message"])
    except (KeyError, TypeError, ValueError):
        ours = ("gapii-ctl: ", "error: ")
        own = (line.partition(prefix)[2] for prefix in ours for line in lines if line.startswith(prefix))
        return [lines[-1], *own][-1]


def _run(tool: Optional[PathLike], words: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
    found = find(tool)
    try:
        return subprocess.run([found, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise Error(f"can't run {found}: {error.strerror}") from error
