"""What holds of figures as of an earlier time holds of samples in a folder; `test_as_of_s3` has them in S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.elsewhere import all_elsewhere
from test_as_of import (  # noqa: F401
    grown,
    test_a_figure_as_of_each_stage_has_its_bytes,
    test_records_of_later_are_hidden,
    test_zoom_reads_the_samples_of_then,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _elsewhere() -> Iterator[None]:
    with all_elsewhere("folder"):
        yield
