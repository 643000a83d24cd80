"""Conversations with scripted models: what is repaired, what ends in words, what gets nothing, and what is kept."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.asked_methods import RATINGS, samples
from support.local_and_remote import opened

import workbench as wb
from workbench.authoring import Conversation, Turn, answers_in, replayed, write
from workbench.authoring.examples import answer
from workbench.authoring.loop import TRIES
from workbench.errors import BadRequest, Cancelled, Conflict, NotFound, Problem
from workbench.local import LocalBackend
from workbench.records import Organization, Project, User
from workbench.store.scope import Scope

PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name", "batch_name"]}}}
SCRIPT = (
    "from workbench import battery\n"
    "def transform(data, params):\n"
    "    counts = data['cells']['batch_name'].fillna('none').value_counts()\n"
    "    figure = go.Figure(go.Bar(x=counts.index, y=counts, name='cells'))\n"
    "    return figure.update_xaxes(title='Batch').update_yaxes(title='Number of cells')\n"
)
SOUND = {"say": "Cells by batch.", "draft": {"name": "Cells", "config": {"plan": PLAN, "transform": SCRIPT}}}


class Model:
    """A model that gives these answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [one if isinstance(one, str) else json.dumps(one) for one in answers]
        self.asked: list[list[Turn]] = []

    def __call__(self, turns: Sequence[Turn]) -> str:
        self.asked.append(list(turns))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def changed(**parts: Any) -> dict[str, Any]:
    made = copy.deepcopy(SOUND)
    made["draft"]["config"].update(parts)
    return made


def four_mistakes() -> dict[str, Any]:
    made = copy.deepcopy(dict(answer("fade")))
    config = made["draft"]["config"]
    config["plan"]["steps"]["cells"]["limt"] = 5
    config["plan"]["steps"]["cycles"]["columns"][0] = "Cycle cuont"
    config["params"]["limit"]["default"] = 3
    config["transform"] = "import requests\n" + config["transform"]
    return made


@pytest.fixture
def bench(demo_copy: Path) -> Any:
    with wb.open(demo_copy) as made:
        yield made


@pytest.fixture
def talk(bench: wb.Bench) -> Conversation:
    return Conversation(bench.backend, bench.dashboards.create("Authored").record)


def plots_of(bench: wb.Bench) -> int:
    return len(bench.dashboards.get("Authored").plots())


def test_four_mistakes_are_repaired_in_one_round(bench: wb.Bench, talk: Conversation) -> None:
    model = Model(four_mistakes(), SOUND)
    checked = talk.ask("Cells by batch", model)
    assert checked.is_sound
    assert len(model.asked) == 2
    repair = model.asked[1][-1]
    assert repair.role == "user"
    for place in ("cells.limt", "cycles.columns.0", "limit.default", "config.transform"):
        assert place in repair.text
    assert [turn.role for turn in model.asked[1]] == ["system", "user", "assistant", "user"]
    assert "Cells by batch" in model.asked[0][1].text
    assert plots_of(bench) == 0
    saved = talk.accept()
    assert (saved.name, saved.revision, plots_of(bench)) == ("Cells", 1, 1)
    plot = bench.dashboards.get("Authored").plot("Cells")
    assert plot.recipe().foreign
    assert plot.history()["origin"].tolist() == ["draft"]


def test_what_never_becomes_sound_ends_in_words_and_saves_nothing(bench: wb.Bench, talk: Conversation) -> None:
    model = Model(changed(transform="def transform(data, params):\n    return data['cels']"))
    checked = talk.ask("Cells by batch", model)
    assert len(model.asked) == TRIES
    assert checked.draft is None
    assert checked.figure is None
    assert "nothing is offered" in checked.say
    assert "cels" in checked.say
    assert talk.drafts == []
    with pytest.raises(BadRequest, match="no draft to accept"):
        talk.accept()
    with pytest.raises(Conflict, match="no draft"):
        bench.authoring_decision("Authored", new_plot_id="01890000-0000-4000-8000-000000000000")
    assert plots_of(bench) == 0


def test_a_refusal_in_words_is_the_last_word(talk: Conversation) -> None:
    model = Model({"say": "No test holds a pressure; there is voltage.", "draft": None})
    checked = talk.ask("Plot the pressure", model)
    assert len(model.asked) == 1
    assert (checked.say, checked.draft, checked.problems) == (
        "No test holds a pressure; there is voltage.",
        None,
        [],
    )
    assert talk.said[-1].text == checked.say


@pytest.mark.parametrize("where", ["near", "far"])
def test_an_answer_with_half_a_character_is_heard_and_kept(demo_copy: Path, where: str) -> None:
    with opened(demo_copy, where) as bench:
        talk = Conversation(bench.backend, bench.dashboards.create("Halves").record)
        checked = talk.ask("Cells", Model('{"say": "It \0', '{"say": "Nothing\\ud83d of this.", "draft": null}'))
        assert checked.say == "Nothing\ufffd of this."
        answers = [
            json.dumps(one.content) for one in bench.sessions.messages(talk.session_id) if one.role != "user"
        ]
        assert len(answers) == 2
        assert "Nothing" in answers[1]


