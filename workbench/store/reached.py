"""A store as a task names it: the open one in this process, and the one at the same path in another."""

from __future__ import annotations

import socket
import threading
from typing import Any

from ..errors import ExecutorAway, NotFound
from .store import Store

_OPENED: dict[tuple[str, str], Store] = {}
_LOCK = threading.Lock()


class Reached:
    """A store for a task that may run elsewhere. It is sent as its path or its address of PostgreSQL, and opened there
    to be read only."""

    def __init__(self, store: Store) -> None:
        self._store: Store | None = store
        self.path, self.place, self.id = str(store.location), store.place, store.place_id()
        self.host = socket.gethostname()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_store": None}

    @property
    def store(self) -> Store:
        """The store.

        Raises
        ------
        ExecutorAway
            If this process cannot reach it, or reaches another one at its path; names both machines.
        """
        if self._store is None:
            self._store = self._opened()
        return self._store

    def _opened(self) -> Store:
        key = (self.path, self.id)
        with _LOCK:
            found = _OPENED.get(key)
            # A worker outlives the stores that it opened: a backup may have taken the place of one. A task of another
            # thread may still use that one, so it is left, not closed.
            if found is None or found.is_replaced:
                found = _OPENED[key] = self._open()
        return found

    def _open(self) -> Store:
        here = socket.gethostname()
        try:
            store = Store.open(self.path, create=False, read_only=True)
        except NotFound as error:
            raise ExecutorAway(
                f"A worker on '{here}' cannot reach the store '{self.place}' of '{self.host}'. Workers open it by "
                "its path: give them the same folder under the same path, or use `--executor processes`."
            ) from error
        if store.place_id() != self.id:
            store.close()
            raise ExecutorAway(
                f"A worker on '{here}' found another store at '{self.place}' than '{self.host}' has there. Give "
                "the workers the folder of this one under its path."
            )
        return store
