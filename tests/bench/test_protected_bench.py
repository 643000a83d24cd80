"""Protected drawing as people ask for it: one word at a figure, and by itself for what others wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.errors import Invalid, NotProtected
from workbench.local import LocalBackend
from workbench.recipe.recipe import Recipe
from workbench.transform import drawers, protected

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")

PLAN = {"steps": {"cells": {"op": "list", "source": "instances"}}}
DRAWS = "def transform(data, params):\n    print('drawn')\n    return px.bar(data['cells'], x='name')"
OPENS = "def transform(data, params):\n    pd.io.common.os.stat('/')\n    return {'data': []}"
REMOTE = "def transform(data, params):\n    return {'data': [{'type': 'image', 'source': 'http://a.b/c.png'}]}"


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Any:
    yield
    protected.shared().close()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WORKBENCH_OWN_SCRIPTS", str(tmp_path / "own-scripts.txt"))
    with wb.open(tmp_path / "lab.db") as made:
        yield made


def transform(data, params):  # type: ignore[no-untyped-def]
    """A function of one's own."""
    return {"data": []}


def recipe(script: str) -> Recipe:
    return Recipe(plan=PLAN, transform=script)


def test_a_figure_may_be_asked_for_protected(bench: wb.Bench) -> None:
    near, far = bench.figure(recipe(DRAWS)), bench.figure(recipe(DRAWS), protected=True)
    assert near.to_dict() == far.to_dict()
    assert far.workbench.log == "drawn\n"
    assert bench.figure(recipe(OPENS), protected=False).data == ()
    with pytest.raises(Invalid, match="Line 2: PermissionError") as caught:
        bench.figure(recipe(OPENS), protected=True)
    assert caught.value.problems[0].loc == ("config", "transform")
    with pytest.raises(Invalid, match="address"):
        bench.export(recipe(REMOTE), bench.backend.store.path.with_name("a.json"), protected=True)


def test_a_figure_that_nobody_looked_at_is_drawn_again(bench: wb.Bench) -> None:
    work = bench.backend
    config = recipe(REMOTE).config
    assert work.figure(config, {}).cache["figure"] == "miss"
    assert work.figure(config, {}).cache["figure"] == "hit"
    with pytest.raises(Invalid, match="address"):
        work.figure(config, {}, protected=True)
    config = recipe(DRAWS).config
    assert work.figure(config, {}, protected=True).cache["figure"] == "miss"
    assert work.figure(config, {}, protected=True).cache["figure"] == "hit"
    assert work.figure(config, {}).cache["figure"] == "hit"


def test_ones_own_plots_are_not_protected_and_those_of_others_are(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Board")
    plot = board.save("Mine", recipe(OPENS))
    assert not plot.recipe().foreign
    plot.figure()
    store, scope = bench.backend.store, bench.backend.scope
    other = store.rows.create("users", {"email": "else@example.org", "name": "Else"}, scope=scope).id
    store.plots.save(board.id, "Mine", recipe(OPENS + "\n# else").config.dump(), scope, other)
    plot = board.plot("Mine")
    assert plot.recipe().foreign
    assert not plot.recipe(1).foreign
    with pytest.raises(Invalid, match="PermissionError"):
        plot.figure()
    plot.figure(protected=False)
    with pytest.raises(Invalid, match="PermissionError"):
        bench.figure(Recipe(plot.recipe(), params={}))
    assert Recipe(plot.recipe(), transform=DRAWS).foreign
    assert not Recipe(plot.recipe(), transform=transform).foreign
    restored = plot.restore(1)
    assert not restored.recipe().foreign
    again = restored.restore(2)
    assert again.recipe().foreign, "to restore somebody's script does not make it one's own"


def test_a_script_of_a_model_is_nobodys(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Board")
    work = bench.backend
    work.save_plot(board.record, "Drawn", recipe(OPENS).config, origin="model")
    assert board.plot("Drawn").recipe().foreign
    work.save_plot(board.record, "Drawn", Recipe(recipe(OPENS), params={}).config)
    work.update(type(board.plot("Drawn").record), board.plot("Drawn").id, {"name": "Renamed"})
    assert board.plot("Renamed").recipe().foreign
    board.save("Renamed", recipe(DRAWS))
    assert not board.plot("Renamed").recipe().foreign


def test_a_workbench_may_draw_all_protected(bench: wb.Bench) -> None:
    work = bench.backend
    shared = LocalBackend(work.store, work.cache, work.organization, work.project, work.actor, protected=True)
    assert shared.of_project(work.project).protected
    with pytest.raises(Invalid, match="PermissionError"):
        shared.figure(recipe(OPENS).config, {})
    assert shared.check(recipe("import os\n" + DRAWS).raw(), {})[0].ctx["line"] == 1


def test_where_all_is_protected_no_script_is_parsed_in_this_process(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script of one megabyte costs the parser seconds and hundreds of megabytes, and may crash it."""
    work = bench.backend
    shared = LocalBackend(work.store, work.cache, work.organization, work.project, work.actor, protected=True)
    board = bench.dashboards.create("Board").record
    found = shared.check(recipe(DRAWS.replace("cells", "cels")).raw(), {})
    assert [one.type for one in found] == ["script_key"]
    for name in ("script._parsed", "inprocess.check_keys"):
        monkeypatch.setattr(f"workbench.transform.{name}", lambda *_, **__: pytest.fail("parsed here"))
    wrong = "import os\n" + DRAWS + " "
    assert shared.check(recipe(wrong).raw(), {})[0].type == "script_import"
    with pytest.raises(Invalid, match="'os'"):
        shared.save_plot(board, "Wrong", recipe(wrong).config)
    shared.save_plot(board, "Right", recipe(DRAWS + " ").config)
    shared.figure(recipe(DRAWS + " ").config, {})


def test_a_check_counts_for_its_organization(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    work = bench.backend
    shared = LocalBackend(work.store, work.cache, work.organization, work.project, work.actor, protected=True)
    counted: list[str | None] = []
    pool = protected.shared()
    turn = pool.turns.turn
    monkeypatch.setattr(pool.turns, "turn", lambda who, *more: counted.append(who) or turn(who, *more))
    shared.check(recipe(DRAWS).raw(), {})
    shared.save_plot(bench.dashboards.create("Board").record, "Drawn", recipe(DRAWS).config)
    assert counted == [work.scope.organization_id] * 2


def test_where_the_lock_does_not_hold_nothing_is_drawn(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refuses:
        locked = True

        def draw(self, *_: Any, **__: Any) -> Any:
            raise NotProtected("no lock")

    monkeypatch.setattr(protected, "shared", Refuses)
    assert isinstance(drawers.drawer(True), Refuses)
    with pytest.raises(NotProtected):
        bench.figure(recipe(DRAWS), protected=True)
    bench.figure(recipe(DRAWS))
