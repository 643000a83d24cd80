"""A bench on a store at hand, and the same through a server in this process: one test body for both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import workbench as wb

WHERE = ("near", "far")


@contextmanager
def opened(path: Path, where: str) -> Iterator[wb.Bench]:
    """A bench on the store at ``path``, which is made if it is absent; ``far`` goes through HTTP on a socket.

    Nothing is drawn by that server but detail, so its scripts are trusted: what locks them in has tests of its own.
    """
    with wb.open(path) as near:
        if where == "near":
            yield near
            return
        with near.serve(trust_transforms=True) as served, wb.connect(served.url, served.api_key) as far:
            yield far
