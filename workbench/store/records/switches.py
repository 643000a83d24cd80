"""Switches of a project: what it asks for, yes or no. One that nobody turned is off."""

from __future__ import annotations

from typing import Literal

from ..db.database_file import Host
from ..db.facts import set_fact
from ..scope import Scope

Switch = Literal["analyse on arrival"]


class Switches:
    """The switches of the projects of one store."""

    def __init__(self, store: Host) -> None:
        self._store = store

    def is_on(self, switch: Switch, scope: Scope) -> bool:
        """Whether a switch of the project is on."""
        with self._store.snapshot() as db:
            found = db.execute("SELECT value FROM facts WHERE name = ?", [_name(switch, scope)]).fetchone()
        return found is not None and bool(found[0])

    def turn(self, switch: Switch, scope: Scope, on: bool) -> None:
        """Turn a switch of the project on or off."""
        with self._store.transaction() as db:
            set_fact(db, _name(switch, scope), int(on))


def _name(switch: Switch, scope: Scope) -> str:
    return f"{switch}: {scope.project_id}"
