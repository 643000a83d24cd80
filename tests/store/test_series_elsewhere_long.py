"""The larger tests of series, with their samples in a folder; `test_series_s3` has them in S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.elsewhere import all_elsewhere
from test_series_exact import (  # noqa: F401
    shared,
    store,
    test_a_clock_that_starts_again_at_a_chunk_is_not_sorted,
    test_a_column_that_an_append_lacks_is_null_there,
    test_a_long_series_grows_as_if_written_at_once,
    test_appends_give_what_one_write_gives,
    test_concat_of_reads_is_the_whole,
    test_every_kind_comes_back,
    test_info_says_what_the_columns_are,
    test_kinds_that_widen_keep_every_value,
    test_wide_tables_come_back,
)
from test_series_reduced import (  # noqa: F401
    stored,
    test_bounds_between_float32_neighbours_are_exact,
    test_integer_bounds_beyond_doubles_are_exact,
    test_reads_of_random_rows,
    test_reads_of_random_windows,
    test_spikes_survive_among_many_samples,
)
from test_series_writers import (  # noqa: F401
    test_a_reader_sees_the_old_or_the_new_series,
    test_appends_from_many_threads_all_arrive,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def _elsewhere() -> Iterator[None]:
    with all_elsewhere("folder"):
        yield
