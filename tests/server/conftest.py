"""One server for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.server_in_process import Lab, lab


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Lab]:
    with lab(tmp_path) as made:
        yield made
