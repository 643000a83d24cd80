"""``cached_property`` without a lock.

That of Python 3.11 has one lock for all objects of a class: while one thread computes the property of one object, as
the lint of a figure that it drew, every other thread that wants it of another object waits. From Python 3.12 on it has
none, and this is the same.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - the name that people know
        """A property that is computed when it is first read, and kept. If two threads compute it, one value stays."""

        def __get__(self, instance, owner=None):
            return self if instance is None else instance.__dict__.setdefault(self.attrname, self.func(instance))
