"""One file, read, conformed, checked and summarised; nothing of it touches the store yet."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, TypedDict

import numpy as np

from ...cycling import columns as c
from ...cycling.conform import Conformer, Counting, Known, SecondLook
from ...cycling.counted_cycles import largest_move
from ...cycling.cycles import cycles_of
from ...cycling.findings import Finding
from ...cycling.steps import START_INDEX
from ...errors import FileRefused, TooLarge
from ...exchange import passport_of
from ...messages import counted, spaced
from ...readers import LaterRows, Reading, read
from ...table import Column, Table
from ..limits import Limits, RecordFields
from ..plan.paths import shown
from ..plan.read_options import ReadOptions, SaidReading
from . import samples_file
from .cycler_step_types import CyclerStepTypes
from .exported import Brought, Restored, restored
from .joined_parts import Joined
from .live_file import Snapshot, snapshot
from .scale_check import scale_findings
from .tests_apart import TestsApart
from .tests_below import TestsBelow
from .time_zone import in_zone, local_start

_LOOKS = 4
_CHUNK = 1 << 20
_ROWS = 1 << 18
_COUNTING: dict[str, Counting] = {"count": "always", "file": "never"}


class FileFacts(TypedDict):
    """A file by its name, and by the hash and the number of its bytes."""

    name: str
    sha256: str
    size: int


@dataclass
class Prepared:
    """What is known of a file whose samples wait in a spool: ``series`` in batches, then ``steps`` and ``cycles``."""

    format: str
    rows: int
    steps: int
    cycles: int
    file_hash: str
    content_hash: str
    size: int
    start_time: str | None
    duration: float | None
    kept: list[str]
    findings: list[Finding]
    metadata: RecordFields
    files: list[FileFacts]
    said: SaidReading
    capacity: float | None
    voltage_min: float | None
    voltage_max: float | None
    cycle_starts: list[int] | None = None
    """The samples at which each cycle after the first begins, where cycles were counted: ``series`` in the spool has
    other numbers."""
    brought: Brought | None = None
    """What an exported file says of its records."""
    filled: bool = False
    """The test shows the cell going from full to empty: see `goes_from_full_to_empty`."""
    again: bool = False
    """The spool was emptied and written anew: the file was read more than once."""

    def as_dict(self) -> RecordFields:
        return asdict(self)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Prepared:
        return cls(**{**raw, "findings": [Finding(**finding) for finding in raw["findings"]]})


def prepare(path: Path, options: ReadOptions, file: IO[bytes]) -> Prepared:
    """Read the file at ``path`` and leave its samples, steps and cycles in ``file``, an empty spool.

    A file is read again if its first reading showed something that its samples depend on, or if it was rewritten
    meanwhile; what was spooled is dropped then. Memory is bounded by a batch.

    Raises
    ------
    FileRefused, TooLarge
        With a sentence for the person; the spool is of no use then.
    """
    deadline = time.monotonic() + options.limits.seconds
    named = [path, *(Path(part) for part in options.parts)]
    with ExitStack() as stack:
        shots = [stack.enter_context(snapshot(one)) for one in named] if options.whole_lines else []
        paths = [shot.path for shot in shots] or named
        held = [_held_back(shot) for shot in shots if shot.held]
        facts = stack.enter_context(_Facts(paths, deadline, options.limits))
        known, one_pass, again = Known(), True, False
        for _ in range(_LOOKS + 1):
            again |= samples_file.emptied(file)
            try:
                prepared = _prepared(paths, options, file, known, deadline, facts, one_pass=one_pass)
            except SecondLook as look:
                known = look.known
            except LaterRows:
                one_pass = False
            else:
                prepared.again |= again
                if not facts.rewritten():
                    prepared.findings += held
                    return prepared
                facts = stack.enter_context(_Facts(paths, deadline, options.limits))
    raise FileRefused(
        f"'{path.name}' gave different data each time it was read. Ingest it when nothing writes to it."
    )


def _prepared(
    paths: Sequence[Path],
    options: ReadOptions,
    file: IO[bytes],
    known: Known,
    deadline: float,
    facts: _Facts,
    *,
    one_pass: bool,
) -> Prepared:
    exported = len(paths) == 1 and options.said().keys() <= {"version"} and passport_of(paths[0])
    if exported and (found := restored(exported, paths[0], file, options.limits, deadline)):
        return _exported(found, options, facts.found())
    again = samples_file.emptied(file)
    joined = Joined(
        [_reading(path, options, one_pass=one_pass) for path in paths],
        [path.name for path in paths],
    )
    reading = joined.first
    conformer = Conformer(
        rated_capacity_ah=options.rated_capacity_ah,
        rated_voltage_v=options.rated_voltage_v,
        known=known,
        repair=options.repair,
        settled=options.sign is not None,
        taken=reading.sign,
        headers=reading.headers,
        local_start=local_start(reading),
        count=_COUNTING.get(options.cycles or ""),
    )
    content = samples_file.ContentHash()
    words = CyclerStepTypes()
    apart = TestsApart((options.column_map or {}).values())
    below = TestsBelow()
    kept: list[str] = []
    for batch in _bounded(joined.batches(), paths[0], deadline, options.limits):
        apart.feed(batch)
        below.feed(batch)
        conformed = conformer.feed(batch)
        kept = conformer.kept
        content.feed(conformed)
        words.feed(conformed)
        samples_file.put(file, "series", conformed, unsure=conformer.may_look_again)
    steps, findings = conformer.finish()
    findings += apart.findings(paths[0].name)
    if "time" not in options.repair:
        below.refuse(paths[0].name, reading.headers)
    steps = words.added_to(steps)
    findings += words.findings(steps, options.rated_capacity_ah)
    cycle_starts = None
    if conformer.cycles is not None:
        begins = np.flatnonzero(np.diff(conformer.cycles)) + 1
        cycle_starts = steps[START_INDEX].values[begins].tolist()
        content.replace(c.CYCLE_COUNT, _cycle_numbers(cycle_starts, conformer.survey.rows))
    cycles = cycles_of(steps)
    samples_file.put(file, "steps", steps)
    samples_file.put(file, "cycles", cycles)
    survey = conformer.survey
    notes = [*joined.notes(), *([_changed_since(paths[0])] if exported else [])]
    # A warning stays beside an assumption of the same code: it says that the assumption looks wrong.
    noted = {(note.level, note.code) for note in notes}
    capacity = largest_capacity(steps, cycles)
    findings += scale_findings(survey, capacity, options.rated_capacity_ah, reading.headers)
    files = facts.found()
    return Prepared(
        format=reading.format,
        rows=survey.rows,
        steps=steps.n,
        cycles=cycles.n,
        file_hash=hash_of_all([file["sha256"] for file in files]),
        content_hash=content.hexdigest(),
        size=sum(one["size"] for one in files),
        start_time=None if reading.start_time is None else _iso(reading.start_time),
        duration=survey.clock.duration,
        kept=kept,
        findings=[*notes, *(finding for finding in findings if (finding.level, finding.code) not in noted)],
        metadata=reading.metadata,
        files=files,
        said=options.said(),
        capacity=capacity,
        voltage_min=survey.lowest_voltage if survey.lowest_voltage <= survey.highest_voltage else None,
        voltage_max=survey.highest_voltage if survey.lowest_voltage <= survey.highest_voltage else None,
        filled=goes_from_full_to_empty(steps),
        cycle_starts=cycle_starts,
        again=again,
    )


def _cycle_numbers(starts: list[int], rows: int) -> Iterator[Column]:
    for row in range(0, rows, _ROWS):
        yield samples_file.cycle_numbers(starts, row, min(_ROWS, rows - row))


def _exported(found: Restored, options: ReadOptions, files: list[FileFacts]) -> Prepared:
    survey, measurement = found.survey, found.passport.measurement
    return Prepared(
        format="exported",
        rows=survey.rows,
        steps=found.steps.n,
        cycles=found.cycles.n,
        file_hash=hash_of_all([file["sha256"] for file in files]),
        content_hash=found.content_hash,
        size=sum(one["size"] for one in files),
        start_time=measurement.get("start_time"),
        duration=survey.clock.duration,
        kept=[],
        findings=[],
        metadata=measurement.get("test_setup") or {},
        files=files,
        said=options.said(),
        capacity=largest_capacity(found.steps, found.cycles),
        voltage_min=survey.lowest_voltage if survey.lowest_voltage <= survey.highest_voltage else None,
        voltage_max=survey.highest_voltage if survey.lowest_voltage <= survey.highest_voltage else None,
        brought=found.brought,
    )


def _held_back(shot: Snapshot) -> Finding:
    size = counted(shot.held, "byte")
    message = (
        f"The last line of '{shot.path.name}' is not complete yet ({size}). It is read when the next line begins. If "
        "the file ends there, ingest it."
    )
    return Finding("assumed", "unfinished_line", message)


def _changed_since(path: Path) -> Finding:
    message = (
        f"'{path.name}' was exported by the workbench and is not as it was written, so it is read as an ordinary file: "
        "nothing is taken over of its cell, its records, its exclusions and the kinds of its columns."
    )
    return Finding("odd", "changed_since_export", message)


def _reading(path: Path, options: ReadOptions, *, one_pass: bool) -> Reading:
    reading = read(
        path,
        format=options.format,
        column_map=options.column_map,
        sign=options.sign,
        test=options.test,
        one_pass=one_pass,
    )
    return reading if options.zone is None else in_zone(reading, options.zone)


class _Facts:
    """The facts of files as they were before they were read: a thread hashes large ones meanwhile.

    A file that grows is hashed up to where it ended, so that what was added is not taken for known.

    Raises
    ------
    FileRefused
        If a file cannot be read.
    """

    def __init__(self, paths: Sequence[Path], deadline: float, limits: Limits) -> None:
        self._paths, self._deadline, self._limits = paths, deadline, limits
        self._before = [_state_of(path) for path in paths]
        self._unwanted = threading.Event()
        self._found: list[FileFacts] = []
        self._failure: Exception | None = None
        self._thread: threading.Thread | None = None
        if sum(size for size, _ in self._before) > _CHUNK:
            self._thread = threading.Thread(target=self._hash_aside, daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads are allowed
                self._thread = None

    def __enter__(self) -> _Facts:
        return self

    def __exit__(self, *_: object) -> None:
        self._unwanted.set()
        if self._thread is not None:
            self._thread.join()

    def found(self) -> list[FileFacts]:
        """The facts, as soon as all are known."""
        if self._thread is not None:
            self._thread.join()
            if self._failure is not None:
                raise self._failure
        if not self._found:
            self._hash()
        return self._found

    def rewritten(self) -> bool:
        """Whether a file was written while it was read, other than at its end. What is gone was read."""
        try:
            now = [_state_of(path) for path in self._paths]
        except FileRefused:
            return False
        return any(
            changed != when and size <= before
            for (before, when), (size, changed) in zip(self._before, now, strict=True)
        )

    def _hash_aside(self) -> None:
        try:
            self._hash()
        except Exception as error:  # it belongs to whoever asks for the facts
            self._failure = error

    def _hash(self) -> None:
        found = [self._of(path, size) for path, (size, _) in zip(self._paths, self._before, strict=True)]
        self._found = found

    def _of(self, path: Path, most: int) -> FileFacts:
        state, size = hashlib.sha256(), 0
        try:
            with path.open("rb") as file:
                while (chunk := file.read(min(_CHUNK, most - size))) and not self._unwanted.is_set():
                    state.update(chunk)
                    size += len(chunk)
                    _in_time(path, self._deadline, self._limits)
        except OSError as error:
            raise _unreadable(path, error) from None
        return {"name": shown(path.name), "sha256": state.hexdigest(), "size": size}


def _state_of(path: Path) -> tuple[int, int]:
    """The size of a file, and when it was changed last."""
    if not path.exists():
        raise FileRefused(f"There is no file '{path}'.")
    if not path.is_file():
        raise FileRefused(f"'{path}' is not an ordinary file.")
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
    except OSError as error:
        raise _unreadable(path, error) from None
    return about.st_size, about.st_mtime_ns


def _unreadable(path: Path, error: OSError) -> FileRefused:
    return FileRefused(f"'{path}' cannot be read: {error.strerror or error}.")


def hash_of_all(hashes: Sequence[str]) -> str:
    """The hash of a file; of several parts, of their hashes in their order."""
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def _bounded(batches: Iterator[Table], path: Path, deadline: float, limits: Limits) -> Iterator[Table]:
    rows = 0
    for batch in batches:
        rows += batch.n
        if rows > limits.rows:
            raise TooLarge(f"'{path.name}' has more than {counted(limits.rows, 'row')}.")
        if len(batch) > limits.columns:
            raise TooLarge(
                f"'{path.name}' has {counted(len(batch), 'column')}; at most {spaced(limits.columns)} can be stored."
            )
        _in_time(path, deadline, limits)
        yield batch


def _in_time(path: Path, deadline: float, limits: Limits) -> None:
    if time.monotonic() > deadline:
        raise TooLarge(f"Reading '{path.name}' took longer than {limits.seconds:g} s.")


def largest_capacity(steps: Table, cycles: Table) -> float | None:
    """The most charge that one cycle passed either way, A.h, and no more than passed without a turn: a cycle of the
    cycler's counter may hold two charges."""
    out, back = (np.nan_to_num(steps[name].floats(), nan=0.0) for name in c.COUNTERS[:2])
    without_turn = largest_move(np.cumsum(out - back)) or None
    if cycles.n == 1:
        return without_turn
    found = [
        value
        for name in ("Discharge capacity [A.h]", "Charge capacity [A.h]")
        for value in cycles[name].tolist()
        if value is not None and math.isfinite(value)
    ]
    most = max(found, default=None)
    return most if most is None or without_turn is None else min(most, without_turn)


_NEAR = 0.02
"""Volts within which a voltage is the highest or the lowest of a test."""
_TAPERED = 0.75
"""The mean current of a charge at constant voltage is below this share of its largest."""


def goes_from_full_to_empty(steps: Table) -> bool:
    """Whether a test fills the cell and then empties it: its highest voltage is held while the current of a charge
    falls, and a later discharge ends at its lowest voltage."""
    if not steps.n:
        return False
    last, lowest, highest, spread, mean, strongest = (
        steps[name].floats()
        for name in (
            "End voltage [V]",
            "Min voltage [V]",
            "Max voltage [V]",
            "Std voltage [V]",
            "Mean current [A]",
            "Min current [A]",
        )
    )
    if np.isnan(highest).all() or np.isnan(lowest).all():
        return False
    with np.errstate(invalid="ignore"):
        held = (mean < 0) & (spread < 0.01) & (last >= np.nanmax(highest) - _NEAR) & (mean > _TAPERED * strongest)
        emptied = (mean > 0) & (last <= np.nanmin(lowest) + _NEAR)
    full = np.flatnonzero(held)
    return bool(len(full) and emptied[full[0] :].any())


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")
