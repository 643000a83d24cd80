"""Who draws: this process, or processes that are locked in. One choice, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..errors import Problem
from .inprocess import Drawn, InProcess
from .used_names import Names

__all__ = ["Drawer", "Drawn", "drawer"]


class Drawer(Protocol):
    """Draws a script on a packed dataset; the answers are the same whoever does it.

    ``locked`` says that a script cannot reach anything but its data, and that figures are looked at when they come
    back. ``check`` finds what is wrong with a script without running it, and with ``names`` also the keys that its
    recipe does not have. ``content`` names the bytes of ``packed``; ``organization`` is whose figure it is;
    ``cancelled`` is asked while waiting.
    """

    @property
    def locked(self) -> bool: ...

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, Any],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Drawn: ...

    def check(
        self, script: str, names: Names | None = None, *, organization: str | None = None
    ) -> list[Problem]: ...


def drawer(protected: bool) -> Drawer:
    """The drawer of this process: for scripts of others the shared pool of locked processes.

    The pool starts at its first figure (some seconds), or by ``protected.shared().fence()``.
    """
    if not protected:
        return InProcess()
    from .protected import shared  # what draws its own scripts alone needs none of it

    return shared()
