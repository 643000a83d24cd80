"""Finds the sample data and the notebooks: in the installed package, or next to it in a checkout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from ..cached_property import cached_property
from ..errors import BadRequest

Described: TypeAlias = dict[str, Any]
"""A record of the manifest. The manifest is ours, and the bench checks each field of a record."""
Manifest: TypeAlias = dict[str, list[Described]]
"""Kind of record -> its records."""
_PACKAGE = Path(__file__).resolve().parent.parent


def _first(places: Sequence[Path], file: str) -> Path | None:
    return next((place for place in places if (place / file).exists()), None)


@dataclass(frozen=True)
class Samples:
    """The sample data: a folder with ``manifest.json``, and the folder of the notebooks if there is one."""

    folder: Path
    notebooks: Path | None

    @classmethod
    def find(cls) -> Samples:
        """The sample data of the installed package, else those of the checkout.

        Raises
        ------
        BadRequest
            If neither has sample data.
        """
        homes = (_PACKAGE, _PACKAGE.parent)
        folder = _first([home / "sample_data" for home in homes], "manifest.json")
        if folder is None:
            raise BadRequest(
                f"The sample data are missing: there is no sample_data/manifest.json in {_PACKAGE}. "
                "Install battery-workbench again."
            )
        return cls(folder, _first([home / "notebooks" for home in homes], ""))

    @cached_property
    def manifest(self) -> Manifest:
        """All records of the sample data, by kind."""
        listed: Manifest = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return listed

    def path(self, name: str) -> Path:
        """The path of a sample file."""
        return self.folder / name

    def table(self, name: str) -> pd.DataFrame:
        """A table that is not a file of a cycler: csv or parquet."""
        path = self.path(name)
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
