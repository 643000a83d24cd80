"""MATLAB files: the structures of public ageing sets, and any with vectors of time, current and voltage."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.columns import TIME
from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import column_map as mapping
from ...messages import counted, quoted
from .. import limits
from ..file.archives import unpacked
from ..file.nested_structures import Group, Part, Structure, counts, parts_of, without_samples
from ..file.outside_parsers import guarded
from ..file.parser_process import Facts, Job, load_in_process
from ..file.source import Head
from ..reading import Counters, Reading, Sign
from ..table.columns import KNOWN, From, plan_columns, unique_labels
from ..table.header_units import split_header
from ..table.typed_columns import batches_of, read_typed

_PART = "!"
_COMPRESSED = 15
_OWN = tuple(From(name, (split_header(name).key,)) for name in KNOWN)


@dataclass(frozen=True)
class Matlab:
    """MATLAB files up to version 7. Those of version 7.3 are HDF5 (``hdf5.py``) and use `samples_of` too."""

    name: str = "matlab"
    brand: str = "MATLAB"
    endings: tuple[str, ...] = (".mat",)
    about: str = (
        "Structures of public ageing sets (NASA, Oxford, Severson, XJTU and others) and any with vectors of time, "
        "current and voltage."
    )
    sign: Sign = "found"
    sign_rule: str = "as each set documents it, else found from how the voltage answers"
    counters: Counters = None
    rule: int = 1

    def matches(self, head: Head) -> bool:
        return head.data.startswith(b"MATLAB 5.0 MAT-file")

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .mat file; see ``readers.read``."""
        with unpacked(head.path, head.name, head.packed, ".mat") as path:
            facts, table = load_in_process(loaded, path, head.name, column_map)
        return reading_of(self.name, facts, table, head, sign)


def loaded(job: Job) -> tuple[Facts, pa.Table]:
    """Facts and samples of the .mat file of a job. It runs in a process of its own."""
    path, name = Path(job["path"]), job["name"]
    _check(path, name)
    with guarded(lambda why: f"'{name}' is a damaged MATLAB file ({why}). Save it again."):
        found = _loaded(path)
    structure = {key: value for key, value in found.items() if not key.startswith("__")}
    return samples_of(structure, name, job["column_map"])


def _loaded(path: Path) -> Group:
    from scipy.io import loadmat  # slow to import, and few files are of MATLAB

    found: Group = loadmat(str(path), appendmat=False, simplify_cells=True, verify_compressed_data_integrity=True)
    return found


def _check(path: Path, name: str) -> None:
    """Refuse a file whose variables unpack to more than the limit of memory."""
    total = 0
    with open(path, "rb") as file:
        file.seek(126)
        order: Literal["little", "big"] = "little" if file.read(2) == b"IM" else "big"
        while tag := file.read(8):
            kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
            if kind == _COMPRESSED:
                total += _unpacked_size(file.read(size), name)
            else:
                file.seek(size, 1)
            if total > limits.MOST_IN_MEMORY:
                raise TooLarge(f"'{name}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB.")


def _unpacked_size(data: bytes, name: str) -> int:
    machine, total, rest = zlib.decompressobj(), 0, data
    try:
        while rest and not machine.eof:
            total += len(machine.decompress(rest, 1 << 22))
            rest = machine.unconsumed_tail
            if total > limits.RATIO_FREE and total > limits.MOST_RATIO * len(data):
                raise TooLarge(f"'{name}' unpacks to more than {limits.MOST_RATIO} times its size.")
    except zlib.error as error:
        raise FileRefused(f"'{name}' is a damaged MATLAB file ({error}). Save it again.") from None
    return total


def samples_of(structure: Group, name: str, column_map: Mapping[str, str]) -> tuple[Facts, pa.Table]:
    """Facts, and the samples of all parts of one cell in a structure, one after the other.

    If a file holds several cells, the first is read, or the one that a column map names, as in
    ``{"Cell2!t": "Time [s]"}``.

    Raises
    ------
    FileRefused
        If it has no vectors of time, current and voltage; says what it has.
    """
    wanted = {key.partition(_PART)[0] for key in column_map if _PART in key}
    plain = {key.rpartition(_PART)[2]: ours for key, ours in column_map.items()}
    with guarded(lambda why: f"'{name}' holds a structure that cannot be read ({why})."):
        found = list(parts_of(structure, plain))
    if not found:
        raise FileRefused(
            f"'{name}' holds no structure with vectors of time, current and voltage. It holds "
            f"{quoted(_outline(structure))}. Name vectors with {mapping({'its name': 'Time [s]'})}, or save it as csv."
        )
    notes: list[Finding] = []
    chosen = _one_cell(found, wanted, name, notes)
    table, start = _table(chosen, notes)
    notes += _left_out(structure.get(_cell(chosen[0]), structure))
    facts: Facts = {
        "set": chosen[0].set.name,
        "sign": chosen[0].set.sign,
        "start": None if start is None else start.isoformat(),
        "notes": [note.fields for note in notes],
    }
    return facts, table


