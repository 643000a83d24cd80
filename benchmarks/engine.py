"""Aggregate, summary and join against DuckDB, polars and pandas in one run: ``python benchmarks/engine.py``.

200 000 cycle rows of 200 measurements, eight metrics, one of them the first cycle below 80 % of the first
capacity. Rounds are interleaved, so that a busy machine slows ours and theirs alike; the table holds medians
and ratios.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

from workbench.engine.ops.aggregate import aggregate
from workbench.engine.ops.join import join
from workbench.engine.run import run
from workbench.recipe.bind import bind
from workbench.recipe.check import sound
from workbench.recipe.steps import AggregateStep, JoinStep
from workbench.records import Project
from workbench.store import Scope, Store
from workbench.store.scope import EVERYTHING
from workbench.table import Column, Table

GROUPS, EACH, ROUNDS = 200, 1000, 15
CYCLE, CAPACITY, ENERGY = "Cycle count", "Discharge capacity [A.h]", "Discharge energy [W.h]"
RESULT = Path(__file__).parent / "results" / "engine.md"
METRICS: dict[str, Any] = {
    "first": {"fn": "first", "column": CAPACITY},
    "last": {"fn": "last", "column": CAPACITY},
    "least": {"fn": "min", "column": CAPACITY},
    "most": {"fn": "max", "column": CAPACITY},
    "mean": {"fn": "mean", "column": ENERGY},
    "sum": {"fn": "sum", "column": ENERGY},
    "cycles": {"fn": "count"},
    "end": {
        "fn": "first_where",
        "column": CYCLE,
        "where": {"column": CAPACITY, "op": "lt", "value": {"ratio_of": "first", "factor": 0.8}},
    },
}
AGGREGATE = {
    "op": "aggregate",
    "input": "cycles",
    "group_by": ["measurement_id"],
    "sort_by": CYCLE,
    "metrics": METRICS,
}
JOIN = {"op": "join", "left": "cycles", "right": "tests", "on": {"left": "measurement_id", "right": "id"}}
SQL = """
with ranked as (
  select *, first_value(capacity) over (partition by id order by cycle) as first from {source}
)
select id, any_value(first), last(capacity order by cycle), min(capacity), max(capacity), avg(energy), sum(energy),
  count(*), min(cycle) filter (where capacity < 0.8 * first)
