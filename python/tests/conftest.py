"""Traces for the tests: those that `cargo xtask check-python` recorded, and those of the repository.

Environment: GAPII_TRACES, a folder with recorded traces; GAPII_CTL, the control tool.
"""

import functools
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = sorted((ROOT / "tests/data/traces").glob("*.gapii"))
RECORDED = sorted(pathlib.Path(os.environ["GAPII_TRACES"]).glob("*.gapii"))
TOOL = os.environ["GAPII_CTL"]
ALL = RECORDED + KEPT


@functools.lru_cache(maxsize=None)
def printed(*words):
    """What the tool prints; status 1 is a damaged trace."""
    ended = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout


def dumped(path, *options):
    return [json.loads(line) for line in printed("dump", path, "--json", *options).splitlines()]


def path_of(name):
    return next(path for path in ALL if path.stem == name)


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def path(request):
    return request.param
