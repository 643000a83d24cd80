"""Arbin .res files: Access databases, read with the commands of mdbtools if they are installed."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted
from .. import limits
from ..file import locked_child
from ..file.archives import Scratch, unpacked
from ..file.outside_parsers import guarded
from ..file.source import Head
from ..reading import Counters, JsonObject, Reading
from ..table.columns import From, plan_columns, unique_labels
from ..table.typed_columns import batches_of, read_typed
from .arbin import ARBIN

_SAMPLES, _TESTS, _AUXILIARY = "Channel_Normal_Table", "Global_Table", "Auxiliary_Table"
_KEYS = ("Test_ID", "Data_Point")
_BLOCK = 1 << 18
_TEMPERATURE = 1
"""``Data_Type`` of an auxiliary temperature; 0 is a voltage."""
_SECONDS, _SECONDS_PER_MB = 8.0, 1.0
"""How long mdbtools may take. A database of 1 MB that is not damaged takes some hundredths of a second."""
_TOO_LARGE = 25
"""The signal (SIGXFSZ) that ends a program whose output is larger than it may be."""
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
    rule: int = 1

    def matches(self, head: Head) -> bool:
        return head.data[4:19] in (b"Standard Jet DB", b"Standard ACE DB")

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .res file; see ``readers.read``."""
        with unpacked(head.path, head.name, head.packed, ".res") as path:
            database = _Database(path, head.name, (_SAMPLES, _AUXILIARY, _TESTS))
            if _SAMPLES not in database.names:
                raise FileRefused(
                    f"'{head.name}' is an Access database, but has no table '{_SAMPLES}' of Arbin. Export the test as "
                    "csv."
                )
            samples, *extra = database.tables()
        if not samples.num_rows:
            raise FileRefused(
                f"'{head.name}' has no rows: the test was set up but recorded nothing. Export it again."
            )
        notes: list[Finding] = []
        if database.skipped:
            text = f"{counted(database.skipped, 'row')} of the database could not be read and were left out."
            notes.append(Finding("odd", "lines_left_out", text))
        table = _with_temperatures(_sorted(samples, notes), extra[0])
        table = table.rename_columns(unique_labels(table.column_names))
        plan = plan_columns(
            list(table.column_names),
            (*ARBIN.columns, From("Temperature [degC]", ("auxiliary temperature 1",), "degC")),
            clocks=ARBIN.clocks,
            column_map=column_map,
            file=head.name,
        )

        reading = read_typed(ARBIN, head.name, plan, batches_of(table), sign, notes)
        reading.format, reading.metadata = self.name, _metadata(extra[1])
        return reading


class _Output(NamedTuple):
    """What a command wrote, and its exit code."""

    made: Scratch
    status: int | None


