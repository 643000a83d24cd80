"""Sessions in the store, with their messages and drafts. Only its user sees a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ...errors import BadRequest, Invalid, NotFound, Problem
from ...messages import called, refused
from ...records import Draft, Message, Plot, Session
from ...records.session import Role
from ...records.values import plain_name
from ...table import Plain, to_micros
from ..db import checksums
from ..scope import Scope
from . import messages
from .rows import Rows, new_id
from .tables import values_of

M = TypeVar("M", Message, Draft)
MOST_MESSAGES = 1000
"""Messages of one page."""
MOST_LOOKED_AT = 100
"""The newest valid draft is looked for among so many."""
ROLES: tuple[str, ...] = ("user", "assistant")
_TITLE = 80


class Sessions:
    """The conversations of the users of a store."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._store = rows.store

    def open(self, scope: Scope, actor: str, title: str | None = None, **fields: str | None) -> Session:
        """A new session of a user in the project of the scope; ``fields`` are those of ``Session``.

        Raises
        ------
        Invalid
            For a title that is blank, too long or not a text.
        """
        if scope.project_id is None:
            raise BadRequest("A session is about one project. Name the project.")
        named = "New session" if title is None else _title(title)
        return self.rows.create(Session, {"name": named, **fields}, scope=scope, actor=actor)

    def session(self, id: str, scope: Scope, actor: str) -> Session:
        """A session of this user.

        Raises
        ------
        NotFound
            If there is none, or it belongs to another user: the answer is the same.
        """
        found = self.rows.get(Session, id, scope)
        if found.created_by != actor:
            raise NotFound(f"There is no {Session.label} '{id}'.")
        return found

    def sessions(self, scope: Scope, actor: str, *, limit: int | None = None, offset: int = 0) -> list[Session]:
        """The sessions of a user, the newest first."""
        where = {"created_by": actor}
        return self.rows.page(Session, scope, where=where, order="desc", limit=limit, offset=offset).items

    def about(self, plot: Plot, scope: Scope, actor: str) -> Session | None:
        """The newest session of a user about a plot, if there is one."""
        where = {"created_by": actor, "plot_id": plot.id}
        return next(iter(self.rows.page(Session, scope, where=where, order="desc", limit=1).items), None)

    def messages(self, session: Session, *, limit: int | None = MOST_MESSAGES, offset: int = 0) -> list[Message]:
        """A page of the messages of a session, the oldest first; all of them without a ``limit``."""
        with self._store.snapshot() as db:
            return messages.page(db, session.id, -1 if limit is None else limit, offset)

    def say(self, session: Session, role: Role, content: Mapping[str, Plain]) -> Message:
        """Add a message to a session. Drafts among its parts become drafts of the session's plot.

        Raises
        ------
        Invalid
            For an unknown role, or content that is not a JSON object.
        """
        with self._store.transaction() as db:
            now = self._store.clock(db)
            values = {"id": new_id(now), "session_id": session.id, "created_at": now}
            made = _checked(Message, {**values, "role": role, "content": dict(content)})
            messages.add(db, messages.MESSAGES, made)
            for draft in drafts_in(content):
                self._keep(session, draft)
            self._touch(session)
            return made

    def draft(self, session: Session, draft: Mapping[str, Plain]) -> Draft:
        """Keep a draft of a session's plot, valid or not."""
        with self._store.transaction():
            self._touch(session)
            return self._keep(session, draft)

    def drafts(
        self,
        scope: Scope,
        actor: str,
        dashboard_id: str,
        *,
        plot_id: str | None = None,
        session: str | None = None,
    ) -> list[Draft]:
        """The newest drafts of a user on a dashboard, the newest first: all of them, those of one plot, or those of
        one session."""
        if session is not None:
            found = [self.session(session, scope, actor)]
        else:
            where = {"created_by": actor, "dashboard_id": dashboard_id}
            if plot_id is not None:
                where["plot_id"] = plot_id
            found = self.rows.page(Session, scope, where=where, limit=None).items
        held = [one.id for one in found if one.dashboard_id in (None, dashboard_id)]
        with self._store.snapshot() as db:
            return messages.drafts(db, values_of(held), MOST_LOOKED_AT)

    def accept(self, draft: Draft, plot: Plot, scope: Scope, actor: str) -> None:
        """Note that a draft became a plot. A session without a plot is about this one from now on."""
        with self._store.transaction() as db:
            messages.accept(db, draft, accepted(plot))
            with suppress(NotFound):
                session = self.session(draft.session_id, scope, actor)
                if session.plot_id is None:
                    about = {"dashboard_id": plot.dashboard_id, "plot_id": plot.id}
                    self.rows.update(Session, session.id, about, scope, actor, connection=db)

    def of_revision(self, plot_id: str, revision: int) -> str | None:
        """The id of the session whose draft became a revision of a plot; None if it came from no draft."""
        with self._store.snapshot() as db:
            return messages.session_of(db, f"{plot_id} {revision}")

    def _keep(self, session: Session, draft: Mapping[str, Plain]) -> Draft:
        with self._store.transaction() as db:
            now = self._store.clock(db)
            values = {"id": new_id(now), "session_id": session.id, "draft": dict(draft), "created_at": now}
            made = _checked(Draft, values)
            messages.add(db, messages.DRAFTS, made)
            return made

    def _touch(self, session: Session) -> None:
        with self._store.transaction() as db:
            now = to_micros(self._store.clock(db))
            db.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", [now, session.id])
            checksums.update(db, Session.table, [session.id])
            self._store.bump(db, Session.table)


def accepted(plot: Plot) -> str:
    """The text with which a draft names the plot that it became."""
    return f"{plot.id} {plot.revision}"


def drafts_in(content: Mapping[str, Plain]) -> Iterator[Mapping[str, Plain]]:
    """The drafts of a message: parts ``{"type": "draft", "draft": {...}}``, itself or in any of its lists."""
    parts = [content, *(part for value in content.values() if isinstance(value, list) for part in value)]
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "draft" and isinstance(part.get("draft"), Mapping):
            yield part["draft"]


def shortened(text: str) -> str | None:
    """The beginning of a text as the title of a session; None for a text of blanks."""
    line = " ".join(text.split())
    return (line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…") or None


def _title(text: str) -> str:
    try:
        return plain_name(text)
    except ValueError as error:
        raise Invalid(Problem(("title",), str(error).replace("A name", "A title"), "value_error")) from None


def _checked(kind: type[M], values: Mapping[str, Plain]) -> M:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise Invalid([_problem(item) for item in error.errors(include_url=False)]) from None


def _problem(item: ErrorDetails) -> Problem:
    loc = tuple(item["loc"])
    if loc == ("role",):
        return Problem(loc, f"'role' is {' or '.join(repr(role) for role in ROLES)}.", "enum")
    return Problem(loc, refused(called(loc), item["type"], item["msg"], item.get("ctx")), item["type"])
