"""BioLogic .mpr, read with galvani or yadg if the user has installed them: the GPL keeps both out of our extras."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.columns import CURRENT, TIME
from ...cycling.findings import Finding
from ...errors import FileRefused
from ..file.archives import unpacked
from ..file.outside_parsers import guarded
from ..file.parser_process import Facts, Job, load_in_process
from ..file.source import Head
from ..reading import Counters, Reading, Sign
from ..table.columns import plan_columns, unique_labels
from ..table.typed_columns import batches_of, read_typed
from .biologic import BIOLOGIC
from .rest import without_current

_SIGNATURE = b"BIO-LOGIC MODULAR FILE"
_CHARGES = {"dq/mA.h": 3.6, "dQ/mA.h": 3.6, "dQ/C": 1.0}
"""Columns with the charge of each sample -> the coulombs in one of their unit."""
_CURRENTS = ("I/mA", "<I>/mA", "I/A")
LIBRARIES = ("galvani.BioLogic", "yadg.extractors")
"""What a process of its own imports for it, before it is locked."""


@dataclass(frozen=True)
class ModularFile:
    """What EC-Lab and BT-Lab write while they measure."""

    name: str = "biologic-mpr"
    brand: str = "BioLogic"
    endings: tuple[str, ...] = (".mpr",)
    about: str = (
        "Binary of EC-Lab and BT-Lab; known by its first bytes. Read if you have installed galvani or yadg (GPL)."
    )
    sign: Sign = "charge"
    sign_rule: str = BIOLOGIC.sign_rule
    counters: Counters = None
    rule: int = 2

    def matches(self, head: Head) -> bool:
        return head.data.startswith(_SIGNATURE)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .mpr file; see ``readers.read``."""
        with unpacked(head.path, head.name, head.packed, ".mpr") as path:
            facts, table = load_in_process(loaded, path, head.name, None)
        if not table.num_rows:
            raise FileRefused(
                f"'{head.name}' has no rows: the technique was set up but recorded nothing. Export it again."
            )
        labels = unique_labels(table.column_names)
        table = table.rename_columns(labels)
        plan = plan_columns(labels, BIOLOGIC.columns, column_map=column_map, file=head.name)
        plan.at_rest = without_current(labels)
        notes = [Finding(**note) for note in facts["notes"]]
        reading = read_typed(self, head.name, plan, batches_of(table), sign, notes, test=head.test)
        begun, time = facts["start"], plan.find(TIME)
        if begun is not None and time is not None:
            first = float(table[time.header][0].as_py() or 0.0)
            reading.start_time = datetime.fromisoformat(begun) + timedelta(
                seconds=first if 0 <= first < 1e9 else 0.0
            )
        return reading


def loaded(job: Job) -> tuple[Facts, pa.Table]:
    """Facts and columns of the .mpr file of a job. It runs in a process of its own, which alone loads the readers.

    The readers are tried in their order. What one of them cannot read, for example because it does not know a column,
    the next one may.
    """
    path, name = Path(job["path"]), job["name"]
    failed: dict[str, str] = {}
    for library, place, read in _READERS:
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue
        try:
            with guarded(str):
                columns, begun = read(module, path)
        except FileRefused as refused:
            failed[library] = str(refused)
            continue
        notes: list[Finding] = []
        made = _columns(columns, notes)
        for other, why in failed.items():
            text = f"{other} cannot read the file ({why}). It was read with {library}."
            notes.append(Finding("assumed", "second_reader", text))
        start = None if begun is None else begun.isoformat()
        return {"set": library, "start": start, "notes": [note.fields for note in notes]}, pa.table(made)
    raise FileRefused(_unread(name, failed))


def _unread(name: str, failed: Mapping[str, str]) -> str:
    """The message about a file that no reader read; ``failed``: reader -> why."""
    if not failed:
        return (
            f"'{name}' is a binary BioLogic file, and its reader is not installed. Run pip install galvani (its "
            "licence is the GPL), or export it as text (.mpt) with EC-Lab or BT-Lab."
        )
    why = "; ".join(f"{library}: {reason}" for library, reason in failed.items())
    text = f"'{name}' is damaged, or of a version that {' and '.join(failed)} {_do(failed)} not know ({why})."
    if "yadg" not in failed:
        return f"{text} Run pip install yadg (its licence is the GPL), which knows other columns, or export .mpt."
    return f"{text} Export it as text (.mpt) with EC-Lab or BT-Lab."


def _do(failed: Mapping[str, str]) -> str:
    return "does" if len(failed) == 1 else "do"


Columns: TypeAlias = dict[str, NDArray[np.generic]]
"""Header, as EC-Lab exports it -> (rows,) values."""


def _by_galvani(galvani: ModuleType, path: Path) -> tuple[Columns, datetime | None]:
    """The columns, and when the acquisition started."""
    found = galvani.MPRfile(str(path))
    begun = getattr(found, "timestamp", None)
    data = np.asarray(found.data)
    columns = {name: np.ascontiguousarray(data[name]) for name in data.dtype.names or ()}
    return columns, begun.replace(tzinfo=UTC) if isinstance(begun, datetime) else None


def _by_yadg(extractors: ModuleType, path: Path) -> tuple[Columns, datetime | None]:
    """The columns, and when the acquisition started, where the file says it."""
    tree = extractors.extract(filetype="eclab.mpr", path=path)
    columns: Columns = {}
    rows = tree["uts"].shape
    for key in tree.variables:
        variable = tree[key]
        values = np.asarray(variable.values)
        if key != "uts" and values.shape == rows and not str(key).endswith("_uncertainty"):
            unit = str(variable.attrs.get("units", "")).replace("\u00b7", ".").replace("\u03a9", "Ohm")
            columns[f"{key}/{unit}" if unit else str(key)] = values
    seconds = np.asarray(tree["uts"].values, np.float64)
    begun = None
    if tree.attrs.get("fulldate", 1) and "time/s" in columns and len(seconds):
        begun = datetime.fromtimestamp(float(seconds[0]) - float(columns["time/s"][0]), UTC)
    return columns, begun


_READERS = (("galvani", "galvani.BioLogic", _by_galvani), ("yadg", "yadg.extractors", _by_yadg))
"""Name, module and function of each reader, in the order in which they are tried."""


def _columns(data: Columns, notes: list[Finding]) -> dict[str, pa.Array]:
    """The columns of numbers. If the file has no current, it is computed from the charge of each sample."""
    made: dict[str, pa.Array] = {
        name: pa.array(values) for name, values in data.items() if name != "flags" and values.dtype.kind in "fiub"
    }
    charge = next((name for name in _CHARGES if name in made), None)
    if charge is not None and "time/s" in made and not any(name in made for name in _CURRENTS):
        coulombs = np.asarray(made[charge].to_numpy(), np.float64) * _CHARGES[charge]
        made["I/A"] = pa.array(_mean_current(coulombs, made["time/s"].to_numpy()))
        text = f"The file has no current; '{CURRENT}' is the charge '{charge}' of each sample over its time."
        notes.append(Finding("assumed", "current_derived", text))
    return made


def _mean_current(charge: NDArray[np.float64], time: NDArray[np.number]) -> NDArray[np.float64]:
    """(n,) mean current, A, between each sample and the one before, from its charge, C; 0 if no time passed."""
    passed = np.diff(np.asarray(time, np.float64), prepend=np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        current = charge / passed
    return np.where(np.isfinite(current), current, 0.0)


BIOLOGIC_MPR = ModularFile()
