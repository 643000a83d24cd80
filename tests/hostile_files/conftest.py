"""Hostile files are read by a locked process too, whatever else a test does with them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.locked_worker import UNLOCKED, Asked

from workbench.ingest.processes.worker_process import DIED
from workbench.readers.file.parser_process import can_lock


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Asked, Asked]]:
    """The same worker, locked and not."""
    folder = tmp_path_factory.mktemp("workers")
    made = Asked(folder / "locked"), Asked(folder / "free", UNLOCKED, locked=False)
    yield made
    for one in made:
        one.worker.close()


@pytest.fixture
def also_locked(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, long: bool
) -> Iterator[None]:
    """The files that a test leaves are read by a locked process: no file costs more than itself. In the long run so are
    all files that the test reads, and of each fourth the same process without the lock gives the same answers and
    samples."""
    if not can_lock():
        yield
        return
    locked, free = request.getfixturevalue("both")

    compared_before = itertools.count()

    def compared(path: Path) -> None:
        if path.is_file():
            answer = locked.with_samples(path)
            assert answer[0].get("refused") != DIED, path.name
            assert answer[0].keys() & {"prepared", "holding", "tests", "refused"}
            if long and next(compared_before) % 4 == 0:
                assert answer == free.with_samples(path), path.name

    for name in {"read", "consume"} & vars(request.module).keys() if long else ():
        own: Callable[..., Any] = getattr(request.module, name)

        def by_all(path: Any, own: Callable[..., Any] = own, **options: Any) -> Any:
            compared(Path(path))
            return own(path, **options)

        monkeypatch.setattr(request.module, name, by_all)
    yield
    for path in sorted(tmp_path.rglob("*")):
        compared(path)
