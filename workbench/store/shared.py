"""What servers on several machines share beside the records of their store: figures, turns, rates, notes.

Processes on one machine share these by files beside the store. Machines have no disk together, so a store on PostgreSQL
keeps them in tables of its own. They are not a part of the store: a copy does not have them, and all but the notes may
be lost at any time.
"""

from __future__ import annotations

from typing import Protocol

from .cache.disk import Kept
from .cache.leases import Leases


class Shared(Protocol):
    """The port of what servers share. Entries, leases and rates fail as if nobody else were there; notes raise
    `StoreError`."""

    leases: Leases
    """Which process of which machine makes an entry."""

    def entry(self, kind: str, key: str) -> Kept | None:
        """An entry of the cache that any server has made."""

    def keep_entry(self, kind: str, key: str, kept: Kept) -> None:
        """Keep an entry for all servers. The oldest go if there are too many bytes."""

    def grant(self, key: str, per_second: float, burst: int, wanted: int) -> int | None:
        """Take up to ``wanted`` requests from a bucket that all servers share; 0 if it is empty, None if it cannot be
        asked."""

    def note(self, kind: str, key: str, value: bytes) -> None:
        """Keep a small value for all servers for a day at least, in place of an older one."""

    def noted(self, kind: str, key: str) -> bytes | None:
        """A value that a server noted."""

    def take_note(self, kind: str, key: str) -> bytes | None:
        """As ``noted``, and forget it: of several servers that take it, one gets it."""
