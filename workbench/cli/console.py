"""What the command line prints: tables, problems, JSON, and a bar for work that takes its time."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, TypeAlias

import orjson
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table as Grid

from ..errors import Problem
from ..messages import spaced

IN_A_PIPE = 200
"""Columns if the output is not a terminal and nothing says how wide it is."""


# A terminal acts on these: they move, overwrite, hide and turn around what was said, and some write the clipboard.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


_NOT_ASCII = re.compile("[^\x00-\x7f]")


def harmless(text: str) -> str:
    """Text of a file or of somebody's script for a terminal: control characters are shown, not sent."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


Printed: TypeAlias = Any
"""What rich or orjson can print."""


class _Console(Console):
    """A console that sends a terminal no control characters but its own."""

    def print(self, *objects: Printed, **more: Printed) -> None:
        super().print(*(harmless(one) if isinstance(one, str) else one for one in objects), **more)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Whatever is printed becomes segments: the cells of a table, a report, the line of a progress bar."""
        for one in super().render(renderable, options):
            yield one if one.control else one._replace(text=harmless(one.text))


def _console(*, stderr: bool = False) -> Console:
    console = _Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = IN_A_PIPE
    return console


out = _console()
err = _console(stderr=True)
BEFORE_BAR = 0.5
"""Seconds of work before a bar shows itself."""


def print_everywhere() -> None:
    """From now on a sign that the encoding of the output does not have is shown as its number, in place of an error: a
    terminal need not have UTF-8, and names are in all scripts."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.errors == "strict" or not _is_unicode(stream)):
            stream.reconfigure(errors="backslashreplace")


def _is_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "utf").lower().startswith("utf")


def print_json(value: Printed) -> None:
    """Print a value as JSON; date-times as text."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    text = orjson.dumps(value, option=options, default=str).decode()
    # JSON escapes the first 32 by itself; the others are in texts, where the escape means the same.
    text = _CONTROL.sub(_escaped, text)
    sys.stdout.write((text if _is_unicode(sys.stdout) else _NOT_ASCII.sub(_escaped, text)) + "\n")


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]


def print_rows(rows: Sequence[Mapping[str, Printed]], columns: Sequence[str], title: str | None = None) -> None:
    """Print rows as a table, numbers to the right."""
    grid = Grid(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | None) for row in rows)
        grid.add_column(column, justify="right" if numeric and rows else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(_cell(row.get(column)) for column in columns))
    out.print(grid)


def _cell(value: Printed) -> str:
    if value is None:
        return ""
    return (
        spaced(value) if isinstance(value, int) and not isinstance(value, bool) else escape(harmless(str(value)))
    )


def print_problems(problems: Sequence[Problem]) -> None:
    """Print every problem with its place; of a script also the line."""
    for problem in problems:
        err.print(str(problem), style="red", markup=False, soft_wrap=True)
        if "text" in problem.ctx:
            err.print(f"    line {problem.ctx['line']}: {problem.ctx['text']}", markup=False, soft_wrap=True)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on the terminal's error output once the work has taken a moment; called with (done, of, what)."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=err, transient=True)
    task = bar.add_task(label, total=None)
    showing = threading.Timer(BEFORE_BAR, bar.start)
    showing.daemon = True

    def step(done: int, of: int, what: str) -> None:
        counted = f"{label} {done}/{of} {what}" if of else f"{label} {what}"
        bar.update(task, completed=done, total=of or None, description=counted.rstrip()[:70])

    if err.is_terminal:
        showing.start()
    try:
        yield step
    finally:
        showing.cancel()
        if showing.is_alive():
            showing.join()
        if bar.live.is_started:
            bar.stop()
