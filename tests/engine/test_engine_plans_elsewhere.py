"""Random plans agree with the row-by-row reference also where the samples are in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine import test_engine_plans
from engine.test_engine_plans import test_random_plans_agree_with_the_reference  # noqa: F401
from support.elsewhere import all_elsewhere
from support.engine_store import Lab, random_lab

pytestmark = pytest.mark.long


def moved_lab(folder: Path, seed: int) -> Lab:
    """A random store whose samples were moved after they were made in one transaction."""
    lab = random_lab(folder, seed)
    lab.store.series.tidy()
    held = lab.store.execute("select count(*) from chunks join series on id = key >> 35 where dataset = 'series'")
    assert held.fetchone() == (0,)
    return lab


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with all_elsewhere("folder"):
        monkeypatch.setattr(test_engine_plans, "random_lab", moved_lab)
        yield
