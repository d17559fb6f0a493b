"""The examples do what they say."""

import base64
import runpy
import sys

import nbclient
import nbformat
import pytest
from conftest import ROOT, TOOL, path_of

EXAMPLES = ROOT / "python/examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# What the outputs of a notebook have, besides pictures.
SAYS = {
    "slowest_functions": ["eglSwapBuffers", "longest_ms", "frame"],
    "state_and_picture": ["glDraw", "viewport", "glBufferData"],
    "uploads_per_frame": ["bytes that were uploaded before"],
}
PICTURES = {"slowest_functions": 0, "state_and_picture": 1, "uploads_per_frame": 1}


def test_example_prints_functions_and_uploads(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["slowest_functions.py", str(path_of("glmark2-es2"))])
    runpy.run_path(str(EXAMPLES / "slowest_functions.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "eglSwapBuffers" in said and "glBufferData" in said


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, monkeypatch, tmp_path):
    monkeypatch.setenv("GAPII_TRACE", str(path_of("glmark2-es2")))
    monkeypatch.setenv("GAPII_CTL", TOOL)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "a notebook is kept without its outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    shown = "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs)
    for words in SAYS[path.stem]:
        assert words in shown, shown
    pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == PICTURES[path.stem]
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures)


def test_each_notebook_is_known():
    assert sorted(SAYS) == sorted(PICTURES) == [path.stem for path in NOTEBOOKS]
