"""The samples of a nested structure, test by test: from the process that loads it to a reading."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.columns import CURRENT, FREQUENCY, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import counted, quoted, spaced
from ...units import split_unit
from .. import limits
from ..formats.canonical import COLUMNS
from ..formats.delimited import CURRENT_NAMES, VOLTAGE_NAMES
from ..reading import Counters, Reading, SeveralTests, Sign
from ..table.columns import KNOWN, plan_columns, unique_labels
from ..table.header_units import fold, split_header, time_words, unit_of
from ..table.impedance import settle_imaginary
from ..table.impedance_names import impedance_key
from ..table.several_cells import MOST_TESTS
from ..table.time_evidence import by_interval
from ..table.typed_columns import batches_of, read_typed
from .archives import unpacked
from .nested_structures import (
    ANY,
    Group,
    Part,
    Structure,
    counts,
    groups_left,
    is_spectral,
    parts_of,
    spectra_left,
    unfit_series,
    without_origin,
    without_samples,
)
from .outside_parsers import guarded
from .parser_process import Facts, Loader, TestFacts, load_in_process
from .source import Head
from .structure_tests import by_test, names_a_cell

_PART = "!"
_MOST_NAMED = 12
_MOST_SAID = 100
_DEEPEST_NAMED = 3


def samples_of(structure: Group, name: str, column_map: Mapping[str, str]) -> tuple[Facts, pa.Table]:
    """Facts, and the samples of all tests in a structure, one test after the other.

    A column map may name one of them, as in ``{"Cell2!t": "Time [s]"}``. The name of a list makes one test of its
    parts.

    Raises
    ------
    FileRefused
        If it has no vectors of time, current and voltage, or of impedance; says what it has.
    """
    wanted = {key.partition(_PART)[0] for key in column_map if _PART in key}
    plain = {key.rpartition(_PART)[2]: ours for key, ours in column_map.items()}
    with guarded(lambda why: f"'{name}' holds a structure that cannot be read ({why})."):
        found = list(parts_of(structure, plain))
    if not found:
        raise FileRefused(_without_vectors(structure, name, plain))
    tests = _wanted(by_test(found, frozenset(wanted)), wanted, name)
    if len(tests) > MOST_TESTS:
        raise FileRefused(
            f"'{name}' holds {counted(len(tests), 'test')}; at most {spaced(MOST_TESTS)} can be read from one file. "
            f"Save one cell by itself, or name one with {mapping({f'{next(iter(tests))}{_PART}its time': TIME})}."
        )
    taken: dict[tuple[str | int, ...], set[int]] = {}
    for part in found:
        taken.setdefault(part.path, set()).add(part.rows)
    left = [
        *_left_spectra(spectra_left(structure, taken)),
        *_left_matrices(structure),
        *_left_groups(groups_left(structure, taken)),
    ]
    made = [_test(test, parts, structure, plain) for test, parts in tests.items()]
    for facts, _ in made:
        if len(tests) > 1:
            facts["notes"].insert(0, _one_of(facts["name"], tests).fields)
        facts["notes"] += [note.fields for note in left]
    whole = pa.concat_tables([table for _, table in made], promote_options="permissive")
    return {"set": found[0].set.name, "tests": [facts for facts, _ in made]}, whole


def _test(
    test: str, parts: list[Part], structure: Group, column_map: Mapping[str, str]
) -> tuple[TestFacts, pa.Table]:
    notes: list[Finding] = []
    main = next((part for part in parts if not part.is_spectrum), parts[0]).set
    kept = [part for part in parts if part.set is main or part.is_spectrum]
    if len(kept) < len(parts):
        left = counted(len(parts) - len(kept), "part")
        notes.append(Finding("odd", "left_out", f"{left} with other columns than the first were left out."))
    table, start = _table(kept, notes, mapped=bool(column_map))
    first = kept[0].path[0] if kept[0].path else ""
    notes += _left_out(structure.get(str(first), structure))
    facts: TestFacts = {
        "name": test,
        "set": main.name,
        "sign": main.sign,
        "start": None if start is None else start.isoformat(),
        "notes": [note.fields for note in notes],
        "rows": table.num_rows,
        "columns": table.column_names,
        "metadata": _said_of_all(kept),
    }
    return facts, table


def _said_of_all(parts: list[Part]) -> dict[str, str | int | float]:
    """The names and numbers beside the samples, such as ``cell_id``, that are the same for all parts; at most 100."""
    first, others = parts[0].around, parts[1:]
    said = {
        key: value
        for key, value in first.items()
        if isinstance(value, str | int | float) and all(part.around.get(key) == value for part in others)
    }
    plain = {key: value for key, value in said.items() if isinstance(value, str) or math.isfinite(value)}
    return dict(itertools.islice(plain.items(), _MOST_SAID))


def _without_vectors(structure: Group, name: str, column_map: Mapping[str, str]) -> str:
    """The message about a structure without samples: what it holds instead."""
    unfit = unfit_series(structure, column_map)
    if unfit is not None:
        return f"'{name}' holds time, current and voltage, but not as samples. {unfit}"
    held = _outline(structure)
    if not held:
        return (
            f"'{name}' holds no vectors of numbers. Save the test with vectors of time, current and voltage, or as "
            "csv."
        )
    tables = _matrices(structure)
    if tables:
        return (
            f"'{name}' holds no vectors of time, current and voltage, or of frequency and impedance, but matrices: "
            f"{', '.join(tables[:_MOST_NAMED])}. Which of their columns is what, or of which cell, the file does not "
            "say. Save each column as a vector with a name, in a structure for each cell."
        )
    unknown = [(place, unit) for place, unit in _units(structure) if unit_of(without_origin(unit)) is None]
    if unknown:
        listed = ", ".join(f"'{place}' in '{unit}'" for place, unit in unknown[:_MOST_NAMED])
        first = unknown[0][0].rpartition(".")[2]
        meant = (
            "Z_Im [Ohm]"
            if impedance_key(first) == "z im"
            else "Z_Re [Ohm]"
            if is_spectral(first)
            else "Current [mA]"
        )
        return (
            f"'{name}' holds no vectors of time, current and voltage, or of frequency and impedance, in units that are "
            f"known: it has {listed}. Convert what is per mass or area of the electrode, or say what the values are "
            f"in, such as {mapping({first: meant})}."
        )
    axis = FREQUENCY if any(is_spectral(one.rpartition(".")[2]) for one in held) else TIME
    return (
        f"'{name}' holds no structure with vectors of time, current and voltage, or of frequency and impedance. It "
        f"holds {quoted(held)}. Name vectors with {mapping({'its name': axis})}, or save it as csv."
    )


def _units(structure: Structure, within: str = "") -> list[tuple[str, str]]:
    """(place, unit) of the vectors beside which a structure lists units."""
    if not isinstance(structure, dict) or within.count(".") > _DEEPEST_NAMED:
        return []
    listed = [value for key, value in structure.items() if fold(str(key)) in ("unit", "units")]
    found = [
        (f"{within}{key}", unit)
        for units in listed
        if isinstance(units, dict)
        for key, unit in units.items()
        if isinstance(unit, str)
    ]
    return found + [one for key, value in structure.items() for one in _units(value, f"{within}{key}.")]


def _matrices(structure: Structure, within: str = "", depth: int = 0) -> list[str]:
    """The names and sizes of the matrices of numbers in a structure."""
    if isinstance(structure, np.ndarray) and structure.ndim > 1 and structure.dtype.kind in "fiuc":
        return [f"'{within}' ({' x '.join(map(str, structure.shape))})"]
    if depth > _DEEPEST_NAMED or not isinstance(structure, dict):
        return []
    return [
        one
        for key, value in structure.items()
        for one in _matrices(value, f"{within}.{key}" if within else str(key), depth + 1)
    ]


def _wanted(tests: dict[str, list[Part]], wanted: set[str], file: str) -> dict[str, list[Part]]:
    """The tests that a column map names; all if it names none."""
    if not wanted:
        return tests
    if len(wanted) > 1:
        raise FileRefused(f"The column map names {quoted(sorted(wanted))} of '{file}'; a series is of one cell.")
    (one,) = wanted
    found = {name: parts for name, parts in tests.items() if _is_of(name, one) or _is_below(parts, one)}
    if not found:
        cells = dict.fromkeys(name.partition("/")[0] or name for name in tests)
        raise FileRefused(f"'{file}' has no cell '{one}'; it has {quoted(cells)}.")
    return found


def _is_of(name: str, wanted: str) -> bool:
    return name in (wanted, f"/{wanted}") or name.startswith(f"{wanted}/")


def _is_below(parts: list[Part], name: str) -> bool:
    return all(name in part.path for part in parts)


def _one_of(test: str, tests: Mapping[str, list[Part]]) -> Finding:
    """What is said of one test of several: which it is, and how a list is read as one test."""
    text = f"The file holds {counted(len(tests), 'test')}; this is '{test}'."
    part = tests[test][0]
    for before, step in itertools.pairwise(part.path):
        if isinstance(before, str) and isinstance(step, int) and not names_a_cell(before):
            time = part.plan.find(TIME) or part.plan.find(FREQUENCY)
            if time is not None:
                how = mapping({f"{before}{_PART}{time.header}": time.name})
                text += f" If '{before}' lists the parts of one test, say {how}."
            break
    return Finding("assumed", "one_of_cells", text)


def _left_spectra(places: list[str]) -> list[Finding]:
    if not places:
        return []
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    text = (
        f"{quoted(places[:_MOST_NAMED])}{more} look like impedance, but no frequency of their length is beside them. "
        "They were left out."
    )
    return [Finding("odd", "left_out", text)]


def _left_groups(groups: Mapping[str, int]) -> list[Finding]:
    made = []
    for name, held in itertools.islice(groups.items(), _MOST_NAMED):
        text = (
            f"'{name}' holds {counted(held, 'vector')} as long as the samples beside it, but no time of its own, and "
            "was left out. To keep that, save it beside the time."
        )
        made.append(Finding("odd", "left_out", text))
    if len(groups) > _MOST_NAMED:
        text = f"{counted(len(groups) - _MOST_NAMED, 'group')} more like these were left out."
        made.append(Finding("odd", "left_out", text))
    return made


def _left_matrices(structure: Structure) -> list[Finding]:
    """The warning about matrices that have the name of a current or voltage: which column is what is not known."""
    left = [
        table
        for table in _matrices(structure)
        if split_header(table.split("'")[1].rpartition(".")[2]).key in (*CURRENT_NAMES, *VOLTAGE_NAMES)
    ]
    if not left:
        return []
    one = len(left) == 1
    text = (
        f"{', '.join(left[:_MOST_NAMED])} {'is a matrix' if one else 'are matrices'}, not "
        f"{'a vector' if one else 'vectors'}, and {'was' if one else 'were'} left out."
    )
    return [Finding("odd", "left_out", text)]


def _left_out(structure: Structure) -> list[Finding]:
    left = [(word, count) for word, count in sorted(without_samples(structure).items()) if count]
    if not left:
        return []
    what = ", ".join(f"{counted(count, 'operation')} '{word}'" for word, count in left)
    one = sum(count for _, count in left) == 1
    text = f"{'has' if one else 'have'} no time or frequency in the file and {'was' if one else 'were'} left out."
    return [Finding("odd", "left_out", f"{what} {text}")]


def of_one_test(
    loader: Loader, head: Head, ending: str, column_map: Mapping[str, str] | None
) -> tuple[TestFacts, pa.Table]:
    """Facts and samples of the test of a file that is asked for, or of the only one.

    Raises
    ------
    SeveralTests
        If the file holds several and none is asked for.
    FileRefused
        If it has no test of that name, or what the loader raises.
    """
    state = head.path.stat()
    pairs = tuple((column_map or {}).items())
    facts, table = _loaded(loader, _File(head, ending, (str(head.path), state.st_size, state.st_mtime_ns)), pairs)
    tests = facts["tests"]
    if head.test is None and len(tests) > 1:
        raise SeveralTests(head.name, tuple(test["name"] for test in tests), "several cells or conditions")
    begun = 0
    for test in tests:
        if head.test is None or test["name"] == head.test:
            if test is tests[-1]:
                _loaded.cache_clear()
            return test, table.slice(begun, test["rows"]).select(test["columns"])
        begun += test["rows"]
    raise FileRefused(f"'{head.name}' has no test '{head.test}'. It has {quoted(test['name'] for test in tests)}.")


class _File:
    """A head as a cache key: heads of the same file, unchanged, are equal."""

    def __init__(self, head: Head, ending: str, identity: tuple[str, int, int]) -> None:
        self.head, self.ending, self.identity = head, ending, identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _File) and self.identity == other.identity


@lru_cache(maxsize=1)
def _loaded(loader: Loader, file: _File, column_map: tuple[tuple[str, str], ...]) -> tuple[Facts, pa.Table]:
    """All tests of a file. The last file is kept, since its tests are read one after the other."""
    head = file.head
    with unpacked(head.path, head.name, head.packed, file.ending) as path:
        return load_in_process(loader, Path(path), head.name, dict(column_map))


def reading_of(format: str, facts: TestFacts, table: pa.Table, head: Head, sign: str | None) -> Reading:
    """The reading of a test that :func:`samples_of` found."""
    notes = [Finding(**note) for note in facts["notes"]]
    table = table.rename_columns(unique_labels(table.column_names))
    plan = plan_columns(list(table.column_names), COLUMNS, file=head.name)
    shape = _Shape(format, facts["set"] or format, facts["sign"])
    reading = read_typed(shape, head.name, plan, batches_of(table), sign, notes)
    reading.metadata = {**facts["metadata"]}
    reading.start_time = None if facts["start"] is None else datetime.fromisoformat(facts["start"])
    return reading


@dataclass(frozen=True)
class _Shape:
    name: str
    brand: str
    sign: Sign
    counters: Counters = None


def _outline(structure: Structure, within: str = "", depth: int = 0) -> list[str]:
    """The names of what a structure holds."""
    if not isinstance(structure, dict) or depth > _DEEPEST_NAMED:
        return []
    names = []
    for key, value in structure.items():
        if fold(str(key)) in ("unit", "units"):
            continue
        place = f"{within}.{key}" if within else str(key)
        names += [place, *_outline(value[0] if isinstance(value, list) and value else value, place, depth + 1)]
    return names


def _table(of: list[Part], notes: list[Finding], *, mapped: bool) -> tuple[pa.Table, datetime | None]:
    """All samples, under canonical names where these are known, and when the first sample was taken."""
    for part in of:
        _settle_spectrum(part, notes, mapped=mapped)
    series = [part for part in of if not part.is_spectrum]
    notes += _assumed_units(series)
    made: dict[str, NDArray[np.float64] | pa.Array] = {}
    if series:
        joined = iter(_times(series, notes))
        made[TIME] = _joined([None if part.is_spectrum else next(joined) for part in of], of)
    for name in KNOWN:
        parts = [part.values(name) for part in of]
        if name != TIME and any(part is not None for part in parts):
            made[name] = _joined(parts, of)
    if series and series[0].set.charge is not None:
        charge = series[0].set.charge
        text = f"The set has no current. The current was derived from the counter '{charge}' over time."
        notes.append(Finding("assumed", "current_derived", text))
    lengths = [part.rows for part in of]
    for name, numbers in counts(of).items():
        if name in made:  # the file's own steps or cycles go before those of its structure
            continue
        made[name] = pa.array(np.repeat(np.array([-1 if n is None else n for n in numbers]), lengths))
    words = [part.word for part in of]
    if any(words):
        made["Operation"] = pa.array(np.repeat(np.array(words, object), lengths).tolist(), pa.string())
    free = dict.fromkeys(c.header for part in of for c in part.plan.columns if c.role == "free")
    for header in list(free)[: limits.MOST_COLUMNS - len(made)]:
        made[_name(header, made)] = _joined([part.columns.get(header) for part in of], of)
    warmth = [part.around.get("ambient_temperature") for part in of]
    if "Ambient temperature [degC]" not in made and all(isinstance(value, int | float) for value in warmth):
        made["Ambient temperature [degC]"] = np.repeat(np.array(warmth, np.float64), lengths)
    return pa.table(made), of[0].begun


def _assumed_units(series: list[Part]) -> list[Finding]:
    """The notes on units that neither the names of vectors nor what is beside them say."""
    made: dict[str, Finding] = {}
    for part, column in ((one, column) for one in series if one.set is ANY for column in one.plan.columns):
        if column.name in (CURRENT, VOLTAGE) and not column.stated:
            text = f"'{column.header}' names no unit. It was read in {split_unit(column.name)[1]}."
            made.setdefault(text, Finding("assumed", "unit", text, mapping({column.header: column.name})))
        elif column.name == TIME and not column.stated:
            unit = column.unit
            word, symbol = time_words(1.0 if unit is None else unit.times / unit.over)
            text = f"'{column.header}' names no unit. It was read as {word}."
            fix = mapping({column.header: f"Time [{symbol}]"})
            if text not in made and symbol == "s" and (times := part.values(TIME)) is not None:
                made |= {odd.message: odd for odd in by_interval(column, times)}
            made.setdefault(text, Finding("assumed", "time_unit", text, fix))
    return list(made.values())


def _settle_spectrum(part: Part, notes: list[Finding], *, mapped: bool) -> None:
    """Turn the imaginary part of a spectrum if the file writes it the other way. Notes are not repeated."""
    if not part.is_spectrum:
        return
    said: list[Finding] = []
    part.plan = replace(part.plan, columns=list(part.plan.columns))
    settle_imaginary(part.plan, pd.DataFrame(part.columns), None, mapped, said)
    notes += [note for note in said if note not in notes]


def _name(header: str, taken: Collection[str]) -> str:
    return header if header not in taken else f"{header} (file)"


def _joined(parts: Sequence[NDArray[np.float64] | None], of: list[Part]) -> pa.Array:
    values = [np.full(one.rows, np.nan) if part is None else part for part, one in zip(parts, of, strict=True)]
    whole = np.concatenate(values)
    return pa.array(whole, mask=np.isnan(whole))


def _times(of: list[Part], notes: list[Finding]) -> list[NDArray[np.float64]]:
    """(n,) times of each part on one clock: by their dates, as they are, or one part after the other."""
    raw = [part.values(TIME) for part in of]
    times = [time for time in raw if time is not None]
    begun = [part.begun for part in of]
    first = begun[0]
    if first is not None and all(moment is not None for moment in begun):
        return [
            time + (moment - first).total_seconds() for time, moment in zip(times, begun, strict=True) if moment
        ]
    if all(float(b[0]) >= float(a[-1]) for a, b in itertools.pairwise(times)):
        return times
    text = f"Time starts again in each of {counted(len(of), 'part')}; they were joined one after another."
    notes.append(Finding("assumed", "pieces_joined", text))
    made, last = [], 0.0
    for time in times:
        made.append(time - time[0] + last)
        last = float(np.nanmax(made[-1]))
    return made
