"""What a reader gives (`Reading`: batches and notes of one file) and what each file format declares (`Reader`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from pydantic import JsonValue

from ..cycling.findings import Finding
from ..cycling.sign_check import BY_CONVENTION, Taken
from ..errors import FileRefused
from ..messages import quoted
from ..table import Table

if TYPE_CHECKING:
    from .file.source import Head

JsonObject: TypeAlias = dict[str, JsonValue]
Counters: TypeAlias = Literal["step", "cycle", "test"] | None
Sign: TypeAlias = Literal["charge", "discharge", "found"]
"""What a positive current means by the documentation of a format; ``found``: the samples show it."""
SIGN_RULES: dict[Sign, str] = {
    "charge": "positive charges; turned",
    "discharge": "positive discharges",
    "found": "found from how the voltage answers",
}
"""What the table of formats says of each sign."""
SIGN_OF_SPECTRA = "no current; the imaginary part is negative if capacitive, as the low frequencies show"
SIGNS = ("charge", "discharge", "unsigned")
"""What a user may say that a positive current means; ``unsigned``: states, steps or voltage show the direction."""


@dataclass
class Reading:
    """A file being read.

    ``batches`` gives tables of at most ``limits.CHUNK_ROWS`` rows. All have the same columns and kinds: canonical
    names first ("Time [s]" from 0, "Current [A]" positive on discharge, capacity and energy counters as the cycler
    wrote them but without sign), then all other columns under their own names. ``notes`` is complete after the last
    batch. ``counters``: when the counters start again at 0 (None: unknown; each fall is a new start). ``sign``: how
    the direction of the current was found. ``headers``: our name -> the column of the file that it is from.

    Taking a batch raises ``FileRefused`` if the file is damaged, and ``TooLarge`` if it is over a limit.
    """

    format: str
    batches: Iterator[Table]
    start_time: datetime | None = None
    notes: list[Finding] = field(default_factory=list)
    metadata: JsonObject = field(default_factory=dict)
    counters: Counters = None
    sign: Taken = BY_CONVENTION
    headers: dict[str, str] = field(default_factory=dict)


class LaterRows(Exception):
    """A later row of a file shows what its first rows did not: that a column is of another kind.

    Only who reads in ``one_pass`` gets it. The samples taken so far are of no use; read the file again without it.
    """


class SeveralTests(FileRefused):
    """A file holds several tests, so it is not one series. ``tests`` are their names, in the order of the file.

    A name begins with that of the cell; what follows a "/" is the test of that cell. A name that begins with "/" is of
    a file that does not name its cell.
    """

    def __init__(self, file: str, tests: tuple[str, ...], why: str) -> None:
        super().__init__(
            f"'{file}' holds {len(tests)} tests: {why}. They are {quoted(tests)}. `workbench ingest` stores each as a "
            f"measurement; in Python read one of them with read(path, test={tests[0]!r})."
        )
        self.tests = tests


class Reader(Protocol):
    """One file format: its name, how it is recognised from the content of a file, and how it is read."""

    @property
    def name(self) -> str: ...

    @property
    def brand(self) -> str: ...

    @property
    def endings(self) -> tuple[str, ...]: ...

    @property
    def about(self) -> str:
        """One sentence for the table of formats: what is read, and how it is recognised."""

    @property
    def sign_rule(self) -> str: ...

    @property
    def counters(self) -> Counters: ...

    @property
    def rule(self) -> int:
        """The number of the rule by which it reads. It rises whenever the same file gives other samples."""

    def matches(self, head: Head) -> bool:
        """Whether a file that begins so has this format."""

    def read(self, head: Head, *, column_map: Mapping[str, str] | None, sign: str | None) -> Reading: ...
