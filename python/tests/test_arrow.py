"""Tables have the rows of the commands, and other libraries take them."""

import json

import gapii
import polars
import pyarrow
import pytest
from conftest import dumped, path_of


def test_columns_are_those_of_the_commands(path):
    trace = gapii.open(path)
    table = pyarrow.table(trace.to_arrow(strict=False)).to_pydict()
    commands = list(trace.commands(strict=False))
    for name in ("seq", "frame", "pid", "tid", "context", "begin_ns", "duration_ns"):
        assert table[name] == [getattr(command, name) for command in commands], name
    unknown = [None if command.api is None else command.function for command in commands]
    assert table["function"] == unknown


def test_args_are_those_of_dump(path):
    table = pyarrow.table(gapii.open(path).to_arrow(strict=False, args=True)).to_pydict()
    assert [text and json.loads(text) for text in table["args"]] == [line["args"] for line in dumped(path)]


def test_table_is_read_anew_for_each_stream():
    table = gapii.open(path_of("glmark2-es2")).to_arrow(function="glDraw*", frames=range(5))
    rows = [pyarrow.table(table).num_rows for _ in range(2)]
    assert rows[0] == rows[1] > 0
    assert pyarrow.schema(table) == pyarrow.table(table).schema


def test_polars_and_pandas_style_readers_take_it():
    trace = gapii.open(path_of("glmark2-es2"))
    frame = polars.DataFrame(trace.to_arrow())
    assert frame.height == trace.command_count
    swaps = frame.filter(polars.col("function").cast(polars.String) == "eglSwapBuffers")
    assert swaps.height == len(list(trace.commands(function="eglSwapBuffers"))) > 0
    batches = pyarrow.RecordBatchReader.from_stream(trace.to_arrow())
    assert sum(batch.num_rows for batch in batches) == trace.command_count


def test_damage_is_an_error_behind_the_rows():
    trace = gapii.open(path_of("cut"))
    reader = pyarrow.RecordBatchReader.from_stream(trace.to_arrow())
    assert reader.read_next_batch().num_rows == len(list(trace.commands(strict=False)))
    with pytest.raises(Exception, match="is cut at byte"):
        reader.read_next_batch()


def test_words_that_fit_nothing_are_told():
    with pytest.raises(gapii.Error, match="glNoSuch"):
        pyarrow.table(gapii.open(path_of("cut")).to_arrow(function="glNoSuch"))
