"""What an upgrade of a store does, before it begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