from ranked group by id
"""


def medians(work: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of each, the median of rounds in which all run once."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS + 1):
        for name, one in work.items():
            began = time.perf_counter()
            one()
            times[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(spent[1:]) for name, spent in times.items()}


def cycles(seed: int) -> Table:
    """The cycles of one measurement, fading to about 70 %."""
    noise = np.random.default_rng(seed)
    capacity = 5 * (1 - 0.3 * np.arange(EACH) / EACH) + 0.005 * noise.standard_normal(EACH)
    return Table.of({CYCLE: np.arange(EACH), CAPACITY: capacity, ENERGY: capacity * 3.6})


def filled(folder: Path) -> tuple[Store, Scope, list[str]]:
    """A store with the cycles of all measurements."""
    store = Store.open(folder / "bench.wb")
    scope = Scope(store.rows.organizations()[0].id, None)
    (project,) = store.rows.page(Project, scope).items
    scope = Scope(scope.organization_id, project.id)
    quantity = {"value": 5.0, "unit": "A.h"}
    ratings = {"capacity": quantity, "voltage_min": quantity, "voltage_max": quantity}
    ids = []
    with store.transaction():
        specification = store.rows.create("specifications", {"name": "M50", "ratings": ratings}, scope=scope)
        fields = {"name": "A-01", "specification_id": specification.id}
        instance = store.rows.create("instances", fields, scope=scope)
        for n in range(GROUPS):
            fields = {"name": f"Test {n}", "instance_id": instance.id, "measurement_type": "time_series"}
            ids.append(store.rows.create("measurements", fields, scope=scope).id)
            with store.series.writer(ids[-1], "cycles") as writer:
                writer.add(cycles(n))
                writer.publish()
    return store, scope, ids


def rows_of(ids: list[str]) -> Table:
    """All cycles in one table, as a summary step gives them."""
    parts = [cycles(n) for n in range(GROUPS)]
    codes = np.repeat(np.arange(GROUPS, dtype=np.int32), EACH)
    made = {"measurement_id": Column("text", codes, None, tuple(ids))}
    for name in (CYCLE, CAPACITY, ENERGY):
        made[name] = Column.of(np.concatenate([part[name].values for part in parts]))
    return Table(made, len(codes))


def lazy(frame: pl.LazyFrame) -> pl.DataFrame:
    ordered = frame.sort("id", "cycle", maintain_order=True)
    first = pl.col("capacity").first()
    metrics = [
        first.alias("first"),
        pl.col("capacity").last().alias("last"),
        pl.col("capacity").min().alias("least"),
        pl.col("capacity").max().alias("most"),
        pl.col("energy").mean().alias("mean"),
        pl.col("energy").sum().alias("sum"),
        pl.len().alias("cycles"),
        pl.col("cycle").filter(pl.col("capacity") < 0.8 * first).first().alias("end"),
    ]
    return ordered.group_by("id", maintain_order=True).agg(metrics).collect()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, scope, ids = filled(folder)
        table = rows_of(ids)
        frame = pl.DataFrame(
            {
                "id": table["measurement_id"].tolist(),
                "cycle": table[CYCLE].values,
                "capacity": table[CAPACITY].values,
                "energy": table[ENERGY].values,
            }
        )
        frame.write_parquet(folder / "cycles.parquet")
        duck = duckdb.connect(str(folder / "cycles.duckdb"))
        duck.execute("create table kept as select * from frame")
        duck.execute("checkpoint")
        read = medians(_reading(store, scope, ids, folder, duck))
        memory = medians(_in_memory(table, frame))
        joined = medians(_joining(table, frame, ids))
        duck.close()
        store.close()
    RESULT.write_text(_page(read, memory, joined), encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


def _reading(
    store: Store, scope: Scope, ids: list[str], folder: Path, duck: Any
) -> dict[str, Callable[[], object]]:
    columns = [CYCLE, CAPACITY, ENERGY]
    summary = {"op": "summary", "dataset": "cycles", "ids": "$ids", "columns": columns}
    config = sound(
        {
            "plan": {"steps": {"cycles": summary, "fade": AGGREGATE}},
            "params": {"ids": {"kind": "data", "default": []}},
        },
        transform=False,
    )
    bound = bind(config, {"ids": ids})
    step = AggregateStep.model_validate(AGGREGATE)
    codes = np.repeat(np.arange(GROUPS, dtype=np.int32), EACH)
    key = Column("text", codes, None, tuple(ids))

    def at_the_store() -> Table:
        store.series.recent.forget()
        tables = list(store.series.many(ids, columns, "cycles", scope=EVERYTHING).values())
        made = {name: Column.of(np.concatenate([one[name].values for one in tables])) for name in columns}
        return aggregate(step, Table({"measurement_id": key, **made}, len(key)))

    def whole_plan() -> object:
        store.series.recent.forget()
        return run(bound, store, scope)

    return {
        "ours: summary read and aggregate, at the store": at_the_store,
        "ours: the whole plan with its checks (`run`)": whole_plan,
        "DuckDB file, SQL": lambda: duck.execute(SQL.format(source="kept")).fetchnumpy(),
        "polars lazy on Parquet": lambda: lazy(pl.scan_parquet(folder / "cycles.parquet")),
        "DuckDB on Parquet, SQL": lambda: duck.execute(
            SQL.format(source=f"'{folder / 'cycles.parquet'}'")
        ).fetchnumpy(),
    }


def _in_memory(table: Table, frame: pl.DataFrame) -> dict[str, Callable[[], object]]:
    step = AggregateStep.model_validate(AGGREGATE)
    scattered = table.take(np.random.default_rng(0).permutation(table.n))
    connection = duckdb.connect()
    connection.register("cycles", frame)
    return {
        "ours: aggregate": lambda: aggregate(step, table),
        "ours: aggregate, rows in no order": lambda: aggregate(step, scattered),
        "polars lazy": lambda: lazy(frame.lazy()),
        "DuckDB SQL": lambda: connection.execute(SQL.format(source="cycles")).fetchnumpy(),
    }


def _joining(table: Table, frame: pl.DataFrame, ids: list[str]) -> dict[str, Callable[[], object]]:
    tests = Table.of(
        {"id": ids, "name": [f"Test {n}" for n in range(GROUPS)], "batch": ["A", "B"] * (GROUPS // 2)}
    )
    inner, left = (JoinStep.model_validate({**JOIN, "how": how}) for how in ("inner", "left"))
    right = pl.DataFrame({name: column.tolist() for name, column in tests.items()})
    near, far = frame.to_pandas(), right.to_pandas()
    return {
        "ours: inner join": lambda: join(inner, table, tests, 200_000),
        "ours: left join": lambda: join(left, table, tests, 200_000),
        "polars left join": lambda: frame.join(right, on="id", how="left"),
        "pandas merge, inner": lambda: near.merge(far, on="id"),
        "pandas merge, left": lambda: near.merge(far, on="id", how="left"),
    }


def _page(*measured: dict[str, float]) -> str:
    titles = ["Summary read and aggregate", "Aggregate in memory", "Join 200 000 x 200"]
    bars = ["DuckDB file, SQL: 1.5x, good 3x", "", "pandas merge: 2x, good: polars"]
    lines = [
        "# Aggregate, summary and join",
        "",
        f"{GROUPS * EACH} rows of {GROUPS} measurements; medians of {ROUNDS} interleaved rounds. Ratio: time over ours",
        "`benchmarks/engine.py` makes this page.",
    ]
    for title, bar, times in zip(titles, bars, measured, strict=True):
        base = next(iter(times.values()))
        lines += ["", f"## {title}", "", *([f"To beat: {bar}.", ""] if bar else [])]
        lines += ["| way | ms | ratio |", "|---|---|---|"]
        lines += [f"| {name} | {spent:.1f} | {spent / base:.1f} |" for name, spent in times.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
