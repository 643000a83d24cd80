"""Neware binary files, .nda and .ndax, read with fastnda if it is installed (the extra ``neware``)."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pyarrow as pa
from pydantic import JsonValue

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, quoted, spaced
from .. import limits
from ..file import locked_child
from ..file.archives import Scratch, check_members, members, unpacked
from ..file.outside_parsers import guarded, silent
from ..file.source import Head
from ..reading import Counters, JsonObject, Reading, Sign
from ..table.columns import From, Split, plan_columns, unique_labels
from ..table.typed_columns import batches_of, read_typed

COLUMNS = (
    From("Time [s]", ("total time",), "s"),
    From("Current [A]", ("current",), "A"),
    From("Voltage [V]", ("voltage",), "V"),
    From("Step from cycler", ("step index",)),
    From("Cycle from cycler", ("cycle count",)),
    From("Temperature [degC]", ("aux1 temperature", "aux temperature", "temperature"), "degC"),
)
SPLITS = (
    Split(("capacity",), "Charge capacity [A.h]", "Discharge capacity [A.h]", "mAh", signed=True),
    Split(("energy",), "Charge energy [W.h]", "Discharge energy [W.h]", "mWh", signed=True),
)
_BTS_9 = 129
"""The first version of a .nda whose places are numbers of 8 bytes."""
_POINTER, _POINTER_OF_9 = (64, "<II"), (82, "<QQ")
"""Where the header of a .nda says where its records begin and how many bytes they have, and in which form."""
_PARTS = ("data.ndc", "data_runInfo.ndc", "data_step.ndc")
"""Files in a .ndax: voltage and current; times and counters; steps and cycles. Old versions have only the first."""
_CHANNEL = re.compile(r"<Aux\d+\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*"([^"]*)\"""")
_OF_CHANNEL = re.compile(r"(?:_AUX)?_(\d+)(?:_\d+){0,2}\.ndc$")
_KINDS = {"102": "voltage", "103": "temperature", "104": "current"}
_MOST_INFO = 1 << 20
_ZEROS = 64
"""Bytes at the end of the records that are not all zero in a whole file; a record has 38 or more."""


