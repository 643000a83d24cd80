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
from workbench.table import Table

Columns = Mapping[str, NDArray[np.float64]]
GROUPS = 131_072
SUMMARY_SQL = "max(Q), min(U), avg(E)"


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
        """Per id the greatest Q, the least U and the mean of E."""
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
        return self.store.series.read(source, [name])[name].values

    def reduced(
        self, source: str, x: str, columns: Sequence[str], most: int, window: tuple[float, float] | None = None
    ) -> Columns:
        table = self.store.series.sample(source, x, columns, window=window, most=most).table
        return {name: column.values for name, column in table.items()}

    def put_summaries(self, tables: Mapping[str, Columns]) -> None:
        with self.store.transaction():
            for source, columns in tables.items():
                self.store.series.append(source, "steps", Table.of(columns))

    def summarise(self, ids: Sequence[str]) -> list[NDArray[np.float64]]:
        tables = self.store.series.many(ids, ["Q", "U", "E"], "steps").values()
        counts = np.array([table.n for table in tables])
        starts = np.cumsum(counts) - counts
        joined = [np.concatenate([table[name].values for table in tables]) for name in ("Q", "U", "E")]
        return [
            np.maximum.reduceat(joined[0], starts),
            np.minimum.reduceat(joined[1], starts),
            np.add.reduceat(joined[2], starts) / counts,
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
        query = f"select id, {SUMMARY_SQL} from steps where id in (select unnest(?)) group by id order by id"
        return [np.asarray(v) for v in self.connection.execute(query, [list(ids)]).fetchnumpy().values()][1:]


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
        table = pq.read_table(
            self._path("steps"), columns=["id", "Q", "U", "E"], filters=[("id", "in", list(ids))]
        )
        grouped = table.group_by("id").aggregate([("Q", "max"), ("U", "min"), ("E", "mean")]).sort_by("id")
        return [grouped[name].to_numpy() for name in ("Q_max", "U_min", "E_mean")]


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
        frame = pl.scan_parquet(self._path("steps")).filter(pl.col("id").is_in(list(ids)))
        made = frame.group_by("id").agg(pl.max("Q"), pl.min("U"), pl.mean("E")).sort("id").collect()
        return [made[name].to_numpy() for name in ("Q", "U", "E")]


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
