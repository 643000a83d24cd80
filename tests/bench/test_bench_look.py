"""A look at a plan: every step as a table that is paged, what is wrong beside what is right."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.handwritten import HANDWRITTEN as PLOTS
from support.local_and_remote import WHERE, opened

import workbench as wb
from workbench import steps
from workbench.bench import Bench
from workbench.messages import spaced


@pytest.fixture(scope="module", params=WHERE)
def bench(
    demo_store: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Bench]:
    path = tmp_path_factory.mktemp("look") / "demo.db"
    with wb.open(demo_store) as demo:
        demo.backup(path)
    with opened(path, request.param) as made:
        yield made


def changed(slug: str, step: str, **fields: Any) -> dict[str, Any]:
    raw = copy.deepcopy(PLOTS[slug])
    raw["plan"]["steps"][step].update(fields)
    return raw


class Rows(HTMLParser):
    count = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.count += tag == "tr"


@pytest.mark.parametrize("slug", PLOTS)
def test_every_step_of_every_plot_is_seen(bench: Bench, slug: str) -> None:
    look, data = bench.look(PLOTS[slug]), bench.dataset(PLOTS[slug])
    assert list(look) == list(data)
    assert look.problems == []
    for name, step in look.items():
        assert step.name == name
        frame = step.frame()
        if step.sources:
            assert step.sources == list(data[name])
            frame, whole = frame.long(), data[name].long()
        else:
            whole = data[name]
        assert frame.equals(whole)
        assert list(step.columns) == [c for c in frame.columns if c != "id" or not step.sources]
    rows = Rows()
    rows.feed(look._repr_html_())
    assert rows.count <= 25 * len(look)
    assert len(repr(look).splitlines()) <= 20 * len(look)


def test_what_is_told_of_a_step(bench: Bench) -> None:
    look = bench.look(PLOTS["dqdv"])
    assert look["checks"].summary.startswith("4 rows, 3 columns")
    assert look["samples"].summary.startswith("4 sources, 3\xa07")
    assert look["samples"].columns["Voltage [V]"] == "number, V"
    assert look["checks"].columns["protocol.ageing_cycles"] == "integer"
    assert look.params["cell"] == "M50-A-03"
    again = bench.look(PLOTS["dqdv"])
    assert again.summary == "from the cache: nothing was read"
    modes = bench.look(PLOTS["degradation-modes"])["modes"]
    assert modes.columns["LLI [%]"] == "number, %"


def test_a_reduced_series_says_how_much_of_it_is_shown(bench: Bench) -> None:
    look = bench.look(changed("dqdv", "samples", max_points=50))
    assert look["samples"].summary.startswith("4 sources, 200 of 3\xa07")
    assert look["samples"].page().place == "rows 1 to 10 of 50"


def test_pages_hold_all_rows_once(bench: Bench) -> None:
    cycles = bench.look(PLOTS["fade-by-batch"])["cycles"]
    n = len(cycles.frame())
    assert n > 1400
    pages = [cycles.page(number, rows=500).frame for number in range(1, -(-n // 500) + 1)]
    assert sum(map(len, pages)) == n
    assert pages[1].index[0] == 500
    assert pages[1].iloc[0].tolist() == cycles.frame().iloc[500].tolist()
    assert cycles.page(2).place == f"rows 11 to 20 of {spaced(n)}"
    with pytest.raises(wb.BadRequest, match=r"has 3 pages of 500 rows; there is no page 4"):
        cycles.page(4, rows=500)
    samples = bench.look(PLOTS["dqdv"])["samples"]
    assert samples.page(source=samples.sources[2]).frame.equals(samples.page(source=2).frame)
    assert samples.page(3, source=1).frame.index.tolist() == list(range(20, 30))
    for source in ("none", -1, 99, [1], None):
        with pytest.raises(wb.BadRequest, match="has no source '"):
            samples.page(source=source)
    for wrong in ({"number": 0}, {"number": 1.5}, {"number": "2"}, {"rows": 0}, {"rows": 2.5}, {"rows": None}):
        with pytest.raises(wb.BadRequest, match=f"'{next(iter(wrong))}' of a page is a whole number from 1"):
            cycles.page(**wrong)
    assert cycles.page(np.int64(2), rows=np.int16(7)).frame.index.tolist() == list(range(7, 14))


def test_a_failing_step_shows_its_problem_and_the_others_their_tables(bench: Bench) -> None:
    fields = [*PLOTS["fade-by-batch"]["plan"]["steps"]["tests"]["fields"], "instnce_name"]
    look = bench.look(changed("fade-by-batch", "tests", fields=fields))
    assert [problem.loc[:4] for problem in look.problems] == [("config", "plan", "steps", "tests")]
    assert len(look["cells"].frame()) == 14
    assert look["tests"].problems == look.problems
    assert "Did you mean 'instance_name'" in repr(look)
    assert "Did you mean &#x27;instance_name&#x27;" in look._repr_html_()
    assert look["chosen"].summary == "not run: it waits for 'tests'"
    assert look["fade"].summary == "not run: it waits for 'chosen', 'cycles'"
    with pytest.raises(wb.BadRequest, match="'fade' has no rows: not run"):
        look["fade"].frame()


def test_all_problems_of_an_unsound_recipe_are_seen_at_once(bench: Bench) -> None:
    raw = changed("fade-by-batch", "cycles", dataset="cycle")
    raw["plan"]["steps"]["more"] = {"op": "list", "source": "instances", "limit": 5000}
    raw["params"]["spread"]["default"] = "nothing"
    look = bench.look(raw)
    assert {problem.loc for problem in look.problems} == {
        ("config", "plan", "steps", "cycles", "dataset"),
        ("config", "plan", "steps", "more", "limit"),
        ("config", "params", "spread", "default"),
    }
    assert len(look["chosen"].frame()) == 12
    assert look["fade"].summary == "not run: it waits for 'cycles'"


def test_choices_from_a_step_that_fails_do_not_keep_the_rest(bench: Bench) -> None:
    look = bench.look(changed("dqdv", "batches", fields=["batch_nme"]))
    assert look["batches"].problems
    assert len(look["samples"].sources) == 4


def test_values_are_taken_and_wrong_ones_told(bench: Bench) -> None:
    assert len(bench.look(PLOTS["fade-by-batch"], batches=["A"])["chosen"].frame()) == 4
    look = bench.look(PLOTS["fade-by-batch"], batches=["A"], batch="B", spread=7)
    assert {problem.loc for problem in look.problems} == {("values", "batch"), ("values", "spread")}
    assert len(look["chosen"].frame()) == 4
    refused = bench.look(PLOTS["cycle-life"], {"fraction": 7})
    assert refused["life"].summary == "not run: it waits for '$fraction'"
    assert len(refused["cycles"].frame()) > 1400


def test_a_plan_alone_and_a_built_one_and_a_file(bench: Bench, tmp_path: Path) -> None:
    text = wb.param("text", "_RPT0", label="Name contains")
    tests = steps.list("measurements", name_contains=text, fields=["name", "start_time"])
    plan = wb.plan(tests=tests)
    assert len(bench.look(plan)["tests"].frame()) == 12
    assert len(bench.look(plan, text="_EIS_")["tests"].frame()) == 6
    assert len(bench.dataset(plan, text="_EIS_")["tests"]) == 6
    bare = {"steps": {"tests": {"op": "list", "source": "measurements", "limit": 2}}}
    look = bench.look(bare)
    assert look["tests"].warnings[0]["code"] == "list_truncated"
    assert "warning: Only the first 2 of" in repr(look)
    path = tmp_path / "unsound.json"
    path.write_text(json.dumps(changed("dqdv", "samples", x=5)))
    assert [problem.loc[-1] for problem in bench.look(path).problems] == ["x"]
    with pytest.raises(wb.BadRequest, match="Did you mean 'tests'"):
        look["test"]
    assert "test" not in look
    assert look.get("test") is None
    assert look.get("tests") is look["tests"]


@pytest.mark.parametrize("raw", [{}, {"plan": {}}, {"plan": {"steps": {}}}, {"plan": {"steps": []}}])
def test_without_steps_there_is_nothing_to_look_at(bench: Bench, raw: Any) -> None:
    with pytest.raises(wb.Invalid):
        bench.look(raw)


def test_a_look_stores_nothing_and_escapes_what_it_shows(bench: Bench) -> None:
    raw = {"steps": {"a": {"op": "list", "source": "instances", "fields": ["<b>x</b>"]}}}
    shown = bench.look(raw)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
