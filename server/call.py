"""One request as a handler sees it: who asks, for what, and the scope in which it may look."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from workbench.local import LocalWorkbench
from workbench.records import Project, Record
from workbench.store import Transaction
from workbench.store.people import Caller
from workbench.store.scope import Scope
from workbench.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .operation import Operation
    from .state import State

R = TypeVar("R", bound=Record)


@dataclass
class Call:
    """A request that passed the door: its caller may do what it asks, ``scope`` says within which records.

    ``query`` holds the checked parameters by name; ``body`` the JSON value, the form or the file that was sent;
    ``records`` what the ids of the path name, all of them in reach.
    """

    state: State
    operation: Operation
    request_id: str
    base_url: str
    path: Mapping[str, str]
    query: dict[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    caller_or_none: Caller | None = None
    scope: Scope = field(default_factory=lambda: Scope("", None))
    project: Project | None = None
    records: dict[str, Record] = field(default_factory=dict)
    cancel: threading.Event = field(default_factory=threading.Event)

    @property
    def caller(self) -> Caller:
        if self.caller_or_none is None:
            raise TypeError(f"{self.operation.name} needs no caller, so it has none")
        return self.caller_or_none

    @property
    def store(self) -> Store:
        return self.state.store

    @property
    def actor(self) -> str:
        return self.caller.user.id

    def record(self, kind: type[R], name: str | None = None) -> R:
        """The record that the path names, by the name of its position or by its kind."""
        found = self.records[name] if name else next(r for r in self.records.values() if isinstance(r, kind))
        return cast(R, found)

    @property
    def work(self) -> LocalWorkbench:
        """The workbench of the notebook, bound to this caller and this project."""
        return LocalWorkbench(
            self.store,
            self.state.cache,
            self.caller.organization,
            self.project,
            self.actor,
            scope=self.scope,
            protected=self.state.protected,
        )

    @contextmanager
    def writing(self, target: str | None = None, **detail: Any) -> Iterator[Transaction]:
        """One transaction for what a request changes; the account of it is written in the same one."""
        with self.store.transaction() as db:
            yield db
            self.store.people.note(
                db,
                self.operation.name,
                self.caller.organization.id,
                self.actor,
                key_id=self.caller.key_id,
                target=target or next(iter(self.path.values()), None),
                request=self.request_id,
                detail=detail or None,
            )