FETCHING = (
    "def transform(data, params):\n    figure = go.Figure(go.Scatter(y=[1, 2]))\n"
    "    figure.add_layout_image(source='https://elsewhere.example/a.png')\n    return figure"
)


@pytest.mark.parametrize(
    "script",
    [
        "import os\ndef transform(data, params):\n    return go.Figure(go.Bar(y=[len(os.listdir('/'))]))",
        "def transform(data, params):\n    return go.Figure(go.Bar(y=[len(open('/etc/passwd').read())]))",
        "def transform(data, params):\n    c = ().__class__.__base__.__subclasses__()\n"
        "    w = [x for x in c if x.__name__ == '_wrap_close'][0]\n"
        "    return go.Figure(go.Bar(y=[1], name=w.__init__.__globals__['popen']('id').read()))",
        FETCHING,
    ],
    ids=["imports", "reads a file", "escapes", "fetches a picture"],
)
def test_a_hostile_script_gets_nothing(bench: wb.Bench, talk: Conversation, script: str) -> None:
    checked = talk.ask("Cells by batch", Model(changed(transform=script)))
    assert checked.draft is None
    assert checked.figure is None
    assert talk.drafts == []
    assert plots_of(bench) == 0


def of_another_organization(bench: wb.Bench) -> str:
    """The id of a test of another organization in the same store, which has samples."""
    work = bench.backend
    rows, nowhere = work.store.rows, Scope("", None)
    other = rows.create(Organization, {"name": "Other"}, scope=nowhere)
    work.store.people.enrol(other.id, "stranger@elsewhere", role="Admin")
    stranger = rows.user("stranger@elsewhere").id
    theirs = rows.create(Project, {"name": "Theirs"}, scope=Scope(other.id, None), actor=stranger)
    elsewhere = wb.Bench(LocalBackend(work.store, work.cache, other, theirs, stranger))
    design = elsewhere.specifications.create(name="Theirs", ratings=RATINGS)
    cell = elsewhere.instances.create(name="SECRET-01", specification=design)
    made = elsewhere.measurements.create(instance_id=cell.id, name="SECRET", time_series=samples())
    return made.id


def test_a_model_that_asks_for_the_data_of_others_gets_nothing(bench: wb.Bench, talk: Conversation) -> None:
    others = of_another_organization(bench)
    series = {
        "op": "series",
        "source": "measurements",
        "ids": [others],
        "x": "Time [s]",
        "columns": ["Voltage [V]"],
    }
    checked = talk.ask("Their data", Model(changed(plan={"steps": {**PLAN["steps"], "theirs": series}})))
    assert checked.draft is None
    assert "theirs" in checked.problems[0]["loc"]
    assert "SECRET" not in checked.say
    names = changed(plan={"steps": {"cells": {**PLAN["steps"]["cells"], "where": {"nameContains": "SECRET"}}}})
    assert talk.ask("Their cells", Model(names)).draft is None


def test_what_only_looks_wrong_goes_back_once_and_the_better_one_is_offered(talk: Conversation) -> None:
    untitled = changed(transform="def transform(data, params):\n    return go.Figure(go.Bar(x=['a'], y=[1]))")
    model = Model(untitled, SOUND)
    assert talk.ask("Cells", model).draft["config"]["transform"] == SCRIPT
    stubborn = Model(untitled)
    assert talk.ask("Cells", stubborn).is_sound
    assert len(stubborn.asked) == 2


def test_a_stopped_author_asks_no_more(talk: Conversation) -> None:
    model = Model(four_mistakes())
    with pytest.raises(Cancelled):
        talk.ask("Cells", model, stopped=lambda: bool(model.asked))
    assert len(model.asked) == 1


def test_a_revision_is_shown_beside_what_was_before_and_can_be_undone(bench: wb.Bench, talk: Conversation) -> None:
    talk.ask("Cells by batch", Model(SOUND))
    second = changed()
    second["draft"]["name"] = "Cells again"
    model = Model(second)
    talk.ask("Call it otherwise", model)
    assert "The plot to be changed" in model.asked[0][1].text
    assert (talk.before["name"], talk.draft["name"]) == ("Cells", "Cells again")
    assert len(bench.sessions.list()) == 1
    talk.undo()
    assert talk.draft["name"] == "Cells"
    assert talk.accept().name == "Cells"
    talk.ask("Once more", Model(second))
    assert talk.accept("Named").revision == 2
    assert plots_of(bench) == 1
    with pytest.raises(BadRequest):
        talk.undo()


def edits(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"say": "", "edits": [{"part": "transform", "old": old, "new": new} for old, new in pairs]}


