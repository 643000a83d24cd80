"""Frames of a script: types, order, sample numbers, and that a script changes only its own copy."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from workbench.dataset import COLUMNS, Samples, pack
from workbench.table import Column, Table
from workbench.transform.frames import Absent, frames

WHEN = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)


def every_type() -> Table:
    return Table.of(
        {
            "number": [1.5, 2.5, -0.0],
            "number gaps": Column("number", np.array([1.0, np.nan, 3.0]), np.array([True, True, False])),
            "integer": [1, 2, 3],
            "integer nulls": [1, None, 2**53 + 1],
            "boolean": [True, False, True],
            "boolean nulls": [True, None, False],
            "text": ["a", "", "ä"],
            "text nulls": ["a", None, "a"],
            "datetime": [WHEN, None, WHEN],
            "null": [None, None, None],
            "mixed": ["a", 1, None],
            "float32": np.array([0.1, 0.2, 0.3], np.float32),
            "int8": np.array([1, 2, 3], np.int8),
        }
    )


TYPES = {
    "number": "float64",
    "number gaps": "float64",
    "integer": "int64",
    "integer nulls": "Int64",
    "boolean": "bool",
    "boolean nulls": "boolean",
    "text": "str",
    "text nulls": "str",
    "datetime": "datetime64[us, UTC]",
    "null": "float64",
    "mixed": "object",
    "float32": "float64",
    "int8": "int64",
}


def test_a_series_step_without_sources_keeps_its_columns_and_types() -> None:
    columns = [("Date", "datetime"), ("Voltage [V]", "number"), ("Step count", "integer"), ("Note", "text")]
    long = frames(pack({"curves": {}}, {COLUMNS: {"curves": columns}}))["curves"].long(id="cell")
    assert {name: str(dtype) for name, dtype in long.dtypes.items()} == {
        "cell": "str",
        "Date": "datetime64[us, UTC]",
        "Voltage [V]": "float64",
        "Step count": "int64",
        "Note": "str",
    }
    assert len(long) == 0
    assert list(frames(pack({"curves": {}}))["curves"].long().columns) == ["id"]


def test_types_and_values() -> None:
    frame = frames(pack({"rows": every_type()}))["rows"]
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == TYPES
    assert frame["integer nulls"].tolist() == [1, pd.NA, 2**53 + 1]
    assert frame["number gaps"].isna().tolist() == [False, True, True]
    assert np.signbit(frame["number"][2])
    assert frame["text"].tolist() == ["a", "", "ä"]
    assert frame["text nulls"].isna().tolist() == [False, True, False]
    assert frame["datetime"][0] == pd.Timestamp(WHEN)
    assert frame["datetime"].isna().tolist() == [False, True, False]
    assert frame["null"].isna().all()
    assert frame["mixed"].tolist() == ["a", 1, None]
    assert isinstance(frame.index, pd.RangeIndex)


def test_an_empty_step_keeps_columns_and_types() -> None:
    table = every_type()
    empty = frames(pack({"rows": table.take(np.zeros(0, int))}))["rows"]
    assert empty.columns.tolist() == table.names
    expected = {**TYPES, "integer nulls": "int64", "boolean nulls": "bool"}
    assert {name: str(dtype) for name, dtype in empty.dtypes.items()} == expected


def test_a_table_without_columns_keeps_its_rows() -> None:
    assert len(frames(pack({"rows": Table({}, 4)}))["rows"]) == 4


def series() -> bytes:
    def samples(rows: list[int], complete: bool) -> Samples:
        numbers = np.array(rows, np.int64)
        table = Table.of({"t": numbers * 1.0, "U": 3.0 + numbers, "note": [f"n{row}" for row in rows]})
        return Samples(numbers, table, complete, 100)

    return pack({"curves": {"b": samples([0, 5, 9], False), "a": samples([2, 3], True)}})


def test_series_are_a_mapping_in_order_with_sample_numbers() -> None:
    curves = frames(series())["curves"]
    assert list(curves) == ["b", "a"]
    assert len(curves) == 2
    assert curves["b"].index.tolist() == [0, 5, 9]
    assert curves["b"].columns.tolist() == ["t", "U", "note"]
    assert curves.complete == {"b": False, "a": True}
    assert curves.total == {"b": 100, "a": 100}
    assert [key for key, _ in curves.items()] == ["b", "a"]
    assert "curves" not in curves
    assert "b" in curves


def test_long_is_one_frame_with_a_column_for_the_id() -> None:
    curves = frames(series())["curves"]
    long = curves.long()
    assert long.columns.tolist() == ["id", "t", "U", "note"]
    assert long["id"].tolist() == ["b", "b", "b", "a", "a"]
    assert str(long["id"].dtype) == "str"
    assert long.index.tolist() == [0, 5, 9, 2, 3]
    assert curves.long(id="cell").columns[0] == "cell"
    with pytest.raises(ValueError, match=r"long\(id="):
        curves.long(id="U")


def test_long_of_no_sources() -> None:
    assert len(frames(pack({"curves": {}}))["curves"].long()) == 0


def test_frames_are_built_once_and_only_when_asked_for() -> None:
    data = frames(series())
    assert not data._made
    assert data["curves"]["a"] is data["curves"]["a"]
    assert list(data["curves"]._frames) == ["a"]


def test_changing_a_frame_changes_nothing_outside() -> None:
    packed = pack({"rows": every_type()})
    kept = bytes(packed)
    frame = frames(packed)["rows"]
    for name, value in {
        "number": 9.0,
        "integer": 9,
        "integer nulls": 9,
        "boolean": False,
        "boolean nulls": False,
        "text": "changed",
        "datetime": pd.Timestamp(0, tz="UTC"),
        "null": 9.0,
        "mixed": "changed",
    }.items():
        frame.loc[0, name] = value
        frame.iloc[1:, frame.columns.get_loc(name)] = value
    frame["number"] *= 2
    frame.pop("float32")
    assert frame["int8"].tolist() == [1, 2, 3]
    assert packed == kept
    pd.testing.assert_frame_equal(frames(packed)["rows"], frames(kept)["rows"])

    packed = series()
    kept = bytes(packed)
    curves = frames(packed)["curves"]
    curves["b"].loc[0, "U"] = 99.0
    curves["b"].to_numpy(copy=False)
    curves.complete["b"] = True
    assert packed == kept
    curves["b"].columns.name = "mine"
    curves["b"].index.name = "mine"
    assert curves["a"].columns.name is None
    again = frames(packed)["curves"]["b"]
    assert again["U"].tolist() == [3.0, 8.0, 12.0]
    assert (again.columns.name, again.index.name) == (None, None)


def test_what_is_missing_is_named() -> None:
    data = frames(series())
    with pytest.raises(Absent, match=r"no step 'curvs'. Did you mean 'curves'"):
        data["curvs"]
    with pytest.raises(Absent, match=r"no source 'c'.*'b', 'a'"):
        data["curves"]["c"]
    assert data.get("nothing") is None
    assert data["curves"].get("c", 1) == 1


def test_a_script_may_put_its_own_into_data() -> None:
    data = frames(series())
    data["mine"] = 1
    assert (data["mine"], list(data)) == (1, ["curves", "mine"])
    del data["curves"]
    assert list(data) == ["mine"]


def test_a_notebook_completes_names_of_steps_and_sources() -> None:
    pytest.importorskip("IPython")
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    samples = Samples(np.array([0]), Table.of({"Voltage [V]": [3.6]}), True, 1)
    shell = InteractiveShell()
    shell.user_ns["data"] = data = frames(pack({"cells": every_type(), "curves": {"a1": samples}}))
    shell.user_ns["curves"] = data["curves"]

    def offered(text: str) -> list[str]:
        with provisionalcompleter():
            return [one.text for one in shell.Completer.completions(text, len(text))]

    assert offered('data["') == ["cells", "curves"]
    assert offered('curves["') == ["a1"]
