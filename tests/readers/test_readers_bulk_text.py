"""What is read in bulk, for speed, is what a look at each text gives."""

from __future__ import annotations

import csv
import random
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from workbench.readers.table.several_cells import CellLines
from workbench.readers.table.text_layout import split_line, split_lines
from workbench.readers.table.values import CLOCKS, clocks


def written(pattern: str, random_: random.Random) -> str | None:
    """A moment in this pattern; one in three is damaged."""
    text = pd.Timestamp(random_.randrange(-(2 * 10**18), 4 * 10**18), tz="UTC").strftime(pattern)
    kind = random_.random()
    if kind < 0.2:
        place = random_.randrange(len(text))
        letters = "0123456789 /-x٣." + ("" if "%f" in pattern else ":")  # a fraction may be behind a colon
        text = text[:place] + random_.choice(letters) + text[place + 1 :]
    elif kind < 0.25:
        text = text[:-1]
    elif kind < 0.3 and "%f" not in pattern:  # with more digits pandas keeps nanoseconds, for a shorter time
        text += random_.choice("0123456789") * random_.randrange(1, 5)
    return None if kind > 0.98 else text


@pytest.mark.parametrize("pattern", CLOCKS)
def test_clock_times_are_those_of_pandas(pattern: str) -> None:
    random_ = random.Random(pattern)
    texts = pd.Series([written(pattern, random_) for _ in range(200)], dtype="str")
    parsed = pd.to_datetime(texts.str.strip(), format=pattern, errors="coerce", cache=False, utc=True)
    want = parsed.dt.tz_localize(None).to_numpy("datetime64[us]")
    in_range = (want > np.datetime64("1700-01-02")) & (want < np.datetime64("2199-12-31"))
    made = clocks(texts, pattern)
    np.testing.assert_array_equal(made[in_range], want[in_range])
    assert np.isnat(made[np.isnat(want)]).all()
    assert in_range.sum() > 100


def test_a_day_that_there_is_not_is_no_clock_time() -> None:
    texts = ["30.02.2024 10:00", "29.02.2024 10:00", "29.02.2023 10:00", "31.04.2024 10:00", "01.13.2024 10:00"]
    made = clocks(pd.Series(texts, dtype="str"), "%d.%m.%Y %H:%M")
    assert list(np.isnat(made)) == [True, False, True, True, True]


def test_cells_of_lines_are_counted_as_line_by_line() -> None:
    random_ = random.Random(2)
    fields = ["A", " B ", "", "C1", "\tx", " ", "é", "a b", '"A"', '"A;B"']
    for trial in range(500):
        mark, place = random_.choice(";,\t|"), random_.randrange(4)
        known = fields if trial % 5 == 0 else fields[:8]
        lines = [
            mark.join(random_.choice(known) for _ in range(random_.randrange(6))) + random_.choice(["", "\r", " "])
            for _ in range(random_.randrange(1, 30))
        ]
        block = ("\n".join(lines) + random_.choice(["", "\n"])).encode()
        cells, counts = CellLines(place, mark), Counter[str]()
        cells.counting(counts)(block)
        names = [cells.name(line).decode() for line in block.split(b"\n") if line.strip()]
        assert counts == Counter(names)
        assert [name for name in counts if name] == list(dict.fromkeys(filter(None, names)))


@pytest.mark.parametrize(
    "lines",
    [
        ["1,2", " 3, 4", "5,"],
        ['1,"2,5"', '"3', "4,5"],
        ["1,2", "3\r4,5", "6,7"],
        ["1,2", "x" * (csv.field_size_limit() + 1) + ",3"],
    ],
)
def test_lines_are_split_as_one_by_one(lines: list[str]) -> None:
    assert split_lines(lines, ",") == [split_line(line, ",") for line in lines]
