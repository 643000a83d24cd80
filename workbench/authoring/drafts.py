"""Opens conversations, keeps the drafts that come back, and saves an accepted draft as a plot."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from pydantic import JsonValue

from ..errors import Conflict, Invalid, NotFound, Problem
from ..recipe.parse import parse_draft
from ..recipe.plot import AuthoringDraft, AuthoringRequest
from ..records import Dashboard, Draft, Plot, Session
from ..records.values import clean_text
from ..store import Transaction
from ..store.records.sessions import accepted, shortened
from ..store.scope import Scope
from ..store.store import Store

ORIGIN = "draft"
"""The origin of an accepted plot: its script counts as written by somebody else."""
Check = Callable[[Mapping[str, JsonValue]], Sequence[Problem]]
"""Everything wrong with a recipe, also against the store."""


def begin(
    store: Store, scope: Scope, actor: str, board: Dashboard, request: AuthoringRequest
) -> tuple[Session, dict[str, JsonValue] | None]:
    """Open a session, or continue the named one or that of the plot, and keep the given draft. Returns the session
    and what to change.

    Raises
    ------
    NotFound
        If the dashboard has no such plot, or the user no such session.
    Invalid
        If the prompt holds characters that a text cannot hold.
    """
    try:
        clean_text(request.prompt)
    except ValueError as error:
        raise Invalid(Problem(("prompt",), str(error), "value_error")) from None
    plot = _plot(store, scope, board, None if request.plot_id is None else request.plot_id.lower())
    with store.transaction():
        if request.session_id is not None:
            session: Session | None = store.sessions.session(request.session_id, scope, actor)
        else:
            session = store.sessions.about(plot, scope, actor) if plot is not None else None
        if session is None:
            about = {"dashboard_id": board.id, "plot_id": None if plot is None else plot.id}
            session = store.sessions.open(scope, actor, shortened(request.prompt), **about)
        if request.draft is not None:
            shown: dict[str, JsonValue] = {"name": request.draft.name, "config": request.draft.config.dump()}
            store.sessions.draft(session, shown)
            return session, shown
    return session, None if plot is None else {"name": plot.name, "config": plot.config}


def decide(
    store: Store,
    scope: Scope,
    actor: str,
    board: Dashboard,
    check: Check,
    *,
    name: str | None = None,
    plot_id: str | None = None,
    new_plot_id: str | None = None,
    session_id: str | None = None,
    only_newest: bool = False,
    writing: Callable[[], AbstractContextManager[Transaction]] | None = None,
) -> Plot:
    """Save the newest sound draft of a user on a dashboard as a plot.

    Parameters
    ----------
    check : what is wrong with a recipe.
    name : the name of the plot; by default that of the draft.
    plot_id : the plot whose draft it is; it becomes its next revision, unless ``new_plot_id`` is given.
    new_plot_id : the id of a new plot.
    session_id : only drafts of this session.
    only_newest : only the newest draft, for a caller that shows it: an older one would be saved unseen.
    writing : gives the transaction in which to write; by default one of the store.

    Raises
    ------
    Invalid
        If neither id is given.
    NotFound
        For an unknown plot or session.
    Conflict
        If the new id or the name is taken, or no draft is sound. Then it says what is wrong with the newest one.
    """
    if plot_id is None and new_plot_id is None:
        raise Invalid(Problem(("plot_id",), "Give 'plot_id', 'new_plot_id' or both.", "missing"))
    if new_plot_id is not None:
        new_plot_id = _uuid(new_plot_id, "new_plot_id")
    _plot(store, scope, board, plot_id)
    found = store.sessions.drafts(scope, actor, board.id, plot_id=plot_id, session=session_id)
    draft, sound = _newest_sound(found[:1] if only_newest else found, check)
    with (writing or store.transaction)() as db:
        called = sound.name if name is None else name
        values = {"name": called, "config": sound.config.dump()}
        if new_plot_id is not None:
            made: Plot = store.rows.create(
                Plot, {**values, "dashboard_id": board.id}, scope=scope, actor=actor, id=new_plot_id, origin=ORIGIN
            )
        else:
            present = store.rows.get(Plot, plot_id or "", scope)
            if draft.accepted == accepted(present) and present.name == called:
                return present  # the same decision once more
            made = store.rows.change(db, present, values, scope, actor, ORIGIN)
        store.sessions.accept(draft, made, scope, actor)
    return made


def _uuid(text: str, name: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise Invalid(Problem((name,), f"'{name}' must be a UUID.", "uuid_parsing")) from None


def _plot(store: Store, scope: Scope, board: Dashboard, plot_id: str | None) -> Plot | None:
    if plot_id is None:
        return None
    found = store.rows.get(Plot, plot_id, scope)
    if found.dashboard_id != board.id:
        raise NotFound(f"There is no {Plot.label} '{plot_id}'.")
    return found


def _newest_sound(found: Sequence[Draft], check: Check) -> tuple[Draft, AuthoringDraft]:
    first: list[Problem] = []
    for draft in found:
        try:
            sound = parse_draft(draft.draft)
            problems = list(check(sound.config.dump()))
        except Invalid as error:
            problems = error.problems
        else:
            if not problems:
                return draft, sound
        first = first or problems
    if not found:
        raise Conflict("There is no draft of yours here that could be accepted.")
    more = f" (and {len(first) - 1} more)" if len(first) > 1 else ""
    raise Conflict(
        f"The newest draft is not sound: {first[0]}{more}",
        detail={"problems": [problem.as_detail() for problem in first]},
    )
