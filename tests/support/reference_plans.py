"""A slow interpreter of plans, row by row, written from the rules of a recipe alone: the engine's counterpart.

It shares no code with the engine and knows no arrays: rows are dicts, a missing value is None (a NaN counts as
null everywhere), a date-time is its UTC text of fixed width. ``Refused`` is an error, with the step that it
belongs to.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
CYCLES = {"Cycle count": "integer", "Discharge capacity [A.h]": "number"}
DECLARED = {
    "cycles": CYCLES,
    "steps": {**CYCLES, "Step count": "integer", "Duration [s]": "number", "Step type": "text"},
}
NUMERIC = ("number", "integer", "null")
EDGES = ("first", "last", "first_where", "last_where")


class Refused(Exception):
    """An error of a plan; ``place`` begins with the step's name."""

    def __init__(self, *place: Any) -> None:
        super().__init__(place)
        self.place = place


@dataclass
class Rows:
    """Rows of a step; ``kinds`` names every column with its type, whatever rows there are. The type of those in
    ``open`` comes from records alone."""

    kinds: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    open: set[str] = field(default_factory=set)

    def held(self, column: str) -> str:
        """The type of a column by these rows."""
        found = {type_of(row[column]) for row in self.rows if row[column] is not None}
        if self.kinds[column] in NUMERIC:
            return self.kinds[column]
        if not found:
            return (
                "null" if self.rows or column in self.open or self.kinds[column] == "mixed" else self.kinds[column]
            )
        if self.kinds[column] != "mixed":
            return self.kinds[column]
        if found == {"integer", "number"}:
            return "number"
        return found.pop() if len(found) == 1 else "mixed"


@dataclass
class Sampled:
    """One source of a series step: the samples in the window as (sample number, row), and how many may be
    returned."""

    window: list[tuple[int, Row]]
    most: int
    columns: list[str]


@dataclass
class Record:
    """One record: its columns as a list step names them, and its sampled data by dataset."""

    columns: Row
    data: dict[str, Rows] = field(default_factory=dict)


@dataclass
class Records:
    """All records in reach: source -> records in the order of creation; ``kinds`` of all columns by source."""

    records: dict[str, list[Record]]
    kinds: dict[str, dict[str, str]]
    defaults: dict[str, list[str]]


@dataclass
class Outcome:
    steps: dict[str, Any]
    warnings: set[tuple[str, str]]


def type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "integer" if isinstance(value, int) else "number"


def same(a: Any, b: Any) -> bool:
    """Numbers by value, booleans and texts only to their like; null equals nothing."""
    if a is None or b is None:
        return False
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    return bool(a == b)


def distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value is not None and not any(same(value, other) for other in found):
            found.append(value)
    return found


# Binding


