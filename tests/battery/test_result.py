"""The table of an analysis: types, rows that say why they are empty, and columns that must be declared."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.battery.result import Remark, refused, result

COLUMNS = ["Pulse", "Direction", "Resistance at 10 s [Ohm]", "Complete"]


def test_a_row_that_was_not_computed_is_kept_with_its_reason() -> None:
    made = result(
        [
            {"Pulse": 0, "Direction": "discharge", "Resistance at 10 s [Ohm]": 0.02, "Complete": True},
            {"Pulse": 1, "Direction": "charge", "Complete": False, "Valid": False, "Warning": "too short"},
        ],
        COLUMNS,
        [Remark("onset_gap", "One pulse is too short.", "pulse 1")],
    )
    assert list(made) == [*COLUMNS, "Valid", "Warning"]
    assert made["Resistance at 10 s [Ohm]"].dtype == np.float64
    assert np.isnan(made["Resistance at 10 s [Ohm]"][1])
    assert made["Valid"].tolist() == [True, False]
    assert made["Warning"].tolist() == ["", "too short"]
    assert made["Complete"].dtype == bool
    assert made.attrs["warnings"] == [
        {"code": "onset_gap", "message": "One pulse is too short.", "where": "pulse 1"}
    ]


def test_nothing_to_compute_is_one_row_that_says_why() -> None:
    made = refused(COLUMNS, "no_pulses", "No pulse starts from rest.")
    assert len(made) == 1
    assert not made["Valid"][0]
    assert made["Warning"][0] == "No pulse starts from rest."
    assert made[COLUMNS].isna().all(axis=None)


def test_an_empty_table_has_its_columns() -> None:
    made = result([], COLUMNS)
    assert list(made) == [*COLUMNS, "Valid", "Warning"]
    assert made["Valid"].dtype == bool


def test_a_column_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="'Pulze' that is not declared"):
        result([{"Pulze": 1}], COLUMNS)
