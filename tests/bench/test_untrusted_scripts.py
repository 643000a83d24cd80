"""Scripts of strangers: from a store file, from a server, in copies, and where no process can be locked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.errors import Invalid, NotProtected, StoreNotice
from workbench.notebook.board_view import BoardView
from workbench.own_scripts import MARK_START, OWN_SCRIPTS
from workbench.recipe.recipe import Recipe
from workbench.transform import protected
from workbench.transform.protected.unlockable import Unlockable

PLAN = {"steps": {"cells": {"op": "list", "source": "instances"}}}
OPENS = "def transform(data, params):\n    pd.io.common.os.stat('/')\n    return {'data': []}"
REMOTE = "def transform(data, params):\n    return {'data': [{'type': 'image', 'source': 'http://a.b/c.png'}]}"

linux = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")


def recipe(script: str = OPENS) -> Recipe:
    return Recipe(plan=PLAN, transform=script)


def become(who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another person at another machine: another record."""
    monkeypatch.setenv(OWN_SCRIPTS, str(tmp_path / f"{who}.txt"))


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that a stranger made and sent; the one who opens it is another person."""
    become("stranger", tmp_path, monkeypatch)
    path = tmp_path / "sent.db"
    with wb.open(path) as theirs:
        theirs.dashboards.create("Board").save("Plot", recipe())
        assert not theirs.dashboards.get("Board").plot("Plot").recipe().foreign
    become("me", tmp_path, monkeypatch)
    return path


@pytest.fixture
def opened(sent: Path) -> Iterator[wb.Bench]:
    with pytest.warns(StoreNotice, match="1 script of saved plots .* workbench trust --all"):
        bench = wb.open(sent)
    with bench:
        yield bench


@linux
def test_a_strangers_store_runs_nothing_with_my_rights(opened: wb.Bench) -> None:
    plot = opened.dashboards.get("Board").plot("Plot")
    assert plot.recipe().foreign
    draws: list[Any] = [
        lambda: plot.figure(),
        lambda: opened.figure(plot.recipe().raw()),
        lambda: opened.figure(plot.recipe().config),
        lambda: opened.figure(plot.record.config),
        lambda: opened.figure(recipe(plot.recipe().transform.replace("'/'", "'/tmp'"))),
        lambda: opened.figure(Recipe(plot.recipe(), transform=OPENS.replace("'/'", "'/tmp'"))),
        lambda: plot.show().refresh(wait=True),
        lambda: opened.dashboards.get("Board").show().views["Plot"].refresh(wait=True),
        lambda: opened.project("Default").dashboards.get("Board").plot("Plot").figure(),
    ]
    for draw in draws:
        with pytest.raises(Invalid, match="PermissionError"):
            draw()


def test_the_notice_comes_once_and_not_for_ones_own_store(opened: wb.Bench, sent: Path, tmp_path: Path) -> None:
    wb.open(sent).close()
    with wb.open(tmp_path / "own.db") as own:
        own.dashboards.create("Board").save("Plot", recipe(OPENS + " # mine"))
    with wb.open(tmp_path / "own.db") as again:
        assert not again.dashboards.get("Board").plot("Plot").recipe().foreign


@linux
def test_one_step_trusts_a_plot_an_author_or_a_store(opened: wb.Bench) -> None:
    board = opened.dashboards.get("Board")
    assert opened.untrusted()["plot"].tolist() == ["Plot"]
    assert board.plot("Plot").trust().recipe().foreign is False
    board.plot("Plot").figure()
    board.plot("Plot").show().refresh(wait=True)
    assert opened.untrusted().empty
    author = board.plot("Plot").history()["created_by_email"][0]
    for how in ({}, {"author": author}, {"plot": "Plot"}, {"what": recipe()}):
        assert opened.distrust(board.plot("Plot")) == 1
        assert board.plot("Plot").recipe().foreign
        assert opened.trust(**how) == 1
        assert opened.trust(**how) == 0
        assert not board.plot("Plot").recipe().foreign
    with pytest.raises(wb.NotFound, match="The authors are"):
        opened.trust(author="nobody@lab.org")
    with pytest.raises(wb.BadRequest, match="Name one of"):
        opened.trust(board.plot("Plot"), author=author)


def test_the_command_lists_trusts_and_takes_back(sent: Path) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["trust", *words, "--store", str(sent)], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    assert [one["plot"] for one in json.loads(run("--json"))] == ["Plot"]
    assert "--author EMAIL" in run()
    assert run("--all") == "1 script trusted: they now run with your rights.\n"
    assert "is your own" in run()
    assert run("--plot", "Plot", "--remove") == "1 script made untrusted.\n"
    assert json.loads(run("--plot", "Plot", "--json")) == {"changed": 1}


@linux
def test_the_command_that_draws_says_once_that_a_script_runs_protected(sent: Path, tmp_path: Path) -> None:
    harmless = recipe(OPENS.replace("    pd.io.common.os.stat('/')\n", ""))

    def said(what: str, *words: str) -> str:
        given = ["run", what, "-o", str(tmp_path / "out.json"), "--store", str(sent), *words]
        done = CliRunner().invoke(app, given)
        return done.stderr if "protected" in done.stderr else ""

    assert "The script of 'Plot' did not come from you" in said("Plot")
    assert said("Plot") == ""
    harmless.foreign = True
    harmless.save(tmp_path / "theirs.json")
    assert said(str(tmp_path / "theirs.json"), "--protected") == ""
    assert "This script did not come from you" in said(str(tmp_path / "theirs.json"))
    assert said(str(tmp_path / "theirs.json")) == ""
    recipe(harmless.transform.replace("[]", "[{}]").split("# ")[0]).save(tmp_path / "mine.json")
    assert said(str(tmp_path / "mine.json")) == ""


@linux
def test_to_save_or_change_the_script_of_a_stranger_does_not_make_it_mine(opened: wb.Bench) -> None:
    board = opened.dashboards.get("Board")
    theirs = board.plot("Plot").recipe()
    changed = theirs.transform.replace("'/'", "'/tmp'")
    assert board.save("Copy", theirs).recipe().foreign
    assert board.save("Copy of parts", theirs.raw()).recipe().foreign
    assert board.save("Changed", Recipe(theirs, transform=changed)).recipe().foreign
    view = board.plot("Plot").show()
    view._toggle_desk()
    assert view._desk is not None
    raw = view.recipe().config.dump()
    view._run_recipe(Recipe({**raw, "transform": OPENS.replace("'/'", "'/usr'")}).config)
    assert view.recipe().foreign
    with pytest.raises(Invalid, match="PermissionError"):
        view.refresh(wait=True)
    texts = view._desk.widget.texts
    view._desk._save("Board", "From the view", texts)
    assert board.plot("From the view").recipe().foreign
    mine = recipe("def transform(data, params):\n    return {'data': [], 'layout': {}}")
    assert not board.save("Plot", mine).recipe().foreign
    own = board.plot("Plot").show()
    own._run_recipe(board.plot("Plot").recipe(1).config)  # restored in a view of an own plot
    with pytest.raises(Invalid, match="PermissionError"):
        own.refresh(wait=True)


@linux
def test_an_exported_notebook_keeps_the_mark(opened: wb.Bench, tmp_path: Path) -> None:
    harmless = OPENS.replace("    pd.io.common.os.stat('/')\n", "")
    store, work = opened.backend.store, opened.backend
    board = opened.dashboards.get("Board")
    store.plots.save(board.id, "Harmless", recipe(harmless).config.dump(), work.scope, work.actor)
    for protected_by in (None, False):
        opened.export(board.plot("Harmless").recipe(), tmp_path / "out.ipynb", protected=protected_by)
        cells = [cell["source"] for cell in json.loads((tmp_path / "out.ipynb").read_text())["cells"]]
        (text,) = [cell for cell in cells if cell.startswith("transform")]
        assert MARK_START in text
        space: dict[str, Any] = {}
        exec(text.replace("return {", "pd.io.common.os.stat('/'); return {"), space)
        with pytest.raises(Invalid, match="PermissionError"):
            opened.figure(wb.Recipe(plan=PLAN, transform=space["transform"]))
    opened.export(recipe(), tmp_path / "mine.ipynb", protected=False)


@linux
def test_a_cache_that_came_with_a_store_is_looked_at(opened: wb.Bench) -> None:
    """Its note that a figure was checked is the stranger's."""
    work = opened.backend
    unsafe = b'{"data":[{"type":"image","source":"http://a.b/c.png"}],"layout":{}}'
    harmless = recipe(OPENS.replace("    pd.io.common.os.stat('/')\n", "")).config
    before = work.cache.get_or_make
    work.cache.get_or_make = lambda kind, *rest, **more: (
        before(kind, *rest, **more)
        if kind != "figure"
        else before(kind, *rest, **more)._replace(data=unsafe, hit=True)
    )
    assert b"a.b" not in work.figure(harmless, {}, protected=True).figure


