"""Readers of cycler files: recognise the format of a file from its content, and read it in bounded batches.

The names below are imported when they are first used, since they load every format.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .reading import LaterRows, Reader, Reading, SeveralTests
    from .recognition import BUILT_IN, FORMATS, format_of, read, recognise, rule_of, rules_of_readers

__all__ = [
    "BUILT_IN",
    "FORMATS",
    "LaterRows",
    "Reader",
    "Reading",
    "SeveralTests",
    "format_of",
    "read",
    "recognise",
    "rule_of",
    "rules_of_readers",
]

OF_BRANDS = (
    "neware_binary.NDA",
    "neware_binary.NDAX",
    "arbin_access.ARBIN_RES",
    "biologic_binary.BIOLOGIC_MPR",
    "matlab.MATLAB",
    "hdf5.HDF5",
    "canonical.OWN",
    "canonical.OWN_PARQUET",
    "bdf.BDF",
    "bdf.BDF_PARQUET",
    "parquet.PYPROBE",
    "landt.LANDT_SHORT",
    "neware.NEWARE",
    "neware.NESTED",
    "maccor.MACCOR",
    "biologic.BIOLOGIC",
    "landt.LANDT",
    "arbin.ARBIN",
    "novonix.NOVONIX",
    "basytec.BASYTEC",
    "basytec.BASYTEC_BLANKS",
    "pec.PEC",
    "toyo.TOYO",
    "digatron.DIGATRON",
    "gamry.GAMRY",
    "chi.CHI",
    "rest.BIOLOGIC_REST",
)
"""The formats of brands, ``module.NAME``, in the order in which they are tried. A new format is a file and a line."""
GENERAL = (
    "parquet.PARQUET",
    "delimited.DELIMITED",
    "delimited.OPEN_CIRCUIT",
    "parquet.OPEN_CIRCUIT_PARQUET",
    "parquet.IMPEDANCE_PARQUET",
    "rest.REST",
    "by_blanks.DELIMITED_BLANKS",
    "delimited.IMPEDANCE",
    "spectra.IMPEDANCE_BLANKS",
    "spectra.IMPEDANCE_BARE",
)
"""The formats of no brand, which are tried last."""


def __getattr__(name: str) -> Any:
    if name == "Note":
        from ..cycling.findings import Finding

        warnings.warn("workbench.readers.Note is workbench.cycling.findings.Finding now.", DeprecationWarning, 2)
        return Finding
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    home = "reading" if name in ("LaterRows", "Reader", "Reading", "SeveralTests") else "recognition"
    found = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = found
    return found
