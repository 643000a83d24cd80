"""One server for each test that asks for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lab import Lab, lab


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Lab]:
    with lab(tmp_path) as made:
        yield made
