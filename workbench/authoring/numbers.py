"""The numbers of a figure in few words: what somebody without eyes needs to judge it, and a person to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, computed_field

from ..dataset import Dataset
from ..figure_traces import points_of
from ..lint.figure_reader import Drawn, Trace, length
from ..messages import counted
from ..table import Table
from ..typed_arrays import Decoded, mapping

MOST_TRACES = 40
MOST_NAMES = 20
MOST_ROWS = 12
"""Of a table."""
_NAME = 80
_LONGEST_ROW = 200
Span = tuple[float, float]


class TraceNumbers(BaseModel):
    """One trace: its name, its kind, its points, and the least and the greatest value on each axis of numbers."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str
    points: int
    x: Span | None = None
    y: Span | None = None
    rows: list[str] = Field(default_factory=list, description="Of a table: its headings, and its first rows.")


class FigureNumbers(BaseModel):
    """A figure in numbers.

    ``traces`` are the first ones; ``trace_count`` says how many there are. ``not_named`` are cells whose samples, steps
    or cycles the plan reads and that no trace, legend group or axis names; it is empty where the figure names no cell.
    """

    model_config = ConfigDict(frozen=True)

    trace_count: int
    points: int
    traces: list[TraceNumbers]
    axes: dict[str, str] = Field(default_factory=dict, description="Axis -> its title.")
    sentences: list[str] = Field(default_factory=list, description="The annotations.")
    steps: dict[str, str] = Field(default_factory=dict, description="Step -> how much it gave.")
    not_named: list[str] = Field(default_factory=list, description="Cells that are read and not named.")

    @computed_field(description="All of it as lines of text.")  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def text(self) -> str:
        return self.as_text()

    def as_text(self) -> str:
        """The numbers as lines of text."""
        lines = [f"{counted(self.trace_count, 'trace')}, {counted(self.points, 'point')}"]
        lines += [f"- {axis}: {title}" for axis, title in self.axes.items()]
        for trace in self.traces:
            lines += [f"- {_line(trace)}", *(f"  - {row}" for row in trace.rows)]
        if self.trace_count > len(self.traces):
            lines.append(f"- and {self.trace_count - len(self.traces)} more traces")
        lines += [f"- note: {sentence}" for sentence in self.sentences]
        lines += [f"- step {name}: {size}" for name, size in self.steps.items()]
        if self.not_named:
            lines.append(f"- cells read but not named in the figure: {', '.join(self.not_named)}")
        return "\n".join(lines)


def numbers_of(figure: Mapping[str, Decoded], dataset: Dataset | None) -> FigureNumbers:
    """The numbers of a decoded figure, and of the data that it was drawn from."""
    drawn = Drawn(figure, dataset)
    shown = [trace for trace in drawn.traces if not trace.is_swatch]
    return FigureNumbers(
        trace_count=len(shown),
        points=sum(_points(trace) for trace in shown),
        traces=[_numbers(trace) for trace in shown[:MOST_TRACES]],
        axes={
            name: drawn.title(name) for name in drawn.layout if name[1:].startswith("axis") and drawn.title(name)
        },
        sentences=sentences(drawn),
        steps={} if dataset is None else dict(_sizes(dataset)),
        not_named=[] if dataset is None else _not_named(drawn, dataset),
    )


def sentences(drawn: Drawn) -> list[str]:
    """The texts of the annotations, without line breaks."""
    notes = drawn.layout.get("annotations")
    texts = [mapping(note).get("text") for note in (notes if isinstance(notes, list) else [])]
    return [text.replace("<br>", " ")[:500] for text in texts if isinstance(text, str) and text][:MOST_NAMES]


def _numbers(trace: Trace) -> TraceNumbers:
    return TraceNumbers(
        name=trace.name[:_NAME],
        type=trace.kind or "scatter",
        points=_points(trace),
        x=_span(trace.raw.get("x")),
        y=_span(trace.raw.get("y")),
        rows=[*_rows(points_of(trace.raw))] if trace.kind == "table" else [],
    )


def _rows(table: Table) -> Iterator[str]:
    """The headings of a table and its first rows."""
    yield " | ".join(table)
    columns = [column.tolist() for column in table.values()]
    for row in list(zip(*columns, strict=True))[:MOST_ROWS]:
        yield " | ".join("" if one is None else str(one) for one in row)[:_LONGEST_ROW]


def _points(trace: Trace) -> int:
    if trace.kind == "table":
        return points_of(trace.raw).n
    return max((length(trace.raw.get(key)) for key in ("x", "y", "z", "values", "r")), default=0)


def _span(values: Decoded) -> Span | None:
    """The least and the greatest number; None for texts and for no values."""
    if isinstance(values, list):
        if not values or not all(isinstance(one, int | float | None) for one in values):
            return None
        values = np.array([np.nan if one is None else one for one in values], float)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        return None
    finite = values[np.isfinite(values)]
    return (float(f"{finite.min():.6g}"), float(f"{finite.max():.6g}")) if finite.size else None


def _sizes(dataset: Dataset) -> Iterator[tuple[str, str]]:
    for name, result in dataset.steps.items():
        if isinstance(result, Table):
            yield name, counted(result.n, "row")
            continue
        cut = [one for one in result.values() if not one.complete]
        of = f", {counted(len(cut), 'source')} with fewer samples than stored" if cut else ""
        samples = sum(one.table.n for one in result.values())
        yield name, f"{counted(len(result), 'source')}, {counted(samples, 'sample')}{of}"


def _not_named(drawn: Drawn, dataset: Dataset) -> list[str]:
    cells = list(dict.fromkeys(_cells(dataset)))
    named = " ".join(_words(drawn)).casefold()
    absent = [cell for cell in cells if cell.casefold() not in named]
    return [] if len(absent) == len(cells) else absent[:MOST_NAMES]


def _cells(dataset: Dataset) -> Iterator[str]:
    """The cells of the tests of which something was read; of all tests where only lists were read."""
    read = {*_read(dataset)}
    for result in dataset.steps.values():
        if isinstance(result, Table) and "instance_name" in result:
            names = result["instance_name"].tolist()
            key = next((key for key in ("measurement_id", "id") if key in result), None)
            ids = result[key].tolist() if key is not None and read else None
            yield from (
                str(name)
                for place, name in enumerate(names)
                if name is not None and (ids is None or ids[place] in read)
            )


def _read(dataset: Dataset) -> Iterator[object]:
    """The ids of the tests whose samples, steps, cycles or analyses were read."""
    for result in dataset.steps.values():
        if not isinstance(result, Table):
            yield from result
        elif "measurement_id" in result:
            yield from result["measurement_id"].tolist()


def _words(drawn: Drawn) -> Iterator[str]:
    for trace in drawn.traces:
        for key in ("name", "legendgroup", "text", "hovertext", "x", "y"):
            yield from _texts(trace.raw.get(key))


def _texts(value: Decoded) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (one for one in value if isinstance(one, str))


def _line(trace: TraceNumbers) -> str:
    spans = [f"{axis} {_short(span)}" for axis, span in (("x", trace.x), ("y", trace.y)) if span is not None]
    return ", ".join([f"'{trace.name}' ({trace.type})", counted(trace.points, "point"), *spans])


def _short(span: Sequence[float]) -> str:
    return f"{span[0]:g} to {span[1]:g}"
