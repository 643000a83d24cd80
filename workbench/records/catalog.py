"""The catalog: the sources and columns that a caller may plot, with units, counts and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest, instead
from ..messages import spaced
from ..table import JsonObject, Kind, Plain, time_text, to_micros
from .shown_tables import Shown, as_html, as_rich, as_text
from .values import as_moment

if TYPE_CHECKING:
    from rich.console import Group

WIDEST = 60
"""Characters of examples that are shown of a column; all of them are in ``as_dict``."""
_EVERYWHERE = (
    "id",
    "project_id",
    "organization_id",
    "created_at",
    "updated_at",
    "created_by",
    "created_by_email",
    "content_hash",
)


@dataclass(frozen=True)
class CatalogColumn:
    """A column of a list source: ``filled`` records have a value; ``examples`` are a few of the values."""

    name: str
    type: Kind
    unit: str | None
    meaning: str
    filled: int
    examples: Sequence[Plain] = ()


@dataclass(frozen=True)
class CatalogSeries:
    """A column of sampled data and how many records of the source have it."""

    name: str
    type: Kind
    unit: str | None
    records: int
    kinds: Sequence[str] = ()
    """The kinds of these records, such as types of analyses, where records of several kinds have sampled data."""


@dataclass(frozen=True)
class CatalogSource:
    """A source of a plan: its records, their columns, the names found under open objects, their series."""

    source: str
    meaning: str
    records: int
    columns: Sequence[CatalogColumn]
    names: Sequence[CatalogColumn]
    series: Sequence[CatalogSeries]


@dataclass(frozen=True)
class CatalogSummary:
    """A column of the steps or cycles summary."""

    name: str
    type: Kind
    unit: str | None
    meaning: str
    records: int


@dataclass(frozen=True)
class CatalogCount:
    """How many measurements have a value in a column; of ``name``, a word in it; of ``tags``, one of the tags."""

    column: str
    value: str
    records: int


@dataclass(frozen=True, repr=False)
class Catalog:
    """All sources in reach, and the columns of the two summaries of measurements.

    It shows itself as tables, in a terminal and in a notebook.
    """

    sources: Sequence[CatalogSource]
    steps: Sequence[CatalogSummary]
    cycles: Sequence[CatalogSummary]
    notes: Sequence[str] = ()
    """What was made by older rules, and what to do about it."""
    tests: Sequence[CatalogCount] = ()
    """What kinds of tests there are: types, protocols, tags and shared words of names, with counts."""

    def __getitem__(self, source: str) -> CatalogSource:
        """A source by its name in plans.

        Raises
        ------
        BadRequest
            If no source has that name; lists those there are.
        """
        by_name = {entry.source: entry for entry in self.sources}
        if source not in by_name:
            raise BadRequest(f"There is no source '{source}'. {instead(source, by_name, 'sources')}")
        return by_name[source]

    def __repr__(self) -> str:
        return as_text(_shown(self))

    def __rich__(self) -> Group:
        return as_rich(_shown(self))

    def _repr_html_(self) -> str:
        return as_html(_shown(self))

    def as_dict(self) -> JsonObject:
        """The catalog as JSON values. The kinds of sampled columns are apart, as source -> column -> kinds, since
        version 0.1.0 refuses a sampled column with a member that it does not know."""
        plain: JsonObject = _plain(self)
        plain["kinds"] = {}
        for source in plain["sources"]:
            kinds = {one["name"]: one.pop("kinds") for one in source["series"]}
            if any(kinds.values()):
                plain["kinds"][source["source"]] = {name: those for name, those in kinds.items() if those}
        return {key: value for key, value in plain.items() if value or key not in ("notes", "tests", "kinds")}

    @classmethod
    def of(cls, told: Mapping[str, Plain]) -> Catalog:
        """The catalog from the JSON values that ``as_dict`` gives."""
        kinds = told.get("kinds", {})
        sources = [
            CatalogSource(
                **{
                    **one,
                    "columns": [_column(column) for column in one["columns"]],
                    "names": [_column(column) for column in one["names"]],
                    "series": [
                        CatalogSeries(**column, kinds=kinds.get(one["source"], {}).get(column["name"], ()))
                        for column in one["series"]
                    ],
                }
            )
            for one in told["sources"]
        ]
        summaries = {name: [CatalogSummary(**one) for one in told[name]] for name in ("steps", "cycles")}
        tests = [CatalogCount(**one) for one in told.get("tests", ())]
        return cls(sources, **summaries, notes=told.get("notes", ()), tests=tests)


def _column(told: Mapping[str, Plain]) -> CatalogColumn:
    examples = told["examples"]
    if told["type"] == "datetime":
        examples = [as_moment(example) for example in examples]
    return CatalogColumn(**{**told, "examples": examples})


def _plain(value: Any) -> Any:
    """The JSON values of a part of a catalog. ``asdict`` takes several times as long, since it copies each of them."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return time_text(to_micros(value))
    held = vars(value) if is_dataclass(value) else value
    return {name: _plain(item) for name, item in held.items()} if isinstance(held, dict) else held


def _shown(catalog: Catalog) -> list[Shown]:
    """The tables: of each source its filled columns and its sampled columns, then the two summaries."""
    by_size = sorted(catalog.sources, key=lambda entry: -entry.records)
    tables = [table for source in by_size for table in _of_source(source)]
    for name, columns in (("steps", catalog.steps), ("cycles", catalog.cycles)):
        there = [column for column in columns if column.records]
        rows = [(c.name, c.type, c.unit or "", spaced(c.records), c.meaning) for c in there]
        title = f"summary of {name} (op 'summary', dataset '{name}')"
        tables.append(
            Shown(title, ("column", "type", "unit", "measurements", "meaning"), rows, _rest(columns, there))
        )
    counted = [(one.column, one.value, spaced(one.records)) for one in catalog.tests]
    tables.append(Shown("kinds of tests", ("column", "value", "measurements"), counted))
    tables += [Shown("note", (), [], note) for note in catalog.notes]
    return [table for table in tables if table.rows or table.note]


def _of_source(source: CatalogSource) -> list[Shown]:
    counted = f"{spaced(source.records)} record" + ("" if source.records == 1 else "s")
    title = f"{source.source}: {counted}. {source.meaning}"
    if not source.records:
        return [Shown(title, (), [], "There are none yet.")]
    columns = [*source.columns, *source.names]
    filled = [column for column in columns if column.filled]
    told = [column for column in filled if not (column.name in _EVERYWHERE or column.name.endswith("_id"))]
    rows = [(c.name, c.type, c.unit or "", spaced(c.filled), _examples(c)) for c in told]
    also = f"Also {', '.join(column.name for column in filled if column not in told)}. "
    note = also + _rest(columns, filled)
    tables = [Shown(title, ("column", "type", "unit", "filled", "examples"), rows, note.strip())]
    if source.series:
        sampled = [(c.name, c.type, c.unit or "", spaced(c.records)) for c in source.series]
        tables.append(Shown(f"sampled data of {source.source}", ("column", "type", "unit", "records"), sampled))
    return tables


def _rest(
    columns: Sequence[CatalogColumn | CatalogSummary], there: Sequence[CatalogColumn | CatalogSummary]
) -> str:
    names = {column.name for column in there}
    rest = [column.name for column in columns if column.name not in names]
    return f"Nothing fills {', '.join(rest)}." if rest and there else ""


def _examples(column: CatalogColumn) -> str:
    text = ", ".join(_example(example) for example in column.examples)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _example(value: Plain) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
