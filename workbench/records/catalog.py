"""The catalog: what there is to plot, as far as a caller may see it, in words and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from rich.console import Group

from ..errors import BadRequest, instead
from ..table import Kind, time_text, to_micros
from .shown import as_html, as_rich, as_text


@dataclass(frozen=True)
class CatalogColumn:
    """A column of a list source: ``filled`` records have a value; ``examples`` are a few of the values."""

    name: str
    type: Kind
    unit: str | None
    meaning: str
    filled: int
    examples: Sequence[Any] = ()


@dataclass(frozen=True)
class CatalogSeries:
    """A column of sampled data and how many records of the source have it."""

    name: str
    type: Kind
    unit: str | None
    records: int


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


@dataclass(frozen=True, repr=False)
class Catalog:
    """All sources in reach, and the columns of the two summaries of measurements.

    It shows itself as tables, in a terminal and in a notebook.
    """

    sources: Sequence[CatalogSource]
    steps: Sequence[CatalogSummary]
    cycles: Sequence[CatalogSummary]

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
        return as_text(self)

    def __rich__(self) -> Group:
        return as_rich(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def as_dict(self) -> dict[str, Any]:
        """The catalog as JSON values."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return time_text(to_micros(value)) if isinstance(value, datetime) else value
