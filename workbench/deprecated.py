"""Public names that moved: the old name works for one more release, and warns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module


def moved(module: str, places: Mapping[str, str], *, until: str) -> Callable[[str], object]:
    """The ``__getattr__`` of a module from which public names moved.

    An old name that is used gives the object of its new place and one ``DeprecationWarning``, at the line that
    uses it. The old file keeps only this, and goes with the release that ``until`` names::

        __getattr__ = moved(__name__, {"Survey": "workbench.readers.infer:Inferred"}, until="0.3")

    Parameters
    ----------
    module : the module that had the names: ``__name__``.
    places : old name -> new place, as ``package.module:name``.
    until : the release in which the old names go.
    """

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        home, _, attribute = places[name].partition(":")
        warnings.warn(
            f"{module}.{name} is now {home}.{attribute}; the old name goes with release {until}.",
            DeprecationWarning,
            stacklevel=2,
        )
        found: object = getattr(import_module(home), attribute)
        setattr(sys.modules[module], name, found)  # the next use finds it there, and does not warn again
        return found

    return find
