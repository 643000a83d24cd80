"""Imports without the garbage collector, and imports that wait until something of a module is asked for."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])

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


class _Undecorated:
    """A method that becomes what a decorator makes of it when it is first looked up."""

    _one_at_a_time = Lock()

    def __init__(self, decorator: Callable[[], Callable[[Any], Any]], function: Callable[..., object]) -> None:
        self.decorator = decorator
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self.place = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> object:
        home, name = self.place
        decorate = self.decorator()  # imports, and no import happens under the lock
        with self._one_at_a_time:
            if vars(home)[name] is self:
                setattr(home, name, decorate(self.function))
        return vars(home)[name].__get__(instance, owner)


def decorated_later(decorator: Callable[[], Callable[[F], F]]) -> Callable[[F], F]:
    """Decorate a method when it is first looked up: the module of the decorator waits until then.

    A class writes it as ``@decorated_later(lambda: module.decorator)``, with a ``module`` of `later`.
    """
    # Whoever looks the method up gets what the decorator makes of it, which has the same type.
    return lambda function: cast(F, _Undecorated(decorator, function))


def import_all() -> None:
    """Import what waits, and what that lets wait: a server does so at its start, not at somebody's first request."""
    with not_collected():
        while _LATER:
            import_module(_LATER.pop())
