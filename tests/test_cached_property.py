"""Properties that are computed once: no object waits for another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from workbench.cached_property import cached_property


class Drawn:
    """Counts how often its property is computed; the computing waits for ``go``."""

    def __init__(self, go: threading.Event) -> None:
        self.go, self.begun, self.times = go, threading.Event(), 0

    @cached_property
    def lint(self) -> str:
        """What lint finds."""
        self.times += 1
        self.begun.set()
        assert self.go.wait(60)
        return f"found {self.times}"


def test_it_is_computed_once_and_kept() -> None:
    go = threading.Event()
    go.set()
    one = Drawn(go)
    assert (one.lint, one.lint, one.times) == ("found 1", "found 1", 1)
    del one.lint
    assert one.lint == "found 2"
    assert Drawn.lint.__doc__ == "What lint finds."


def test_no_object_waits_for_another() -> None:
    """With the lock of Python 3.11, whoever read a figure from the cache waited for those who drew."""
    ready = threading.Event()
    ready.set()
    slow = Drawn(threading.Event())
    with ThreadPoolExecutor(2) as pool:
        waits = pool.submit(lambda: slow.lint)
        assert slow.begun.wait(60)
        quick = pool.submit(lambda: Drawn(ready).lint)
        try:
            assert quick.result(60) == "found 1"
        finally:
            slow.go.set()
        assert waits.result(60) == "found 1"
