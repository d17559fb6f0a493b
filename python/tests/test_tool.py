"""What `gapii-ctl` answers, and the stubs of types."""

import ast
import json
import os
import pathlib

import gapii
import pytest
from conftest import TOOL, path_of, printed
from gapii import _native


def test_state_is_that_of_the_tool():
    path = path_of("glmark2-es2")
    trace = gapii.open(path, tool=TOOL)
    seq = next(trace.commands(frames=3, function="glDraw*")).seq
    section = "context.viewport"
    expected = printed("state", path, "--at", seq, "--section", section, "--json")
    assert trace.state(seq, section=section) == json.loads(expected)


def test_picture_is_a_png():
    trace = gapii.open(path_of("glmark2-es2"), tool=TOOL)
    seq = next(trace.commands(frames=3, function="glDraw*")).seq
    picture = trace.picture(seq)
    assert picture.startswith(b"\x89PNG") and int.from_bytes(picture[16:20], "big") == 640
    assert len(trace.pictures(seq, depth=True)) == 2


def test_program_is_recorded_and_opened(tmp_path):
    path = tmp_path / "animation.gapii"
    trace = gapii.record([os.environ["GAPII_PROGRAM"]], path, frames=2, options=["--timing"], tool=TOOL)
    assert trace.frame_count == 2 and trace.path == path
    assert all(command.duration_ns is not None for command in trace.commands(function="glDraw*"))
    with pytest.raises(gapii.Error, match="--force"):
        gapii.record([os.environ["GAPII_PROGRAM"]], path, frames=2, tool=TOOL)


def test_failures_have_the_sentence_of_the_tool(monkeypatch):
    path = path_of("glmark2-es2")
    with pytest.raises(gapii.Error, match="has no command 99999999; its last one is"):
        gapii.open(path, tool=TOOL).state(99999999)
    with pytest.raises(gapii.Error, match="can't run /no/gapii-ctl"):
        gapii.open(path, tool="/no/gapii-ctl").info()
    monkeypatch.setenv("PATH", "/no")
    with pytest.raises(gapii.Error, match="gapii-ctl is not on PATH"):
        gapii.open(path).info()


def test_stubs_name_what_there_is():
    """Each class and member of the stub is there, and each public one that is there is in the stub and documented."""
    stub = ast.parse((pathlib.Path(gapii.__file__).parent / "_native.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert functions | set(classes) == {name for name in dir(_native) if not name.startswith("__")}
    for name, node in classes.items():
        real = getattr(_native, name)
        stubbed = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        assert not {member for member in stubbed if not hasattr(real, member)}
        if issubclass(real, Exception):
            continue
        public = {member for member in vars(real) if not member.startswith("__")}
        assert public == {member for member in stubbed if not member.startswith("__")}, name
        assert real.__doc__, name
        for member in public:
            assert getattr(real, member).__doc__, (name, member)
