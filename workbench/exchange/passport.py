"""What goes along with exported samples, so that they can come back as they were."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ..cycling import columns as c
from ..dataset import pack, unpack
from ..table import Column, Table

KEY = b"battery_workbench"
"""The key in the metadata of a parquet file under which the passport stands."""
VERSION = 1
MOST_BYTES = 64 << 20
BDF = {
    c.TIME: "test_time_second",
    c.VOLTAGE: "voltage_volt",
    c.CURRENT: "current_ampere",
    c.STEP_COUNT: "step_count",
    c.CYCLE_COUNT: "cycle_count",
    c.CYCLER_STEP: "step_index",
    c.CHARGE_CAPACITY: "charging_capacity_ah",
    c.DISCHARGE_CAPACITY: "discharging_capacity_ah",
    c.CHARGE_ENERGY: "charging_energy_wh",
    c.DISCHARGE_ENERGY: "discharging_energy_wh",
    c.TEMPERATURE: "temperature_t1_celsius",
    "Ambient temperature [degC]": "ambient_temperature_celsius",
    "Power [W]": "power_watt",
}
"""Our columns under the names of the Battery Data Format; others keep theirs."""
TURNED = (c.CURRENT, "Power [W]")
"""Positive on charge there, on discharge here."""


@dataclass(frozen=True)
class Stored:
    """One column of a file: what it is called there and here, and how it is kept here."""

    name: str
    header: str
    kind: str
    dtype: str
    turned: bool = False


@dataclass
class Passport:
    """The columns of a file, the hash of its samples, and the records they belong to, as JSON.

    ``measurement``, ``instance``, ``batch`` and ``specification`` are what the records say; ``steps`` is a step table
    that was given, packed, where one was.
    """

    columns: list[Stored]
    content_hash: str
    rows: int
    measurement: dict[str, Any]
    instance: dict[str, Any] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=dict)
    specification: dict[str, Any] = field(default_factory=dict)
    steps: str | None = None
    version: int = VERSION

    def as_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def of(cls, raw: bytes) -> Passport | None:
        """The passport of these bytes; None if they are none that this version understands."""
        try:
            found = orjson.loads(raw)
            if not isinstance(found, Mapping) or found.get("version") != VERSION:
                return None
            columns = [Stored(**column) for column in found["columns"]]
            made = cls(**{**found, "columns": columns})
            return made if _is_sound(made) else None
        except (orjson.JSONDecodeError, TypeError, KeyError, ValueError, AttributeError):
            return None

    def given_steps(self) -> Table | None:
        """The step table that was given with the samples, if one was."""
        if self.steps is None:
            return None
        found, _ = unpack(base64.b64decode(self.steps))
        table = found["steps"]
        return table if isinstance(table, Table) else None


def _is_sound(passport: Passport) -> bool:
    """Whether records are told in the shapes that records have; what they hold is checked where they are made.

    Raises
    ------
    ValueError, TypeError
        For times that are none.
    """
    records = (passport.measurement, passport.instance, passport.batch, passport.specification)
    if not all(isinstance(record, Mapping) for record in records) or not isinstance(passport.rows, int):
        return False
    names = all(isinstance(record.get("name", ""), str) for record in records)
    objects = [record.get("properties", {}) for record in records]
    objects += [passport.measurement.get(name, {}) for name in ("protocol", "test_setup", "source")]
    ratings = passport.specification.get("ratings", {})
    objects += [ratings, *(value for value in ratings.values() if value is not None)]
    for name in ("start_time", "end_time"):
        if passport.measurement.get(name) is not None:
            datetime.fromisoformat(passport.measurement[name])
    texts = all(isinstance(value, str) for one in passport.columns for value in (one.name, one.header, one.kind))
    return names and texts and all(isinstance(value, Mapping) for value in objects)


def packed(steps: Table) -> str:
    """A step table as text."""
    return base64.b64encode(pack({"steps": steps})).decode()


def stored_as(table: Table, *, bdf: bool) -> list[Stored]:
    """How the columns of a series are called in a file."""
    made: list[Stored] = []
    taken: set[str] = set()
    for name, column in table.items():
        header = BDF.get(name, name) if bdf else name
        while header in taken:
            header += "_"
        taken.add(header)
        made.append(Stored(name, header, column.kind, column.values.dtype.str, bdf and name in TURNED))
    return made


def turned(column: Column) -> Column:
    """The column with the other sign; twice is as it was, to the bit."""
    return Column(column.kind, -column.values, column.valid, column.words)


def sidecar_of(path: Path) -> Path:
    """Where the passport of a text file stands: beside it, ``test.bdf.csv`` has ``test.bdf.json``."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".csv") + ".json")
