"""The interface of everything that draws a script, and the choice: this process, or locked processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pydantic import JsonValue

from ..errors import Problem
from .inprocess import Drawn, InProcess
from .used_names import Names

__all__ = ["Drawer", "Drawn", "drawer"]


class Drawer(Protocol):
    """Draws a script on a packed dataset. Every drawer gives the same answers.

    ``locked`` is true if a script can reach only its data, and if each figure is checked when it comes back.
    ``check`` finds what is wrong with a script without running it. With ``names`` it also finds keys that the recipe
    does not have. ``content`` names the bytes of ``packed``. ``organization`` owns the figure. ``cancelled`` is called
    while the drawer waits; the drawer stops when it returns true. With ``names``, a script is not run if it reads keys
    that the recipe does not have, also where this run would not come to them.
    """

    @property
    def locked(self) -> bool: ...

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, JsonValue],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: Callable[[], bool] | None = None,
        names: Names | None = None,
    ) -> Drawn: ...

    def check(
        self, script: str, names: Names | None = None, *, organization: str | None = None
    ) -> list[Problem]: ...


def drawer(protected: bool) -> Drawer:
    """The drawer of this process. With ``protected`` it is the shared pool of locked processes.

    The pool starts with its first figure, or with ``protected.shared().fence()``. That takes some seconds.
    """
    if not protected:
        return InProcess()
    from .protected import shared  # a bench that draws only its own scripts does not load the pool

    return shared()
