"""The import and the built-in names of a running script; which modules it may import is said in ``recipe/modules``."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..recipe.modules import ALLOWED, CLOSED, HELPERS, LIBRARIES, STANDARD, refusal

__all__ = ["ALLOWED", "HELPERS", "LIBRARIES", "STANDARD", "importer", "refusal", "script_builtins"]


def importer() -> Callable[..., Any]:
    """An ``__import__`` for scripts that says, for any other module, which there are."""
    real = builtins.__import__

    def limited(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        why = refusal(name, tuple(fromlist or ()), level)
        if why:
            raise ImportError(why, name=name)
        return real(name, globals, locals, fromlist or (), level)

    return limited


def _closed(name: str) -> Callable[..., Any]:
    def refused(*_: Any, **__: Any) -> Any:
        raise PermissionError(f"{name}() is not there in a script: it gets its data in 'data' and 'params' alone.")

    return refused


def script_builtins() -> dict[str, Any]:
    """The built-in names of a script: Python's, with the limited import and without opening and asking."""
    names = dict(vars(builtins))
    names["__import__"] = importer()
    for name in CLOSED:
        names[name] = _closed(name)
    return names
