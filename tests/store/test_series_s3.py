"""As `test_series_elsewhere_long`, with the samples in S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.elsewhere import all_elsewhere
from test_series_elsewhere_long import *  # noqa: F403

del test_appends_give_what_one_write_gives  # noqa: F821 - hundreds of small requests a case: the folder has it


@pytest.fixture(scope="module", autouse=True)
def _elsewhere() -> Iterator[None]:
    with all_elsewhere("s3"):
        yield