class _Database:
    """A database, read with the commands of mdbtools. One limit of time holds for all commands together."""

    def __init__(self, path: Path, file: str, wanted: Sequence[str]) -> None:
        self._path, self._file, self._wanted = path, file, wanted
        self.skipped = 0
        self._deadline = time.monotonic() + _SECONDS + _SECONDS_PER_MB * path.stat().st_size / 1e6
        commands = [("mdb-tables", ["-1", str(path)])]
        if locked_child.is_locked():  # all at once: a command that fails costs nothing if its table does not exist
            commands += map(self._export, wanted)
        (listed, *exported) = self._run_all(commands)
        with self._good(listed).path.open("rb") as output:
            self.names = output.read(1 << 20).decode("utf-8", "replace").split("\n")
        self._exported = dict(zip(wanted, exported, strict=False))

    def tables(self) -> list[pa.Table]:
        """The wanted tables, with dates as days since 1899-12-30; a table without columns if it does not exist."""
        return [self._table(name) if name in self.names else pa.table({}) for name in self._wanted]

    def _export(self, table: str) -> tuple[str, list[str]]:
        return "mdb-export", ["-b", "strip", str(self._path), table]

    def _good(self, output: _Output) -> Scratch:
        if output.status:
            raise FileRefused(
                f"'{self._file}' is damaged or incomplete: mdbtools cannot open it. Copy or export it again."
            )
        return output.made

    def _table(self, name: str) -> pa.Table:
        output = self._exported.get(name) or self._run_all([self._export(name)])[0]
        made = self._good(output)
        with guarded(lambda why: f"'{self._file}' has a table '{name}' that cannot be read ({why})."):
            return csv.read_csv(
                str(made.path),
                parse_options=csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._skip),
                convert_options=csv.ConvertOptions(strings_can_be_null=True),
            )

    def _skip(self, row: csv.InvalidRow) -> str:
        self.skipped += 1
        return "skip"

    def _run_all(self, commands: Sequence[tuple[str, list[str]]]) -> list[_Output]:
        """What commands write, within the limit. A locked process lets its parent run them, beside each other."""
        made = [Scratch(".txt") for _ in commands]
        if locked_child.is_locked():
            status = self._asked(commands, made)
        else:
            status = []
            for (name, words), scratch in zip(commands, made, strict=True):
                with scratch.path.open("wb") as target:
                    status.append(self._run([self._program(name), *words], target, self._left()))
        return [_Output(*one) for one in zip(made, status, strict=True)]

    def _asked(self, commands: Sequence[tuple[str, list[str]]], made: Sequence[Scratch]) -> Sequence[int | None]:
        """Their exit codes, of commands that the parent of this locked process runs."""
        runs = [
            {
                "program": name,
                "words": list(map(locked_child.as_text, words)),
                "output": locked_child.as_text(str(one.path)),
            }
            for (name, words), one in zip(commands, made, strict=True)
        ]
        ended = locked_child.ask("programs", {"runs": runs, "seconds": self._left()})
        if "status" not in ended:
            raise self._not_installed()
        status: list[int] = ended["status"]
        if -_TOO_LARGE in status:
            raise self._too_large()
        return status

    def _left(self) -> float:
        """Seconds that are left of the limit."""
        return max(self._deadline - time.monotonic(), 0.0)

    def _run(self, program: list[str], target: IO[bytes], seconds: float) -> int | None:
        """Run a command, write its output into ``target``, within the limit; gives its exit code."""
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            clock = threading.Timer(seconds, process.kill)
            clock.start()
            try:
                self._copy(process.stdout, target)
            finally:
                clock.cancel()
                if process.poll() is None and target.tell() > limits.MOST_IN_MEMORY:
                    process.kill()
        return process.returncode

    def _copy(self, source: IO[bytes] | None, target: IO[bytes]) -> None:
        while source is not None and (block := source.read(_BLOCK)):
            target.write(block)
            if target.tell() > limits.MOST_IN_MEMORY:
                raise self._too_large()

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"'{self._file}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB. Export it as csv."
        )

    def _program(self, name: str) -> str:
        found = shutil.which(name)
        if found is None:
            raise self._not_installed()
        return found

    def _not_installed(self) -> FileRefused:
        return FileRefused(
            f"'{self._file}' is an Arbin database, and the program that opens it is not installed. Install "
            "mdbtools (apt install mdbtools, brew install mdbtools), or export the test as csv or xlsx."
        )


def _sorted(samples: pa.Table, notes: list[Finding]) -> pa.Table:
    """Samples in the order in which they were taken, with their dates as timestamps."""
    if set(_KEYS) <= set(samples.column_names):
        samples = samples.sort_by([(key, "ascending") for key in _KEYS])
        tests = pc.count_distinct(samples["Test_ID"]).as_py()
        if tests > 1:
            text = f"The database holds {counted(tests, 'test')}. Their samples follow one another."
            notes.append(Finding("odd", "several_tests", text))
    place = samples.schema.get_field_index("DateTime")
    if place >= 0 and pa.types.is_floating(samples.schema.field(place).type):
        samples = samples.set_column(place, "DateTime", _moments(samples["DateTime"]))
    return samples


def _moments(days: pa.ChunkedArray) -> pa.ChunkedArray:
    """Access dates as timestamps, to the millisecond."""
    millis = pc.multiply(pc.subtract(days.cast(pa.float64()), float(_EPOCH_DAYS)), 86_400_000.0)
    good = pc.less(pc.abs(millis), 1e15)
    return pc.if_else(good, pc.round(millis), None).cast(pa.int64()).cast(pa.timestamp("ms"))


def _with_temperatures(samples: pa.Table, auxiliary: pa.Table) -> pa.Table:
    """The samples with the auxiliary temperatures of the same moment, one column for each sensor."""
    if not {*_KEYS, "Auxiliary_Index", "Data_Type", "X"} <= set(auxiliary.column_names) or not auxiliary.num_rows:
        return samples
    warm = auxiliary.filter(pc.equal(auxiliary["Data_Type"], _TEMPERATURE))
    for sensor in sorted(pc.unique(warm["Auxiliary_Index"]).to_pylist())[:16]:
        values = warm.filter(pc.equal(warm["Auxiliary_Index"], sensor)).select([*_KEYS, "X"])
        values = values.rename_columns([*_KEYS, f"Auxiliary temperature {int(sensor) + 1}"])
        samples = samples.join(values, list(_KEYS), join_type="left outer").combine_chunks()
    return samples.sort_by([(key, "ascending") for key in _KEYS])


def _metadata(tests: pa.Table) -> JsonObject:
    """What the database says about its first test."""
    first = tests.slice(0, 1).to_pylist()
    return {key: value for key, value in first[0].items() if value not in (None, "")} if first else {}


ARBIN_RES = Access()
