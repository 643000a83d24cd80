"""Which cycles an exclusion names, as numbers and as the text that is kept and shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.errors import BadRequest
from workbench.records.exclusion import cycles_text


@pytest.mark.parametrize(
    ("cycles", "text"),
    [
        (None, "all"),
        ("all", "all"),
        (7, "7"),
        (np.int64(4), "4"),
        ([5, 3, 4, 9], "3-5, 9"),
        (np.arange(3), "0-2"),
        (np.array(5), "5"),
        (range(60, 121), "60-120"),
        ([1.0, 2.0], "1-2"),
        ("3-5, 9", "3-5, 9"),
        ("9,3 - 5,4-7", "3-7, 9"),
        ("0-999999999", "0-999999999"),
    ],
)
def test_cycles_become_a_text(cycles: Any, text: str) -> None:
    assert cycles_text(cycles) == text


@pytest.mark.parametrize(
    "cycles",
    [
        *("", "x", "5-3", "-1", "3-5-6", "1,000", "007", b"35", np.array("3")),
        *([], [1.5], [True], ["3"], [None], [[1]], [10**400]),
        *(-1, 1.5, 10**9, float("nan"), float("inf")),
    ],
)
def test_what_names_no_cycles_is_refused(cycles: Any) -> None:
    with pytest.raises(BadRequest, match="such as 7"):
        cycles_text(cycles)
