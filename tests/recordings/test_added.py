"""What is named as added since 0.1.0 is added: 0.1.0 did not answer it, this server does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.recordings.added import COLUMNS, without_added, without_added_columns
from tests.recordings.exchange import turns, unpacked
from tests.recordings.operations import IDS, P
from tests.stores.old_store import KEYS, current, served
from workbench.cycling.steps import OWN_TIME


@pytest.mark.parametrize("table", COLUMNS)
def test_what_is_named_as_added_is_new(tmp_path: Path, table: str) -> None:
    here = P.format_map(IDS)
    with served(current(tmp_path)) as client:
        ask = {"headers": {"X-API-Key": KEYS["admin"]["key"]}}
        held = client.get(f"/cell_measurements/{IDS['measurement_id']}/steps_and_cycles", **ask).json()
        catalog = client.get(f"{here}/catalog", **ask).json()
    asked = [turn for turn in turns() if table in turn["path"] or turn["path"].endswith("/catalog")]
    assert len(asked) >= 3
    for name in COLUMNS[table][1]:
        # No test of the recorded store was read by a reader, so that its steps own no time.
        assert (name in [column["name"] for column in catalog[table]]) is (name != OWN_TIME)
        assert name not in without_added(held)[table]
        assert name not in [column["name"] for column in without_added(catalog)[table]]
        assert not any(name.encode() in unpacked(turn["answer"]) for turn in asked)


def test_the_columns_that_lists_have_gained_are_taken_out_beside_the_one_before_them() -> None:
    row = {"name": "RPT", "cycle_count": 3, "kinds": "rpt"}
    assert without_added({"steps": {"tests": [row]}}) == {"steps": {"tests": [{"name": "RPT", "cycle_count": 3}]}}
    columns = [{"name": name, "type": "text"} for name in ("cycle_count", "kinds")]
    assert without_added({"sources": columns}) == {"sources": columns[:1]}
    assert without_added([{"kinds": "x"}, {"name": "kinds", "type": "text"}]) == [
        {"kinds": "x"},
        {"name": "kinds", "type": "text"},
    ]


def test_nothing_else_is_taken_out() -> None:
    for value in (
        {"cycles": 4, "Complete": [True]},
        [{"Complete": 1}],
        {"steps": {"Complete": [1]}},
        {"traces": [1]},
    ):
        assert without_added(value) == value
    table = pa.table({"Complete": [True], "Cycle count": [0]})
    assert without_added_columns(table).column_names == ["Complete", "Cycle count"]
