"""Arbin .res: Access databases, read through the commands of mdbtools where these are installed."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from ..errors import FileRefused, TooLarge
from ..phrases import counted
from . import limits
from .arbin import ARBIN
from .arrow import read_typed
from .columns import From, plan_columns, unique_labels
from .foreign import guarded
from .packing import unpacked
from .reading import Counters, Note, Reading
from .source import Head

_SAMPLES, _TESTS, _AUXILIARY = "Channel_Normal_Table", "Global_Table", "Auxiliary_Table"
_KEYS = ("Test_ID", "Data_Point")
_TEMPERATURE = 1
"""``Data_Type`` of an auxiliary temperature; 0 is a voltage."""
_SECONDS = 600
_EPOCH_DAYS = 25569
"""Days from 1899-12-30, where Access counts from, to 1970-01-01."""


@dataclass(frozen=True)
class Access:
    """The database that Arbin's MITS Pro writes."""

    name: str = "arbin-res"
    brand: str = "Arbin"
    endings: tuple[str, ...] = (".res",)
    about: str = (
        "Access database of MITS Pro; known by its first bytes. Needs mdbtools (mdb-export) beside Python."
    )
    sign: str = ARBIN.sign
    sign_rule: str = ARBIN.sign_rule
    counters: Counters = ARBIN.counters

    def matches(self, head: Head) -> bool:
        return head.data[4:19] in (b"Standard Jet DB", b"Standard ACE DB")

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .res file; see ``readers.read``."""
        with unpacked(head.path, head.name, head.packed, ".res") as path:
            if _SAMPLES not in _names(path, head.name):
                raise FileRefused(f"'{head.name}' is an Access database, but has no table '{_SAMPLES}' of Arbin.")
            samples = _table(path, head.name, _SAMPLES)
            extra = [_table(path, head.name, name) for name in (_AUXILIARY, _TESTS)]
        if not samples.num_rows:
            raise FileRefused(f"'{head.name}' has no rows: the test was set up but recorded nothing.")
        notes: list[Note] = []
        table = _with_temperatures(_sorted(samples, notes), extra[0])
        table = table.rename_columns(unique_labels(table.column_names))
        plan = plan_columns(
            list(table.column_names),
            (*ARBIN.columns, From("Temperature [degC]", ("auxiliary temperature 1",), "degC")),
            clocks=ARBIN.clocks,
            column_map=column_map,
            file=head.name,
        )

        def batches(only: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
            chosen = table if only is None else table.select(list(only))
            yield from chosen.to_batches(max_chunksize=limits.CHUNK_ROWS)

        reading = read_typed(ARBIN, head.name, plan, batches, sign, notes)
        reading.format, reading.metadata = self.name, _metadata(extra[1])
        return reading


def _command(name: str, file: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileRefused(
            f"'{file}' is an Arbin database, and the program that opens it is not installed: install mdbtools "
            "(apt install mdbtools, brew install mdbtools), or export the test as csv or xlsx."
        )
    return found


def _run(arguments: list[str], target: IO[bytes], file: str) -> None:
    """Run a command with its output into a file of bounded size."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
    if process.stdout is None:
        raise FileRefused(f"'{file}' could not be given to mdbtools.")
    done = 0
    try:
        while block := process.stdout.read(limits.CHUNK_ROWS):
            done += len(block)
            if done > limits.MOST_IN_MEMORY:
                raise TooLarge(f"'{file}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB.")
            target.write(block)
        process.wait(_SECONDS)
    finally:
        process.stdout.close()
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode:
        raise FileRefused(f"'{file}' is damaged or cut short: mdbtools cannot open it. Copy or export it again.")


def _names(path: Path, file: str) -> list[str]:
    with tempfile.TemporaryFile() as target:
        _run([_command("mdb-tables", file), "-1", str(path)], target, file)
        target.seek(0)
        return target.read(1 << 20).decode("utf-8", "replace").split("\n")


def _table(path: Path, file: str, name: str) -> pa.Table:
    """One table of the database, dates as days since 1899-12-30; without columns where it does not exist."""
    if name != _SAMPLES and name not in _names(path, file):
        return pa.table({})
    with tempfile.TemporaryFile() as target:
        _run([_command("mdb-export", file), "-b", "strip", str(path), name], target, file)
        target.seek(0)
        with guarded(
            lambda why: f"'{file}' has a table '{name}' that cannot be read ({why}); export the test as csv."
        ):
            return csv.read_csv(
                io.BufferedReader(target),
                parse_options=csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda row: "skip"),
                convert_options=csv.ConvertOptions(strings_can_be_null=True),
            )


def _sorted(samples: pa.Table, notes: list[Note]) -> pa.Table:
    """Samples in the order in which they were taken, with their times as moments."""
    if set(_KEYS) <= set(samples.column_names):
        samples = samples.sort_by([(key, "ascending") for key in _KEYS])
        tests = pc.count_distinct(samples["Test_ID"]).as_py()
        if tests > 1:
            text = f"The database holds {counted(tests, 'test')}; their samples stand one after the other."
            notes.append(Note("odd", "several_tests", text))
    place = samples.schema.get_field_index("DateTime")
    if place >= 0 and pa.types.is_floating(samples.schema.field(place).type):
        samples = samples.set_column(place, "DateTime", _moments(samples["DateTime"]))
    return samples


def _moments(days: Any) -> Any:
    """Access dates as timestamps, to the millisecond."""
    millis = pc.multiply(pc.subtract(days.cast(pa.float64()), float(_EPOCH_DAYS)), 86_400_000.0)
    good = pc.less(pc.abs(millis), 1e15)
    return pc.if_else(good, pc.round(millis), None).cast(pa.int64()).cast(pa.timestamp("ms"))


def _with_temperatures(samples: pa.Table, auxiliary: pa.Table) -> pa.Table:
    """The samples with the auxiliary temperatures that were taken at them, one column a sensor."""
    if not {*_KEYS, "Auxiliary_Index", "Data_Type", "X"} <= set(auxiliary.column_names) or not auxiliary.num_rows:
        return samples
    warm = auxiliary.filter(pc.equal(auxiliary["Data_Type"], _TEMPERATURE))
    for sensor in sorted(pc.unique(warm["Auxiliary_Index"]).to_pylist())[:16]:
        values = warm.filter(pc.equal(warm["Auxiliary_Index"], sensor)).select([*_KEYS, "X"])
        values = values.rename_columns([*_KEYS, f"Auxiliary temperature {int(sensor) + 1}"])
        samples = samples.join(values, list(_KEYS), join_type="left outer").combine_chunks()
    return samples.sort_by([(key, "ascending") for key in _KEYS])


def _metadata(tests: pa.Table) -> dict[str, Any]:
    """What the database says of its first test."""
    first = tests.slice(0, 1).to_pylist()
    return {key: value for key, value in first[0].items() if value not in (None, "")} if first else {}


ARBIN_RES = Access()
