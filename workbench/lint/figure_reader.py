"""A figure as the rules read it: traces as points, axes with what they show, and the columns behind both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dataset import Dataset
from ..table import Table

Floats = NDArray[np.float64]
SCATTER = (None, "scatter", "scattergl")
FLAT = (*SCATTER, "bar", "box", "violin", "histogram")
# What a script multiplies a column by: nothing, a sign, a prefix, a unit of time, per cent.
_FACTORS = np.array([1.0, 1e3, 1e-3, 1e6, 1e-6, 1 / 60, 1 / 3600, 1 / 86400, 60.0, 3600.0, 100.0])


class Known:
    """The columns of one length, and where the largest value of each stands: one look there tells most apart."""

    def __init__(self, columns: list[tuple[str, Floats]]) -> None:
        self.columns = columns
        peaks = [int(np.nanargmax(np.abs(np.where(np.isfinite(v), v, np.nan)))) for _, v in columns]
        self.places = np.array(peaks)
        self.peaks = np.array([values[place] for (_, values), place in zip(columns, peaks, strict=True)])

    def ratios(self, values: Floats) -> Iterator[tuple[str, Floats, float]]:
        """The columns that the values may be, each with the usual factor that fits at its largest value."""
        ratios = values[self.places] / self.peaks
        with np.errstate(invalid="ignore"):
            fits = np.abs(np.abs(ratios)[:, None] - _FACTORS) <= 1e-9 * _FACTORS
        for place in np.flatnonzero(fits.any(axis=1)).tolist():
            factor = float(_FACTORS[int(np.argmax(fits[place]))])
            yield *self.columns[place], factor if ratios[place] > 0 else -factor


class Of(NamedTuple):
    """Values of a figure told as a column of the data, times a factor."""

    column: str
    factor: float


@dataclass(frozen=True)
class Trace:
    """A trace of a figure: its place, its raw JSON, and its points as numbers (None where they are no numbers)."""

    n: int
    raw: Mapping[str, Any]

    @property
    def kind(self) -> str | None:
        found: str | None = self.raw.get("type")
        return found

    @property
    def name(self) -> str:
        return str(self.raw.get("name") or "")

    @property
    def label(self) -> str:
        """How a sentence calls it."""
        return f"'{self.name}' (data[{self.n}])" if self.name else f"data[{self.n}]"

    @property
    def has_lines(self) -> bool:
        """Whether a scatter trace joins its points by a line that is seen."""
        mode = self.raw.get("mode")
        if self.kind not in SCATTER or mode == "none":
            return False
        width = _mapping(self.raw.get("line")).get("width")
        size = max(length(self.raw.get("x")), length(self.raw.get("y")))
        return width != 0 and ("lines" in str(mode) if mode is not None else size >= 20)

    @property
    def shown(self) -> bool:
        return self.raw.get("visible", True) is True

    @property
    def in_legend(self) -> bool:
        return self.shown and self.raw.get("showlegend", True) is not False and bool(self.name)

    @cached_property
    def x(self) -> Floats | None:
        values = self.raw.get("x")
        return np.arange(float(length(self.raw.get("y")))) if values is None else numbers(values)

    @cached_property
    def y(self) -> Floats | None:
        values = self.raw.get("y")
        return np.arange(float(length(self.raw.get("x")))) if values is None else numbers(values)

    def axis(self, letter: str) -> str:
        """The name in the layout of its axis ``x`` or ``y``."""
        ref = str(self.raw.get(f"{letter}axis") or letter)
        return f"{letter}axis{ref[1:]}"

    @cached_property
    def is_swatch(self) -> bool:
        """One point of nothing, drawn to have an entry in the legend or a colour bar."""
        return all(length(self.raw.get(letter)) == 1 and _void(self.raw[letter]) for letter in "xy")

    @cached_property
    def is_empty(self) -> bool:
        """Whether it has no point at all; the x of bars and boxes may be missing."""
        given = [self.raw[letter] for letter in "xy" if self.raw.get(letter) is not None]
        return not given or any(length(values) == 0 or _void(values) for values in given)


class Drawn:
    """A figure and the data it was drawn from."""

    def __init__(self, figure: Mapping[str, Any], dataset: Dataset | None) -> None:
        self.layout = _mapping(figure.get("layout"))
        self.dataset = dataset
        self.traces = [Trace(n, _mapping(raw)) for n, raw in enumerate(figure.get("data") or ())]

    @property
    def scatters(self) -> Iterator[Trace]:
        """The shown scatter traces with points."""
        return (t for t in self.traces if t.kind in SCATTER and t.shown and not t.is_swatch and not t.is_empty)

    @property
    def flat(self) -> Iterator[Trace]:
        """The shown traces on x and y axes that have points."""
        return (t for t in self.traces if t.kind in FLAT and t.shown and not t.is_swatch and not t.is_empty)

    def axis(self, name: str) -> Mapping[str, Any]:
        return _mapping(self.layout.get(name))

    def title(self, name: str) -> str:
        """The text of an axis title, empty without one."""
        title = self.axis(name).get("title")
        text = title.get("text") if isinstance(title, Mapping) else title
        return str(text or "").strip()

    @cached_property
    def _columns(self) -> dict[int, Known]:
        """The columns of numbers that vary, by their length."""
        found: dict[int, list[tuple[str, Floats]]] = {}
        for table in self.tables():
            for name, column in table.items():
                if column.kind in ("number", "integer") and 3 <= table.n <= 20_000:
                    values = column.floats()
                    finite = values[np.isfinite(values)]
                    if len(finite) > 2 and finite.min() < finite.max():
                        found.setdefault(table.n, []).append((name, values))
        return {n: Known(columns) for n, columns in found.items()}

    def tables(self) -> Iterator[Table]:
        """The rows of every step, and the samples of every source."""
        for result in self.dataset.steps.values() if self.dataset is not None else ():
            if isinstance(result, Table):
                yield result
            else:
                yield from (samples.table for samples in result.values())

    def column_of(self, values: Floats | None) -> Of | None:
        """Which column, times which factor, some values are, point by point; None if none or more than one is."""
        known = self._columns.get(len(values)) if values is not None else None
        if values is None or known is None:
            return None
        found: dict[str, Of] = {}
        for name, column, factor in known.ratios(values):
            if name not in found and np.allclose(values, factor * column, rtol=1e-9, atol=0, equal_nan=True):
                found[name] = Of(name, factor)
        return next(iter(found.values())) if len(found) == 1 else None

    @cached_property
    def sources(self) -> dict[int, dict[str, Of]]:
        """Trace number -> the columns that its x and y are."""
        made: dict[int, dict[str, Of]] = {}
        for trace in self.scatters:
            axes = (("x", trace.x), ("y", trace.y))
            made[trace.n] = {letter: of for letter, values in axes if (of := self.column_of(values)) is not None}
        return made


def numbers(values: Any) -> Floats | None:
    """Values of a figure as floats, null as NaN; None where they are texts, times or anything else."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None
    if not isinstance(values, list | tuple):
        return None
    if not all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        return None
    return np.array([np.nan if value is None else value for value in values], np.float64)


def length(values: Any) -> int:
    return len(values) if isinstance(values, list | tuple | np.ndarray) else 0


def _void(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.dtype.kind == "f" and bool(np.isnan(values).all())
    return all(value is None or (isinstance(value, float) and value != value) for value in values)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
