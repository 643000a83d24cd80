"""What holds of samples in the store's file holds of samples in a folder and in S3: the same tests, run on these."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.elsewhere import all_elsewhere
from test_series_exact import (  # noqa: F401
    every_kind,
    identical,
    store,
    test_a_new_series_replaces_the_old_one_and_its_revision_never_comes_back,
    test_datasets_and_owners_are_apart,
    test_many_gives_whole_tables_in_the_order_asked,
    test_nothing_is_seen_before_publish_and_nothing_stays_after_discard,
    test_publishing_joins_the_callers_transaction,
)
from test_series_writers import test_a_snapshot_holds_still  # noqa: F401

from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.table import concat


@pytest.fixture(scope="module", params=["folder", pytest.param("s3", marks=pytest.mark.long)], autouse=True)
def _elsewhere(request: pytest.FixtureRequest) -> Iterator[None]:
    with all_elsewhere(request.param):
        yield


def test_every_kind_comes_back_and_nothing_stays_in_the_file(store: Store) -> None:  # noqa: F811
    parts = [every_kind(40_000), every_kind(5)]
    for part in parts:
        store.series.append("a", "series", part)
    store.series.tidy()
    assert store.execute("select count(*) from chunks").fetchone() == (0,)
    assert store.execute("select generation from series_objects").fetchall() == [(2,)]
    assert identical(store.series.read("a", scope=EVERYTHING), concat(parts))
