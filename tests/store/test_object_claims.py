"""Whose objects a place holds: two copies of a store never delete each other's, and a stopped process bars nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_objects import read, same, samples

from workbench.store import Store
from workbench.store.objects.place import PlaceAway
from workbench.store.objects.relocate import relocate


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one series, "a", in the folder ``samples`` beside it."""
    store = Store.open(tmp_path / "s.wb")
    relocate(store, "folder:samples")
    store.series.append("a", "series", samples())
    return store


def test_a_full_disk_leaves_no_claim_of_nobody(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(PlaceAway, match="No space left"):
            relocate(store, "folder:other")
    assert list((tmp_path / "other").iterdir()) == []
    relocate(store, "folder:other")
    assert same(read(store), samples())
