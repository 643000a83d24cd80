"""The two texts for stores unlike the demo: tests without samples, and very many tests in many projects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.engine_store import Lab

import workbench as wb
from workbench.authoring import prompt_text, system_text
from workbench.authoring.context import ROOM
from workbench.authoring.examples import answer

PROJECTS, TESTS = 40, 125
PROTOCOLS = ("RPT", "ageing", "HPPC", "Lagerung", "化成")


def cell_of(lab: Lab) -> str:
    specification = lab.specification("Design")
    made: str = lab.make("instances", name="Cell", specification_id=specification.id).id
    return made


def test_tests_without_samples_are_counted_and_not_offered_as_series(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    cell = cell_of(lab)
    for name, kind in (("Mass", "properties"), ("Thickness", "properties"), ("Photo", "file")):
        properties = {"mass": {"value": 69.5, "unit": "g"}} if name == "Mass" else {}
        lab.make("measurements", name=name, instance_id=cell, measurement_type=kind, properties=properties)
    lab.store.close()
    with wb.open(tmp_path / "lab.wb") as bench:
        prompt = prompt_text("Masse jeder Zelle", bench.catalog())
        problems = bench.check(answer("fade")["draft"]["config"])
    assert '- measurement_type: "properties" 2, "file" 1' in prompt
    assert "- properties.mass.value [g] number (1): 69.5" in prompt
    assert "series columns" not in prompt
    assert problems == []


def test_columns_are_shown_by_kind_where_kinds_differ(tmp_path: Path) -> None:
    """Kinds that are too many to be named are shown together, with how many records have each column."""
    lab = Lab(tmp_path)
    test = lab.make("measurements", name="Test", instance_id=cell_of(lab), measurement_type="properties").id
    lab.store.close()
    with wb.open(tmp_path / "lab.wb") as bench:
        for n in range(14):
            table = {"Shared": [1.0], f"Only {n:02}": [2.0]}
            bench.analyses.create(measurement=test, name=f"A{n}", analysis_type=f"kind {n:02}", table=table)
        catalog = bench.catalog()
        prompt = prompt_text("", catalog)
    series = {one.name: one.kinds for one in catalog["analyses"].series}
    assert series["Only 03"] == ["kind 03"]
    assert len(series["Shared"]) == 14
    assert '- series columns by analysis_type: "kind 00": Shared, Only 00; "kind 01": Shared, Only 01; ' in prompt
    assert prompt.count('"kind ') == 12 + 5  # those five are examples of the column, whose values are more
    assert "; others: Only 12 (1), Only 13 (1)\n" in prompt


def test_the_tests_that_a_wish_names_come_with_what_they_hold(tmp_path: Path) -> None:
    """A window takes numbers: the number of the last cycle must be known to who writes the recipe."""
    lab = Lab(tmp_path)
    cell = cell_of(lab)
    other = lab.make("instances", name="B0029", specification_id=lab.specification("Other").id).id
    lab.store.close()
    count = [0, 0, 1, 1, 1]
    samples = {"Time [s]": range(5), "Current [A]": [1.0] * 5, "Voltage [V]": [4.0, 3.9, 3.8, 3.7, 3.6]}
    with wb.open(tmp_path / "lab.wb") as bench:

        def make(name: str, **fields: Any) -> None:
            bench.measurements.create(**{"instance": cell, "measurement_type": "properties", **fields}, name=name)

        series = {**samples, "Step count": count, "Cycle count": count}
        make("testdata18", measurement_type="time_series", time_series=series, sign="discharge")
        make("Charge_part")
        make("Highway", protocol={"name": "drive cycle"})
        make("rack", instance=other)
        make("rack", instance=cell)
        for n in range(30):
            make(f"RPT{n}")

        def told(wish: str) -> list[str]:
            prompt = bench.context_texts(wish).prompt
            assert prompt.endswith(f"# What is wanted\n\n{wish}")
            return prompt.partition("# Tests that the wish may name")[2].partition("\n\n# ")[0].splitlines()[2:]

        whole = "testdata18: 首次和最后一次循环的 charge"
        assert told(whole) == ['- "testdata18", of "Cell": 5 samples, 2 steps, 2 cycles']
        assert told("Temperatur von B0029") == ['- "rack", of "B0029": no samples, no steps, no cycles']
        assert told("the highway drive") == [
            '- "Highway", of "Cell", drive cycle: no samples, no steps, no cycles'
        ]
        assert told("rack_ und rack")[0].startswith('- "rack" 2, of "B0029", "Cell": ')
        assert told("capacity of each RPT") == [], "A word that many names hold says what kind they are."
        make("DLR_a")
        assert [line[:6] for line in told("DLR und rack, als Charge")] == ['- "Cha', '- "rac', '- "DLR']
        assert [line[:8] for line in told("RPT7 and testdata18")] == ['- "testd', '- "RPT7"']
        for n in range(20):
            make(f"A77_part{n:02}", **({"protocol": {"name": "PEIS"}} if n == 18 else {}))
        first, *_, last = told("Nyquist-Kurve von A77")
        assert first.startswith('- "A77_part18", of "Cell", PEIS: '), "it may be one of many, but is of the kind"
        assert last.startswith('- and 14 more: "A77_part05", "A77_part06", ')
        assert last.endswith('"A77_part12", …')


@pytest.mark.long
def test_five_thousand_tests_in_forty_projects_keep_the_bound_and_the_kinds_of_the_project(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    with lab.store.transaction():
        for p in range(PROJECTS):
            if p:
                project = lab.store.rows.create("projects", {"name": f"Project {p}"}, scope=lab.scope)
                lab.scope = lab.scope._replace(project_id=project.id)
            cell = cell_of(lab)
            for n in range(TESTS):
                protocol = {"name": PROTOCOLS[n % 5], f"own_{n % 60}_of_{p}": n}
                name = f"P{p}_{PROTOCOLS[n % 5]}_{n}"
                own = {"name": name, "instance_id": cell, "measurement_type": "time_series", "protocol": protocol}
                lab.make("measurements", **own)
    lab.store.close()
    with wb.open(tmp_path / "lab.wb", project="Project 7") as bench:
        prompt = prompt_text("Kapazität der Lagerung", bench.catalog())
    assert len(system_text()) + len(prompt) <= ROOM
    assert all(f'"{name}" {TESTS // 5}' in prompt for name in PROTOCOLS)
    assert "_of_8" not in prompt


def test_words_in_names_count_whatever_their_case_and_a_batch_names_its_tests(tmp_path: Path) -> None:
    """ "Cycling" 2 and "cycling" 1 were two lines of what `nameContains` finds together."""
    lab = Lab(tmp_path)
    specification = lab.specification("Design")
    batch = lab.make("batches", name="NASA24", specification_id=specification.id)
    cell = lab.make("instances", name="Cell", specification_id=specification.id, batch_id=batch.id).id
    for name in ("Cycling", "Cycling part", "slow cycling", "EIS"):
        lab.make("measurements", name=name, instance_id=cell, measurement_type="properties")
    lab.store.close()
    with wb.open(tmp_path / "lab.wb") as bench:
        board = bench.dashboards.create("board")
        prompt = bench.authoring_context(board, "Mass of NASA24").prompt
    assert '- words in name (for `nameContains`): "Cycling" 3\n' in prompt
    assert '- "EIS", of "Cell"' in prompt.partition("# Tests that the wish may name")[2]
