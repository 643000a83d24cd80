"""What is asked of the methods about dashboards, authoring, analyses and alerts, local and remote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import workbench as wb
from workbench.bench import SavedPlot

from .asked_methods import (
    NOWHERE,
    PLAN,
    SCRIPT,
    Ask,
    recipe,
    row,
)


@row(
    *("Board.save", "Board.plots", "Board.plot", "Board.show", "Board.id", "Board.name", "SavedPlot.id"),
    *("SavedPlot.name", "SavedPlot.revision", "SavedPlot.recipe", "SavedPlot.history", "SavedPlot.restore"),
    *("SavedPlot.figure", "SavedPlot.show", "Board.export", "Board.export_size", "Board.backend"),
)
def boards(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = ask(lambda: bench.dashboards.create("Saved", description="d"))
    ask(lambda: (board.id, board.name, repr(board)))
    project = bench.projects.create(name="with a board")
    ask(lambda: bench.dashboards.create(project, "Saved"))
    ask(lambda: bench.dashboards.create("with a board", "Saved"))
    ask(lambda: bench.dashboards.create("nobody", "Saved"))
    plot = ask(lambda: board.save("one", recipe()))
    ask(lambda: (plot.id, plot.name, plot.revision, repr(plot)))
    again = ask(lambda: board.save("one", recipe(SCRIPT + "# another\n")))
    for since in (0, 1, 3):
        ask(lambda since=since: board.save("one", recipe(SCRIPT + "# late\n"), since=since))
    again = ask(lambda: board.save("one", recipe(SCRIPT + "# in time\n"), since=2))
    ask(lambda: board.save("never there", recipe(), since=7))
    for name, wrong in (("", recipe()), ("x", recipe("import os")), ("x", {"plan": 3}), ("x" * 501, recipe())):
        ask(lambda name=name, wrong=wrong: board.save(name, wrong))
    ask(lambda: board.plots())
    for ref in ("one", "on", plot.id, plot.record, NOWHERE, ""):
        ask(lambda ref=ref: board.plot(ref))
    for number in (None, 1, 2, 3, 0):
        ask(lambda number=number: _whose(again, number))
    ask(lambda: again.history())
    for number in (1, 9, 0):
        ask(lambda number=number: again.restore(number))
    ask(lambda: again.history())
    ask(lambda: again.figure())
    ask(lambda: again.figure({"nothing": 1}))
    ask(lambda: again.show().refresh(wait=True).figure())
    ask(lambda: len(board.show().refresh(wait=True).values))
    ask(lambda: board.backend is bench.backend)
    ask(lambda: board.export_size())
    for name in ("board.html", "board.xyz"):
        ask(lambda name=name: board.export(folder / name))
    bench.dashboards.delete(board.id)
    ask(lambda: board.plots())
    ask(lambda: board.save("late", recipe()))
    ask(lambda: again.history())
    ask(lambda: again.restore(1))
    ask(lambda: board.show())


@row("SavedPlot.trust", "Bench.trust", "Bench.distrust", "Bench.untrusted")
def trusted(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("To trust")
    plot = ask(lambda: board.save("to trust", recipe(SCRIPT + "# to trust\n")))
    ask(lambda: plot.recipe().foreign)
    ask(lambda: bench.distrust(plot))
    ask(lambda: bench.distrust(plot="to trust"))
    ask(lambda: plot.recipe().foreign)
    found = bench.untrusted()
    ask(lambda: found[found["plot"] == "to trust"].drop(columns=["project"]).to_dict("list"))
    ask(lambda: plot.trust().recipe().foreign)
    for one in (plot, plot.recipe(), plot.recipe().raw(), {"plan": {}}):
        ask(lambda one=one: bench.trust(one))
    ask(lambda: bench.trust(plot="to trusd"))
    ask(lambda: bench.trust(plot, author="nobody"))
    bench.dashboards.delete(board.id)


def _whose(plot: SavedPlot, number: int | None) -> Any:
    found = plot.recipe(number)
    return found.raw(), found.foreign


# Conversations


@row(
    "sessions.list",
    "sessions.create",
    "sessions.get",
    "sessions.messages",
    "sessions.say",
    "sessions.delete",
    "sessions.replay",
)
def conversations(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = [ask(lambda title=title: bench.sessions.create(title)) for title in (None, "A title", "t" * 200)]
    for title in ("  ", "", "a\0b", "t" * 501):
        ask(lambda title=title: bench.sessions.create(title))
    ask(lambda: repr(bench.sessions))
    for page in ({}, {"limit": 2}, {"limit": 1, "offset": 1}, {"offset": 50}, {"limit": 0}, {"limit": -1}):
        ask(lambda page=page: bench.sessions.list(**page))
    one = made[1]
    parts = {
        "parts": [{"type": "text", "text": "ü"}, {"type": "draft", "draft": {"name": "n", "config": recipe()}}]
    }
    for role, content in (
        ("user", {"text": "hello"}),
        ("assistant", parts),
        ("system", {}),
        ("user", {"a": None}),
    ):
        ask(lambda role=role, content=content: bench.sessions.say(one, role, content))
    ask(lambda: bench.sessions.messages(one))
    for ref in (one.id, NOWHERE, "nobody", ""):
        ask(lambda ref=ref: bench.sessions.get(ref))
        ask(lambda ref=ref: bench.sessions.messages(ref))
        ask(lambda ref=ref: bench.sessions.say(ref, "user", {}))
    ask(lambda: [_without_times(one) for one in bench.sessions.replay(made[1])])
    ask(lambda: bench.sessions.replay(NOWHERE))
    ask(lambda: bench.sessions.delete(one))
    for ref in (one, one.id):
        ask(lambda ref=ref: bench.sessions.delete(ref))
    ask(lambda: bench.sessions.list())


@row("Bench.authoring_context", "Bench.authoring_decision", "SavedPlot.session")
def authored(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("Authored")
    draft = {"name": "drafted", "config": recipe()}
    decide, context = bench.authoring_decision, bench.authoring_context
    ask(lambda: decide(board, new_plot_id=NOWHERE))
    begun = ask(lambda: context(board, "A bar for each cell", draft=draft))
    ask(lambda: context("Authored", "Another", plot="nobody"))
    for prompt in ("", "x" * 10_001, 5):
        ask(lambda prompt=prompt: context(board, prompt))
    for wrong in ({"name": "n"}, {"name": "", "config": recipe()}, {"name": "n", "config": {"plan": 3}}):
        ask(lambda wrong=wrong: context(board, "p", draft=wrong))
    ask(lambda: context("nobody", "p"))
    ask(lambda: decide(board))
    ask(lambda: decide(board, new_plot_id="no uuid"))
    ask(lambda: decide(board, new_plot_id=NOWHERE, session=NOWHERE))
    made = ask(lambda: decide(board, new_plot_id=NOWHERE, session=begun.session_id))
    ask(lambda: decide(board, new_plot_id=NOWHERE))
    ask(lambda: decide(board, name="drafted", new_plot_id=NOWHERE[:-1] + "1"))
    ask(lambda: context(board, "Make it red", plot=made))
    ask(lambda: made.recipe().foreign)
    broken = {"name": "broken", "config": recipe("import os")}
    bench.sessions.say(begun.session_id, "assistant", {"parts": [{"type": "draft", "draft": broken}]})
    ask(lambda: decide(board, plot=made, session=begun.session_id))
    worse = context(board, "Another", draft={"name": "worse", "config": recipe("import os")})
    ask(lambda: decide(board, new_plot_id=NOWHERE[:-1] + "2", session=worse.session_id))
    ask(lambda: decide(board, plot=made, name="renamed"))
    ask(lambda: made.history())
    for number in (None, 1, 99):
        ask(lambda number=number: made.session(number))
    ask(lambda: decide(board, plot="nobody"))


@row("Bench.context_texts")
def costs(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    for wish in ("", "Fade by batch", "x" * 10_001):
        ask(lambda wish=wish: bench.context_texts(wish))


@row("Bench.author")
def authoring(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    for board in (None, "nobody"):
        ask(lambda board=board: bench.author("How many cells are there in each batch?", board))
    view = bench.author("How many cells are there in each batch?", bench.dashboards.create("Wished"))
    ask(lambda: [one.text for one in view.conversation.said])
    ask(lambda: view.draft)
    ask(lambda: _without_times(view.ask("Plot the pressure over time")))
    ask(lambda: _without_times(view.paste("Nothing.")))
    ask(lambda: view.accept("Wished for").name)
    ask(view.undo)
    ask(lambda: bench.author("Wider", "Wished", "nobody"))
    view.close()


@row("Bench.check_answer")
def answered(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    draft = {"name": "drafted", "config": recipe(word={"kind": "view", "default": "a"})}
    for answer in (
        {"say": "A bar for each cell.", "draft": draft},
        {"say": "Nothing of this is here.", "draft": None},
        {"say": "", "draft": {"name": "", "config": {**recipe("import os"), "plann": 3}}},
        {"say": 5},
        "Nothing of this is here.",
        '{"say": "cut',
        "",
        7,
    ):
        ask(lambda answer=answer: _without_times(bench.check_answer(answer)))
    ask(lambda: _without_times(bench.check_answer({"draft": draft, "say": ""}, {"word": "b"})))
    ask(lambda: _without_times(bench.check_answer({"draft": draft, "say": ""}, {"wrd": "b"})))
    for old in ("drafted", "nowhere"):
        edits = {"edits": [{"part": "name", "old": old, "new": "edited"}]}
        ask(lambda edits=edits: _without_times(bench.check_answer(edits, draft=draft)))
        ask(lambda edits=edits: _without_times(bench.check_answer(edits)))


def _without_times(checked: Any) -> Any:
    return checked.model_copy(update={"timings": {}})


@row("Bench.analyse", "Bench.analyse_on_arrival", "Bench.analysis_types", "Bench.kinds", "Bench.gallery")
def analysed(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    ask(bench.analysis_types)
    assert ask(bench.analyse_on_arrival) in (None, False)
    ask(lambda: bench.analyse_on_arrival(True))
    ask(lambda: bench.analyse_on_arrival(False))
    ask(bench.kinds)
    ask(lambda: bench.gallery().recipe("fade"))
    ask(lambda: bench.gallery().recipe("fad"))
    ask(lambda: bench.gallery("M50-A-01_ageing").recipe("fade"))
    ask(lambda: bench.gallery("nobody"))
    done = ask(lambda: bench.analyse("efficiency", "M50-A-01_ageing", check=True).as_dict())
    assert done is None or done
    for wrong in ("efficienc", "", "kind:rpt"):
        ask(lambda wrong=wrong: bench.analyse(wrong))
    ask(lambda: bench.analyse("efficiency", "nobody"))
    ask(lambda: bench.analyse("efficiency", {"batch": "nobody"}).as_dict())
    ask(lambda: bench.analyse("efficiency", "M50-A-01_ageing", threshold=3))


@row("Bench.exclude", "Bench.exclusions", "Bench.include")
def excluded(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    made = ask(lambda: bench.exclude("M50-A-01_ageing", cycles=[3, 4, 9], reason="the door was open"))
    ask(bench.exclusions)
    ask(lambda: bench.exclude("M50-A-01_ageing", cycles=5, reason="a power cut", name="mine"))
    for cycles, reason in (([-1], "below"), ([], "none"), (None, ""), ([1.5], "half")):
        ask(lambda cycles=cycles, reason=reason: bench.exclude("M50-A-01_ageing", cycles=cycles, reason=reason))
    ask(lambda: bench.exclude("nobody", reason="x"))
    ask(lambda: bench.include("min"))
    ask(lambda: bench.include("mine"))
    ask(lambda: bench.include(made.name))
    ask(bench.exclusions)


@row("Bench.simulate", "Bench.start_simulation")
def modelled(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    """Models run on this machine, wherever the store is; what cannot run is refused in the same words."""
    for begin in (bench.simulate, bench.start_simulation):
        ask(lambda begin=begin: begin("Nobody2020", "Discharge at 1C until 2.5 V"))
        ask(lambda begin=begin: begin("Chen2020", []))
        ask(lambda begin=begin: begin("Chen2020", "Rest for 1 hour", model="nonsense"))


@row(*(f"alerts.{name}" for name in ("create", "choices", "list", "delete", "occurrences", "acknowledge")))
def watched(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    board = bench.dashboards.create("Watched")
    plot = board.save("Cells", {"plan": PLAN, "transform": SCRIPT})
    ask(lambda: bench.alerts.choices(plot))
    made = ask(lambda: bench.alerts.create(plot, "New cell", "cells"))
    ask(lambda: bench.alerts.create(plot, "Named", "cells", "name", equals="nobody", key=["id"]))
    for step, column, bounds in (
        ("cell", None, {}),
        ("cells", "nam", {}),
        ("cells", "name", {"above": 3}),
        ("cells", None, {"below": 3}),
        ("cells", "name", {"equals": "a", "below": 3}),
        ("cells", None, {"key": ["nam"]}),
        ("cells", None, {"webhook": "https://elsewhere.example.com/"}),
        ("cells", None, {"webhook": "file:///etc/passwd"}),
    ):
        ask(lambda step=step, column=column, bounds=bounds: bench.alerts.create(plot, "x", step, column, **bounds))
    ask(lambda: list(bench.alerts.list()["name"]))
    ask(lambda: len(bench.alerts.occurrences()))
    ask(lambda: bench.alerts.acknowledge("nothing"))
    ask(lambda: bench.alerts.delete("nothing"))
    ask(lambda: bench.alerts.delete(made))
    ask(lambda: list(bench.alerts.list()["name"]))


@row("alerts.allow", "alerts.addresses", "alerts.disallow")
def webhooks(bench: wb.Bench, ask: Ask, folder: Path) -> None:
    ask(lambda: bench.alerts.allow("https://hooks.example.com/lab")["private"])
    ask(lambda: bench.alerts.allow("https://hooks.example.com/lab", private=True)["private"])
    ask(lambda: bench.alerts.allow("ftp://hooks.example.com/lab"))
    ask(lambda: [one["address"] for one in bench.alerts.addresses()])
    ask(lambda: bench.alerts.disallow("https://hooks.example.com/other"))
    ask(lambda: bench.alerts.disallow("https://hooks.example.com/lab"))
    ask(bench.alerts.addresses)
