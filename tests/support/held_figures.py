"""Figures that wait for the test, to see what a server does meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from workbench.errors import Cancelled
from workbench.local import LocalBackend


class Held:
    """Figures that are drawn when the test says so, or stop when their client went away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        self.running = 0
        self.most = 0
        self.withdrawn = threading.Event()
        self._lock = threading.Lock()
        drawn = LocalBackend.figure

        def figure(
            backend: LocalBackend, config: Any, values: Any, progress: Any = None, cancel: Any = None
        ) -> Any:
            if cancel is None:  # a look into the cache, which draws nothing
                return drawn(backend, config, values)
            with self._lock:
                self.running += 1
                self.most = max(self.most, self.running)
            try:
                while not self.go.wait(0.01):
                    if cancel.is_set():
                        self.withdrawn.set()
                        raise Cancelled("withdrawn")
                return drawn(backend, config, values, progress, cancel)
            finally:
                with self._lock:
                    self.running -= 1

        monkeypatch.setattr(LocalBackend, "figure", figure)
