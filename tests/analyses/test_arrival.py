"""A project that analyses on arrival: what fits the kinds of new tests is computed after ingest, also on a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.local_and_remote import WHERE, opened
from support.waiting import until

import workbench as wb


def ageing_file(path: Path, number: int) -> Path:
    """A cycler file of twelve full cycles."""
    rows = ["Time [s],Current [A],Voltage [V],Cycle,Step"]
    for place in range(24):
        sign = 1.0 if place % 2 == 0 else -1.0
        fade = 1 - 0.002 * number * (place // 2)
        for k in range(40):
            volts = 4.1 - 1.1 * k / 40 if sign > 0 else 3.0 + 1.1 * k / 40
            rows.append(f"{place * 3600 + k * 90},{sign * fade},{volts:.4f},{place // 2},{place % 2}")
    path.write_text("\n".join(rows) + "\n")
    return path


def computed(bench: wb.Bench) -> dict[str, int]:
    """How many records there are of each analysis that is computed from ageing tests."""
    listed = bench.analyses.list(fields=["analysis_type"])
    return listed["analysis_type"].value_counts().to_dict() if len(listed) else {}


@pytest.mark.parametrize("where", WHERE)
def test_what_fits_is_computed_when_a_test_arrives(tmp_path: Path, where: str) -> None:
    first, second = (ageing_file(tmp_path / f"cell{number}.csv", number) for number in (1, 2))
    with opened(tmp_path / "lab.db", where) as bench:
        assert bench.analyse_on_arrival() is False
        assert bench.ingest([first], sign="discharge").ok
        assert computed(bench) == {}
        assert bench.analyse_on_arrival(True) is True
        assert bench.analyse_on_arrival() is True
        assert bench.ingest([second], sign="discharge").ok
        wanted = {
            "retention": 2,
            "efficiency": 2,
            "knee": 2,
            "capacity_by_step": 2,
            "outliers": 2,
            "kind:ageing": 2,
        }
        until(lambda: {name: computed(bench).get(name) for name in wanted} == wanted)
        assert "dcir" not in computed(bench)
        until(lambda: bench.analyse("arrival").computed == [])
        assert bench.analyse("arrival", check=True).unchanged == 2
        assert {name: computed(bench).get(name) for name in wanted} == wanted
        bench.analyse_on_arrival(False)
        assert bench.ingest([ageing_file(tmp_path / "cell3.csv", 3)], sign="discharge").ok
        assert computed(bench)["retention"] == 2


def test_the_switch_is_of_one_project_and_watch_heeds_it(tmp_path: Path) -> None:
    (tmp_path / "cycler").mkdir()
    ageing_file(tmp_path / "cycler" / "cell1.csv", 1)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.projects.create(name="Other")
        bench.analyse_on_arrival(True)
        assert bench.project("Other").analyse_on_arrival() is False
        reports = list(bench.watch(tmp_path / "cycler", settle=0.0, once=True, sign="discharge"))
        assert len(reports) == 1
        assert computed(bench)["retention"] == 1
        assert bench.verify() == []
        bench.backup(tmp_path / "copy.db")
    with wb.open(tmp_path / "copy.db", "Default") as copy:
        assert copy.analyse_on_arrival() is True
