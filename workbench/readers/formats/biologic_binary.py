"""BioLogic .mpr, read with galvani if the user has installed it: its licence (GPL) keeps it out of our extras."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.columns import CURRENT, TIME
from ...cycling.findings import Finding
from ...errors import FileRefused
from ..file.archives import unpacked
from ..file.outside_parsers import guarded
from ..file.source import Head
from ..reading import Counters, Reading, Sign
from ..table.columns import plan_columns, unique_labels
from ..table.typed_columns import batches_of, read_typed
from .biologic import BIOLOGIC

_SIGNATURE = b"BIO-LOGIC MODULAR FILE"
_CHARGE = ("dq/mA.h", "dQ/mA.h")
_CURRENTS = ("I/mA", "<I>/mA", "I/A")
_COULOMBS = 3.6
"""Coulombs in one mA.h."""


@dataclass(frozen=True)
class ModularFile:
    """What EC-Lab and BT-Lab write while they measure."""

    name: str = "biologic-mpr"
    brand: str = "BioLogic"
    endings: tuple[str, ...] = (".mpr",)
    about: str = "Binary of EC-Lab and BT-Lab; known by its first bytes. Read if you have installed galvani (GPL)."
    sign: Sign = "charge"
    sign_rule: str = BIOLOGIC.sign_rule
    counters: Counters = None
    rule: int = 1

    def matches(self, head: Head) -> bool:
        return head.data.startswith(_SIGNATURE)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .mpr file; see ``readers.read``."""
        with unpacked(head.path, head.name, head.packed, ".mpr") as path:
            data, begun = _data(path, head.name)
        if not len(data):
            raise FileRefused(
                f"'{head.name}' has no rows: the technique was set up but recorded nothing. Export it again."
            )
        notes: list[Finding] = []
        columns = _columns(data, notes)
        labels = unique_labels(list(columns))
        table = pa.table(dict(zip(labels, columns.values(), strict=True)))
        plan = plan_columns(labels, BIOLOGIC.columns, column_map=column_map, file=head.name)

        reading = read_typed(self, head.name, plan, batches_of(table), sign, notes)
        time = plan.find(TIME)
        if begun is not None and time is not None:
            first = float(table[time.header][0].as_py() or 0.0)
            reading.start_time = begun + timedelta(seconds=first if 0 <= first < 1e9 else 0.0)
        return reading


def _galvani(name: str) -> ModuleType:
    try:
        return importlib.import_module("galvani.BioLogic")
    except ImportError:
        raise FileRefused(
            f"'{name}' is a binary BioLogic file, and its reader is not installed. Run pip install galvani (its "
            "licence is the GPL), or export it as text (.mpt) with EC-Lab or BT-Lab."
        ) from None


def _data(path: Path, name: str) -> tuple[NDArray[np.void], datetime | None]:
    """The rows as a structured array, and when the acquisition started."""
    galvani = _galvani(name)
    with guarded(
        lambda why: f"'{name}' is damaged or of a version that galvani does not know ({why}); export .mpt."
    ):
        found = galvani.MPRfile(str(path))
        begun = getattr(found, "timestamp", None)
        return np.asarray(found.data), begun.replace(tzinfo=UTC) if isinstance(begun, datetime) else None


def _columns(data: NDArray[np.void], notes: list[Finding]) -> dict[str, pa.Array]:
    """The columns of numbers. If the file has no current, it is computed from the charge of each sample."""
    made: dict[str, pa.Array] = {}
    for name in data.dtype.names or ():
        values = np.ascontiguousarray(data[name])
        if name != "flags" and values.dtype.kind in "fiub":
            made[name] = pa.array(values)
    charge = next((name for name in _CHARGE if name in made), None)
    if charge is not None and "time/s" in made and not any(name in made for name in _CURRENTS):
        made["I/A"] = pa.array(_mean_current(data[charge], data["time/s"]))
        text = f"The file has no current; '{CURRENT}' is the charge '{charge}' of each sample over its time."
        notes.append(Finding("assumed", "current_derived", text))
    return made


def _mean_current(charge: NDArray[np.number], time: NDArray[np.number]) -> NDArray[np.float64]:
    """(n,) mean current, A, between each sample and the one before; 0 if no time passed."""
    passed = np.diff(np.asarray(time, np.float64), prepend=np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        current = np.asarray(charge, np.float64) * _COULOMBS / passed
    return np.where(np.isfinite(current), current, 0.0)


BIOLOGIC_MPR = ModularFile()
