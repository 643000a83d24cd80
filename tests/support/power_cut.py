"""What a power cut would leave: the names of files that were written to the disk together with their folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest


def names_kept(monkeypatch: pytest.MonkeyPatch, root: Path) -> set[str]:
    """The paths below ``root`` that a power cut leaves, relative to it: more with each folder that is synchronised."""
    kept: set[str] = set()
    real = os.fsync

    def fsync(number: int) -> None:
        real(number)
        found = os.fstat(number)
        if stat.S_ISDIR(found.st_mode):
            folder = next((one for one in (root, *root.rglob("*")) if os.path.samestat(one.stat(), found)), None)
            kept.update(one.relative_to(root).as_posix() for one in (folder.iterdir() if folder else ()))

    monkeypatch.setattr(os, "fsync", fsync)
    return kept
