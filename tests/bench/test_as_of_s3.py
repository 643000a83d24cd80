"""As `test_as_of_elsewhere`, with the samples in S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.elsewhere import all_elsewhere
from test_as_of_elsewhere import *  # noqa: F403


@pytest.fixture(scope="module", autouse=True)
def _elsewhere() -> Iterator[None]:
    with all_elsewhere("s3"):
        yield
