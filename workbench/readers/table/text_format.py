"""Text exports: each format declares its header names and columns, and one reader reads all of them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import pandas as pd

from ...cached_property import cached_property
from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import BadRequest, FileRefused, TooLarge, instead
from ...messages import column_map as mapping
from ...messages import option_name
from ...table import Table
from .. import limits
from ..file.source import Head, LineStream
from ..reading import SIGN_OF_SPECTRA, SIGN_RULES, SIGNS, Counters, LaterRows, Reading, Sign
from . import plain_rows, text_blocks
from .as_written import long_whole_numbers, texts_like_numbers
from .columns import From, Plan, Split, plan_columns, unique_labels
from .dates import start_notes
from .header_units import split_header
from .kinds_and_sign import Survey
from .last_line import is_cut, opens_quote
from .metadata_above import metadata_above
from .proved_units import prove_units, take_temperature
from .row_places import Places, Rewrite, tables_above
from .rows_ahead import RowsAhead
from .several_cells import (
    CellLines,
    cell_columns,
    column_of_cells,
    notes_of,
    refuse_several,
    refuse_side_by_side,
)
from .states import States
from .tables_below import only, refuse_below, section_of, sections
from .text_layout import HeaderLine, Layout, header_lines, lay_out
from .text_rows import BEYOND, Rows, refuse_nested, refuse_unread, without_fields
from .time_evidence import moments_of, take_time_of_day
from .values import one_clock, without_points

Frame = pd.DataFrame
_QUOTE = b'"'
_OPEN_QUOTE = "EOF inside string"
"""What pandas says of a quote that is not closed."""
STEP_TIME_NAMES = ("step time", "steptime", "relative time", "rel time")
"""Names of a time that starts again with each step."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class TextFormat:
    """One text export. Adding a brand is one of these: see docs/how-to/add-a-format.md.

    ``needs`` recognises the format: the header line must have one name of each group, folded as by
    ``header_units.fold``. The header line must also have all headers of ``exact`` and one of ``marks``, letter by
    letter. The first line of the file must match ``opening``. ``sign``: what a positive current means by the
    documentation of the brand; "found": the samples show it. If an export has no negative current, ``states`` give the
    direction. ``splits`` are counters of both directions. ``clocks`` are columns of date and time. ``within_step`` are
    columns of a time that starts again with each step; they are used if there is no other time. ``charges`` are
    charges of single samples; the current is computed from them if the export lacks it. ``start`` finds the start of
    the test in the lines above the header: the moment of the first row, or of time 0 with ``start_at_zero``.
    ``rewrite`` makes a function that changes each block of lines. ``settle`` sees the first rows and may change the
    plan. ``at_rest``: records at open circuit, which have no current; it is 0. ``sweep`` and ``held`` find
    the scan rate (V/s) and the potential (V) in the lines above the header: the time and the voltage of a file without
    such columns come from them. ``rule`` rises whenever the same file gives other samples than before.
    """

    name: str
    brand: str
    endings: tuple[str, ...]
    about: str
    needs: tuple[tuple[str, ...], ...]
    columns: tuple[From, ...]
    sign: Sign = "charge"
    states: States | None = None
    counters: Counters = None
    clocks: tuple[str, ...] = ()
    charges: tuple[str, ...] = ()
    within_step: tuple[str, ...] = STEP_TIME_NAMES
    splits: tuple[Split, ...] = ()
    day_first: bool = False
    start: str | None = None
    start_at_zero: bool = False
    opening: str | None = None
    exact: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()
    rewrite: Callable[[], Callable[[bytes], bytes]] | None = None
    settle: Callable[[Plan, Frame, str | None, bool, list[Finding]], None] | None = None
    at_rest: bool = False
    sweep: str | None = None
    held: str | None = None
    rule: int = 5

    @property
    def sign_rule(self) -> str:
        if self.at_rest:
            return "no current; it is 0"
        if self.settle is not None:
            return SIGN_OF_SPECTRA
        if self.sign == "found" and self.states:
            return "found from the words of a state, else from how the voltage answers"
        return SIGN_RULES[self.sign] + ("; unsigned currents by state, step or voltage" if self.states else "")

    def header(self, head: Head) -> HeaderLine | None:
        """The header line of this format; None if the file has another format."""
        if self.opening is not None and not re.search(self.opening, head.first_line):
            return None
        lines = (line for line in header_lines(head) if line.has(self.needs))
        for line in lines:
            fields = {field.strip() for field in line.fields}
            if set(self.exact) <= fields and (not self.marks or fields & set(self.marks)):
                return line
        return None

    def matches(self, head: Head) -> bool:
        return self.header(head) is not None

    def flows(self, head: Head) -> bool:
        """Whether the table that this format finds in a file has a time, a current and a voltage."""
        header = self.header(head)
        if header is None:
            return False
        plan = plan_columns(
            unique_labels(header.fields),
            self.columns,
            clocks=self.clocks,
            within_step=self.within_step,
            charges=self.charges,
        )
        timed = plan.find(TIME) is not None or plan.clock is not None
        return timed and plan.find(CURRENT) is not None and plan.find(VOLTAGE) is not None

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a file of this format; see ``readers.read``."""
        header = self.header(head) or (self._mapped_header(head, column_map) if column_map else None)
        if header is None:
            raise FileRefused(self._no_header(head, mapped=bool(column_map)))
        return read_text(self, head, header, column_map, sign)

    def _mapped_header(self, head: Head, column_map: Mapping[str, str]) -> HeaderLine | None:
        wanted = {name.strip().casefold() for name in column_map}
        for line in header_lines(head):
            if wanted <= {field.strip().strip("\ufeff").casefold() for field in line.fields}:
                return line
        # No line has all of these names. With the likeliest header, the plan says which name is not there.
        return max(header_lines(head), key=lambda line: len(line.keys), default=None)

    def _no_header(self, head: Head, *, mapped: bool) -> str:
        if head.encoding is None:
            return f"'{head.name}' is not text, but {self.brand} text was expected. Leave {option_name('format')} out."
        if mapped and not header_lines(head):
            return (
                f"'{head.name}' has no header line, so its columns have no names to map. Add a line of column names "
                "above its rows, such as 'Time [s],Current [A],Voltage [V]', or export it again with one."
            )
        names = ", ".join("'" + "' or '".join(group[:3]) + "'" for group in self.needs)
        return (
            f"'{head.name}' has no header line of the format '{self.name}': columns named {names} were expected in its "
            f"first {limits.HEAD_LINES} lines. Name yours with {mapping({'column in the file': 'Voltage [V]'})}, or "
            f"leave {option_name('format')} out."
        )


def read_text(
    format: TextFormat,
    head: Head,
    header: HeaderLine,
    column_map: Mapping[str, str] | None,
    sign: str | None,
) -> Reading:
    """Plan the columns, look at the first rows (or at all rows if there is more than one batch), set up the batches."""
    check_sign(sign)
    layout = lay_out(head, header)
    plan = plan_columns(
        layout.labels,
        format.columns,
        clocks=format.clocks,
        splits=format.splits,
        within_step=format.within_step,
        charges=format.charges,
        column_map=column_map,
        file=head.name,
    )
    refuse_side_by_side(head.name, plan)
    plan.at_rest = format.at_rest
    above = head.lines[: header.line]
    plan.sweep = abs(_setting(format.sweep, above) or 0.0) or None
    plan.held = _setting(format.held, above)
    parser = _Parser(format, head, layout, Places(head, header, layout, exact=format.rewrite is None))
    notes = [*format.remarks, *tables_above(head, header)]
    notes += _of_one_cell(parser, plan, header)
    first = parser.first()
    if parser.places.repeated and head.test is None:
        refuse_below(head, header, plan, parser.places, layout.decimal)
    refuse_unread(head.name, plan, first, layout.decimal)
    notes += without_fields(head.name, plan, first, layout.usual)
    refuse_nested(head.name, plan, first)
    take_temperature(plan, first, notes)
    take_time_of_day(plan, first, layout.decimal)
    if format.settle is not None:
        format.settle(plan, first, layout.decimal, bool(column_map), notes)
    decimal = layout.decimal
    prove_units(
        plan,
        lambda headers: first[list(headers)],
        lambda header: moments_of(first[header], decimal),
        decimal,
        notes,
    )
    notes += of_one_electrode(plan)
    states = format.states if sign in (None, "unsigned") else None
    survey = Survey(format.brand, head.name, plan, layout.decimal, format.sign, sign, states)
    survey.feed(first)
    if len(first) < parser.rows:
        frames = parser.rest(first)
    elif head.one_pass and not parser.places.repeated and not survey.rounded and survey.is_sure_of_sign():
        frames = _as_expected(parser.rest(first), survey)
    else:
        parser.end()
        survey.go_on()
        for frame in parser.frames(survey.undecided()):
            survey.feed(frame)
        frames = parser.frames()
    # Where fractions are behind a comma, the day comes first; of brands the format says it.
    settings = survey.settle(notes, format.day_first or (format.sign == "found" and layout.decimal == ","))
    parser.as_written = texts_like_numbers(plan, first, settings.kinds)
    if long := long_whole_numbers(plan, survey.rounded, parser.texts):
        parser.end()
        parser.as_written.update(long.values())
        settings.kinds.update(dict.fromkeys(long, "long integer"))
        frames = parser.frames()
    rows = Rows(head.name, plan, settings, notes, parser.places)
    batches = _batches(parser, frames, rows)
    lines = head.lines[: header.line]
    start = settings.first_clock or _start_time(format, lines, settings.first_time, notes)
    return Reading(
        format.name,
        batches,
        start,
        notes,
        metadata_above(lines, layout.delimiter),
        format.counters,
        survey.taken,
        plan.headers,
    )


def _setting(form: str | None, lines: Sequence[str]) -> float | None:
    """The number that a form finds in the lines above the header."""
    if form is None:
        return None
    found = next((m[1] for line in lines if (m := re.match(form, line))), "")
    return float(found) if _NUMBER.fullmatch(found) else None


def _of_one_cell(parser: _Parser, plan: Plan, header: HeaderLine) -> list[Finding]:
    """Narrow the parser to the rows of the cell or test that is asked for, if the file has several.

    Raises
    ------
    SeveralTests
        If it has several cells and none is asked for.
    """
    columns, head = cell_columns(plan), parser.head
    lines = {column: CellLines(plan.labels.index(column), parser.layout.delimiter) for column in columns}
    counts: dict[str, Counter[str]] = {column: Counter() for column in columns}
    counting = [lines[column].counting(counts[column]) for column in columns]

    def count(block: bytes) -> bytes:
        for one in counting:
            one(block)
        return b""

    if columns:
        parser.scan(count)
    column = column_of_cells(counts)
    if head.test is None:
        if column is not None:
            refuse_several(head.name, column, counts[column])
        return []
    if column is None:
        below = sections(head, header, plan, parser.places, parser.layout.decimal)
        section, note = section_of(below, head)
        parser.narrow(only(section))
        parser.places.is_part = True
        return [note]
    of_cell = lines[column].only(head.test)
    parser.narrow(lambda: of_cell)
    return notes_of(head.name, column, counts[column], head.test)


def of_one_electrode(plan: Plan) -> list[Finding]:
    """The note if the voltage is that of the working electrode, and the file has that of the cell or its parts too."""
    voltage = plan.find(VOLTAGE)
    if voltage is None or split_header(voltage.header).key not in ("ewe", "<ewe>"):
        return []
    keys = {split_header(label).key.strip("<>"): label for label in plan.labels}
    if "ewe-ece" in keys:
        cell = f"For that of the cell say {mapping({keys['ewe-ece']: VOLTAGE})}."
    elif "ece" in keys:
        cell = f"That of the cell is its difference to '{keys['ece']}', and is not in the file: energies are not of it."
    else:
        return []
    text = f"The voltage is '{voltage.header}', of the working electrode against the reference. {cell}"
    return [Finding("assumed", "electrode", text, mapping({voltage.header: VOLTAGE}))]


def check_sign(sign: str | None) -> None:
    """Refuse a word for the sign that is not one of ``SIGNS``.

    Raises
    ------
    BadRequest
        With the nearest word.
    """
    if sign is not None and sign not in SIGNS:
        raise BadRequest(
            f"There is no sign '{sign}'. Say what a positive current means in the file. {instead(sign, SIGNS, 'words')}"
        )


class _Parser:
    """Parses the lines of one file with pandas, in bounded batches."""

    def __init__(self, format: TextFormat, head: Head, layout: Layout, places: Places) -> None:
        self.head, self.layout, self.format, self.places = head, layout, format, places
        self.rows = max(1, min(limits.CHUNK_ROWS, limits.CHUNK_BYTES // max(layout.mean_line + 1, 1)))
        self.cut_short = False
        self._ends_in_quotes = False
        self.as_written: set[str] = set()
        """The headers of columns that are read as texts, whatever they look like."""
        self.follows = False
        """Whether it is certain that more rows follow the last frame that was given."""
        self._begun: Generator[Frame]
        self._reads_ahead = False
        self._ahead: RowsAhead | None = None
        self._block = text_blocks.ROWS
        self._only: Callable[[], Rewrite] | None = None

    def narrow(self, only: Callable[[], Rewrite]) -> None:
        """From now on give only the lines that a function of ``only`` keeps; each pass makes one. Rows have no line
        numbers then."""
        self._only = only
        self.places.exact = False

    def scan(self, see: Callable[[bytes], bytes]) -> None:
        """Show all lines to a function, in blocks of whole lines."""
        stream = self._stream(see)
        try:
            while stream.read():
                stream.batch_begins()
        finally:
            stream.close()

    @cached_property
    def _has_negative_zero(self) -> bool:
        stream = LineStream(self.head, self.layout.skip, unquote=self.layout.unquote)
        try:
            return text_blocks.has_negative_zero(stream.blocks())
        finally:
            stream.close()

    def _stream(self, then: Callable[[bytes], bytes] | None) -> LineStream:
        layout = self.layout
        rewrite = self.places.rewrite(_chained(self.format.rewrite() if self.format.rewrite else None, then))
        return LineStream(
            self.head,
            layout.skip,
            unquote=layout.unquote,
            rewrite=rewrite,
            closing=_QUOTE if self._ends_in_quotes else b"",
        )

    def first(self) -> Frame:
        """The first batch; it has fewer rows than ``rows`` only if there are no more."""
        self._begun = self.frames()
        first = next(self._begun, None)
        if first is None or first.empty:
            self.end()
            raise FileRefused(
                f"'{self.head.name}' has a header but no rows below it. If its test has just begun, the rows come "
                "later, and a watch reads them then. Otherwise export it again with its data."
            )
        if len(first) < self.rows:
            next(self._begun, None)
        return first

    def rest(self, first: Frame) -> Iterator[Frame]:
        """The first batch again, and those that follow it in the same pass."""
        self._reads_ahead = True
        if self._ahead is not None:
            self._ahead.begin()
        return itertools.chain([first], self._begun)

    def end(self) -> None:
        """End the pass of :meth:`first`: another one begins."""
        self._begun.close()
        self._reads_ahead = True

    def stop(self) -> None:
        """Wait for the rows that are parsed ahead, which nobody may want any more."""
        if self._ahead is not None:
            self._ahead.end()

    def texts(self, headers: list[str]) -> Generator[Frame]:
        """All rows of some columns as texts, in batches."""
        before, self.as_written = self.as_written, {*headers}
        try:
            yield from self.frames(headers)
        finally:
            self.as_written = before

    def frames(self, only: list[str] | None = None) -> Generator[Frame]:
        """All rows in batches, with all columns or the named ones. After the last batch, ``cut_short`` is known."""
        given = 0
        while True:
            frames = self._pass(only)
            try:
                for frame in itertools.islice(frames, given, None):
                    given += 1
                    yield frame
                return
            except text_blocks.NotTheSame:
                self._block = self.rows
            except _EndsInQuotes:
                self._ends_in_quotes = True
            finally:
                frames.close()

    def _pass(self, only: list[str] | None) -> Generator[Frame]:
        layout = self.layout
        stream = self._stream(None if self._only is None else self._only())
        ahead: RowsAhead | None = None
        try:
            plain, by_pandas = self._plain(stream, only), partial(self._by_pandas, stream, only)
            self._ahead = ahead = RowsAhead(self.rows, plain, by_pandas, stream.batch_begins)
            done = 0
            while True:
                frame = ahead.next()
                done += len(frame)
                if done > limits.MOST_ROWS:
                    raise TooLarge(f"'{self.head.name}' has more than {limits.MOST_ROWS} rows. Split the file.")
                self.follows = ahead.follows
                if self._reads_ahead:
                    ahead.begin()
                yield without_points(frame, layout.by_points)
        except (StopIteration, pd.errors.EmptyDataError):
            self.cut_short = self._ends_in_quotes or is_cut(stream.tail, layout.delimiter, layout.whole_rows)
        except (pd.errors.ParserError, UnicodeError, OverflowError, MemoryError, ValueError) as error:
            if (
                _OPEN_QUOTE in str(error)
                and not self._ends_in_quotes
                and opens_quote(stream.tail, layout.delimiter)
            ):
                raise _EndsInQuotes from None
            raise stream.failure or _refused(self.head.name, error) from None
        finally:
            if ahead is not None:
                ahead.end()
            self._ahead = None
            self.places.nuls = max(self.places.nuls, stream.nuls)
            self.places.unread = max(self.places.unread, stream.unread)
            stream.close()

    def _plain(self, stream: LineStream, only: list[str] | None) -> plain_rows.PlainRows | None:
        """The rows of a text as long as it is plain; None if it is not, or nothing is compiled here."""
        layout = self.layout
        mark, decimal = layout.delimiter, layout.decimal or "."
        parser = plain_rows.PARSER
        if parser is None or self.as_written or layout.thousands or layout.blanks:
            return None
        if len(mark) != 1 or mark in f' "{decimal}' or not mark.isascii() or self._ends_in_quotes:
            return None
        return plain_rows.PlainRows(parser, stream, [*layout.labels, BEYOND], mark, decimal, only)

    def _by_pandas(self, stream: LineStream, only: list[str] | None, read: bytes) -> Callable[[int], Frame]:
        """The next rows of a text, of which some was ``read`` already, parsed by pandas."""
        layout = self.layout
        stream.give_back(read)
        names = [*layout.labels, BEYOND]
        # With a header line of our own pandas knows the width: it fills short rows, and cuts long ones for usecols.
        stream.give_back(layout.delimiter.join(map(str, range(len(names)))).encode() + b"\n")
        reader = pd.read_csv(
            # The stubs of pandas lack this combination of options.
            stream,  # type: ignore[call-overload]
            sep=layout.delimiter,
            header=0,
            names=names,
            usecols=names if only is None else only,
            dtype={label: "str" for label in self.as_written if only is None or label in only} or None,
            index_col=False,
            decimal=layout.decimal or ".",
            thousands="," if layout.thousands else None,
            na_values=plain_rows.NOT_NUMBERS,
            skipinitialspace=layout.blanks,
            low_memory=False,
            iterator=True,
        )
        return lambda rows: text_blocks.batch(reader, rows, self._block, lambda: self._has_negative_zero)


class _EndsInQuotes(Exception):
    """A text whose last line opens a quote that it does not close, since it was cut there."""


def _chained(first: Rewrite | None, then: Rewrite | None) -> Rewrite | None:
    """Both functions, one after the other."""
    if first is None or then is None:
        return first or then
    return lambda block: then(first(block))


def _refused(name: str, error: Exception) -> FileRefused:
    said = str(error).strip().splitlines()
    reason = said[-1].removeprefix("Error tokenizing data. C error: ") if said else type(error).__name__
    return FileRefused(
        f"'{name}' cannot be cut into rows and columns ({reason[:200]}). A plain text export with one header line "
        "was expected. Export it again, or open it and remove what is not data."
    )


def _as_expected(frames: Iterator[Frame], survey: Survey) -> Iterator[Frame]:
    """The frames of a file whose first one the survey has seen.

    Raises
    ------
    LaterRows
        At the first one that shows something else.
    """
    first = next(frames)
    watched = survey.undecided()
    yield first
    for frame in frames:
        if survey.learns_from(frame[watched]):
            raise LaterRows
        yield frame


def _batches(parser: _Parser, frames: Iterator[Frame], rows: Rows) -> Iterator[Table]:
    def marked() -> Iterator[tuple[Frame, bool]]:
        # A batch that may be the last is held back: whether its last line is incomplete is known only at the end.
        held: Frame | None = None
        for frame in frames:
            if held is not None:
                yield held, False
            held = None if parser.follows else frame
            if held is None:
                yield frame, False
        if held is not None:
            yield held, parser.cut_short

    try:
        yield from rows.batches(marked())
    finally:
        parser.stop()


def _start_time(
    format: TextFormat, lines: tuple[str, ...], first_time: float, notes: list[Finding]
) -> datetime | None:
    """The start of the test from the lines above the header; None if they do not have it."""
    for line in lines if format.start else ():
        found = re.search(str(format.start), line)
        begun = one_clock(found[1], format.day_first) if found else None
        if found and begun is not None:
            notes.extend(start_notes(found[1], format.day_first))
            return begun + timedelta(seconds=first_time) if format.start_at_zero else begun
    return None
