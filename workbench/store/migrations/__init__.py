"""How stores grow old: numbered migrations, one file a format, each frozen once it is released.

A file ``mNNNN_what_it_does.py`` here is found by its name; its ``MIGRATIONS`` lead from the format before it to the
format of its number. It is plain SQL, or plain functions on a connection, and imports nothing of the workbench but
``Migration``: the classes of today must not change what an old step does.
"""

from __future__ import annotations

import importlib
import pkgutil
import re

from .migration import Migration

__all__ = ["FORMAT", "MIGRATIONS", "Migration"]


def _found() -> tuple[Migration, ...]:
    names = sorted(one.name for one in pkgutil.iter_modules(__path__) if re.fullmatch(r"m\d{4}_\w+", one.name))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return tuple(step for module in modules for step in module.MIGRATIONS)


MIGRATIONS: tuple[Migration, ...] = _found()
"""All steps in their order."""
FORMAT = MIGRATIONS[-1].number
"""The format that this version writes."""