@linux
def test_a_server_does_not_decide_what_runs_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server says that this very user wrote the script."""
    become("server", tmp_path, monkeypatch)
    with wb.open(tmp_path / "lab.db") as lab:
        board = lab.dashboards.create("Board")
        board.save("Plot", recipe())
        board.save("Remote", recipe(REMOTE))
        with lab.serve(trust_transforms=True) as served:
            become("me", tmp_path, monkeypatch)
            with wb.connect(served.url, served.api_key) as bench:
                plots = bench.dashboards.get("Board")
                assert plots.plot("Plot").history()["created_by_email"].notna().all()
                assert plots.plot("Plot").recipe().foreign
                with pytest.raises(Invalid, match="PermissionError"):
                    plots.plot("Plot").figure()
                with pytest.raises(Invalid, match="PermissionError"):
                    plots.show().views["Plot"].refresh(wait=True)
                mine = plots.save("Mine", recipe(OPENS + "\n# mine"))
                assert not plots.plot("Mine").recipe().foreign
                mine.figure()
                answered = bench.backend.save_plot

                def forged(*given: Any, **more: Any) -> Any:
                    plot = answered(*given, **more)
                    return plot.model_copy(update={"config": recipe(OPENS + "\n# forged").config.dump()})

                monkeypatch.setattr(bench.backend, "save_plot", forged)
                assert plots.save("Forged", recipe(OPENS + "\n# sent")).recipe().foreign
                monkeypatch.setattr(protected, "shared", Unlockable)
                plots.plot("Plot").figure()  # the server drew it
                with pytest.raises(Invalid, match="not safe to show"):
                    plots.plot("Remote").figure()


@pytest.mark.parametrize(
    ("system", "name"), [("darwin", "macOS"), ("win32", "Windows"), ("freebsd14", "freebsd14")]
)
def test_where_there_is_no_lock_an_untrusted_script_is_refused(
    sent: Path, monkeypatch: pytest.MonkeyPatch, system: str, name: str
) -> None:
    monkeypatch.setattr("workbench.transform.protected.unlockable.sys.platform", system)
    monkeypatch.setattr(protected, "shared", protected.new)
    with pytest.warns(StoreNotice, match="run protected"):
        bench = wb.open(sent)
    with bench:
        board = bench.dashboards.get("Board")
        for draw in (board.plot("Plot").figure, board.show().views["Plot"].figure):
            with pytest.raises(NotProtected) as caught:
                draw()
            for way in (
                f"locked in on {name}",
                "server on Linux",
                "container",
                "WSL",
                "protected=False",
                "bench.trust",
            ):
                assert way in str(caught.value)
        with pytest.raises(NotProtected):
            board.plot("Plot").show().refresh(wait=True)
        board.plot("Plot").figure(protected=False)
        bench.figure(recipe(OPENS + " # typed here"))
        assert isinstance(board.show(), BoardView)
        board.plot("Plot").trust().figure()


def test_a_kernel_that_refuses_the_lock_is_treated_alike(sent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoSeccomp(Unlockable):
        def run(self, *_: Any, **__: Any) -> Any:
            raise NotProtected("The process that draws did not start: no seccomp.")

    monkeypatch.setattr(protected, "shared", NoSeccomp)
    with pytest.warns(StoreNotice, match="run protected"):
        bench = wb.open(sent)
    with bench, pytest.raises(NotProtected, match=r"protected=False.* no seccomp"):
        bench.dashboards.get("Board").plot("Plot").figure()
