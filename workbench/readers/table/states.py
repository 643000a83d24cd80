"""The column of states of a cycler: which of its words mean charge, and which mean discharge."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ...table import Table
from .header_units import split_header
from .values import Cells, Floats

_DISCHARGE = re.compile(
    r"d(is)?[\s-]?cha?r?g|disch|dch|entlad|\bdis\b|^d$|放电|décharge|descarga|^d (cc|cv|cp|cr|rate)"
)
_CHARGE = re.compile(r"cha?r?g|\bcha?\b|^c$|\blad(en|ung|e)\b|auflad|充电|charge|carga|^c (cc|cv|cp|cr|rate)")
_NO_DIRECTION = re.compile(r"\b(rest|pause|ocv|idle|relax\w*|ruhe|repos)\b|搁置|静置")
_MOST_WORDS = 200


STEP_TYPE_NAMES = (
    *("step type", "steptype", "工步类型", "step mode", "work mode", "工作模式", "step-state", "command", "md"),
    *("state", "status", "zustand", "状态", "mode", "step name", "工步名称"),
)
"""Names of the column in which a cycler writes what a step does, the surest first."""


def column_of_step_types(table: Table) -> str | None:
    """The column of a table that holds the cycler's words for its steps; None if it has none."""
    texts = {split_header(name).key: name for name, column in table.items() if column.kind == "text"}
    return next((texts[name] for name in STEP_TYPE_NAMES if name in texts), None)


def is_rest(word: str) -> bool:
    """Whether the word of a cycler says that no current flows.

    >>> is_rest("Rest"), is_rest("CC_Chg")
    (True, False)
    """
    return _NO_DIRECTION.search(_plain(word)) is not None


def meaning(word: str) -> Literal["charge", "discharge"] | None:
    """The direction that the word of a cycler means.

    >>> meaning("CC_DChg"), meaning("Charge"), meaning("Rest")
    ('discharge', 'charge', None)
    """
    direction = _read(word)
    return None if np.isnan(direction) else "discharge" if direction > 0 else "charge"


@dataclass(frozen=True)
class States:
    """Names of the column, and its words. ``read``: the meaning of other words is found from them (``CC_DChg``)."""

    names: tuple[str, ...]
    charge: tuple[str, ...] = ()
    discharge: tuple[str, ...] = ()
    read: bool = False

    def direction(self, word: str) -> float:
        """+1 for discharge, -1 for charge, NaN for a word that means neither.

        >>> States(("mode",), read=True).direction("CC_DChg")
        1.0
        """
        if word in self.discharge:
            return 1.0
        if word in self.charge:
            return -1.0
        return _read(word) if self.read else np.nan

    def directions(self, words: Cells) -> Floats:
        """(n,) directions of the words of a column."""
        codes, known = pd.factorize(words.astype("str").str.strip(), use_na_sentinel=True)
        # A column with very many different texts does not hold states, so only the listed words count.
        read = self if len(known) <= _MOST_WORDS else States(self.names, self.charge, self.discharge)
        found = np.array([*(read.direction(str(word)) for word in known), np.nan])
        return found[codes]


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", " ", word.casefold()).strip()


def _read(word: str) -> float:
    text = _plain(word)
    if _NO_DIRECTION.search(text):
        return np.nan
    rest, discharges = _DISCHARGE.subn(" ", text)
    charges = _CHARGE.search(rest) is not None
    return np.nan if bool(discharges) == charges else 1.0 if discharges else -1.0
