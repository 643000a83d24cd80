"""Stores that keep their samples in a folder or in S3, for tests that were written for the file."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.object_server import BUCKET, environment, s3_server
from workbench.store import Store
from workbench.store.objects import mover
from workbench.store.objects.relocate import relocate


@contextmanager
def all_elsewhere(where: str) -> Iterator[None]:
    """Every store that is opened for the first time keeps its samples in a "folder" or in "s3", all of them: every
    append makes a generation, however small it is."""
    opened = Store.open.__func__  # type: ignore[attr-defined]

    def opened_elsewhere(cls: type[Store], path: Path, **how: bool) -> Store:
        made: Store = opened(cls, path, **how)
        with made.snapshot() as db:
            is_new = db.execute("select 1 from facts where name = 'objects'").fetchone() is None
        if is_new:
            own = secrets.token_hex(4)
            relocate(made, f"folder:samples-{own}" if where == "folder" else f"s3://{BUCKET}/{own}")
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "open", classmethod(opened_elsewhere))
        patch.setattr(mover, "LEAST", 0)
        patch.setattr(mover, "GROWTH", 1 << 30)
        if where == "folder":
            yield
            return
        with s3_server() as port:
            for name, value in environment(port).items():
                patch.setenv(name, value)
            yield
