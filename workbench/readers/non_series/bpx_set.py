"""BPX parameter sets, checked by the bpx package: a set becomes a specification of a cell."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ..file.archives import unpacked
from ..file.outside_parsers import guarded, silent
from ..file.source import Head
from ..reading import JsonObject

_MOST = 32 << 20
_UNIT = re.compile(r"^(?P<name>.*\S)\s*\[(?P<unit>[^\]]+)\]$")
_FORM = re.compile(r"\b(\d{5}|46\d{2}|pouch|prismatic|coin|cylindrical)\b", re.IGNORECASE)
_CAPACITY, _LOW, _HIGH = "Nominal cell capacity", "Lower voltage cut-off", "Upper voltage cut-off"


class BpxSet:
    """The format of Battery Parameter eXchange, versions 0 and 1."""

    def matches(self, head: Head) -> bool:
        start = head.data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
        return start.startswith(b"{") and b'"Header"' in start and b'"BPX"' in start

    def records(self, head: Head, notes: list[Finding]) -> list[JsonObject]:
        """One specification: ratings and properties of the cell of the set, and the set itself.

        Raises
        ------
        FileRefused
            If it is not a valid BPX set, or lacks the capacity or a cut-off voltage; says which.
        """
        document = _document(head)
        _checked(document, head.name)
        header = _object(document, "Header")
        cell = _object(_object(document, "Parameterisation"), "Cell")
        values = {name: (value, unit) for name, value, unit in map(_split, cell, cell.values())}
        ratings: JsonObject = {}
        for key, name in (("capacity", _CAPACITY), ("voltage_min", _LOW), ("voltage_max", _HIGH)):
            value, unit = values.pop(name, (None, None))
            if not isinstance(value, int | float):
                raise FileRefused(
                    f"'{head.name}' is a BPX set whose cell has no '{name}', which a specification needs."
                )
            ratings[key] = {"value": float(value), "unit": unit or ""}
        title = str(header.get("Title") or head.name).strip()
        form = _FORM.search(f"{title} {head.name}".replace("_", " "))
        if form is not None:
            notes.append(
                Finding("assumed", "form_factor", f"The form factor '{form[1]}' is from the title of the set.")
            )
        described = {key: value for key, value in header.items() if key not in ("Title",) and value}
        return [
            {
                "name": title[:200],
                "form_factor": None if form is None else form[1].casefold(),
                "ratings": ratings,
                "properties": {**_properties(values), "bpx": document},
                "source": {
                    "format": "bpx",
                    **{str(key).casefold(): str(value) for key, value in described.items()},
                },
            }
        ]


def _document(head: Head) -> JsonObject:
    with unpacked(head.path, head.name, head.packed, ".json") as path:
        if path.stat().st_size > _MOST:
            raise TooLarge(
                f"'{head.name}' is a JSON file of more than {_MOST >> 20} MiB. No parameter set is that large."
            )
        with guarded(lambda why: f"'{head.name}' is not valid JSON ({why}). Write or copy it again."):
            document = json.loads(path.read_bytes())
    if not isinstance(document, dict):
        raise FileRefused(f"'{head.name}' is JSON, but not a BPX object. Write or copy it again.")
    return document


def _object(within: JsonObject, key: str) -> JsonObject:
    """The object under a key; empty where there is none."""
    found = within.get(key)
    return found if isinstance(found, dict) else {}


def _checked(document: JsonObject, name: str) -> None:
    with guarded(lambda why: f"'{name}' is not a valid BPX parameter set: {why}."), silent("bpx"):
        from bpx import parse_bpx_obj  # slow to import, and few files are parameter sets

        parse_bpx_obj(json.loads(json.dumps(document)))


def _split(key: str, value: JsonValue) -> tuple[str, JsonValue, str | None]:
    found = _UNIT.match(key)
    return (found["name"], value, found["unit"]) if found else (key, value, None)


def _properties(values: dict[str, tuple[JsonValue, str | None]]) -> JsonObject:
    """Numbers with a unit as value and unit, under names of properties: lower case, with underscores."""
    made: JsonObject = {}
    for name, (value, unit) in values.items():
        key = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
        made[key] = (
            {"value": value, "unit": unit} if unit is not None and isinstance(value, int | float) else value
        )
    return made


BPX = BpxSet()