def test_a_draft_is_changed_and_repaired_by_edits(bench: wb.Bench, talk: Conversation) -> None:
    fails = changed(transform=SCRIPT.replace("counts.index", "counts.idx"))
    assert talk.ask("Cells by batch", Model(fails, edits(("idx", "index")))).is_sound
    assert talk.draft == SOUND["draft"]
    breaks = edits(("Number of", "How many"), ("counts.index", "cnts.index"))
    model = Model(edits(("nowhere", "")), breaks, edits(("cnts", "counts")))
    assert talk.ask("Another title", model).is_sound
    assert "is not in 'transform'" in model.asked[1][-1].text
    assert talk.draft["config"]["transform"] == SCRIPT.replace("Number of", "How many")
    assert [one.is_sound for one in bench.sessions.replay(talk.session_id)] == [False, True, False, False, True]
    assert not talk.paste(json.dumps(edits(("How many", "Number of"), ("counts.index", "cnts.index")))).is_sound
    assert talk.paste(json.dumps(edits(("cnts", "counts")))).is_sound
    assert talk.draft == SOUND["draft"]


def test_what_is_accepted_is_what_this_conversation_shows(bench: wb.Bench, talk: Conversation) -> None:
    """Two notebooks with one plot: both are in its session, and the draft of the other is newer."""
    talk.ask("Cells", Model(SOUND))
    plot = talk.accept()
    other = Conversation(bench.backend, talk.board, plot)
    talk.ask("mine", Model(changed(transform=SCRIPT + "# mine\n")))
    other.ask("theirs", Model(changed(transform=SCRIPT + "# theirs\n")))
    assert other.session_id == talk.session_id
    assert talk.accept().config["transform"].endswith("# mine\n")
    saved = other.accept()
    assert saved.config["transform"].endswith("# theirs\n")
    assert saved.revision == 3


@pytest.mark.parametrize("is_new", [True, False])
def test_a_draft_that_became_unsound_lets_no_older_one_be_saved(
    bench: wb.Bench, talk: Conversation, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    if not is_new:
        talk.ask("Cells", Model(SOUND))
        talk.accept()
    talk.ask("older", Model(changed(transform=SCRIPT + "# older\n")))
    talk.ask("shown", Model(changed(transform=SCRIPT + "# shown\n")))
    sound = type(bench.backend).sound

    def since(backend: Any, config: Any) -> list[Problem]:
        """The data changed: what the shown draft reads is gone."""
        if config["transform"].endswith("# shown\n"):
            return [Problem(("config", "plan"), "The column is gone.", "value_error")]
        return list(sound(backend, config))

    monkeypatch.setattr(type(bench.backend), "sound", since)
    before = plots_of(bench)
    with pytest.raises(wb.Conflict, match=r"The newest draft is not sound.*The column is gone"):
        talk.accept()
    assert plots_of(bench) == before
    assert talk.draft["config"]["transform"].endswith("# shown\n")
    monkeypatch.undo()
    assert talk.accept().config["transform"].endswith("# shown\n")


def test_what_is_shown_is_accepted_after_an_answer_that_is_not_sound(bench: wb.Bench, talk: Conversation) -> None:
    talk.ask("Cells", Model(SOUND))
    talk.ask("More", Model(four_mistakes(), four_mistakes(), four_mistakes(), four_mistakes()))
    assert talk.accept().name == "Cells"


def test_a_pasted_answer_is_checked_and_can_be_accepted(bench: wb.Bench, talk: Conversation) -> None:
    context = talk.context("Cells by batch")
    assert "Cells by batch" in context.prompt
    bad = talk.paste("Here you are:\n```json\n" + json.dumps(four_mistakes()) + "\n```")
    assert len(bad.problems) >= 4
    assert "cannot be used" in talk.said[-1].text
    assert talk.paste("```json\n" + json.dumps(SOUND) + "\n```").is_sound
    assert talk.accept().name == "Cells"
    assert plots_of(bench) == 1


def test_a_session_replays_from_its_stored_messages(bench: wb.Bench, talk: Conversation) -> None:
    first = talk.ask("Cells by batch", Model(four_mistakes(), SOUND))
    messages = bench.sessions.messages(talk.session_id)
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    answers = answers_in(messages)
    again = write([Turn("user", "Cells by batch")], replayed(answers), bench.backend.check_answer)
    assert len(again.attempts) == 2
    assert again.checked.model_copy(update={"timings": {}}) == first.model_copy(update={"timings": {}})


@pytest.mark.parametrize("where", ["near", "far"])
def test_the_built_in_author_holds_a_conversation_here_and_on_a_server(demo_copy: Path, where: str) -> None:
    with opened(demo_copy, where) as bench:
        talk = Conversation(bench.backend, bench.dashboards.create("Authored").record)
        assert talk.ask("How many cells are there in each batch?").is_sound
        words = talk.ask("Plot the pressure over time")
        assert words.draft is None
        assert "pressure" in words.say
        assert talk.accept().name == "Number of cells by batch"
        assert [one.who for one in talk.said] == ["you", "author", "you", "author", "author"]


def test_sessions_of_others_cannot_be_continued(bench: wb.Bench, talk: Conversation) -> None:
    work = bench.backend
    talk.ask("Cells", Model(SOUND))
    ann = work.store.rows.create(User, {"name": "Ann", "email": "ann@lab.org"}, scope=Scope("", None))
    theirs = type(work)(work.store, work.cache, work.organization, work.project, ann.id)
    with pytest.raises(NotFound):
        theirs.authoring_context(talk.board, "Mine", session=talk.session_id)