def is_reference(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\$[A-Za-z_][A-Za-z0-9_]*", value) is not None


def bound_scalar(value: Any, params: dict[str, Any]) -> Any:
    if is_reference(value):
        return params[value[1:]]
    return value[1:] if isinstance(value, str) and value.startswith("$$") else value


def bound_list(value: Any, params: dict[str, Any]) -> list[Any] | None:
    """A list position: None if the whole is bound to null."""
    if isinstance(value, list):
        made: list[Any] = []
        for item in value:
            found = bound_scalar(item, params)
            made += found if isinstance(found, list) else [found]
        return made
    found = bound_scalar(value, params)
    return found if isinstance(found, list) or found is None else [found]


# Steps


def run(store: Records, config: dict[str, Any], values: dict[str, Any]) -> Outcome:
    """Every step of a sound recipe with all effective values given."""
    caps = {"max_sources": 500, "max_summary_rows": 200000, "max_series_points": 200000, "max_list_rows": 5000}
    caps |= config["plan"].get("caps", {})
    results: dict[str, Any] = {}
    outcome = Outcome(results, set())
    for name, step in config["plan"]["steps"].items():
        interpreter = Interpreter(store, caps, values, results, name, outcome.warnings)
        results[name] = getattr(interpreter, step["op"])(step)
    return outcome


class Interpreter:
    def __init__(
        self,
        store: Records,
        caps: dict[str, int],
        params: dict[str, Any],
        results: dict[str, Any],
        name: str,
        warnings: Any,
    ) -> None:
        self.store, self.caps, self.params, self.results, self.name = store, caps, params, results, name
        self.warnings = warnings
        self.numbers: set[str] = set()

    def warn(self, code: str) -> None:
        self.warnings.add((code, self.name))

    def refuse(self, *place: Any) -> Refused:
        return Refused(self.name, *place)

    def column(self, rows: Rows, column: str, *place: Any) -> list[Any]:
        if column not in rows.kinds:
            raise self.refuse(*place)
        return [row[column] for row in rows.rows]

    def values_of(self, value: Any, *place: Any) -> list[Any] | None:
        if isinstance(value, dict):
            return distinct(self.column(self.results[value["from"]], value["column"], *place, "column"))
        return bound_list(value, self.params)

    # list

    def list(self, step: dict[str, Any]) -> Rows:
        source = step["source"]
        kinds = self.store.kinds[source]
        fields = list(dict.fromkeys(step["fields"])) if "fields" in step else self.store.defaults[source]
        fields = fields or ["id"]
        made: dict[str, str] = {}
        for place, name in enumerate(fields):
            opened = name.split(".")[0] in ("properties", "protocol")
            if name not in kinds and not opened:
                raise self.refuse("fields", place)
            made[name] = kinds.get(name, "null")
            if opened and made[name] == "null":
                self.warn("field_unfilled")
        found = [r for r in self.store.records[source] if self.meets(r.columns, source, step.get("where", {}))]
        limit = min(step.get("limit", 100), self.caps["max_list_rows"])
        if len(found) > limit:
            self.warn("list_truncated")
        rows = [{name: r.columns.get(name) for name in made} for r in found[:limit]]
        return Rows(made, rows, {name for name in made if name.split(".")[0] in ("properties", "protocol")})

    def meets(self, row: Row, source: str, where: dict[str, Any]) -> bool:
        own = {
            "instances": "instanceIds",
            "measurements": "measurementIds",
            "cellSpecifications": "specificationIds",
        }
        for key, value in where.items():
            if key in ("ids", "instanceIds", "measurementIds", "specificationIds"):
                wanted = self.values_of(value, "where", key)
                if wanted is None:
                    continue
                column = "id" if key in ("ids", own.get(source)) else key[:-3] + "_id"
                if not any(same(row[column], item) for item in wanted):
                    return False
                continue
            wanted = bound_scalar(value, self.params)
            if wanted is None:
                continue
            if not isinstance(wanted, str) or not self.holds(row, key, wanted):
                return False
        return True

    def holds(self, row: Row, key: str, wanted: str) -> bool:
        if key == "name":
            return bool(row["name"] == wanted)
        if key == "nameContains":
            return wanted.casefold() in row["name"].casefold()
        if key == "batch":
            return row["batch_id"] is not None and (
                row["batch_id"] == wanted or row["batch_name"].casefold() == wanted.casefold()
            )
        return bool(row["measurement_type"] == wanted)

    # series

    def sources(self, step: dict[str, Any], dataset: str) -> list[Record]:
        ids: list[Any] = []
        for value in self.values_of(step["ids"], "ids") or []:
            if value is not None and not any(same(value, other) for other in ids):
                ids.append(value)
        if len(ids) > self.caps["max_sources"]:
            raise self.refuse("ids")
        known = {record.columns["id"]: record for record in self.store.records["measurements"]}
        if any(not isinstance(key, str) or key not in known or dataset not in known[key].data for key in ids):
            raise self.refuse("ids")
        return [known[key] for key in ids]

    def missing(self, names: list[str], sources: list[Rows], step: dict[str, Any]) -> None:
        for name in names:
            lacking = [rows for rows in sources if name not in rows.kinds]
            if sources and len(lacking) == len(sources):
                raise self.refuse("x" if name == step.get("x") else "columns")
            if lacking:
                self.warn("column_missing")

    def series(self, step: dict[str, Any]) -> dict[str, Sampled]:
        sources = self.sources(step, "series")
        share = self.caps["max_series_points"] // max(len(sources), 1)
        if share == 0:
            raise self.refuse("ids")
        names = list(dict.fromkeys([step["x"], *step["columns"]]))
        self.missing(names, [record.data["series"] for record in sources], step)
        window = step.get("window", {})
        low, high = (bound_scalar(window.get(key), self.params) for key in ("min", "max"))
        answer: dict[str, Sampled] = {}
        for record in sources:
            rows = record.data["series"]
            self.inside(None, rows.kinds.get(step["x"]), low, high)
            inside = [
                (number, {name: row.get(name) for name in names})
                for number, row in enumerate(rows.rows)
                if self.inside(row.get(step["x"]), rows.kinds.get(step["x"]), low, high)
            ]
            answer[record.columns["id"]] = Sampled(
                inside, min(step.get("max_points", 2000), share), step["columns"]
            )
        there = any(step["x"] in record.data["series"].kinds for record in sources)
        if there and low is not None and high is not None and low > high:
            self.warn("window_empty")
        if share < step.get("max_points", 2000) and any(len(s.window) > s.most for s in answer.values()):
            self.warn("points_shared")
        return answer

    def inside(self, x: Any, kind: str | None, low: Any, high: Any) -> bool:
        for which, bound in (("min", low), ("max", high)):
            if bound is None or kind is None:
                continue
            if isinstance(bound, str) or kind not in NUMERIC:
                raise self.refuse("window", which)
        if low is None and high is None:
            return True
        return x is not None and (low is None or low <= x) and (high is None or x <= high)

    # summary

    def summary(self, step: dict[str, Any]) -> Rows:
        dataset = step["dataset"]
        sources = self.sources(step, dataset)
        names = [name for name in dict.fromkeys(step["columns"]) if name != "measurement_id"]
        self.missing(names, [record.data[dataset] for record in sources], step)
        if sum(len(record.data[dataset].rows) for record in sources) > self.caps["max_summary_rows"]:
            raise self.refuse("ids")
        kinds = {"measurement_id": "text"}
        for name in names:
            reach = sources or [r for r in self.store.records["measurements"] if dataset in r.data]
            found = {record.data[dataset].kinds[name] for record in reach if name in record.data[dataset].kinds}
            kinds[name] = found.pop() if len(found) == 1 else DECLARED[dataset].get(name, "null")
        made = []
        for record in sources:
            for row in record.data[dataset].rows:
                made.append({"measurement_id": record.columns["id"], **{name: row.get(name) for name in names}})
        return Rows(kinds, made, {name for name in names if name not in DECLARED[dataset]})

    # aggregate

    def aggregate(self, step: dict[str, Any]) -> Rows:
        source: Rows = self.results[step["input"]]
        keys = list(dict.fromkeys(step["group_by"]))
        for place, key in enumerate(step["group_by"]):
            self.column(source, key, "group_by", place)
        if step.get("sort_by") is not None:
            self.column(source, step["sort_by"], "sort_by")
        kinds = {key: source.kinds[key] for key in keys}
        groups: list[list[Row]] = []
        for row in source.rows:
            for group in groups:
                if all(row[k] is group[0][k] is None or same(row[k], group[0][k]) for k in keys):
                    group.append(row)
                    break
            else:
                groups.append([row])
        for name, metric in step["metrics"].items():
            self.metric_columns(name, metric, source)
        self.numbers = {name for name in source.kinds if source.held(name) == "number"}
        metric_kinds: dict[str, str] = {}
        for name in step["metrics"]:
            self.metric_kind(name, step["metrics"], source, metric_kinds)
        made = []
        for group in groups:
            ordered = sorted(group, key=lambda row: rank(row[step["sort_by"]])) if step.get("sort_by") else group
            values: Row = {}
            for name in step["metrics"]:
                self.metric(name, step["metrics"], ordered, values)
            made.append(
                {**{key: group[0][key] for key in keys}, **{name: values[name] for name in step["metrics"]}}
            )
        for name in step["metrics"]:
            if metric_kinds[name] == "integer" and not all(-(2**63) <= (row[name] or 0) < 2**63 for row in made):
                metric_kinds[name] = "number"
                for row in made:
                    row[name] = None if row[name] is None else float(row[name])
        edges = {n for n, m in step["metrics"].items() if m["fn"] in EDGES and m["column"] in source.open}
        kinds |= {name: metric_kinds[name] for name in step["metrics"]}
        return Rows(kinds, made, {*edges, *(key for key in keys if key in source.open)})

    def metric_columns(self, name: str, metric: dict[str, Any], source: Rows) -> None:
        column = metric.get("column")
        if column is not None:
            self.column(source, column, "metrics", name, "column")
            if metric["fn"] in ("min", "max", "mean", "sum") and source.held(column) not in NUMERIC:
                raise self.refuse("metrics", name, "column")
        if metric.get("where") is not None:
            self.column(source, metric["where"]["column"], "metrics", name, "where", "column")

    def metric_kind(self, name: str, metrics: dict[str, Any], source: Rows, kinds: dict[str, str]) -> str:
        if name in kinds:
            return kinds[name]
        metric = metrics[name]
        column, fn = metric.get("column"), metric["fn"]
        kind = "integer"
        if column is not None:
            kind = source.kinds[column] if fn in EDGES else source.held(column)
        if metric.get("where") is not None:
            self.comparable(name, metric["where"], metrics, source, kinds)
        if fn == "count":
            kind = "integer"
        if fn == "mean" and kind == "integer":
            kind = "number"
        kinds[name] = kind
        return kind

    def comparable(
        self, name: str, where: dict[str, Any], metrics: Any, source: Rows, kinds: dict[str, str]
    ) -> None:
        values = self.column(source, where["column"], "metrics", name, "where", "column")
        value = where["value"]
        if isinstance(value, dict):
            held = self.metric_kind(value["ratio_of"], metrics, source, kinds)
            if metrics[value["ratio_of"]]["fn"] in EDGES:
                held = source.held(metrics[value["ratio_of"]]["column"])
            if held not in NUMERIC:
                raise self.refuse("metrics", name, "where", "value", "ratio_of")
            if bound_scalar(value["factor"], self.params) is None or held == "null":
                return
            wanted: type = float
        else:
            found = bound_scalar(value, self.params)
            if found is None:
                return
            wanted = str if isinstance(found, str) else float
        if where["op"] in ("eq", "neq"):
            return
        if source.held(where["column"]) == "boolean" or any(isinstance(v, bool) for v in values):
            raise self.refuse("metrics", name, "where", "column")
        if any(v is not None and isinstance(v, str) != (wanted is str) for v in values):
            raise self.refuse("metrics", name, "where", "column")

    def metric(self, name: str, metrics: dict[str, Any], rows: list[Row], values: Row) -> Any:
        if name in values:
            return values[name]
        metric = metrics[name]
        fn, column = metric["fn"], metric.get("column")
        present = [row[column] for row in rows if row[column] is not None] if column is not None else []
        made: Any = None
        if fn == "count":
            made = len(rows) if column is None else len(present)
        elif fn in ("first_where", "last_where"):
            kept = [row for row in rows if self.compares(row, metric["where"], metrics, rows, values)]
            made = kept[0 if fn == "first_where" else -1][column] if kept else None
        elif present and fn in ("first", "last"):
            made = present[0 if fn == "first" else -1]
        elif present:
            if column in self.numbers:
                present = [float(value) for value in present]
            if fn in ("min", "max"):
                made = min(present) if fn == "min" else max(present)
            elif all(isinstance(value, int) for value in present):
                made = sum(present) if fn == "sum" else float(Fraction(sum(present), len(present)))
            else:
                total = math.fsum(present)
                made = total if fn == "sum" else total / len(present)
        values[name] = made
        return made

    def compares(self, row: Row, where: dict[str, Any], metrics: Any, rows: list[Row], values: Row) -> bool:
        value, against = row[where["column"]], where["value"]
        if isinstance(against, dict):
            factor = bound_scalar(against["factor"], self.params)
            other = self.metric(against["ratio_of"], metrics, rows, values)
            against = None if factor is None or other is None else factor * other
        else:
            against = bound_scalar(against, self.params)
        if value is None or against is None:
            return False
        op = where["op"]
        if op in ("eq", "neq"):
            return same(value, against) == (op == "eq")
        return {"lt": value < against, "lte": value <= against, "gt": value > against, "gte": value >= against}[op]

    # join

    def join(self, step: dict[str, Any]) -> Rows:
        left: Rows = self.results[step["left"]]
        right: Rows = self.results[step["right"]]
        on = step["on"]
        self.column(left, on["left"], "on", "left")
        self.column(right, on["right"], "on", "right")
        fields = step.get("fields")
        attach = (
            list(dict.fromkeys(fields)) if fields is not None else [n for n in right.kinds if n != on["right"]]
        )
        for place, name in enumerate(fields or []):
            self.column(right, name, "fields", place)
        names: dict[str, str] = {}
        for name in attach:
            new = name + "_right" if name in left.kinds else name
            if new in left.kinds or new in names.values():
                raise self.refuse("fields")
            names[name] = new
        kinds = {**left.kinds, **{new: right.kinds[name] for name, new in names.items()}}
        where = {}
        for column, value in (step.get("where") or {}).items():
            wanted = bound_list(value, self.params)
            if wanted is not None:
                where[column] = wanted
        if any(column not in kinds for column in where):
            raise self.refuse("where")
        made = []
        for row in left.rows:
            matches = [other for other in right.rows if same(row[on["left"]], other[on["right"]])]
            if not matches and step.get("how") == "left":
                matches = [dict.fromkeys(right.kinds)]
            for other in matches:
                joined = {**row, **{new: other[name] for name, new in names.items()}}
                if all(self.among(joined[column], wanted) for column, wanted in where.items()):
                    made.append(joined)
        if len(made) > self.caps["max_summary_rows"]:
            raise self.refuse()
        opened = {new for name, new in names.items() if name in right.open}
        return Rows(kinds, made, {*left.open, *opened})

    def among(self, value: Any, wanted: list[Any]) -> bool:
        return any(value is item is None or same(value, item) for item in wanted)


def rank(value: Any) -> tuple[int, Any]:
    """Sort key: false, true, numbers, texts by code point, nulls."""
    if value is None:
        return (3, 0)
    if isinstance(value, bool):
        return (0, value)
    return (2, value) if isinstance(value, str) else (1, value)
