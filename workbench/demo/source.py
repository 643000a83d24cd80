"""Where the sample data and the notebooks are: in the installed package, or beside it in a checkout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import BadRequest

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
        """Those of the package, else those of the checkout.

        Raises
        ------
        BadRequest
            If there are none.
        """
        homes = (_PACKAGE, _PACKAGE.parent)
        folder = _first([home / "sample_data" for home in homes], "manifest.json")
        if folder is None:
            raise BadRequest(
                f"The sample data are missing: there is no sample_data/manifest.json in {_PACKAGE}. "
                "Install battery-workbench anew."
            )
        return cls(folder, _first([home / "notebooks" for home in homes], ""))

    @cached_property
    def manifest(self) -> dict[str, list[dict[str, Any]]]:
        """What there is, by kind of record."""
        listed: dict[str, list[dict[str, Any]]] = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return listed

    def path(self, name: str) -> Path:
        return self.folder / name

    def table(self, name: str) -> pd.DataFrame:
        """A table that belongs to no cycler: csv or parquet."""
        path = self.path(name)
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