def _left_out(structure: Structure) -> list[Finding]:
    left = [(word, count) for word, count in sorted(without_samples(structure).items()) if count]
    if not left:
        return []
    what = ", ".join(f"{counted(count, 'operation')} '{word}'" for word, count in left)
    one = sum(count for _, count in left) == 1
    text = f"{'has' if one else 'have'} no time or frequency in the file and {'was' if one else 'were'} left out."
    return [Finding("odd", "left_out", f"{what} {text}")]


def reading_of(format: str, facts: Facts, table: pa.Table, head: Head, sign: str | None) -> Reading:
    """The reading of what :func:`samples_of` found."""
    notes = [Finding(**note) for note in facts["notes"]]
    table = table.rename_columns(unique_labels(table.column_names))
    plan = plan_columns(list(table.column_names), _OWN, file=head.name)
    reading = read_typed(
        _Shape(format, facts["set"] or format, facts["sign"]), head.name, plan, batches_of(table), sign, notes
    )
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
    if not isinstance(structure, dict) or depth > 3:
        return []
    names = []
    for key, value in structure.items():
        place = f"{within}.{key}" if within else str(key)
        names += [place, *_outline(value[0] if isinstance(value, list) and value else value, place, depth + 1)]
    return names


def _cell(part: Part) -> str:
    """The cell of a part: its variable, with its number if a batch holds several cells."""
    first = str(part.path[0]) if part.path else ""
    number = next((step for step in part.path[1:3] if isinstance(step, int)), None)
    return f"{first} {number + 1}" if first == "batch" and number is not None else first


def _one_cell(found: list[Part], wanted: set[str], file: str, notes: list[Finding]) -> list[Part]:
    cells = list(dict.fromkeys(_cell(part) for part in found))
    if wanted and not wanted <= set(cells):
        raise FileRefused(f"'{file}' has no cell {quoted(sorted(wanted - set(cells)))}; it has {quoted(cells)}.")
    if len(wanted) > 1:
        raise FileRefused(f"The column map names {quoted(sorted(wanted))} of '{file}'; a series is of one cell.")
    chosen = wanted.pop() if wanted else cells[0]
    kept = [part for part in found if _cell(part) == chosen]
    kept = [part for part in kept if part.set is kept[0].set]
    if len(cells) > 1:
        others = quoted(cell for cell in cells if cell != chosen)
        how = mapping({f"{next(cell for cell in cells if cell != chosen)}{_PART}its time": TIME})
        text = f"'{chosen}' was read of {counted(len(cells), 'cell')}; for {others} name one with it, as in {how}."
        notes.append(Finding("assumed", "cells", text))
    return kept


def _table(of: list[Part], notes: list[Finding]) -> tuple[pa.Table, datetime | None]:
    """All samples, under canonical names where these are known, and when the first sample was taken."""
    times = _times(of, notes)
    made: dict[str, NDArray[np.float64] | pa.Array] = {TIME: np.concatenate(times)}
    for name in KNOWN:
        parts = [part.values(name) for part in of]
        if name != TIME and any(part is not None for part in parts):
            made[name] = _column(parts, of)
    if of[0].set.charge is not None:
        text = f"The set has no current. The current was derived from the counter '{of[0].set.charge}' over time."
        notes.append(Finding("assumed", "current_derived", text))
    lengths = [len(time) for time in times]
    for name, numbers in counts(of).items():
        made[name] = pa.array(np.repeat(np.array([-1 if n is None else n for n in numbers]), lengths))
    words = [part.word for part in of]
    if any(words):
        made["Operation"] = pa.array(np.repeat(np.array(words, object), lengths).tolist(), pa.string())
    free = dict.fromkeys(c.header for part in of for c in part.plan.columns if c.role == "free")
    for header in list(free)[: limits.MOST_COLUMNS - len(made)]:
        made[_name(header, made)] = _column([part.columns.get(header) for part in of], of)
    warmth = [part.around.get("ambient_temperature") for part in of]
    if "Ambient temperature [degC]" not in made and all(isinstance(value, int | float) for value in warmth):
        made["Ambient temperature [degC]"] = np.repeat(np.array(warmth, np.float64), lengths)
    return pa.table(made), of[0].begun


def _name(header: str, taken: Collection[str]) -> str:
    return header if header not in taken else f"{header} (file)"


def _column(parts: Sequence[NDArray[np.float64] | None], of: list[Part]) -> pa.Array:
    lengths = [len(next(iter(part.columns.values()))) for part in of]
    values = [np.full(n, np.nan) if part is None else part for part, n in zip(parts, lengths, strict=True)]
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


MATLAB = Matlab()
