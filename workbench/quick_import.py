"""Imports without the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_collected() -> Iterator[None]:
    """Inside, the garbage collector does not run by itself.

    An import makes some hundred thousand objects that stay. Without this the collector looks at all of them several
    times and finds nothing to free, which takes a fifth of the time of the imports.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
