"""MATLAB files: the structures of public ageing sets, and any with vectors of time, current and voltage."""

from __future__ import annotations

import math
import struct
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
_MATRIX, _COMPRESSED = 14, 15
"""Types of elements: an array, and one that is packed."""
_OF_ARRAYS, _SPARSE = (1, 2, 3), 5
"""Classes of arrays: cell arrays, structures and objects, whose elements are arrays; and sparse matrices."""
_WITH_DIMENSIONS = 24
"""Bytes of the flags of an array and of the tag of its dimensions."""
_FEW = 1000
"""Elements that cost nothing, whatever their bytes."""
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
    rule: int = 4

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
    """Refuse a file whose variables unpack to more than the limit of memory, or claim more than their bytes hold."""
    total = 0
    with open(path, "rb") as file:
        file.seek(126)
        order: Literal["little", "big"] = "little" if file.read(2) == b"IM" else "big"
        while tag := file.read(8):
            kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
            if kind == _COMPRESSED:
                variable: bytes | bytearray = _unpacked(file.read(size), name)
            elif kind == _MATRIX:
                variable = tag + file.read(size)
            else:
                file.seek(size, 1)
                continue
            total += len(variable)
            if total > limits.MOST_IN_MEMORY:
                raise TooLarge(f"'{name}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB.")
            _check_claims(variable, "<" if order == "little" else ">", name)


def _check_claims(variable: bytes | bytearray, order: str, name: str) -> None:
    """Refuse a variable in which an array claims more elements than it has bytes: scipy makes room for all of them.

    The layout is that of MATLAB's "MAT-File Format", version 5: an array is an element of type 14, in which come its
    flags, its dimensions and its name. The arrays in a cell array or structure follow, of at least eight bytes each.
    """
    pairs, longs = struct.Struct(f"{order}II"), struct.Struct(f"{order}I")
    within = [(0, len(variable))]
    while within:
        at, end = within.pop()
        while at + 8 <= end:
            kind, size = pairs.unpack_from(variable, at)
            if kind >> 16:  # a small element: its bytes are in its tag
                at += 8
                continue
            first, last = at + 8, min(at + 8 + size, end)
            at = first + size + -size % 8
            if kind != _MATRIX or last - first < _WITH_DIMENSIONS:
                continue
            of = longs.unpack_from(variable, first + 8)[0] & 0xFF
            (length,) = longs.unpack_from(variable, first + 20)
            dimensions = struct.unpack_from(f"{order}{min(length, last - first - 24) // 4}i", variable, first + 24)
            claimed = math.prod(dimensions)
            nested = of in _OF_ARRAYS
            if of != _SPARSE and claimed > _FEW and claimed * (8 if nested else 1) > last - first:
                raise FileRefused(
                    f"'{name}' is a damaged MATLAB file (an array of {claimed:.3g} elements has {last - first} bytes). "
                    "Save it again."
                )
            if nested:
                within.append((first + 24 + length + -length % 8, last))


def _unpacked(data: bytes, name: str) -> bytearray:
    """The bytes of a packed variable, as far as they come: `loadmat` says what is wrong with one that is cut."""
    machine, made, rest = zlib.decompressobj(), bytearray(), data
    try:
        while rest and not machine.eof:
            made += machine.decompress(rest, 1 << 22)
            rest = machine.unconsumed_tail
            if len(made) > limits.RATIO_FREE and len(made) > limits.MOST_RATIO * len(data):
                raise TooLarge(f"'{name}' unpacks to more than {limits.MOST_RATIO} times its size.")
            if len(made) > limits.MOST_IN_MEMORY:
                raise TooLarge(f"'{name}' unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB.")
    except zlib.error as error:
        raise FileRefused(f"'{name}' is a damaged MATLAB file ({error}). Save it again.") from None
    return made


MATLAB = Matlab()
