"""What an upgrade of a store does, before it begins."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...errors import StoreError

LEAST_FREE = 256 << 10
"""Bytes that any change of the format needs beside the store: without them SQLite begins, and then cannot even read."""
Progress = Callable[[int, int, str], object]
"""Called with the number of parts done, the number of all parts, and what comes next."""


@dataclass(frozen=True)
class Plan:
    """What an upgrade does: from ``format`` to ``to`` by ``steps``, in words. ``needs`` and ``free`` are bytes in the
    folder of the store, 0 for one on PostgreSQL; ``backup`` is the path of the backup, None for none."""

    path: Path | str
    format: int
    to: int
    steps: tuple[str, ...]
    backup: Path | None
    needs: int
    free: int

    @property
    def is_nothing(self) -> bool:
        """Whether the store is up to date."""
        return not self.steps


def refuse_full_disk(path: Path) -> None:
    """Refuse to begin a change of the format where the disk is as good as full.

    Raises
    ------
    StoreError
        Its text says how much room is needed. The store is unchanged.
    """
    free = shutil.disk_usage(path.parent).free
    if free < LEAST_FREE:
        raise StoreError(
            f"The store '{path}' is of an older workbench and cannot be brought up to date: its disk has "
            f"{free // 1000} KB free, and at least {LEAST_FREE // 1000} KB are needed. Nothing was changed; make room "
            "and try again."
        )
