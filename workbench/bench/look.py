"""``Look``, the result of ``bench.look``: every step of a plan as a table with pages."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from datetime import datetime
from numbers import Integral
from typing import TypeAlias, TypeVar, overload

import pandas as pd
from pydantic import JsonValue

from ..dataset import Samples, StepResult
from ..engine.look import Seen, StepSeen
from ..errors import BadRequest, Problem, instead
from ..messages import counted, spaced
from ..table import Table
from ..transform import frames

ROWS = 10
Cell: TypeAlias = JsonValue | datetime
T = TypeVar("T")
_LONGEST = 48
_STYLE = (
    "<style>.wb-look{font:13px/1.45 system-ui,sans-serif;overflow-x:auto}"
    ".wb-look h4{margin:14px 0 2px;font-size:14px}.wb-look p{margin:2px 0;opacity:.75}"
    ".wb-look p.wb-wrong{color:#c0392b;opacity:1}.wb-look p.wb-warn{color:#b9770e;opacity:1}"
    ".wb-look table{border-collapse:collapse;margin:4px 0 2px;font-variant-numeric:tabular-nums}"
    # JupyterLab has all cells at the right, by a rule with two classes.
    ".wb-look.wb-look th,.wb-look.wb-look td{padding:2px 10px 2px 0;text-align:left;white-space:nowrap;border:0;"
    "background:none}"
    ".wb-look th{font-weight:600;border-bottom:1px solid #8886;vertical-align:bottom}"
    ".wb-look th small{display:block;font-weight:400;opacity:.7}"
    ".wb-look.wb-look .wb-number{text-align:right}.wb-look td.wb-null{opacity:.45}</style>"
)


class Page:
    """Some rows of a step. It is shown as a table; ``.frame`` is a DataFrame."""

    def __init__(
        self, step: StepLook, table: Table, first: int, total: int, index: list[int] | None = None
    ) -> None:
        self._step, self._table, self._first, self._total = step, table, first, total
        self._index = index if index is not None else list(range(first, first + table.n))

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        frame = frames.frame_of(self._table)
        frame.index = pd.Index(self._index)
        return frame

    @property
    def place(self) -> str:
        """The numbers of the rows, and of how many, in words; empty if all rows are shown."""
        if not self._table.n:
            return "no rows"
        last = self._first + self._table.n
        return (
            f"rows {spaced(self._first + 1)} to {spaced(last)} of {spaced(self._total)}"
            if last < self._total or self._first
            else ""
        )

    def __repr__(self) -> str:
        cells = [["", *self._table.names], *self._cells()]
        widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([*lines, self.place] if self.place else lines)

    def _repr_html_(self) -> str:
        return f"{_STYLE}<div class='wb-look'>{self.html()}</div>"

    def html(self) -> str:
        """The HTML of the table, without the style sheet."""
        kinds = dict(self._step.seen.columns)
        heads = "".join(
            f"<th class='wb-{_side(kinds.get(name))}'>{_text(name)}<small>{_text(self._step.about(name))}</small></th>"
            for name in self._table.names
        )
        body = []
        for row in self._cells():
            cells = [f"<td class='wb-null'>{row[0]}</td>"]
            for name, cell in zip(self._table.names, row[1:], strict=True):
                kind = (
                    "null" if cell == "null" else "number" if kinds.get(name) in ("number", "integer") else "text"
                )
                cells.append(f"<td class='wb-{kind}'>{_text(cell)}</td>")
            body.append("<tr>" + "".join(cells) + "</tr>")
        place = f"<p>{self.place}</p>" if self.place else ""
        return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>{place}"

    def _cells(self) -> list[list[str]]:
        columns = [[_shown(value) for value in column.tolist()] for column in self._table.values()]
        rows = zip(*columns, strict=True) if columns else iter([()] * self._table.n)
        return [[str(number), *row] for number, row in zip(self._index, rows, strict=True)]


class StepLook:
    """One step: the size of its result, its columns with kind and unit, its first rows.

    ``.page(2)`` shows the next rows and ``.frame()`` gives all of them. ``.problems`` say what is wrong with the step;
    ``.warnings`` say what it left out.
    """

    def __init__(self, seen: StepSeen) -> None:
        self.seen = seen
        self.name, self.op = seen.name, seen.op
        self.problems: list[Problem] = seen.problems
        self.warnings = [warning.as_dict() for warning in seen.warnings]

    @property
    def columns(self) -> dict[str, str]:
        """Column -> its kind and unit, in words."""
        return {name: self.about(name) for name, _ in self.seen.columns}

    def about(self, column: str) -> str:
        """Kind and unit of a column, in words."""
        kind, unit = dict(self.seen.columns).get(column, ""), self.seen.units.get(column)
        return f"{kind}, {unit}" if unit else str(kind)

    @property
    def sources(self) -> list[str]:
        """The ids of the sources of a series step; empty for a step of rows."""
        return list(self._series())

    def page(self, number: int = 1, rows: int = ROWS, source: str | int = 0) -> Page:
        """One page of rows.

        Parameters
        ----------
        number : number of the page, from 1.
        rows : rows of a page.
        source : the source of a series step, by its id or by its place from 0.

        Raises
        ------
        BadRequest
            If the step did not run, or if it has no such page or source.
        """
        for what, given in (("number", number), ("rows", rows)):
            if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
                raise BadRequest(f"'{what}' of a page is a whole number from 1, not {given!r:.40}.")
        number, rows = int(number), int(rows)
        table, index = self._table(source)
        pages = max(1, -(-table.n // rows))
        if number > pages:
            raise BadRequest(
                f"Step '{self.name}' has {counted(pages, 'page')} of {counted(rows, 'row')}; there is no page {number}."
            )
        first = (number - 1) * rows
        part = table.slice(first, first + rows)
        return Page(self, part, first, table.n, None if index is None else index[first : first + rows])

    def frame(self) -> pd.DataFrame | frames.SeriesFrames:
        """The result as a transform gets it: a DataFrame, or for a series step a mapping of id to DataFrame."""
        result = self._ran()
        if isinstance(result, Table):
            return frames.frame_of(result)
        return frames.SeriesFrames(result, self.name, self.seen.columns)

    @property
    def summary(self) -> str:
        """The size of the result, in words; or why there is none."""
        if self.seen.waits:
            return "not run: it waits for " + ", ".join(f"'{name}'" for name in self.seen.waits)
        if self.seen.result is None:
            return f"{counted(len(self.problems), 'problem')}" if self.problems else "not run"
        columns = counted(len(self.seen.columns), "column")
        result = self.seen.result
        spent = "" if self.seen.spent is None else f", {self.seen.spent:.3g} ms"
        if isinstance(result, Table):
            return f"{counted(result.n, 'row')}, {columns}{spent}"
        shown, total = sum(len(s.rows) for s in result.values()), sum(s.total for s in result.values())
        samples = (
            f"{counted(total, 'sample')}" if shown == total else f"{spaced(shown)} of {counted(total, 'sample')}"
        )
        return f"{counted(len(result), 'source')}, {samples}, {columns}{spent}"

    def __repr__(self) -> str:
        lines = [f"{self.name} ({self.op}): {self.summary}"]
        lines += [f"  ! {problem}" for problem in self.problems]
        lines += [f"  warning: {warning['message']}" for warning in self.warnings]
        if self.seen.result is not None and (self._series() or isinstance(self.seen.result, Table)):
            lines += ["  " + line for line in repr(self.page()).split("\n")]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"{_STYLE}<div class='wb-look'>{self.html()}</div>"

    def html(self) -> str:
        """The HTML of the step, without the style sheet."""
        parts = [f"<h4>{_text(self.name)} <small>{_text(self.op)}</small></h4><p>{_text(self.summary)}</p>"]
        parts += [f"<p class='wb-wrong'>{_text(str(problem))}</p>" for problem in self.problems]
        parts += [f"<p class='wb-warn'>{_text(warning['message'])}</p>" for warning in self.warnings]
        if self.seen.result is None:
            return "".join(parts)
        if isinstance(self.seen.result, Table):
            parts.append(self.page().html() + self._more(self.seen.result.n))
        else:
            parts.append(self._sources())
            if self._series():
                parts.append(self.page().html() + self._more(len(next(iter(self._series().values())).rows)))
        return "".join(parts)

    def _sources(self) -> str:
        rows = [
            f"<tr><td class='wb-null'>{place}</td><td>{_text(key)}</td>"
            f"<td class='wb-number'>{spaced(len(samples.rows))}</td>"
            f"<td class='wb-number'>{spaced(samples.total)}</td></tr>"
            for place, (key, samples) in enumerate(list(self._series().items())[:ROWS])
        ]
        more = len(self._series()) - ROWS
        rest = f"<p>and {counted(more, 'more source')}</p>" if more > 0 else ""
        head = "<tr><th></th><th>source</th><th>samples shown</th><th>of</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{rest}"

    def _more(self, n: int) -> str:
        if n <= ROWS and len(self._series()) < 2:
            return ""
        call = f"look[{self.name!r}].page(2)" if n > ROWS else f"look[{self.name!r}].page(source=1)"
        return f"<p>More: <code>{_text(call)}</code></p>"

    def _series(self) -> Mapping[str, Samples]:
        result = self.seen.result
        return {} if result is None or isinstance(result, Table) else result

    def _ran(self) -> StepResult:
        if self.seen.result is None:
            raise BadRequest(f"Step '{self.name}' has no rows: {self.summary}.")
        return self.seen.result

    def _table(self, source: str | int) -> tuple[Table, list[int] | None]:
        result = self._ran()
        if isinstance(result, Table):
            return result, None
        keys = list(result)
        if isinstance(source, Integral) and 0 <= source < len(keys):
            source = keys[int(source)]
        if not isinstance(source, str) or source not in result:
            raise BadRequest(
                f"Step '{self.name}' has no source '{source}'. {instead(str(source), keys, 'sources')}"
            )
        samples = result[source]
        return samples.table, samples.rows.tolist()


class Look(Mapping[str, StepLook]):
    """Every step of a plan by name, shown as a page of tables, with what was read and how long it took.

    ``problems`` and ``warnings`` are those of the plan and of all steps. A wrong step does not run; all other steps
    run, except those that read it. Tables show their first rows; ``look["cycles"].page(2)`` shows the next ones.
    """

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._steps = {name: StepLook(step) for name, step in seen.steps.items()}
        self.params, self.reads, self.cache, self.timings = seen.values, seen.reads, seen.cache, seen.timings
        self.problems = [*seen.problems, *(p for step in self._steps.values() for p in step.problems)]
        of_steps = [warning for step in self._steps.values() for warning in step.warnings]
        self.warnings = [*(warning.as_dict() for warning in seen.warnings), *of_steps]

    def __getitem__(self, name: str) -> StepLook:
        if name not in self._steps:
            raise BadRequest(f"The plan has no step '{name}'. {instead(name, self._steps, 'steps')}")
        return self._steps[name]

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    @overload
    def get(self, name: str, default: None = None, /) -> StepLook | None: ...
    @overload
    def get(self, name: str, default: T, /) -> StepLook | T: ...
    def get(self, name: str, default: T | None = None, /) -> StepLook | T | None:
        """The step of a name, else ``default``."""
        return self._steps.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def _ipython_key_completions_(self) -> list[str]:
        """What JupyterLab offers after ``look["``."""
        return list(self)

    @property
    def summary(self) -> str:
        """What was read and how long it took, in one line."""
        if not self.cache:
            return "nothing was read"
        if self.cache.get("dataset") == "hit":
            return "from the cache: nothing was read"
        spent = sum(self.timings.get(stage, 0.0) for stage in ("choices", "steps"))
        ran, sources = self.reads["steps"], self.reads["sources"]
        return f"{counted(ran, 'step')} run, {counted(sources, 'source')} read, {spent:.3g} ms"

    def __repr__(self) -> str:
        head = [self.summary, *(f"! {p}" for p in self._seen.problems)]
        head += [f"warning: {warning.message}" for warning in self._seen.warnings]
        return "\n\n".join(["\n".join(head), *(repr(step) for step in self._steps.values())])

    def _repr_html_(self) -> str:
        parts = [f"<p>{_text(self.summary)}</p>"]
        parts += [f"<p class='wb-wrong'>{_text(str(problem))}</p>" for problem in self._seen.problems]
        parts += [f"<p class='wb-warn'>{_text(warning.message)}</p>" for warning in self._seen.warnings]
        return (
            f"{_STYLE}<div class='wb-look'>{''.join(parts)}{''.join(s.html() for s in self._steps.values())}</div>"
        )


def _shown(value: Cell) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."


def _side(kind: str | None) -> str:
    return "number" if kind in ("number", "integer") else "text"


def _text(text: str) -> str:
    return html.escape(text)
