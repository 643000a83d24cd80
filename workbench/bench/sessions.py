"""``bench.sessions``: the chat sessions of the user, with their messages."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ..errors import BadRequest
from ..messages import counted
from ..quick_import import later
from ..records import Message, Session
from ..records.session import Role

if TYPE_CHECKING:
    import pandas as pd

    from .. import authoring
    from ..authoring import CheckedAnswer
    from ..backend import Backend
else:  # frames bring pandas, and answers the author
    authoring = later("workbench.authoring")
    pd = later("pandas")


class Sessions:
    """Chat sessions of the bench's user in its project."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __repr__(self) -> str:
        return f"<sessions: {counted(len(self._backend.sessions()), 'record')}>"

    def list(self, *, limit: int | None = None, offset: int = 0) -> pd.DataFrame:
        """The sessions as a frame, the newest first."""
        for name, value in (("limit", limit), ("offset", offset)):
            if value is None and name == "limit":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise BadRequest(f"'{name}' is a whole number from 0, not {value!r}.")
        columns = ["title", "created_at", "updated_at", "id", "dashboard_id", "plot_id"]
        found = self._backend.sessions(limit=limit, offset=offset)
        rows = [[s.name, s.created_at, s.updated_at, s.id, s.dashboard_id, s.plot_id] for s in found]
        return pd.DataFrame(rows, columns=columns)

    def create(self, title: str | None = None) -> Session:
        """Open a new session."""
        return self._backend.open_session(title)

    def get(self, id: str) -> Session:
        """The session of an id.

        Raises
        ------
        NotFound
            If there is no such session, or if it belongs to somebody else.
        """
        return self._backend.session(id)

    def messages(self, id: str | Session) -> builtins.list[Message]:
        """All messages of a session, the oldest first."""
        return self._backend.messages(self._id(id))

    def say(self, id: str | Session, role: Role, content: Mapping[str, JsonValue]) -> Message:
        """Add a message. ``role`` is ``"user"`` or ``"assistant"``.

        A part ``{"type": "draft", "draft": {...}}`` of ``content`` is kept as a draft of the session's plot.

        Raises
        ------
        Invalid
            For another role.
        """
        return self._backend.say(
            self._id(id), role, content if not isinstance(content, Mapping) else dict(content)
        )

    def replay(self, id: str | Session) -> builtins.list[CheckedAnswer]:
        """All answers of the author in a session, checked and drawn again on the data of now, the oldest first.

        Nobody is asked and nothing is changed: the answers are the stored ones, also those that were not sound.
        """
        found: builtins.list[CheckedAnswer] = []
        draft: dict[str, JsonValue] | None = None
        for answer in authoring.answers_in(self.messages(id)):
            found.append(self._backend.check_answer(answer, draft=draft))
            draft = found[-1].draft or draft
        return found

    def delete(self, id: str | Session) -> None:
        """Delete a session with all its messages."""
        self._backend.delete(Session, self._backend.session(self._id(id)))

    def _id(self, ref: str | Session) -> str:
        return ref.id if isinstance(ref, Session) else ref
