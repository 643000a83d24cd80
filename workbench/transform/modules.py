"""``import`` and the built-in names of a running script. ``recipe/modules`` lists the modules it may import."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn, TypeAlias

from ..recipe.modules import ALLOWED, CLOSED, HELPERS, LIBRARIES, STANDARD, refusal

__all__ = ["ALLOWED", "HELPERS", "LIBRARIES", "STANDARD", "importer", "refusal", "script_builtins"]


Namespace: TypeAlias = dict[str, Any]
"""The names of a module; Python binds values of any type to them."""


def importer() -> Callable[..., ModuleType]:
    """An ``__import__`` for scripts. For a module that scripts do not have it raises ImportError and names those
    that they have."""
    real = builtins.__import__

    def limited(
        name: str,
        globals: Namespace | None = None,
        locals: Namespace | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        why = refusal(name, tuple(fromlist or ()), level)
        if why:
            raise ImportError(why, name=name)
        return real(name, globals, locals, fromlist or (), level)

    return limited


def _closed(name: str) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(f"A script cannot call {name}(). It gets all its data from 'data' and 'params'.")

    return refused


def script_builtins() -> Namespace:
    """The built-in names of a script: those of Python, with the limited import. ``open``, ``input`` and the like only
    raise an error."""
    names = dict(vars(builtins))
    names["__import__"] = importer()
    for name in CLOSED:
        names[name] = _closed(name)
    return names
