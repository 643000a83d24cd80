"""The passport: what is stored with exported samples, so that the workbench can read them back unchanged."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import orjson

from ..cycling import columns as c
from ..dataset import pack, unpack
from ..table import Column, Table

KEY = b"battery_workbench"
"""The key of the passport in the metadata of a parquet file."""
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
    c.POWER: "power_watt",
}
"""Column of the workbench -> its name in the Battery Data Format (BDF). Other columns keep their names."""
TURNED = (c.CURRENT, c.POWER)
"""Columns that are positive on charge in BDF, and positive on discharge in the workbench."""


EXCLUSIONS = "exclusions"
"""In the fields of the measurement: what is left out of it, a list of `Excluded`."""


class Excluded(TypedDict):
    """What is left out of a measurement: its cycles as text, and why."""

    name: str
    cycles: str
    reason: str


Fields: TypeAlias = dict[str, Any]
"""Fields of a record as JSON; the class of the record gives them their types."""


@dataclass(frozen=True)
class Stored:
    """One column of a file: its name, kind and numpy type in the workbench, its header in the file, and whether its
    sign is turned in the file."""

    name: str
    header: str
    kind: str
    dtype: str
    turned: bool = False


@dataclass
class Passport:
    """The columns of a file, the hash of its samples, and the records they belong to, as JSON.

    ``measurement``, ``instance``, ``batch`` and ``specification`` hold the fields of the records. ``steps`` is the step
    table that came with the measurement, packed as text; or of steps of a file the columns that the samples do not say.
    """

    columns: list[Stored]
    content_hash: str
    rows: int
    measurement: Fields
    instance: Fields = field(default_factory=dict)
    batch: Fields = field(default_factory=dict)
    specification: Fields = field(default_factory=dict)
    steps: str | None = None
    version: int = VERSION

    def as_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def is_meant(cls, content: object) -> bool:
        """Whether a JSON value is a passport by its members, of whatever version."""
        return (
            isinstance(content, Mapping) and {"columns", "content_hash", "rows", "measurement"} <= content.keys()
        )

    @classmethod
    def of(cls, raw: bytes) -> Passport | None:
        """Read a passport. None if the bytes are not a passport of this version."""
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
        """The step table that came with the measurement, or None."""
        if self.steps is None:
            return None
        found, _ = unpack(base64.b64decode(self.steps))
        table = found["steps"]
        return table if isinstance(table, Table) else None


def _is_sound(passport: Passport) -> bool:
    """Whether the fields of the records have the right JSON types. Their values are checked when records are made.

    Raises
    ------
    ValueError
        If a text is not a time.
    """
    records = (passport.measurement, passport.instance, passport.batch, passport.specification)
    if not all(isinstance(record, Mapping) for record in records) or not isinstance(passport.rows, int):
        return False
    names = all(isinstance(record.get("name", ""), str) for record in records)
    objects = [record.get("properties", {}) for record in records]
    objects += [passport.measurement.get(name, {}) for name in ("protocol", "test_setup", "source")]
    ratings = passport.specification.get("ratings", {})
    if not isinstance(ratings, Mapping):
        return False
    objects += [value for value in ratings.values() if value is not None]
    for name in ("start_time", "end_time"):
        moment = passport.measurement.get(name)
        if moment is not None:
            if not isinstance(moment, str):
                return False
            datetime.fromisoformat(moment)
    texts = all(isinstance(value, str) for one in passport.columns for value in (one.name, one.header, one.kind))
    return names and texts and all(isinstance(value, Mapping) for value in objects)


def packed(steps: Table) -> str:
    """A step table as base64 text."""
    return base64.b64encode(pack({"steps": steps})).decode()


def stored_as(table: Table, *, bdf: bool) -> list[Stored]:
    """The columns of a series as a file stores them; with ``bdf`` under the names and signs of BDF."""
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
    """The column with the other sign. Twice turned it is the same, bit for bit."""
    return Column(column.kind, -column.values, column.valid, column.words)


TEXTS = (".csv", ".csv.gz")
"""Endings of the text files that may have a passport beside them."""


def sidecar_of(path: Path) -> Path:
    """The path of the passport of a text file, beside it: ``test.bdf.csv`` has ``test.bdf.json``."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".csv") + ".json")
