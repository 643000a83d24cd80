"""Arguments as they come out of frames and arrays, and of types that nothing takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb

QUANTITY = {"value": 4.0, "unit": "V"}
RATINGS = {"capacity": {"value": 5.0, "unit": "A.h"}, "voltage_min": QUANTITY, "voltage_max": QUANTITY}
RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}},
    "transform": "def transform(data, params):\n    return go.Figure()\n",
    "params": {"p": {"kind": "view", "default": None}},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    with wb.open(tmp_path_factory.mktemp("types") / "lab.db") as made:
        made.specifications.create(name="M50", ratings=RATINGS)
        for name in ("cell one", "cell two", "cell three"):
            made.instances.create(name=name, specification="M50")
        yield made


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda bench: bench.measurements.get(pd.DataFrame({"id": ["a", "b"]}).loc[0]),
            r"the record, not by a Series\.$",
        ),
        (lambda bench: bench.measurements.list(limit=2.0), "a whole number from 0, not 2.0"),
        (lambda bench: bench.measurements.list(limit=True), "a whole number from 0, not True"),
        (lambda bench: bench.instances.list(fields=[1]), "'fields' is a list of names of columns, and 1 is not"),
        (lambda bench: wb.connect(None, "wb_key"), "'None' is not the address of a server"),
        (lambda bench: wb.connect("http://127.0.0.1:1", 3), "This is not a key"),
    ],
)
def test_what_is_of_another_type_is_refused_in_words(
    bench: wb.Bench, ask: Callable[[wb.Bench], object], said: str
) -> None:
    with pytest.raises(wb.BadRequest, match=said):
        ask(bench)


def test_a_whole_number_of_numpy_is_one(bench: wb.Bench) -> None:
    assert list(bench.instances.list(limit=np.int64(2))["name"]) == ["cell one", "cell two"]
    assert len(bench.instances.list(limit=10**5000)) == 3
    assert len(bench.search("cell", limit=np.int64(1), offset=np.int32(1))) == 1
    view = bench.show(RECIPE, time_limit=np.float64(5))
    assert view.time_limit == 5.0
    view.close()


@pytest.mark.parametrize(
    ("values", "by_name", "said"),
    [
        (["a"], {"p": 1}, "'values' must be an object"),
        (pd.Series({"p": 1}), {"q": 1}, "'values' must be an object"),
        ({"p": pd.NaT}, {}, "NaT is a missing time"),
    ],
    ids=str,
)
def test_values_that_cannot_be_are_refused_in_words(
    bench: wb.Bench, values: Any, by_name: dict[str, Any], said: str
) -> None:
    with pytest.raises(wb.Invalid, match=said):
        bench.figure(RECIPE, values, **by_name)


def test_columns_that_are_no_names_are_called_columns(bench: wb.Bench) -> None:
    rows = {"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [4.0, 3.9]}
    made = bench.measurements.create(instance="cell one", name="m", time_series=rows)
    with pytest.raises(wb.BadRequest, match="'columns' is a list of names of columns, and 1 is not a name"):
        bench.measurements.time_series(made, [1])


@pytest.mark.parametrize(
    ("given", "day"),
    [
        (datetime(2026, 1, 31), date(2026, 1, 31)),
        (pd.Timestamp("2026-01-31", tz="Europe/Berlin"), date(2026, 1, 31)),
        (np.datetime64("2026-01-31T00:00:00", "ns"), date(2026, 1, 31)),
        (np.datetime64("2026-01-31"), date(2026, 1, 31)),
        (pd.NaT, None),
    ],
    ids=repr,
)
def test_a_day_of_numpy_or_pandas_is_one(bench: wb.Bench, given: object, day: date | None) -> None:
    assert bench.instances.update("cell one", date_manufactured=given).date_manufactured == day


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pd.Timestamp("2026-01-31 03:00"), r"is a time, not a day\. Give the day, such as 2026-01-31"),
        (np.datetime64("2026-01"), "'2026-01' is not a day such as"),
    ],
    ids=repr,
)
def test_what_is_no_one_day_is_refused(bench: wb.Bench, given: object, said: str) -> None:
    with pytest.raises(wb.Invalid, match=said):
        bench.instances.update("cell one", date_manufactured=given)


def test_a_very_long_number_is_refused_in_words(bench: wb.Bench, tmp_path: Path) -> None:
    with pytest.raises(wb.Invalid, match=r"'a' is a number of 16610 bits; whole numbers have at most 64 bits"):
        bench.instances.update("cell one", properties={"a": 10**5000})
    path = tmp_path / "recipe.json"
    path.write_text("1" * 5000)
    with pytest.raises(wb.Invalid, match=r"a whole number in it has more than 4300 digits; write it with an exp"):
        wb.Recipe.load(path)
