"""The stores we measure beside ours, each as its users would set it up: DuckDB, Parquet by pyarrow and by polars."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler, MinMaxLTTBDownsampler

from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.table import Table

Columns = Mapping[str, NDArray[np.float64]]
GROUPS = 131_072
FADED = 0.8
SUMMARY_SQL = f"""
with marked as (
  select *, first_value(Q) over (partition by id order by cycle) as fresh from steps where id in (select unnest(?))
)
select id, count(*), arg_min(Q, cycle), arg_max(Q, cycle), max(Q), min(E), avg(E), sum(E),
  min(cycle) filter (where Q < {FADED} * fresh)
from marked group by id order by id
"""


class Contender(Protocol):
    """What every store of the benchmark does; ``reduced`` gives the columns at about ``most`` rows."""

    name: str

    def ingest(self, source: str, columns: Columns) -> None: ...

    def bytes(self) -> int: ...

    def column(self, source: str, name: str) -> NDArray[np.float64]: ...

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns: ...

    def put_summaries(self, tables: Mapping[str, Columns]) -> None: ...

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        """Per id: rows; first, last and greatest Q; least, mean and sum of E; first cycle with Q below 0.8 of the
        first Q."""
        ...


def union(columns: Columns, x: str, names: Sequence[str], most: int, downsampler: object) -> NDArray[np.int64]:
    """The rows that a downsampler keeps of each column with an equal share of ``most``, all together."""
    share = most // len(names)
    share -= share % 2
    kept = [np.asarray(downsampler.downsample(columns[x], columns[name], n_out=share)) for name in names]  # type: ignore[attr-defined]
    return np.unique(np.concatenate(kept)).astype(np.int64)


def _minmaxlttb(columns: Columns, x: str, names: Sequence[str], most: int) -> Columns:
    if len(columns[x]) <= most:
        return columns
    rows = union(columns, x, names, most, MinMaxLTTBDownsampler())
    return {name: values[rows] for name, values in columns.items()}


class Ours:
    name = "workbench"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ours.wb"
        self.store = Store.open(self.path)
        self._empty = self.bytes()

    def ingest(self, source: str, columns: Columns) -> None:
        table = Table.of(columns)
        with self.store.series.writer(source) as writer:
            for start in range(0, table.n, 2 * GROUPS):
                writer.add(table.slice(start, start + 2 * GROUPS))
            writer.publish()

    def bytes(self) -> int:
        self.store._connections._writer().connection.execute("pragma wal_checkpoint(truncate)")
        return self.path.stat().st_size - getattr(self, "_empty", 0)

    def column(self, source: str, name: str) -> NDArray[np.float64]:
        return self.store.series.read(source, [name], scope=EVERYTHING)[name].values

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns:
        self.store.series.recent.forget()
        table = self.store.series.sample(source, x, columns, window=window, most=most, scope=EVERYTHING).table
        return {name: column.values for name, column in table.items()}

    def put_summaries(self, tables: Mapping[str, Columns]) -> None:
        with self.store.transaction():
            for source, columns in tables.items():
                self.store.series.append(source, "steps", Table.of(columns))

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        self.store.series.recent.forget()
        tables = self.store.series.many(ids, ["cycle", "Q", "E"], "steps", scope=EVERYTHING).values()
        counts = np.array([table.n for table in tables])
        starts = np.cumsum(counts) - counts
        cycle, Q, E = (np.concatenate([table[name].values for table in tables]) for name in ("cycle", "Q", "E"))
        total = np.add.reduceat(E, starts)
        faded = np.repeat(FADED * Q[starts], counts) > Q
        return [
            counts,
            Q[starts],
            Q[starts + counts - 1],
            np.maximum.reduceat(Q, starts),
            np.minimum.reduceat(E, starts),
            total / counts,
            total,
            np.minimum.reduceat(np.where(faded, cycle, np.inf), starts),
        ]


class DuckDB:
    """A database file, one table per source, written from Arrow, checkpointed."""

    name = "DuckDB file"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "peer.duckdb"
        self.connection = duckdb.connect(str(self.path))

    def ingest(self, source: str, columns: Columns) -> None:
        arrow = pa.table(dict(columns))
        self.connection.register("incoming", arrow)
        self.connection.execute(f'create table "{source}" as select * from incoming')
        self.connection.unregister("incoming")
        self.connection.execute("checkpoint")

    def bytes(self) -> int:
        self.connection.execute("checkpoint")
        return self.path.stat().st_size

    def column(self, source: str, name: str) -> NDArray[np.float64]:
        return self.connection.execute(f'select "{name}" from "{source}"').fetchnumpy()[name]

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns:
        names = ", ".join(f'"{name}"' for name in (x, *columns))
        where = f' where "{x}" between {window[0]} and {window[1]}' if window else ""
        found = self.connection.execute(f'select {names} from "{source}"{where}').fetchnumpy()
        return _minmaxlttb({name: np.asarray(values) for name, values in found.items()}, x, columns, most)

    def put_summaries(self, tables: Mapping[str, Columns]) -> None:
        arrow = _one_table(tables)
        self.connection.register("incoming", arrow)
        self.connection.execute("create table steps as select * from incoming")
        self.connection.execute("checkpoint")

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        found = self.connection.execute(SUMMARY_SQL, [list(ids)]).fetchnumpy()
        return [np.asarray(values) for values in found.values()][1:]


class ArrowParquet:
    """A Parquet file per source, zstd, written and read by pyarrow."""

    name = "Parquet, pyarrow"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "arrow"
        self.folder.mkdir()

    def _path(self, source: str) -> Path:
        return self.folder / f"{source}.parquet"

    def ingest(self, source: str, columns: Columns) -> None:
        pq.write_table(pa.table(dict(columns)), self._path(source), compression="zstd", row_group_size=GROUPS)
        _synced(self._path(source))

    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir())

    def column(self, source: str, name: str) -> NDArray[np.float64]:
        return pq.read_table(self._path(source), columns=[name])[name].to_numpy()

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns:
        chosen = [(x, ">=", window[0]), (x, "<=", window[1])] if window else None
        table = pq.read_table(self._path(source), columns=[x, *columns], filters=chosen)
        return _minmaxlttb({name: table[name].to_numpy() for name in (x, *columns)}, x, columns, most)

    def put_summaries(self, tables: Mapping[str, Columns]) -> None:
        pq.write_table(_one_table(tables), self._path("steps"), compression="zstd", row_group_size=GROUPS)

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        chosen = [("id", "in", list(ids))]
        table = pq.read_table(self._path("steps"), columns=["id", "cycle", "Q", "E"], filters=chosen)
        return _aggregated(pl.from_arrow(table).lazy())  # type: ignore[union-attr]


class PolarsParquet(ArrowParquet):
    """A Parquet file per source, zstd, written and read by polars on both cores."""

    name = "Parquet, polars"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "polars"
        self.folder.mkdir()

    def ingest(self, source: str, columns: Columns) -> None:
        pl.DataFrame(dict(columns)).write_parquet(self._path(source), compression="zstd", row_group_size=GROUPS)
        _synced(self._path(source))

    def column(self, source: str, name: str) -> NDArray[np.float64]:
        return pl.read_parquet(self._path(source), columns=[name])[name].to_numpy()

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns:
        frame = pl.scan_parquet(self._path(source)).select([x, *columns])
        if window:
            frame = frame.filter(pl.col(x).is_between(*window))
        found = frame.collect()
        return _minmaxlttb({name: found[name].to_numpy() for name in (x, *columns)}, x, columns, most)

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        return _aggregated(pl.scan_parquet(self._path("steps")).filter(pl.col("id").is_in(list(ids))))


def _aggregated(frame: pl.LazyFrame) -> list[NDArray[np.float64]]:
    quantity, energy, cycle = pl.col("Q"), pl.col("E"), pl.col("cycle")
    metrics = {
        "rows": pl.len(),
        "first": quantity.first(),
        "last": quantity.last(),
        "most": quantity.max(),
        "least": energy.min(),
        "mean": energy.mean(),
        "sum": energy.sum(),
        "faded": cycle.filter(quantity < FADED * quantity.first()).first(),
    }
    made = frame.group_by("id").agg(**metrics).sort("id").collect()
    return [made[name].to_numpy() for name in metrics]


def _one_table(tables: Mapping[str, Columns]) -> pa.Table:
    parts = [
        pa.table({"id": pa.array([source] * len(next(iter(columns.values())))), **columns})
        for source, columns in tables.items()
    ]
    return pa.concat_tables(parts).combine_chunks()


def _synced(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def minmax_union(columns: Columns, x: str, names: Sequence[str], most: int) -> NDArray[np.int64]:
    return union(columns, x, names, most, MinMaxDownsampler())


def minmaxlttb_union(columns: Columns, x: str, names: Sequence[str], most: int) -> NDArray[np.int64]:
    return union(columns, x, names, most, MinMaxLTTBDownsampler())


CONTENDERS: tuple[type[Contender], ...] = (Ours, DuckDB, ArrowParquet, PolarsParquet)
