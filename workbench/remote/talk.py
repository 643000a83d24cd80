"""Chat sessions and authoring on a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ..authoring import AuthoringContext
from ..errors import NotFound
from ..records import Dashboard, Message, Plot, Session
from ..records.chat import Role
from . import wire
from .boards import Boards

_PAGE = 1000


class Talk(Boards):
    """The part of a remote workbench that is about conversations and the plots that come of them."""

    def authoring_context(
        self, board: Dashboard, prompt: str, plot: str | None = None, draft: Mapping[str, Any] | None = None
    ) -> AuthoringContext:
        path = self.path("dashboards", board.id, "authoring-context")
        asked = {"prompt": prompt, "plot_id": plot, "draft": None if draft is None else dict(draft)}
        told = self.client.ask("POST", path, json=asked, changes=True).json()
        return AuthoringContext(**told)

    def authoring_decision(self, board: Dashboard, **given: Any) -> Plot:
        path = self.path("dashboards", board.id, "authoring-decision")
        asked = {name: value for name, value in given.items() if value is not None}
        return self._plot(self.client.ask("POST", path, json=asked, changes=True).json())

    def sessions(self, *, limit: int | None = None, offset: int = 0) -> list[Session]:
        asked = {"project_id": self.project.id}
        found: list[Session] = []
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = {**asked, "limit": size, "offset": offset + len(found)}
            told = self.client.get("/agent/sessions", page).json()
            found += [wire.record(Session, one) for one in told]
            if len(told) < size:
                break
        return found

    def session(self, id: str) -> Session:
        found = next((one for one in self.sessions() if one.id == id), None)
        if found is None:
            raise NotFound(f"No session '{id}' here.")
        return found

    def open_session(self, title: str | None = None) -> Session:
        told = {"project_id": self.project.id, "title": title}
        return wire.record(Session, self.client.ask("POST", "/agent/sessions", json=told, changes=True).json())

    def messages(self, session: str) -> list[Message]:
        _named(session)
        found: list[Message] = []
        while True:
            asked = {"limit": _PAGE, "offset": len(found)}
            told = self.client.get(f"/agent/sessions/{session}/messages", asked).json()
            found += [Message.model_validate_json(_json(one)) for one in told]
            if len(told) < _PAGE:
                return found

    def say(self, session: str, role: Role, content: Mapping[str, Any]) -> Message:
        _named(session)
        told = {"role": role, "content": dict(content)}
        path = f"/agent/sessions/{session}/messages"
        return Message.model_validate_json(_json(self.client.ask("POST", path, json=told, changes=True).json()))


def _named(session: str) -> None:
    """Refuse an id that would make another path."""
    if not session or "/" in session:
        raise NotFound(f"No session '{session}' here.")


def _json(told: Any) -> bytes:
    return orjson.dumps(told)
