"""Sessions, drafts and decisions, as a bench holds them."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.authoring.examples import example
from workbench.bench import Bench, Board
from workbench.errors import Conflict, Invalid, NotFound, StoreNotice
from workbench.local import LocalBackend
from workbench.records import User
from workbench.store.records.sessions import drafts_in, shortened
from workbench.store.scope import Scope

FADE, CURVES = example("fade"), example("curves")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(LocalBackend.open(tmp_path / "lab.db")) as made:
        yield made


@pytest.fixture
def board(bench: Bench) -> Board:
    return bench.dashboards.create("Ageing")


def unsound(draft: dict[str, Any]) -> dict[str, Any]:
    return {**draft, "config": {**draft["config"], "plan": {"steps": {}}}}


def other_user(bench: Bench) -> Bench:
    work = bench.backend
    user = work.store.rows.create(User, {"name": "Ann", "email": "ann@lab.org"}, scope=Scope("", None))
    return Bench(LocalBackend(work.store, work.cache, work.organization, work.project, user.id))


def new_id() -> str:
    return str(uuid.uuid4())


def test_a_context_opens_a_session_and_goes_on_with_that_of_a_plot(bench: Bench, board: Board) -> None:
    plot = board.save("Fade", FADE["config"])
    first = bench.authoring_context(board, "Show\nfade", plot)
    assert bench.sessions.list()["title"].tolist() == ["Show fade"]
    again = bench.authoring_context(board, "Thicker lines", plot.name)
    assert first.session_id == again.session_id
    assert bench.authoring_context("Ageing", "Something new").session_id != first.session_id
    assert FADE["config"]["transform"].splitlines()[0] in again.prompt
    assert first.system == again.system


def test_a_given_draft_is_what_is_changed_and_what_is_accepted(bench: Bench, board: Board) -> None:
    plot = board.save("Fade", FADE["config"])
    context = bench.authoring_context(board, "Curves instead", plot, draft=CURVES)
    assert CURVES["name"] in context.prompt
    assert "ratio_of" not in context.prompt
    kept = bench.authoring_decision(board, plot=plot)
    assert (kept.id, kept.revision, kept.name) == (plot.id, 2, CURVES["name"])
    assert kept.history()["origin"].tolist() == ["save", "draft"]
    assert kept.recipe().foreign
    assert not kept.recipe(1).foreign
    assert bench.backend.store.verify() == []


def test_a_decision_that_comes_twice_makes_one_revision(bench: Bench, board: Board) -> None:
    plot = board.save("Fade", FADE["config"])
    bench.authoring_context(board, "Curves", plot, draft=CURVES)
    assert [bench.authoring_decision(board, plot=plot, name="Named").revision for _ in range(2)] == [2, 2]
    bench.authoring_context(board, "Again", plot, draft=FADE)
    assert bench.authoring_decision(board, plot=plot.id, name="Named").revision == 3


def test_a_new_plot_draws_and_its_session_goes_on_with_it(bench: Bench, board: Board) -> None:
    context = bench.authoring_context(board, "Curves")
    said = {"parts": [{"type": "text", "text": "Here"}, {"type": "draft", "draft": CURVES}]}
    bench.sessions.say(context.session_id, "assistant", said)
    id = new_id()
    made = bench.authoring_decision(board, new_plot_id=id)
    assert (made.id, made.name, made.revision) == (id, CURVES["name"], 1)
    assert made.figure().layout.annotations
    assert bench.authoring_context(board, "Change it", made).session_id == context.session_id
    assert bench.sessions.messages(context.session_id)[0].content == said
    with pytest.raises(Conflict) as taken:
        bench.authoring_decision(board, new_plot_id=id)
    assert taken.value.existing_id == id


def test_a_new_id_leaves_the_plot_as_it_was(bench: Bench, board: Board) -> None:
    plot = board.save("Fade", FADE["config"])
    bench.authoring_context(board, "Curves", plot, draft=CURVES)
    made = bench.authoring_decision(board, plot=plot, new_plot_id=new_id(), name="Beside it")
    assert made.id != plot.id
    assert board.plot("Fade").revision == 1
    assert board.plot("Beside it").recipe().config == made.recipe().config


def test_the_newest_sound_draft_is_taken(bench: Bench, board: Board) -> None:
    session = bench.authoring_context(board, "A plot", draft=FADE).session_id
    for draft in (CURVES, unsound(FADE), {"name": "no config"}):
        bench.sessions.say(session, "assistant", {"parts": [{"type": "draft", "draft": draft}]})
    assert bench.authoring_decision(board, new_plot_id=new_id()).name == CURVES["name"]


def test_without_a_sound_draft_it_is_said_what_is_wrong(bench: Bench, board: Board) -> None:
    with pytest.raises(Conflict, match="There is no draft of yours"):
        bench.authoring_decision(board, new_plot_id=new_id())
    session = bench.authoring_context(board, "A plot").session_id
    wrong = {**FADE, "config": {**FADE["config"], "transform": "import os\ndef transform(data, params): ..."}}
    for draft in (unsound(FADE), wrong):
        bench.sessions.say(session, "assistant", {"type": "draft", "draft": draft})
    with pytest.raises(Conflict, match="'os'") as told:
        bench.authoring_decision(board, new_plot_id=new_id())
    assert told.value.detail["problems"][0]["loc"] == ["config", "transform"]
    with pytest.raises(Invalid, match="new_plot_id"):
        bench.authoring_decision(board)


def test_drafts_are_of_a_user_a_dashboard_a_plot_and_a_session(bench: Bench, board: Board) -> None:
    one, two = board.save("One", FADE["config"]), board.save("Two", FADE["config"])
    other = bench.dashboards.create("Other")
    bench.authoring_context(board, "Curves", one, draft=CURVES)
    with pytest.raises(Conflict, match="no draft"):
        bench.authoring_decision(board, plot=two)
    with pytest.raises(Conflict, match="no draft"):
        bench.authoring_decision(other, new_plot_id=new_id())
    with pytest.raises(NotFound):
        bench.authoring_decision(other, plot=one.id)
    ann = other_user(bench)
    with pytest.raises(Conflict, match="no draft"):
        ann.authoring_decision("Ageing", plot=one.id)
    later = bench.authoring_context(board, "Fade", draft=FADE).session_id
    early = bench.authoring_context(board, "Curves", one).session_id
    chosen = [bench.authoring_decision(board, new_plot_id=new_id(), session=s).name for s in (early, later)]
    assert chosen == [CURVES["name"], FADE["name"]]


def test_sessions_are_their_users_alone(bench: Bench) -> None:
    mine = bench.sessions.create("Mine")
    bench.sessions.say(mine, "user", {"text": "secret"})
    ann = other_user(bench)
    assert ann.sessions.list().empty
    for act in (ann.sessions.get, ann.sessions.messages, ann.sessions.delete):
        with pytest.raises(NotFound) as refused:
            act(mine.id)
        with pytest.raises(NotFound) as unknown:
            act("nothing")
        assert str(refused.value).replace(mine.id, "nothing") == str(unknown.value)


def test_sessions_come_newest_first_and_messages_oldest_first(bench: Bench) -> None:
    made = [bench.sessions.create(f"Session {n}") for n in range(3)]
    assert bench.sessions.list()["id"].tolist() == [session.id for session in reversed(made)]
    assert bench.sessions.list().columns[0] == "title"
    assert bench.sessions.list(limit=1, offset=1)["id"].tolist() == [made[1].id]
    said = [bench.sessions.say(made[0], role, {"n": n}) for n, role in enumerate(["user", "assistant"] * 2)]
    assert bench.sessions.messages(made[0]) == said
    assert bench.backend.store.sessions.messages(made[0], limit=2, offset=1) == said[1:3]
    with pytest.raises(Invalid, match="'user' or 'assistant'"):
        bench.sessions.say(made[0], "system", {})  # type: ignore[arg-type]
    assert bench.sessions.get(made[0].id).updated_at > made[0].updated_at


def test_what_is_deleted_takes_along_or_lets_go(bench: Bench, board: Board) -> None:
    plot = board.save("Fade", FADE["config"])
    session = bench.authoring_context(board, "Curves", plot, draft=CURVES).session_id
    bench.sessions.say(session, "user", {"text": "and?"})
    bench.dashboards.delete(board.id)
    assert bench.sessions.get(session).plot_id is None
    assert bench.backend.store.verify() == []
    bench.sessions.delete(session)
    assert bench.sessions.list().empty
    assert bench.backend.store.verify() == []
    tables = ("messages", "plot_drafts")
    rows = [
        bench.backend.store.connection().execute(f"select count(*) from {table}").fetchone()[0] for table in tables
    ]
    assert rows == [0, 0]


def test_a_changed_message_is_found(bench: Bench) -> None:
    session = bench.sessions.create()
    bench.sessions.say(session, "user", {"text": "as it was"})
    with bench.backend.store.transaction() as db:
        db.execute("update messages set content = replace(content, 'was', 'is')")
    (finding,) = bench.backend.store.verify()
    assert "the message" in finding


def test_drafts_are_found_in_any_list_of_parts() -> None:
    part = {"type": "draft", "draft": FADE}
    for content in (part, {"parts": [part]}, {"content": ["text", part], "n": 1}):
        assert list(drafts_in(content)) == [FADE]
    assert list(drafts_in({"type": "draft", "draft": "text"})) == []


def test_a_title_is_one_short_line() -> None:
    assert shortened(" a\n\tb ") == "a b"
    assert len(shortened("word " * 100)) <= 80


def test_a_store_from_before_sessions_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Bench(LocalBackend.open(path)).close()
    with sqlite3.connect(path) as db:
        for table in ("messages", "plot_drafts", "sessions"):
            db.execute(f"drop table {table}")
        assert db.execute("delete from _sqlite_migrations where name = 'chats'").rowcount == 1
    db.close()
    with pytest.warns(StoreNotice, match="is of an older workbench"):
        bench = Bench(LocalBackend.open(path))
    with bench:
        bench.sessions.say(bench.sessions.create("First"), "user", {"text": "there"})
        assert len(bench.sessions.list()) == 1
        assert bench.backend.store.verify() == []
