"""What an error of a draft says to write instead, where its own words do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


LIST: dict[str, Any] = {"op": "list", "source": "measurements", "fields": ["id", "name"], "limit": 1000}
BEGINS = "def transform(data, params):\n    fig = go.Figure()\n    "


def problems(bench: wb.Bench, script: str, **steps: Any) -> list[str]:
    config = {"plan": {"steps": {"tests": LIST, **steps}}, "transform": script, "params": {}}
    checked = bench.backend.check_answer({"say": "", "draft": {"name": "A plot", "config": config}})
    return [one["msg"] for one in checked.problems]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("fig.add_scatter(x=dta, y=[1])\n    return fig\n", "name 'dta' is not defined. Did you mean 'data'?"),
        (
            "fig.add_scatter(x=[1], y=[2], linewidth=3)\n    return fig\n",
            "'linewidth'. Did you mean 'line_width'?",
        ),
        ("fig.update_layout(xaxis_titel='x')\n    return fig\n", "'titel'. Did you mean 'title'?"),
        (
            "fig.add_scatter(x=[1], y=[2])\n    fig.show()\n",
            "shows and writes no figure: end transform with 'return'",
        ),
        ("limit = params.limit\n    return fig\n", "Read it by its key: ['limit']."),
        ("rows = pd.read_csv('x.csv')\n    return fig\n", "A script reads and writes no files."),
    ],
)
def test_an_error_of_a_script_names_the_remedy(bench: wb.Bench, lines: str, said: str) -> None:
    found = problems(bench, BEGINS + lines)
    assert len(found) == 1
    assert said in found[0]
    assert "\n" not in found[0]


def test_an_exception_whose_own_attributes_raise_keeps_its_words(bench: wb.Bench) -> None:
    script = "class Odd(NameError):\n    @property\n    def name(self):\n        raise ValueError('no')\n\n\n"
    found = problems(bench, script + BEGINS + "raise Odd('said')\n")
    assert found == ["Line 9: Odd: said"]


def test_a_module_of_ours_that_is_misspelt_is_named(bench: wb.Bench) -> None:
    found = problems(bench, "import workbench.batery as battery\n\n\n" + BEGINS + "return fig\n")
    assert "Did you mean 'workbench.battery'?" in found[0]


def test_the_words_of_people_for_a_column_lead_to_it(bench: wb.Bench) -> None:
    """It listed all columns: no letters of ``cell_name`` are in ``instance_name``."""
    found = problems(bench, BEGINS + "return fig\n", cells={**LIST, "fields": ["id", "cell_name"]})
    assert "no column 'cell_name'. Did you mean 'instance_name'?" in found[0]


def test_a_list_where_names_are_due_is_told_so(bench: wb.Bench) -> None:
    cycles = {
        "op": "summary",
        "dataset": "cycles",
        "ids": {"from": "tests", "column": "id"},
        "columns": ["Cycle count"],
    }
    ends = {"op": "aggregate", "input": "cycles", "group_by": ["measurement_id"], "metrics": [{"fn": "count"}]}
    found = problems(bench, BEGINS + "return fig\n", cycles=cycles, ends=ends)
    assert 'Give each of its metrics a name: {"a_name": {...}}.' in " ".join(found)
