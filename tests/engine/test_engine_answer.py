"""Answers: choices, caches that are never stale, and what a request says it did."""

from __future__ import annotations

import multiprocessing
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.engine_store import CURRENT, TIME, VOLTAGE, Lab

from workbench.engine.answer import Answered, dataset
from workbench.engine.check import check_against_store
from workbench.engine.keys import content_key
from workbench.errors import Cancelled, Invalid
from workbench.recipe.check import sound
from workbench.store import Scope, Store
from workbench.store.cache.cache import Cache, HitsOnly, NotCached
from workbench.table import Table

SERIES = Table.of({TIME: [0.0, 1.0, 2.0, 3.0], VOLTAGE: [4.0, 3.5, float("inf"), 3.0], CURRENT: [1, 1, 1, 1]})
STEPS = Table.of(
    {
        "Step count": [0, 1],
        "Mean frequency [Hz]": [0.0, 0.0],
        "Mean current [A]": [0.0004, 1.0],
        "Std current [A]": [0.0, 0.0001],
        "Std voltage [V]": [1.0, 1.0],
        "Std power [W]": [1.0, 1.0],
        "Min current [A]": [0.0004, 1.0],
        "Max current [A]": [0.0004, 1.0],
    }
)
RECIPE: dict[str, Any] = {
    "plan": {
        "steps": {
            "cells": {"op": "list", "source": "instances", "where": {"batch": "$batch"}, "fields": ["id", "name"]},
            "batches": {"op": "list", "source": "instances", "fields": ["batch_id", "batch_name"]},
            "tests": {
                "op": "list",
                "source": "measurements",
                "where": {"instanceIds": "$cells"},
                "fields": ["id"],
            },
            "curves": {
                "op": "series",
                "source": "measurements",
                "ids": {"from": "tests", "column": "id"},
                "x": TIME,
                "columns": [VOLTAGE],
            },
        }
    },
    "params": {
        "batch": {
            "kind": "data",
            "default": None,
            "control": {"optionsFrom": {"step": "batches", "value": "batch_id", "label": "batch_name"}},
        },
        "cells": {
            "kind": "data",
            "default": [],
            "control": {"optionsFrom": {"step": "cells", "value": "id", "label": "name"}},
        },
        "colour": {
            "kind": "view",
            "default": "red",
            "control": {"options": ["red", {"value": "blue", "label": "Sky"}]},
        },
        "size": {"kind": "view", "default": 3},
    },
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Two batches with two cells each, a test on every cell."""
    lab = Lab(tmp_path)
    specification = lab.specification("M50")
    for b in "AB":
        batch = lab.make("batches", name=b, specification_id=specification.id)
        for n in range(2):
            cell = lab.make("instances", name=f"{b}{n}", specification_id=specification.id, batch_id=batch.id)
            lab.measurement(cell, "Test", series=SERIES, steps=STEPS)
    return lab


@pytest.fixture
def cache(lab: Lab) -> Cache:
    return Cache(lab.store.path.with_suffix(".cache"))


def ask(lab: Lab, cache: Cache | None = None, recipe: dict[str, Any] = RECIPE, **values: Any) -> Answered:
    return dataset(sound(recipe, transform=False), values, lab.store, lab.scope, cache)


def changed(**steps: Any) -> dict[str, Any]:
    return {"plan": {"steps": steps}}


def labels(answered: Answered, param: str) -> list[str]:
    return [option["label"] for option in answered.options[param]]


def ids(lab: Lab, kind: str = "instances") -> dict[str, str]:
    return {record.name: record.id for record in lab.store.rows.page(kind, lab.scope, limit=100).items}


def test_a_view_change_runs_no_step_and_reads_no_source(lab: Lab, cache: Cache) -> None:
    cells = list(ids(lab).values())
    first = ask(lab, cache, cells=cells)
    again = ask(lab, cache, cells=cells, colour="blue", size=9)
    assert first.cache == {"dataset": "miss"}
    assert first.reads == {"steps": 4, "sources": 4}
    assert again.cache == {"dataset": "hit"}
    assert again.reads == {"steps": 0, "sources": 0}
    assert again.values == {**first.values, "colour": "blue", "size": 9}
    assert (again.content, again.options, again.warnings) == (first.content, first.options, first.warnings)
    assert again.columns == first.columns
    assert bytes(again.packed) == bytes(first.packed)


def test_steps_that_gave_choices_do_not_run_twice_in_one_request(lab: Lab) -> None:
    assert ask(lab).reads["steps"] == 4


def test_a_new_record_is_among_the_choices_at_once(lab: Lab, cache: Cache) -> None:
    assert labels(ask(lab, cache), "cells") == ["A0", "A1", "B0", "B1"]
    (specification,) = ids(lab, "specifications").values()
    lab.make("instances", name="C0", specification_id=specification)
    assert labels(ask(lab, cache), "cells") == ["A0", "A1", "B0", "B1", "C0"]


def test_another_record_elsewhere_drops_nothing(lab: Lab, cache: Cache) -> None:
    ask(lab, cache)
    lab.make("materials", name="Graphite")
    assert ask(lab, cache).cache == {"dataset": "hit"}


def test_an_answer_hangs_on_no_table_that_its_lists_do_not_show(lab: Lab, cache: Cache) -> None:
    narrow = changed(tests={"op": "list", "source": "measurements", "fields": ["id", "name", "protocol.name"]})
    counted = changed(tests={"op": "list", "source": "measurements", "fields": ["id", "sample_count"]})
    for recipe in (narrow, counted):
        ask(lab, cache, recipe)
    lab.make("studies", name="Ageing")
    lab.specification("Another cell")
    lab.write(next(iter(ids(lab, "measurements").values())), Table.of({TIME: [0.0, 1.0]}))
    assert ask(lab, cache, narrow).cache == {"dataset": "hit"}
    again = ask(lab, cache, counted)
    assert again.cache == {"dataset": "miss"}
    assert sorted(again.dataset.steps["tests"]["sample_count"].tolist()) == [2, 4, 4, 4]  # type: ignore[call-overload]


def test_a_series_step_without_sources_follows_the_columns_there_are(lab: Lab, cache: Cache) -> None:
    test = next(iter(ids(lab, "measurements").values()))
    made = lab.make("analyses", name="Fit", measurement_id=test, analysis_type="dma")
    step = {"op": "series", "source": "analyses", "ids": [], "x": "Cycle", "columns": ["LLI"]}
    assert ask(lab, cache, changed(fits=step)).columns["fits"] == [("Cycle", "null"), ("LLI", "null")]
    lab.write(made.id, Table.of({"Cycle": [1, 2], "LLI": [0.5, 1.5]}))
    assert ask(lab, cache, changed(fits=step)).columns["fits"] == [("Cycle", "integer"), ("LLI", "number")]


def test_new_samples_are_seen_at_the_next_request(lab: Lab, cache: Cache) -> None:
    (cell, *_) = ids(lab).values()
    ask(lab, cache, cells=[cell])
    (key,) = ask(lab, cache, cells=[cell]).dataset.steps["curves"]
    lab.write(key, Table.of({TIME: [0.0], VOLTAGE: [1.5]}))
    again = ask(lab, cache, cells=[cell])
    assert again.cache == {"dataset": "miss"}
    assert again.dataset.steps["curves"][key].table[VOLTAGE].tolist() == [1.5]  # type: ignore[index]


def test_choices_cascade_and_a_stale_value_is_dropped(lab: Lab, cache: Cache) -> None:
    cells = ids(lab)
    batches = ids(lab, "batches")
    answered = ask(lab, cache, batch=batches["B"], cells=[cells["A0"], cells["B1"]])
    assert labels(answered, "cells") == ["B0", "B1"]
    assert answered.values["cells"] == [cells["B1"]]
    (warning,) = answered.warnings
    assert (warning.code, warning.param) == ("value_dropped", "cells")
    assert answered.options["colour"] == [{"value": "red", "label": None}, {"value": "blue", "label": "Sky"}]


@pytest.mark.parametrize(
    ("default", "given", "settled", "dropped"),
    [
        (None, None, None, False),
        (None, "gone", None, True),
        ("A1", "gone", "A1", True),
        ("gone", "gone too", "A0", True),
        ("gone", None, None, False),
        ([], ["gone"], [], True),
        (["A1", "gone"], ["gone too"], ["A1"], True),
        (["A1"], ["B0", "gone"], ["B0"], True),
        (["A1"], [], [], False),
        (["A1"], "B0", ["B0"], False),
        (None, ["B0"], ["B0"], False),
    ],
)
def test_what_becomes_of_a_value(lab: Lab, default: Any, given: Any, settled: Any, dropped: bool) -> None:
    steps = {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}
    control = {"optionsFrom": {"step": "cells", "value": "name"}}
    recipe = {
        "plan": {"steps": steps},
        "params": {"cell": {"kind": "view", "default": default, "control": control}},
    }
    answered = ask(lab, recipe=recipe, cell=given)
    assert answered.values == {"cell": settled}
    assert bool(answered.warnings) == dropped
    if dropped:
        now = "Nothing is chosen now." if settled in (None, []) else "It is now "
        assert now in answered.warnings[0].message


def test_a_stale_default_takes_the_first_choice_with_a_warning(lab: Lab) -> None:
    steps = {"cells": {"op": "list", "source": "instances", "where": {"batch": "$batch"}, "fields": ["name"]}}
    control = {"optionsFrom": {"step": "cells", "value": "name"}}
    params = {
        "batch": {"kind": "data", "default": "A"},
        "cell": {"kind": "data", "default": "gone", "control": control},
    }
    recipe = {"plan": {"steps": steps}, "params": params}
    assert ask(lab, recipe=recipe).values["cell"] == "A0"
    assert ask(lab, recipe=recipe, batch="none").values["cell"] is None


def test_more_than_500_choices_are_offered_in_part_and_all_are_valid(lab: Lab) -> None:
    (specification,) = ids(lab, "specifications").values()
    with lab.store.transaction():
        for n in range(600):
            lab.make("instances", name=f"cell {n}", specification_id=specification)
    steps = {"cells": {"op": "list", "source": "instances", "fields": ["name"], "limit": 1000}}
    control = {"optionsFrom": {"step": "cells", "value": "name", "label": "name"}}
    recipe = {
        "plan": {"steps": steps},
        "params": {"cell": {"kind": "view", "default": "cell 599", "control": control}},
    }
    answered = ask(lab, recipe=recipe)
    assert answered.values == {"cell": "cell 599"}
    assert len(answered.options["cell"]) == 500
    assert [(w.code, w.shown, w.total) for w in answered.warnings] == [("options_truncated", 500, 604)]


def test_a_truncated_options_step_warns_on_hits_too(lab: Lab, cache: Cache) -> None:
    steps = {"cells": {"op": "list", "source": "instances", "fields": ["name"], "limit": 2}}
    control = {"optionsFrom": {"step": "cells", "value": "name"}}
    recipe = {"plan": {"steps": steps}, "params": {"cell": {"kind": "view", "default": None, "control": control}}}
    first, again = ask(lab, cache, recipe), ask(lab, cache, recipe)
    assert [warning.code for warning in first.warnings] == ["list_truncated"]
    assert again.warnings == first.warnings
    assert again.cache == {"dataset": "hit"}


def test_step_types_follow_the_present_rated_capacity(lab: Lab, cache: Cache) -> None:
    steps = {
        "tests": {"op": "list", "source": "measurements", "fields": ["id"], "limit": 1},
        "steps": {
            "op": "summary",
            "dataset": "steps",
            "ids": {"from": "tests", "column": "id"},
            "columns": ["Step count", "Step type"],
        },
    }

    def types() -> tuple[list[Any], list[str]]:
        answered = ask(lab, cache, changed(**steps))
        warnings = [warning.code for warning in answered.warnings if warning.step == "steps"]
        return answered.dataset.steps["steps"]["Step type"].tolist(), warnings  # type: ignore[call-overload]

    assert types() == (["Rest", "Constant current discharge"], [])
    (specification,) = lab.store.rows.page("specifications", lab.scope).items
    for value, unit, first, warned in [
        (100, "mAh", "Constant current discharge", []),
        (5, "W.h", "Rest", ["unit_unknown"]),
    ]:
        ratings = specification.ratings.model_dump(mode="json")
        ratings["capacity"] = {"value": value, "unit": unit}
        lab.store.rows.update("specifications", specification.id, {"ratings": ratings}, lab.scope)
        assert types() == ([first, "Constant current discharge"], warned)


def test_another_project_sees_neither_records_nor_answers(lab: Lab, cache: Cache) -> None:
    other = lab.make("projects", name="Other")
    cells = list(ids(lab).values())
    assert ask(lab, cache, cells=cells).dataset.steps["curves"]
    answered = dataset(
        sound(RECIPE, transform=False), {}, lab.store, Scope(lab.scope.organization_id, other.id), cache
    )
    assert answered.options["cells"] == []
    key = next(iter(ask(lab, cache, cells=cells).dataset.steps["curves"]))  # type: ignore[call-overload]
    step = {"op": "series", "source": "measurements", "ids": ["x", key], "x": TIME, "columns": [VOLTAGE]}
    config = sound(changed(curves=step), transform=False)
    with pytest.raises(Invalid) as caught:
        dataset(config, {}, lab.store, Scope(lab.scope.organization_id, other.id), cache)
    at = ("config", "plan", "steps", "curves", "ids")
    assert [problem.loc for problem in caught.value.problems] == [(*at, 0), (*at, 1)]
    texts = [
        problem.msg.replace(name, "") for problem, name in zip(caught.value.problems, ["x", key], strict=True)
    ]
    assert texts[0].replace("'", "") == texts[1].replace("'", "")


def _ask_elsewhere(path: Path, scope: Scope, begin: Any, answers: Any) -> None:
    store = Store.open(path)
    config = sound(RECIPE, transform=False)
    cache = Cache(path.with_suffix(".cache"))
    while begin.get() is not None:
        answered = dataset(config, {}, store, scope, cache)
        answers.put([labels(answered, "cells"), answered.cache["dataset"]])
    store.close()


def test_two_processes_on_one_store_see_each_other_at_the_next_request(lab: Lab, cache: Cache) -> None:
    context = multiprocessing.get_context("spawn")
    begin, answers = context.Queue(), context.Queue()
    process = context.Process(target=_ask_elsewhere, args=(lab.store.path, lab.scope, begin, answers))
    process.start()
    try:
        expected = ["A0", "A1", "B0", "B1"]
        (specification,) = ids(lab, "specifications").values()
        for n in range(5):
            assert labels(ask(lab, cache), "cells") == expected
            begin.put(n)
            assert answers.get(timeout=60) == [expected, "hit"]
            lab.make("instances", name=f"new {n}", specification_id=specification)
            expected.append(f"new {n}")
    finally:
        begin.put(None)
        process.join(60)
    assert process.exitcode == 0


def test_a_withdrawn_request_stops_between_sources(lab: Lab) -> None:
    cancel = threading.Event()
    seen: list[tuple[str, int, int, str]] = []

    def progress(step: str, index: int, of: int, detail: str) -> None:
        seen.append((step, index, of, detail))
        if step == "curves" and detail.endswith("2 of 4"):
            cancel.set()

    cells = list(ids(lab).values())
    with pytest.raises(Cancelled, match="curves"):
        dataset(
            sound(RECIPE, transform=False),
            {"cells": cells},
            lab.store,
            lab.scope,
            progress=progress,
            cancel=cancel,
        )
    assert seen[-1] == ("curves", 3, 4, "Test: 2 of 4")


def test_a_warning_carries_its_own_keys_and_a_mend_that_helps(lab: Lab, cache: Cache) -> None:
    tests = [test.id for test in lab.store.rows.page("measurements", lab.scope).items]
    listed = {"op": "list", "source": "measurements", "fields": ["id"]}
    bare = lab.measurement(lab.store.rows.page("instances", lab.scope).items[0], "No voltage")
    lab.write(bare.id, Table.of({TIME: [0.0, 1.0]}))
    series = {"op": "series", "source": "measurements", "ids": [*tests, bare.id], "x": TIME, "columns": [VOLTAGE]}

    def warned(steps: dict[str, Any], **caps: int) -> tuple[dict[str, Any], str]:
        [warning] = ask(lab, recipe={"plan": {"steps": steps, "caps": caps}}).warnings
        told = warning.as_dict()
        return told, str(told.pop("message"))

    told, message = warned({"l": {**listed, "limit": 2}})
    assert told == {"code": "list_truncated", "step": "l", "shown": 2, "total": 5}
    assert "raise 'limit'" in message
    told, message = warned({"l": listed}, max_list_rows=2)
    assert told == {"code": "list_truncated", "step": "l", "shown": 2, "total": 5}
    assert "raise 'caps.max_list_rows'" in message
    assert warned({"s": series})[0] == {"code": "column_missing", "step": "s"}


@pytest.mark.parametrize(
    ("x", "bound", "mend"),
    [
        (TIME, "2026-01-01", "number"),
        ("Note", 1, "choose another x"),
        ("Note", "a", "choose another x"),
        ("Date", 1, "ISO 8601"),
    ],
)
def test_a_bound_that_x_is_not_compared_with(lab: Lab, x: str, bound: Any, mend: str) -> None:
    dates = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2)]
    made = lab.measurement(lab.store.rows.page("instances", lab.scope).items[0], "Typed")
    lab.write(made.id, Table.of({TIME: [0.0, 1.0], "Note": ["a", "b"], "Date": dates}))
    step = {"op": "series", "source": "measurements", "ids": [made.id], "x": x, "columns": [TIME]}
    with pytest.raises(Invalid, match=mend) as caught:
        ask(lab, recipe=changed(s={**step, "window": {"max": bound}}))
    [problem] = caught.value.problems
    assert problem.loc == ("config", "plan", "steps", "s", "window", "max")


def test_errors_stand_at_their_place(lab: Lab) -> None:
    listed = {"op": "list", "source": "measurements", "fields": ["id"]}
    series = {"op": "series", "source": "measurements", "ids": ["$$x", "no"], "x": TIME, "columns": [VOLTAGE]}
    own = {**series, "ids": {"from": "tests", "column": "id"}}
    for steps, caps, places in [
        ({"s": series}, {}, [("s", "ids", 0), ("s", "ids", 1)]),
        ({"tests": listed, "s": {**own, "columns": ["Volts"]}}, {}, [("s", "columns", 0)]),
        ({"tests": listed, "s": {**own, "x": "Tme"}}, {}, [("s", "x")]),
        ({"tests": listed, "s": {**own, "window": {"min": "2026-01-01"}}}, {}, [("s", "window", "min")]),
        ({"tests": listed, "s": own}, {"max_sources": 3}, [("s", "ids")]),
        ({"tests": listed, "s": own}, {"max_series_points": 3}, [("s", "ids")]),
        ({"l": {**listed, "fields": ["id", "nme"]}}, {}, [("l", "fields", 1)]),
    ]:
        recipe = {"plan": {"steps": steps, "caps": caps}}
        wanted = [("config", "plan", "steps", *place) for place in places]
        with pytest.raises(Invalid) as caught:
            ask(lab, recipe=recipe)
        assert [problem.loc for problem in caught.value.problems] == wanted
        config = sound(recipe, transform=False)
        assert [problem.loc for problem in check_against_store(config, {}, lab.store, lab.scope)] == wanted


@pytest.mark.parametrize("name", ["Volts", "Qqq"])
def test_a_column_that_all_sources_lack_is_told_those_there_are(lab: Lab, name: str) -> None:
    tests = [test.id for test in lab.store.rows.page("measurements", lab.scope).items]
    step = {"op": "series", "source": "measurements", "ids": tests, "x": TIME, "columns": [name]}
    rows = {"op": "summary", "dataset": "steps", "ids": tests, "columns": [name]}
    for steps, there in [(step, [TIME, VOLTAGE, CURRENT]), (rows, [*STEPS.names, "Step type"])]:
        with pytest.raises(Invalid) as caught:
            ask(lab, recipe=changed(s=steps))
        [problem] = caught.value.problems
        assert problem.loc == ("config", "plan", "steps", "s", "columns", 0)
        assert f"The columns are {', '.join(repr(column) for column in there)}." in problem.msg
        assert ("Did you mean" in problem.msg) == (name == "Volts" and steps is step)


def test_a_source_without_series_is_named_with_its_type_and_status(lab: Lab) -> None:
    (cell, *_) = ids(lab).values()
    made = lab.make("measurements", name="Mass", instance_id=cell, measurement_type="properties")
    step = {"op": "series", "source": "measurements", "ids": [made.id], "x": TIME, "columns": [VOLTAGE]}
    with pytest.raises(Invalid, match=r"'Mass' .* of type 'properties' has no series.*ready"):
        ask(lab, recipe=changed(s=step))


def test_check_finds_every_problem_and_reads_no_sample(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(lab.store.series), "sample", None)
    assert check_against_store(sound(RECIPE, transform=False), {}, lab.store, lab.scope) == []
    steps = {
        "cells": {"op": "list", "source": "instances"},
        "bad": {"op": "list", "source": "instances", "fields": ["nope"]},
        "on_bad": {"op": "aggregate", "input": "bad", "group_by": ["id"], "metrics": {"n": {"fn": "count"}}},
        "far": {"op": "summary", "dataset": "steps", "ids": ["gone"], "columns": ["Step count"]},
        "grouped": {
            "op": "aggregate",
            "input": "cells",
            "group_by": ["batchname"],
            "metrics": {"n": {"fn": "count"}},
        },
    }
    control = {"optionsFrom": {"step": "cells", "value": "label"}}
    params = {"cell": {"kind": "view", "default": None, "control": control}}
    problems = check_against_store(
        sound({"plan": {"steps": steps}, "params": params}, transform=False), {}, lab.store, lab.scope
    )
    assert {problem.loc[1:] for problem in problems} == {
        ("params", "cell", "control", "optionsFrom", "value"),
        ("plan", "steps", "bad", "fields", 0),
        ("plan", "steps", "far", "ids", 0),
        ("plan", "steps", "grouped", "group_by", 0),
    }


def test_an_answer_that_is_as_quickly_read_again_enters_the_file_when_it_is_asked_for_again(
    lab: Lab, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored cycles are; joined ones are not, and what is small is written at once."""
    cell = lab.make("instances", name="X", specification_id=lab.specification("X").id)
    test = lab.measurement(
        cell, "cycled", cycles=Table.of({"Cycle count": np.arange(3000), "Q": np.arange(3000) / 7})
    )
    cycles = {"op": "summary", "dataset": "cycles", "ids": [test.id], "columns": ["Cycle count", "Q"]}
    count = {
        "op": "aggregate",
        "input": "cycles",
        "group_by": ["measurement_id"],
        "metrics": {"n": {"fn": "count"}},
    }
    twice = {"op": "join", "left": "cycles", "right": "cycles", "on": {"left": "Q", "right": "Q"}}

    def is_in_file(recipe: dict[str, Any], content: str) -> bool:
        cache.close()  # what waits is written now
        with Cache(lab.store.path.with_suffix(".cache")) as other:
            try:
                return ask(lab, HitsOnly(other), recipe).content == content
            except NotCached:
                return False

    def written(**steps: dict[str, Any]) -> list[bool]:
        found = []
        for turn in range(3):
            answered = ask(lab, cache, {"plan": {"steps": steps}})
            assert answered.cache == {"dataset": "hit" if turn else "miss"}
            assert answered.content == content_key(bytes(answered.packed))
            found.append(is_in_file({"plan": {"steps": steps}}, answered.content))
        return found

    assert written(cycles=cycles, small=count) == [True, True, True]
    monkeypatch.setattr("workbench.engine.answer.LARGE", 40_000)
    assert written(cycles=cycles, count=count) == [False, True, True]
    assert written(cycles=cycles, twice=twice) == [True, True, True]
