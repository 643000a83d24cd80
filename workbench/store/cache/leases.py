"""Leases on entries that are being made: which process makes which, valid until a time that a thread renews."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Sequence
from typing import Protocol

RENEW_SECONDS = 2.0


class LeaseRows(Protocol):
    """Where leases are kept. What fails there lets every process make the entry."""

    def take_lease(self, kind: str, key: str, owner: str) -> bool:
        """Note the owner unless another one holds the entry."""

    def drop_lease(self, kind: str, key: str, owner: str) -> None:
        """Forget the lease of this owner."""

    def renew_leases(self, held: Sequence[tuple[str, str, str]]) -> None:
        """Let these leases (kind, key, owner) be valid from now on as long as new ones."""


class Leases:
    """The leases that this process holds."""

    def __init__(self, rows: LeaseRows) -> None:
        self._rows = rows
        self._held: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None  # that of the renewing thread, None if there is none

    def take(self, kind: str, key: str) -> bool:
        """True if this process may make the entry now."""
        owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(8)}"
        if not self._rows.take_lease(kind, key, owner):
            return False
        with self._lock:
            self._held[kind, key] = owner
            if self._stop is None:
                self._stop = threading.Event()
                name = "workbench cache leases"
                threading.Thread(target=self._renew, args=[self._stop], name=name, daemon=True).start()
        return True

    def give_back(self, kind: str, key: str) -> None:
        with self._lock:
            owner = self._held.pop((kind, key), None)
        if owner is not None:
            self._rows.drop_lease(kind, key, owner)

    def stop(self) -> None:
        """Renew nothing any more."""
        with self._lock:
            if self._stop is not None:
                self._stop.set()
                self._stop = None

    def _renew(self, stop: threading.Event) -> None:
        while not stop.wait(RENEW_SECONDS):
            with self._lock:
                held = list(self._held.items())
                if not held:
                    if self._stop is stop:
                        self._stop = None
                    return
            self._rows.renew_leases([(kind, key, owner) for (kind, key), owner in held])
