"""Reads a figure for the rules: the points of its traces, its axes, and the columns that the traces show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ..cached_property import cached_property
from ..dataset import Dataset
from ..figure_traces import SCATTER
from ..table import Table
from ..typed_arrays import Decoded, mapping

Floats = NDArray[np.float64]
FLAT = (*SCATTER, "bar", "box", "violin", "histogram")
VALUES = {
    **dict.fromkeys(("heatmap", "contour", "surface", "scatter3d"), "z"),
    **dict.fromkeys(("scatterpolar", "scatterpolargl", "barpolar"), "r"),
    **dict.fromkeys(("pie", "funnelarea"), "values"),
}
"""Where traces on other axes have their values. A pie without them counts its labels."""
# Usual factors between a column and what a script draws: none, a prefix, a unit of time, per cent. Signs may differ.
FACTORS = np.array([1.0, 1e3, 1e-3, 1e6, 1e-6, 1 / 60, 1 / 3600, 1 / 86400, 60.0, 3600.0, 100.0])


class Known:
    """The columns of one length, and the place of the largest value of each. Comparing there rules out most columns."""

    def __init__(self, columns: list[tuple[str, Floats]]) -> None:
        self.columns = columns
        peaks = [_peak(values) for _, values in columns]
        self.places = np.array(peaks)
        self.peaks = np.array([values[place] for (_, values), place in zip(columns, peaks, strict=True)])

    def ratios(self, values: Floats) -> Iterator[tuple[str, Floats, float]]:
        """The columns that the values may show, each with the usual factor that fits at its largest value."""
        ratios = values[self.places] / self.peaks
        with np.errstate(invalid="ignore"):
            fits = np.abs(np.abs(ratios)[:, None] - FACTORS) <= 1e-9 * FACTORS
        for place in np.flatnonzero(fits.any(axis=1)).tolist():
            factor = float(FACTORS[int(np.argmax(fits[place]))])
            yield *self.columns[place], factor if ratios[place] > 0 else -factor


class Of(NamedTuple):
    """The column of the data that values of a figure show, and its factor."""

    column: str
    factor: float


@dataclass(frozen=True)
class Trace:
    """A trace of a figure: its place, its raw JSON, and its points as numbers (None if they are not numbers)."""

    n: int
    raw: Mapping[str, Decoded]

    @property
    def kind(self) -> str | None:
        found = self.raw.get("type")
        return found if isinstance(found, str) else None

    @property
    def name(self) -> str:
        return str(self.raw.get("name") or "")

    @property
    def label(self) -> str:
        """The name of the trace in a message."""
        return f"'{self.name}' (data[{self.n}])" if self.name else f"data[{self.n}]"

    @property
    def has_lines(self) -> bool:
        """Whether a scatter trace joins its points by a visible line."""
        mode = self.raw.get("mode")
        if self.kind not in SCATTER or mode == "none":
            return False
        width = mapping(self.raw.get("line")).get("width")
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
        """Whether it is one point without a value, drawn only for an entry in the legend or a colour bar."""
        return all(length(self.raw.get(letter)) == 1 and _void(self.raw[letter]) for letter in "xy")

    @cached_property
    def is_empty(self) -> bool:
        """Whether it has no points. The x of bars and boxes may be missing, and a box may have its quartiles alone."""
        given = [self.raw[key] for key in ("x", "y", "median") if self.raw.get(key) is not None]
        return not given or any(length(values) == 0 or _void(values) for values in given)

    @cached_property
    def draws_nothing(self) -> bool:
        """Whether nothing is seen of it. Of kinds whose values are in another place nothing is said."""
        if self.kind in FLAT:
            return self.is_empty or self.is_swatch
        values = self.raw.get(VALUES.get(str(self.kind), ""))
        if values is None:
            return self.kind in VALUES and not length(self.raw.get("labels"))
        return length(values) == 0 or _void(values)


class Drawn:
    """A figure, the data it was drawn from, and the warnings that came with it."""

    def __init__(
        self,
        figure: Mapping[str, Decoded],
        dataset: Dataset | None,
        warnings: Sequence[Mapping[str, JsonValue]] = (),
    ) -> None:
        self.warnings = warnings
        self.layout = mapping(figure.get("layout"))
        self.dataset = dataset
        traces = figure.get("data")
        self.traces = [Trace(n, mapping(raw)) for n, raw in enumerate(traces if isinstance(traces, list) else ())]

    @property
    def scatters(self) -> Iterator[Trace]:
        """The shown scatter traces with points."""
        return (t for t in self.traces if t.kind in SCATTER and t.shown and not t.is_swatch and not t.is_empty)

    @property
    def flat(self) -> Iterator[Trace]:
        """The shown traces on x and y axes that have points."""
        return (t for t in self.traces if t.kind in FLAT and t.shown and not t.is_swatch and not t.is_empty)

    def axis(self, name: str) -> Mapping[str, Decoded]:
        return mapping(self.layout.get(name))

    def title(self, name: str) -> str:
        """The text of an axis title, empty without one."""
        title = self.axis(name).get("title")
        text = title.get("text") if isinstance(title, Mapping) else title
        return str(text or "").strip()

    @cached_property
    def _columns(self) -> dict[int, Known]:
        """The columns of numbers that are not constant, by their length."""
        found: dict[int, list[tuple[str, Floats]]] = {}
        for table in self.tables():
            for name, column in table.items():
                if column.kind in ("number", "integer") and 3 <= table.n <= 20_000:
                    values = column.floats(copy=False)
                    if _varies(values):
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
        """The column and the factor that give these values, point by point. None unless exactly one column fits."""
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
        """Number of a trace -> the columns that its x and y show."""
        made: dict[int, dict[str, Of]] = {}
        for trace in self.scatters:
            axes = (("x", trace.x), ("y", trace.y))
            made[trace.n] = {letter: of for letter, values in axes if (of := self.column_of(values)) is not None}
        return made


def _peak(values: Floats) -> int:
    """The place of the largest magnitude that is finite. Most columns have nothing else."""
    magnitudes = np.abs(values)
    place = int(np.argmax(magnitudes))
    if np.isfinite(magnitudes[place]):
        return place
    return int(np.nanargmax(np.where(np.isfinite(magnitudes), magnitudes, np.nan)))


def _varies(values: Floats) -> bool:
    """Whether there are three finite values or more, and not all are equal."""
    low, high = values.min(), values.max()  # NaN if one is
    if np.isfinite(low) and np.isfinite(high):
        return bool(len(values) > 2 and low < high)
    finite = values[np.isfinite(values)]
    return bool(len(finite) > 2 and finite.min() < finite.max())


def numbers(values: Decoded) -> Floats | None:
    """Values of a figure as floats, null as NaN. None for texts, times and anything else."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64) if values.ndim == 1 and values.dtype.kind in "fiu" else None
    if not isinstance(values, list):
        return None
    found: list[float] = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            return None
        found.append(np.nan if value is None else value)
    return np.array(found, np.float64)


def length(values: Decoded) -> int:
    return len(values) if isinstance(values, list | np.ndarray) else 0


def _void(values: Decoded) -> bool:
    """Whether a list or array, or the rows of it, hold only nulls and NaN."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind == "f" and bool(np.isnan(values.astype(np.float64)).all())
    if isinstance(values, list):
        return all(map(_void, values))
    return values is None or (isinstance(values, float) and values != values)
