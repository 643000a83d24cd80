"""Which readers are installed, as a text that is the same as long as they are; no format is imported for it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

from ..version import __version__

_HERE = Path(__file__).resolve().parent
_OF_PACKAGES = ("site-packages", "dist-packages")


def installed() -> str:
    """A digest that changes when a reader may have: a file of this package, or what else is installed.

    Formats of other packages come and go with their packages, which changes the folder that these are in.
    """
    seen = [*_files(), *((place, Path(place).stat().st_mtime_ns) for place in sys.path if _has_packages(place))]
    return hashlib.sha256(orjson.dumps([__version__, *seen])).hexdigest()


def _files() -> Iterator[tuple[str, int]]:
    """The files with readers and with what is done with the samples of all of them."""
    for path in sorted((*_HERE.rglob("*.py"), _HERE.parent / "cycling" / "conform.py")):
        yield str(path), path.stat().st_mtime_ns


def _has_packages(place: str) -> bool:
    return place.endswith(_OF_PACKAGES) and Path(place).is_dir()
