"""A column whose values are said after all others gives the chunks that it gives beside them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from workbench.errors import StoreError
from workbench.store.scope import EVERYTHING
from workbench.store.series import chunk_builder, series_writer
from workbench.store.series.chunks import CHUNK, span
from workbench.store.store import Store
from workbench.table import Column, Table, concat

CRC = 4
"""Bytes of the checksum of a head, which holds for its key too."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(chunk_builder, "BLOCK", CHUNK)
    monkeypatch.setattr(series_writer, "BLOCK", CHUNK)
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def stored(store: Store, owner: str) -> tuple[object, list[tuple[int, bytes, bytes]]]:
    """The content of a series, and all of its chunks."""
    info = store.series.info(owner, scope=EVERYTHING)
    assert info is not None
    first = span(info.row.id)[0]
    query = "select key, head, data from chunks where key between ? and ? order by key"
    found = store.connection().execute(query, span(info.row.id)).fetchall()
    return (info.row.content, info.row.stats, info.row.base, info.columns), [
        (key - first, head[:-CRC], data) for key, head, data in found
    ]


def samples(rng: random.Random, rows: int) -> tuple[Table, list[int]]:
    """Samples of columns of all kinds, and where each number after 0 begins."""
    noise = np.random.default_rng(rng.randrange(1000))
    values = noise.normal(0, 1, rows)
    columns = {
        "t": Column("number", np.arange(rows) * 0.5),
        "U": Column("number", np.round(values, 3)),
        "with nulls": Column("number", values, noise.random(rows) < 0.9),
        "word": Column("text", noise.integers(0, 2, rows).astype(np.int32), None, ("Rest", "CC")),
        "step": Column("integer", np.cumsum(noise.random(rows) < 0.001)),
    }
    starts = sorted(rng.sample(range(1, rows), k=min(rng.choice([0, 1, 7, 300]), rows - 1)))
    numbers = Column("integer", np.searchsorted(starts, np.arange(rows), side="right").astype(np.int64))
    names = [*columns]
    names.insert(rng.randrange(len(names) + 1), "cycle")
    return Table({name: numbers if name == "cycle" else columns[name] for name in names}, rows), starts


def parts(rng: random.Random, table: Table) -> Iterator[Table]:
    cuts = sorted(rng.sample(range(1, table.n), k=min(5, table.n - 1)))
    for start, stop in zip([0, *cuts], [*cuts, table.n], strict=True):
        yield table.slice(start, stop)


def without_numbers(table: Table) -> Table:
    return Table({**table.columns, "cycle": Column("integer", np.full(table.n, 5))}, table.n)


def numbers(starts: Sequence[int], rows: NDArray[np.int64]) -> Column:
    return Column("integer", np.searchsorted(starts, rows, side="right").astype(np.int64))


@pytest.mark.parametrize("seed", range(8))
def test_every_byte_is_the_same(seed: int, store: Store) -> None:
    """Also where samples follow after its values were said."""
    rng = random.Random(seed)
    table, starts = samples(rng, rng.choice([2, 900, CHUNK, CHUNK + 1, 2 * CHUNK, 5 * CHUNK + 777, 9 * CHUNK]))
    given = [*parts(rng, table)]
    told = rng.randrange(1, len(given) + 1)
    with store.series.writer("whole") as writer:
        for part in given:
            writer.add(part)
        writer.publish()
    with store.series.writer("late", late="cycle") as writer:
        for part in given[:told]:
            writer.add(without_numbers(part))
        assert (writer.waits > 0) == (concat(given[:told]).n >= CHUNK)
        writer.settle(lambda rows: numbers(starts, rows))
        assert writer.waits == 0
        for part in given[told:]:
            writer.add(part)
        writer.publish()
    assert stored(store, "late") == stored(store, "whole")
    assert store.series.read("late", scope=EVERYTHING)["cycle"].tolist() == table["cycle"].tolist()
    assert not store.series.wrong(store.series.keys())


def test_it_is_not_forgotten(store: Store) -> None:
    table, starts = samples(random.Random(1), 2 * CHUNK)
    with store.series.writer("a", late="cycle") as writer:
        writer.add(without_numbers(table))
        with pytest.raises(StoreError, match="The values of 'cycle' were not said"):
            writer.publish()
        writer.settle(lambda rows: numbers(starts, rows))
        with pytest.raises(StoreError, match="No column of this series is late"):
            writer.settle(lambda rows: numbers(starts, rows))
        writer.publish()
