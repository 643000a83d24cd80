"""The recipe panel: texts that people edit, marks on the right line, tables by page, saving and history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.handwritten import HANDWRITTEN

import workbench as wb
from workbench.errors import Conflict
from workbench.notebook.recipe_panel import PAGE_ROWS, RecipeDesk
from workbench.notebook.recipe_text import lines_of, marked, pretty, raw_of, texts_of
from workbench.notebook.view import View

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)


@given(VALUES)
def test_pretty_json_reads_back(value: Any) -> None:
    assert json.loads(pretty(value)) == value


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


@given(VALUES, st.sampled_from([None, 0, 2]))
def test_every_key_and_element_has_a_line(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    found = lines_of(text)
    assert set(found) == set(paths(value))
    if indent is None:
        assert set(found.values()) == {1}


def test_lines_are_those_that_an_editor_counts() -> None:
    lines = ["{", '"steps": {', '"a": {"op": "list",', '"fields": [', '"id",', '"n\\"{[:"', "]}", "}", "}"]
    text = "\n".join(lines)
    found = lines_of(text)
    assert found[("steps",)] == 2
    assert found[("steps", "a")] == found[("steps", "a", "op")] == 3
    assert found[("steps", "a", "fields")] == 4
    assert found[("steps", "a", "fields", 1)] == 6
    assert lines_of("{no json") == {}


@pytest.fixture(scope="module")
def bench(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    copy = tmp_path_factory.mktemp("panel") / "demo.db"
    with wb.open(demo_store) as demo:
        demo.backup(copy)
    with wb.open(copy) as bench:
        bench.dashboards.create("Written").save("Fade by batch", HANDWRITTEN["fade-by-batch"])
        yield bench


@pytest.fixture
def view(bench: wb.Bench) -> View:
    made = bench.show(bench.dashboards.get("Written").plot("Fade by batch"))
    made._act("recipe")
    return made


def desk_of(view: View) -> RecipeDesk:
    assert view._desk is not None
    return view._desk


def ask(view: View, kind: str, **content: Any) -> None:
    desk_of(view)._heard(None, {"kind": kind, **content}, [])


def edited(view: View, part: str, old: str, new: str) -> dict[str, str]:
    texts = dict(desk_of(view).widget.texts)
    assert old in texts[part]
    return {**texts, part: texts[part].replace(old, new, 1)}


def test_the_texts_are_the_recipe(view: View) -> None:
    texts = desk_of(view).widget.texts
    assert wb.Recipe(raw_of(texts)).raw() == {
        **view.recipe().raw(),
        "transform": view.recipe().transform.strip("\n") + "\n",
    }
    assert texts_of(wb.Recipe(raw_of(texts)).config) == texts


def test_what_is_typed_is_checked_at_its_line(view: View) -> None:
    ask(view, "typed", texts=edited(view, "plan", '"limit"', '"limt"'))
    (problem,) = desk_of(view).widget.problems
    assert problem["part"] == "plan"
    line = desk_of(view).widget.texts["plan"].splitlines()[problem["line"] - 1]
    assert '"limt"' in line
    assert "Did you mean 'limit'" in problem["message"]
    assert view.recipe() == bench_recipe(view), "typing alone changes nothing that is shown"


def bench_recipe(view: View) -> wb.Recipe:
    assert view._home is not None
    return wb.Recipe(view._home.config)


def test_a_text_that_is_no_json_says_where_it_breaks(view: View) -> None:
    ask(view, "typed", texts=edited(view, "params", '"kind"', '"kind'))
    (problem,) = desk_of(view).widget.problems
    assert (problem["part"], problem["line"]) == ("params", 3)


def test_a_script_error_is_marked_where_it_arose(view: View) -> None:
    texts = edited(view, "transform", "fig = go.Figure()", "fig = go.Figur()")
    line = 1 + texts["transform"].splitlines().index("    fig = go.Figur()")
    ask(view, "run", texts=texts)
    (problem,) = desk_of(view).widget.problems
    assert (problem["part"], problem["line"]) == ("transform", line)
    assert view.undo()
    assert desk_of(view).widget.texts["transform"] != texts["transform"]
    assert desk_of(view).widget.problems == []


def test_a_run_keeps_the_chosen_values_that_fit(view: View) -> None:
    view.set(spread="range", relative=False)
    texts = edited(view, "params", '"value": "range", "label": "min to max"', '"value": "ends", "label": "ends"')
    ask(view, "run", texts=texts)
    assert view.values["spread"] == "sd", "no longer among the options"
    assert view.values["relative"] is False
    assert view.undo()
    assert view.values["spread"] == "range"


def test_a_problem_without_a_place_in_the_texts_is_shown_all_the_same() -> None:
    from workbench.errors import Problem

    found = marked([Problem(("values", "x"), "No."), Problem(("config", "plan", "steps", "a", "op"), "Missing.")],
                 {"plan": '{\n"steps": {\n"a": {}}}', "transform": "", "params": "{}"})  # fmt: skip
    assert [(one["part"], one["line"]) for one in found] == [(None, None), ("plan", 3)]


def test_tables_come_by_page(view: View) -> None:
    ask(view, "look", step="fade", start=0)
    first = desk_of(view).widget.table
    assert len(first["rows"]) == PAGE_ROWS
    ask(view, "look", step="fade", start=10**9)
    last = desk_of(view).widget.table
    assert last["start"] + len(last["rows"]) == last["total"] == 1440  # of 1441 cycles, one was broken off
    names = [column["name"] for column in first["columns"]]
    frame = view._as_figure and view._backend.dataset(view.recipe().config, {}).steps["fade"]
    assert names == list(frame.names)
    ask(view, "look", step="gone", start=0)
    assert desk_of(view).widget.table == {}


def test_a_recipe_is_saved_with_its_values_and_an_older_one_comes_back(view: View) -> None:
    view.set(relative=False)
    ask(view, "save", board="Mine", name="Fade", texts=desk_of(view).widget.texts)
    saved = desk_of(view).widget.saved
    assert (saved["board"], saved["name"]) == ("Mine", "Fade")
    assert [one["revision"] for one in saved["history"]] == [1]
    assert "revision 1" in desk_of(view).widget.said
    view.set(relative=True)
    ask(view, "save", board="Mine", name="Fade", texts=desk_of(view).widget.texts)
    ask(view, "restore", revision=1)
    assert [one["revision"] for one in desk_of(view).widget.saved["history"]] == [3, 2, 1]
    assert view.recipe().params["relative"]["default"] is False
    assert view.values["relative"] is False
    ask(view, "save", board="", name="Fade", texts=desk_of(view).widget.texts)
    assert "needs a dashboard" in desk_of(view).widget.said


def test_what_somebody_saved_meanwhile_is_not_replaced_unseen(view: View, bench: wb.Bench) -> None:
    ask(view, "save", board="Two", name="Fade", texts=desk_of(view).widget.texts)
    board = bench.dashboards.get("Two")
    theirs = wb.Recipe({**view.recipe().raw(), "transform": view.recipe().transform + "# theirs\n"})
    board.save("Fade", theirs, since=1)
    with pytest.raises(Conflict, match="at revision 2, the change started from 1"):
        board.save("Fade", view.recipe(), since=1)
    view.set(relative=False)
    ask(view, "save", board="Two", name="Fade", texts=desk_of(view).widget.texts)
    assert "somebody else saved 'Fade' as revision 2" in desk_of(view).widget.said
    assert board.plot("Fade").recipe().transform.endswith("# theirs\n")
    assert [one["revision"] for one in desk_of(view).widget.saved["history"]] == [2, 1]
    ask(view, "save", board="Two", name="Fade", texts=desk_of(view).widget.texts)
    assert "revision 3" in desk_of(view).widget.said
    assert not board.plot("Fade").recipe().transform.endswith("# theirs\n")


def test_an_unsound_recipe_is_not_saved(view: View, bench: wb.Bench) -> None:
    ask(view, "save", board="Not made", name="x", texts=edited(view, "plan", '"limit"', '"limt"'))
    assert desk_of(view).widget.problems
    assert "Not made" not in set(bench.dashboards.list()["name"])


def test_the_panel_is_made_when_it_is_opened(bench: wb.Bench) -> None:
    view = bench.show(bench.dashboards.get("Ageing").plot("Fade by batch"))
    assert view._desk is None
    view._act("recipe")
    assert desk_of(view).widget in view.widget.children
    view._act("recipe")
    assert desk_of(view).widget.layout.display == "none"