@dataclass(frozen=True)
class NewareBinary:
    """A binary format of Neware; ``begins`` are its first bytes, ``parts`` are files of which its zip holds one."""

    name: str
    brand: str
    endings: tuple[str, ...]
    about: str
    begins: bytes
    parts: tuple[str, ...] = ()
    sign: Sign = "charge"
    sign_rule: str = "positive charges; turned"
    counters: Counters = "step"
    rule: int = 1

    def matches(self, head: Head) -> bool:
        if not (head.raw.startswith(self.begins) or head.data.startswith(self.begins)):
            return False
        if not self.parts:
            return True
        with self._unpacked(head) as path:
            return bool(_parts_in(path))

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .nda or .ndax file; see ``readers.read``."""
        with self._unpacked(head) as unnamed, _ending_in(self.endings[0], unnamed) as path:
            if self.parts:
                check_members(path, head.name)
            table = _table_of(path, head.name)
            metadata = _metadata(path)
            cut = _without_channels(path, table.column_names) if self.parts else _cut(path)
        labels = unique_labels(table.column_names)
        plan = plan_columns(
            labels, COLUMNS, clocks=("unix time",), splits=SPLITS, column_map=column_map, file=head.name
        )
        table = table.rename_columns(labels)
        notes = [
            Finding(
                "assumed",
                "cycles",
                "A cycle begins with each charge after a discharge, as Neware counts by default.",
            ),
            *cut,
        ]

        if not table.num_rows:
            raise FileRefused(
                f"'{head.name}' has no rows: the test was set up but recorded nothing. Export it again."
            )
        reading = read_typed(self, head.name, plan, batches_of(table), sign, notes)
        reading.metadata = metadata
        return reading

    @contextmanager
    def _unpacked(self, head: Head) -> Iterator[Path]:
        """The path of the unpacked file. A .ndax is a zip archive itself and is not unpacked."""
        whole = bool(self.parts) and bool(_parts_in(head.path))
        with unpacked(head.path, head.name, None if whole else head.packed, self.endings[0]) as path:
            yield path


@contextmanager
def _ending_in(ending: str, path: Path) -> Iterator[Path]:
    """The path, or that of a copy with this ending: fastnda goes by the ending and not by the content."""
    if path.suffix.casefold() == ending:
        yield path
        return
    copy = Scratch(ending)
    shutil.copyfile(path, copy.path)
    yield copy.path


def _fastnda(name: str) -> ModuleType:
    try:
        locked_child.need("fastnda")
        locked_child.need("polars")  # fastnda imports it with its first file
        return importlib.import_module("fastnda")
    except ImportError:
        raise FileRefused(
            f"'{name}' is a binary Neware file, and its reader is not installed. Run pip install "
            "'battery-workbench[neware]', or export the test as csv."
        ) from None


@contextmanager
def _own_zlib() -> Iterator[None]:
    """Keep the functions of zlib: fastnda puts others in their place for the whole process, whose errors nobody
    expects."""
    own = {name: vars(zlib)[name] for name in ("decompress", "decompressobj")}
    try:
        yield
    finally:
        vars(zlib).update(own)


def _table_of(path: Path, name: str) -> pa.Table:
    """The rows of a file; ``name`` is its name in messages."""
    with _own_zlib():
        fastnda = _fastnda(name)
        # fastnda writes about time jumps and pulses to the log. Our notes say what matters.
        with silent("fastnda"), guarded(lambda why: _incomplete(name, path) or _damaged(name, why)):
            frame = fastnda.read(str(path))
    if frame.height > limits.MOST_ROWS:
        raise TooLarge(f"'{name}' has more than {limits.MOST_ROWS} rows. Split the test.")
    return frame.to_arrow()


def _cut(path: Path) -> list[Finding]:
    """A warning if a .nda ends before its records do. Its header says where they begin and how long they are.

    fastnda reads what is there. A copy may also have the full length and zeros where the rest should be.
    """
    with path.open("rb") as file:
        begins = file.read(98)
        size = file.seek(0, os.SEEK_END)
        if len(begins) < 98:
            return []
        place, form = _POINTER_OF_9 if begins[14] >= _BTS_9 else _POINTER
        start, length = struct.unpack_from(form, begins, place)
        if not 0 < start < size or not length:
            return []
        file.seek(max(start, min(size, start + length) - _ZEROS))
        empty = not any(file.read(min(length, _ZEROS)))
    if start + length <= size and not empty:
        return []
    if start + length > size:
        text = (
            f"The file is incomplete: it holds {spaced(size - start)} of the {spaced(length)} bytes of its records. "
            "The later samples are missing. Copy or export it again."
        )
    else:
        text = (
            "The records of the file end in bytes without content, as where a copy was interrupted. Samples may be "
            "missing, and the last one may be wrong. Copy or export it again."
        )
    return [Finding("odd", "file_cut", text)]


def _without_channels(path: Path, columns: list[str]) -> list[Finding]:
    """A warning if a .ndax names more auxiliary channels, such as temperatures, than it has files of them."""
    names = members(path)
    about = next((name for name in names if name.rsplit("/", 1)[-1] == "TestInfo.xml"), None)
    if about is None:
        return []
    with zipfile.ZipFile(path) as container, container.open(about) as file:
        text = file.read(_MOST_INFO).decode("gb18030", "replace")
    named = [dict(_ATTRIBUTE.findall(tag)) for tag in _CHANNEL.findall(text)]
    held = [found[1] for name in names if (found := _OF_CHANNEL.search(name))]
    if len(held) >= len(named):
        return []
    lost = [channel for channel in named if channel.get("RealChlID") not in held] or named
    kinds = [
        f"{_KINDS.get(one.get('ChlType', ''), 'value')} of channel {one.get('RealChlID', '?')}" for one in lost
    ]
    text = (
        f"The archive says that the test has {counted(len(named), 'auxiliary channel')}, and has no file of "
        f"{quoted(kinds)}. These values are missing."
    )
    if held and not any(name.startswith("aux") for name in columns):
        text += " Those of the other channels could not be distinguished, and were left out."
    text += " Copy the file again, or export the test as csv."
    return [Finding("odd", "channels_missing", text)]


def _parts_in(path: Path) -> set[str]:
    """Those files of a .ndax that an archive has; none if it is not an archive."""
    return {name.rsplit("/", 1)[-1] for name in members(path)} & set(_PARTS)


def _incomplete(name: str, path: Path) -> str:
    """What a .ndax that cannot be read lacks. A whole one of an old version has ``data.ndc`` alone."""
    found = _parts_in(path)
    missing = [part for part in _PARTS if part not in found]
    if not found or not missing:
        return ""
    lacks = f"The archive '{name}' lacks {quoted(missing)}"
    if found == {"data.ndc"}:
        lacks += ", which all but old versions have, and cannot be read."
    else:
        lacks += ", without which the test cannot be read."
    return f"{lacks} Copy it again, or export the test as csv."


def _damaged(name: str, why: str) -> str:
    return f"'{name}' is damaged, incomplete or of an unknown Neware version ({why}). Export it again, or as csv."


def _metadata(path: Path) -> JsonObject:
    """The numbers and texts of the header, flat; {} where the header cannot be read."""
    fastnda = _fastnda(path.name)
    with suppress(FileRefused), silent("fastnda"), guarded(lambda why: _damaged(path.name, why)):
        found = fastnda.read_metadata(str(path))
        flat: JsonObject = {}
        _flatten(found, "", flat)
        return flat
    return {}  # The samples were read, so a header that is damaged does not matter.


def _flatten(item: JsonValue, place: str, flat: JsonObject) -> None:
    if len(flat) >= 100:
        return
    if isinstance(item, Mapping):
        for key, value in item.items():
            _flatten(value, f"{place}.{key}" if place else str(key), flat)
    elif isinstance(item, str | int | float | bool) and not place.startswith("UNKNOWN") and item != "":
        flat[place] = item[:200] if isinstance(item, str) else item


NDA = NewareBinary(
    name="neware-nda",
    brand="Neware",
    endings=(".nda",),
    about="Binary of BTS, versions 8 to 130; known by its first bytes. Needs the extra 'neware'.",
    begins=b"NEWARE",
)
NDAX = NewareBinary(
    name="neware-ndax",
    brand="Neware",
    endings=(".ndax",),
    about="Zip container of BTS; known by the files such as 'data.ndc' in it. Needs the extra 'neware'.",
    begins=b"PK\x03\x04",
    parts=_PARTS,
)
