"""The thread of a server or a watch that looks at alerts when the store has changed, and sends what they found."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ..errors import WorkbenchError
from ..store.cache.cache import Cache
from ..store.records.alerts import Occurrence
from ..store.store import Store
from . import looking, webhooks

EVERY_SECONDS = 1.0
_LOG = logging.getLogger("workbench.alerts")


class AlertThread:
    """Looks every ``EVERY_SECONDS`` whether the store has changed. All its state is in the store: it can be killed.

    ``heard`` is called with what was found.
    """

    def __init__(
        self, store: Store, cache: Cache | None, heard: Callable[[list[Occurrence]], None] | None = None
    ) -> None:
        self._store, self._cache, self._heard = store, cache, heard
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="workbench-alerts", daemon=True)
        self._thread.start()

    def turn(self) -> None:
        """Look at the alerts that are stale, and send the messages that are due."""
        stale = self._store.alerts.stale()
        if stale:
            found = looking.look(self._store, self._cache, stale, self._stop)
            if self._heard is not None:
                self._heard(found)
        webhooks.deliver(self._store)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.turn()
            except WorkbenchError as error:  # a busy or damaged store: the next turn tries again
                _LOG.warning("Alerts were not looked at: %s", error)
            except Exception:  # this thread must go on, whatever broke: nobody else looks while the server runs
                _LOG.exception("Alerts were not looked at.")
            self._stop.wait(EVERY_SECONDS)

    def stop(self) -> None:
        """End after the turn at hand."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
