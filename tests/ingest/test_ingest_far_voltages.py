"""A voltage that is not of the cell, in a file: the report warns of it, and its energies give no efficiency."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.cycler_file import cycler_text

import workbench
from workbench.bench import Bench


def file_with(path: Path, value: str, row: int = 60) -> Path:
    lines = cycler_text(cycles=4).splitlines()
    fields = lines[row + 1].split(",")
    fields[2] = value
    lines[row + 1] = ",".join(fields)
    path.write_text("\n".join(lines) + "\n")
    return path


def efficiencies(bench: Bench) -> pd.DataFrame:
    bench.analyse("efficiency", ["a"])
    return bench.analyses.table(bench.analyses.list(analysis_type="efficiency")["id"].iloc[0])


@pytest.mark.parametrize(("specification", "rating"), [(None, None), ("S", "1Ah,3.0V,4.2V")])
def test_it_is_reported_and_gives_no_efficiency(
    tmp_path: Path, specification: str | None, rating: str | None
) -> None:
    with workbench.open(tmp_path / "lab.db") as bench:
        file = file_with(tmp_path / "a.csv", "99.999")
        (report,) = bench.ingest(file, sign="discharge", specification=specification, rating=rating).files
        (message,) = [str(one) for one in report.odd if "99.999" in str(one)]
        assert message.startswith("'Voltage [V]' is 99.999 V in 1 sample, sample 60 (3600 s), where ")
        made = efficiencies(bench)
        assert made["Valid"].tolist() == [True, False, True, True]
        assert made["Energy efficiency"].isna().tolist() == [False, True, False, False]
        assert "voltages that are not of the cell" in made["Warning"][1]


def test_left_empty_it_is_as_good_as_measured(tmp_path: Path) -> None:
    """What the warning says to do."""
    with workbench.open(tmp_path / "lab.db") as bench:
        (report,) = bench.ingest(file_with(tmp_path / "a.csv", ""), sign="discharge").files
        assert not any("where all others" in str(one) for one in report.odd)
        made = efficiencies(bench)
        assert made["Valid"].all()
        assert made["Energy efficiency"].tolist()[1:3] == pytest.approx([1.0, 1.0], abs=0.01)
