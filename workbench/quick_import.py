"""Imports without the garbage collector, and imports that wait until something of a module is asked for."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

FEW = 25_000
"""Objects that the collector looks at in a process that has hardly begun: those of Python and of a few small imports.
With pandas there are twice as many."""


@contextmanager
def not_collected() -> Iterator[None]:
    """Inside, the garbage collector does not run by itself.

    An import makes objects that stay. Without this the collector looks at all of them several times and finds nothing
    to free, which takes a fifth of the time of the imports. In a process that has just begun they are then set apart
    for good (``gc.freeze``): else it looks at them again soon, and twice when the process ends, as long as a third of
    the imports take. A process that has objects of its own by then keeps the collector as it is, because what is set
    apart is never freed if it ends in a circle.
    """
    was_on = gc.isenabled()
    is_young = was_on and _is_young()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        if is_young:
            gc.freeze()


_young = True
"""False from the first look on that found more than few objects: to count many takes milliseconds."""


def _is_young() -> bool:
    """Whether this process has hardly more objects than Python itself."""
    global _young
    _young = _young and len(gc.get_objects()) + gc.get_freeze_count() < FEW
    return _young


class _Later(ModuleType):
    """A module that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> object:
        if self.__name__ not in sys.modules:
            with not_collected():
                import_module(self.__name__)
        # Also where it is there already: while another thread still imports it, this waits for the end.
        return getattr(import_module(self.__name__), name)


_LATER: list[str] = []


def later(name: str) -> ModuleType:
    """A module that is imported when something of it is first asked for: what whoever opens a store and reads its
    catalog, or asks for the help of a command, need not wait for.

    A file writes it beside the plain import, which type checks and the import contract read::

        if TYPE_CHECKING:
            from . import export
        else:
            export = later("workbench.export")

    Names of the module are written with it (``export.picture``), so that none is asked for when the file is imported.
    """
    _LATER.append(name)
    return _Later(name)


def import_all() -> None:
    """Import what waits, and what that lets wait: a server does so at its start, not at somebody's first request."""
    with not_collected():
        while _LATER:
            import_module(_LATER.pop())
