"""MATLAB files: the structures of public ageing sets, and any with vectors of time, current and voltage."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from ...errors import FileRefused, TooLarge
from .. import limits
from ..file.nested_structures import Group, Structure
from ..file.outside_parsers import guarded
from ..file.parser_process import Facts, Job
from ..file.source import Head
from ..file.structure_samples import of_one_test, reading_of, samples_of
from ..reading import Counters, Reading, Sign

Loaded: TypeAlias = Any  # scipy has no type for what a file may hold: its structures have the fields of the file
_COMPRESSED = 15
LIBRARIES = ("scipy.io",)
"""What a process of its own imports for it, before it is locked."""


@dataclass(frozen=True)
class Matlab:
    """MATLAB files up to version 7. Those of version 7.3 are HDF5 (``hdf5.py``) and use `samples_of` too."""

    name: str = "matlab"
    brand: str = "MATLAB"
    endings: tuple[str, ...] = (".mat",)
    about: str = (
        "Structures of public ageing sets (NASA, Oxford, Severson, XJTU and others) and any with vectors of time, "
        "current and voltage, or of impedance. Several cells or conditions are several tests."
    )
    sign: Sign = "found"
    sign_rule: str = "as each set documents it, else found from how the voltage answers"
    counters: Counters = None
    rule: int = 3

    def matches(self, head: Head) -> bool:
        return head.data.startswith(b"MATLAB 5.0 MAT-file")

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a .mat file; see ``readers.read``."""
        facts, table = of_one_test(loaded, head, ".mat", column_map)
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

    found = loadmat(str(path), appendmat=False, simplify_cells=True, verify_compressed_data_integrity=True)
    return {name: _nested(value) for name, value in found.items()}


def _nested(value: Loaded) -> Structure:
    """A value with its cell arrays and arrays of structures as lists: `simplify_cells` leaves those of two and more
    dimensions, and what is in them, as they were."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [_nested(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _nested(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_nested(inner) for inner in value]
    fields = getattr(value, "_fieldnames", None)  # a structure of scipy
    if fields is not None:
        return {name: _nested(getattr(value, name)) for name in fields}
    plain: Structure = value
    return plain


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


MATLAB = Matlab()
