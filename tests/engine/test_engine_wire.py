"""A Dataset on the wire: JSON that keeps types, Arrow that keeps every bit."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from engine.test_engine_ops import examples
from hypothesis import given
from support.plain_rows import tables

from workbench import engine
from workbench.dataset import Dataset, Samples, SeriesSet, Warn
from workbench.engine.arrow import from_arrow, to_arrow
from workbench.engine.columns import kinds_of
from workbench.engine.equality import plain
from workbench.engine.warnings import CODES
from workbench.engine.wire import to_json
from workbench.errors import StoreError
from workbench.table import Column, Table

FLOATS = [1.0, -0.0, 1e16, 1e-7, 2.5e300, float("nan"), float("inf"), None, 0.1]


def made(table: Table, **more: Any) -> Dataset:
    samples = Samples(np.array([3, 5]), Table.of({"x": [1, 2], "y": [1.5, float("nan")]}), False, 9)
    other = Samples(np.array([0]), Table.of({"x": [0.5], "y": Column.nulls(1)}), True, 1)
    columns = {"rows": kinds_of(table), "curves": [("x", "number"), ("y", "number")]}
    steps = {"rows": table, "curves": {"a": samples, "b": other}, "none": {}}
    return Dataset(steps, values={"p": 1}, columns=columns, warnings=[Warn("x", "y")], **more)


def test_json_keeps_the_shape_of_the_interface() -> None:
    table = Table.of({"id": ["a", None], "n": [1, None], "f": [2.0, 1.0], "ok": [True, None]})
    answer = orjson.loads(to_json(made(table, cache={"dataset": "hit"})))
    assert answer["steps"]["rows"] == [
        {"id": "a", "n": 1, "f": 2.0, "ok": True},
        {"id": None, "n": None, "f": 1.0, "ok": None},
    ]
    assert answer["steps"]["curves"] == {
        "a": {"columns": {"x": [1.0, 2.0], "y": [1.5, None]}, "complete": False},
        "b": {"columns": {"x": [0.5], "y": [None]}, "complete": True},
    }
    assert answer["steps"]["none"] == {}
    assert answer["columns"]["rows"][1] == {"name": "n", "type": "integer"}
    assert answer["cache"] == {"dataset": "hit"}
    assert set(answer) == {"steps", "columns", "values", "options", "warnings", "cache", "reads", "timings"}


def test_every_float_carries_a_decimal_point_and_no_integer_does() -> None:
    table = Table.of({"f": Column.from_python(FLOATS, "number"), "i": list(range(len(FLOATS)))})
    text = to_json(made(table)).decode()
    seen: list[str] = []
    read = json.loads(text, parse_float=lambda word: seen.append(word) or float(word))
    assert [row["i"] for row in read["steps"]["rows"]] == list(range(len(FLOATS)))
    assert all("." in word for word in seen)
    floats = [row["f"] for row in read["steps"]["rows"]]
    assert floats == [None if v is None or not math.isfinite(v) else v for v in FLOATS]
    assert {warning["code"] for warning in read["warnings"]} == {"x", "infinity_as_null"}


def test_times_are_text_of_fixed_width() -> None:
    column = Column("datetime", np.array([0, 1_769_860_800_000_000]), np.array([True, True]))
    (first, second) = orjson.loads(to_json(made(Table({"t": column}, 2))))["steps"]["rows"]
    assert (first["t"], second["t"]) == ("1970-01-01T00:00:00.000000Z", "2026-01-31T12:00:00.000000Z")


def test_arrow_comes_back_as_it_was(long: bool) -> None:
    @examples(long, 60)
    @given(tables())
    def comes_back(pair: Any) -> None:
        dataset = made(pair[0])
        steps, head = from_arrow(to_arrow(dataset))
        assert list(steps) == list(dataset.steps)
        rows, read = dataset.steps["rows"], steps["rows"]
        assert isinstance(rows, Table)
        assert isinstance(read, Table)
        assert kinds_of(read) == kinds_of(rows)
        for name, column in rows.items():
            assert plain(read[name]) == plain(column)
            assert read[name].null_mask().tolist() == column.null_mask().tolist() or column.kind == "mixed"
        samples = steps["curves"]["a"]  # type: ignore[index]
        assert (samples.rows.tolist(), samples.complete, samples.total) == ([3, 5], False, 9)
        assert head["values"] == {"p": 1}
        assert head["columns"]["curves"][0] == {"name": "x", "type": "number"}

    comes_back()


def streams(content: bytes) -> list[tuple[dict[str, str], pa.Table]]:
    """The Arrow streams of an answer, one after the other: the metadata and the table of each."""
    source, found = pa.BufferReader(content), []
    while source.tell() < source.size():
        with pa.ipc.open_stream(source) as stream:
            about = {key.decode(): value.decode() for key, value in stream.schema.metadata.items()}
            found.append((about, stream.read_all()))
    return found


def test_arrow_is_one_stream_per_table_and_the_first_says_the_rest() -> None:
    found = streams(to_arrow(made(Table.of({"id": ["a"], "inf": [float("-inf")]}))))
    assert [(about["step"], about["id"], about["complete"], table.num_rows) for about, table in found] == [
        ("", "", "true", 0),
        ("rows", "", "true", 1),
        ("curves", "a", "false", 2),
        ("curves", "b", "true", 1),
    ]
    assert ["workbench" in about for about, _ in found] == [True, False, False, False]
    for packing in ("zstd", None):
        steps, _ = from_arrow(to_arrow(made(Table.of({"id": ["a"]})), (), packing))
        assert list(steps) == ["rows", "curves", "none"]
    steps, head = from_arrow(to_arrow(made(Table.of({"inf": [float("-inf")]}))))
    assert steps["rows"]["inf"].tolist() == [float("-inf")]  # type: ignore[index,union-attr]
    assert [warning["code"] for warning in head["warnings"]] == ["x"]


def test_sources_in_one_stream_are_read_as_a_server_of_0_1_0_sends_them() -> None:
    curves: SeriesSet = {
        key: Samples(np.array(rows), Table.of({"x": [float(row) for row in rows]}), rows == [0], 9)
        for key, rows in (("a", [3, 5]), ("b", [0]))
    }
    (head, _), *rest = streams(to_arrow(Dataset({"curves": curves})))
    sources = [one for about, _ in rest for one in orjson.loads(about["sources"])]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([], metadata={"step": "", "workbench": head["workbench"]})):
        pass
    schema = rest[0][1].schema.with_metadata({"step": "curves", "sources": orjson.dumps(sources)})
    with pa.ipc.new_stream(sink, schema) as writer:
        for _, table in rest:
            writer.write_table(table.replace_schema_metadata(schema.metadata))
    steps, _ = from_arrow(sink.getvalue().to_pybytes())
    read = {
        key: (one.rows.tolist(), one.complete, one.total, one.table["x"].tolist())
        for key, one in steps["curves"].items()
    }
    assert read == {"a": ([3, 5], False, 9, [3.0, 5.0]), "b": ([0], True, 9, [0.0])}


def test_another_arrow_stream_is_refused() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("a", pa.int64())])):
        pass
    with pytest.raises(StoreError, match="not a Dataset"):
        from_arrow(sink.getvalue().to_pybytes())


def test_every_warning_code_is_declared_and_every_declared_one_is_given() -> None:
    folder = Path(engine.__file__).parent
    given = {
        code
        for path in folder.rglob("*.py")
        for code in re.findall(r"\bWarn\(\s*\"(\w+)\"", path.read_text(encoding="utf-8"))
    }
    assert given == set(CODES)
