"""One small laboratory for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.ageing_lab import Ageing, ageing_lab


@pytest.fixture(scope="module")
def ageing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ageing]:
    pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")
    with ageing_lab(tmp_path_factory.mktemp("assistants")) as made:
        yield made
