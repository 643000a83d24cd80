"""Documents of linked data (jsonld): the data sets and cells of schema.org and of the battery ontology in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from pydantic import JsonValue

from ...records.values import clean_text
from ..limits import JsonObject
from .labels import Labels

_DEEPEST = 40
_MOST_NODES = 20_000
_MOST_PROPERTIES = 100
_LONGEST = 200
_ENDS = re.compile(r".*[/#:]", re.DOTALL)
_UNITS = {
    "volt": "V", "millivolt": "mV", "ampere": "A", "milliampere": "mA", "amperehour": "A.h", "milliamperehour": "mA.h",
    "watthour": "W.h", "gram": "g", "kilogram": "kg", "milligram": "mg", "litre": "L", "millilitre": "mL",
    "cubiccentimetre": "cm3", "metre": "m", "millimetre": "mm", "centimetre": "cm", "micrometre": "um",
    "squarecentimetre": "cm2", "degreecelsius": "degC", "kelvin": "K", "ohm": "Ohm", "milliohm": "mOhm",
    "ah": "A.h", "mah": "mA.h", "wh": "W.h",
}  # fmt: skip
_RATINGS = {
    "rated capacity": "capacity", "nominal capacity": "capacity", "nominal voltage": "nominal_voltage",
    "upper voltage limit": "voltage_max", "maximum voltage": "voltage_max", "charging cutoff voltage": "voltage_max",
    "lower voltage limit": "voltage_min", "minimum voltage": "voltage_min", "discharging cutoff voltage": "voltage_min",
}  # fmt: skip
_CELLS = ("battery", "batterycell", "electrochemicalcell", "product", "individualproduct", "coincell", "pouchcell")


@dataclass(frozen=True)
class Described:
    """What a document says: of the ``files`` (lower case) that it names, or of those whose name begins with ``id``.

    ``by_address``: the cell has no name there but an address, so another document may name it.
    """

    files: frozenset[str]
    id: str | None
    labels: Labels
    by_address: bool = False


class _Cell(NamedTuple):
    id: str
    files: frozenset[str]
    labels: Labels


def is_linked(content: JsonValue) -> bool:
    """Whether a document is linked data."""
    return isinstance(content, dict) and ("@context" in content or "@graph" in content)


def described(content: JsonValue) -> Iterator[Described]:
    """What the document says of files: by its data sets, and by its cells."""
    nodes = list(_nodes(content, 0))[:_MOST_NODES]
    cells = [cell for node in nodes if (cell := _cell(node)) is not None]
    known = {cell.id: cell for cell in cells if cell.id}
    for cell in cells:
        yield Described(cell.files, None if cell.files else cell.labels.instance, cell.labels)
    for node in nodes:
        files = _files(_of(node, "distribution")) | _files(_of(node, "contentUrl"))
        if not files:
            continue
        about = _id(_of(node, "about"))
        labels = known[about].labels if about in known else Labels(instance=_text(_end(about)))
        technique = _text(_of(node, "measurementTechnique"))
        yield Described(frozenset(files), None, replace(labels, protocol=technique), about not in known)


def _nodes(content: JsonValue, depth: int) -> Iterator[JsonObject]:
    if depth > _DEEPEST:
        return
    if isinstance(content, dict):
        yield {_end(key) if not key.startswith("@") else key: value for key, value in content.items()}
        for value in content.values():
            yield from _nodes(value, depth + 1)
    elif isinstance(content, list):
        for value in content:
            yield from _nodes(value, depth + 1)


def _end(name: str) -> str:
    """The last part of a name or address: ``schema:name`` and ``https://schema.org/name`` are ``name``."""
    return _ENDS.sub("", name.rstrip("/#")) or name


def _of(node: JsonValue, key: str) -> JsonValue:
    if not isinstance(node, dict):
        return None
    return next((value for name, value in node.items() if _end(name) == key), None)


def _id(node: JsonValue) -> str:
    """The address of what a node is about."""
    if isinstance(node, list):
        node = node[0] if node else None
    found = node.get("@id") if isinstance(node, dict) else node
    return found if isinstance(found, str) else ""


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: JsonValue) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value", value.get("schema:name", value.get("name")))
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return clean_text(value.strip()[:_LONGEST])
    except ValueError:
        return None


def _files(value: JsonValue) -> set[str]:
    """The names of files in addresses, and in what is distributed."""
    found: set[str] = set()
    for one in _listed(value):
        places = [one] if isinstance(one, str) else [_of(one, "contentUrl"), _of(one, "name"), _id(one)]
        for place in places:
            if isinstance(place, str) and place:
                name = place.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]
                found |= {name.casefold()} if "." in name else set()
    return found


def _cell(node: JsonObject) -> _Cell | None:
    """What a node says of a cell; None if it is not of one, or says nothing."""
    types = {_end(str(type)).casefold() for type in _listed(node.get("@type"))}
    if not types & set(_CELLS):
        return None
    ratings: JsonObject = {}
    properties: JsonObject = {}
    measured = [_measured(one) for one in _listed(node.get("hasProperty"))]
    measured += [_valued(one) for one in _listed(node.get("additionalProperty"))]
    for found in measured:
        if found is None or len(properties) >= _MOST_PROPERTIES:
            continue
        name, value = found
        rated = _RATINGS.get(name.casefold())
        if rated is not None and isinstance(value, dict):
            ratings.setdefault(rated, value)
        elif name.casefold() not in {known.casefold() for known in properties} and rated is None:
            properties[name] = value
    maker = _text(node.get("manufacturer"))
    if maker is not None:
        properties.setdefault("manufacturer", maker)
    labels = Labels(
        specification=_text(node.get("model")),
        instance=_text(node.get("name")) or _text(_end(_id(node))),
        ratings=ratings,
        cell=properties,
    )
    return _Cell(_id(node), frozenset(_files(node.get("subjectOf"))), labels) if labels.said() else None


def _measured(node: JsonValue) -> tuple[str, JsonValue] | None:
    """Name and value of a property of the ontology."""
    if not isinstance(node, dict):
        return None
    name = _text(_of(node, "label")) or next(
        (_spaced(_end(str(type))) for type in _listed(node.get("@type")) if isinstance(type, str)), None
    )
    part = _of(node, "hasNumericalPart")
    value = _of(node, "hasNumberValue")
    if value is None and isinstance(part, Mapping):
        value = _of(part, "hasNumberValue") or _of(part, "hasNumericalValue")
    unit = _of(node, "hasMeasurementUnit")
    return _quantity(name, value, unit if isinstance(unit, str) else _id(unit))


def _valued(node: JsonValue) -> tuple[str, JsonValue] | None:
    """Name and value of a property of schema.org."""
    if not isinstance(node, dict):
        return None
    unit = _of(node, "unitText")
    return _quantity(_text(_of(node, "name")), _of(node, "value"), unit if isinstance(unit, str) else "")


def _quantity(name: str | None, value: JsonValue, unit: str) -> tuple[str, JsonValue] | None:
    if name is None or value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = _text(value)
        return None if text is None else (name, text)
    if not math.isfinite(value):
        return None
    bare = _end(unit)
    known = _UNITS.get(bare.casefold(), bare)
    return (name, {"value": float(value), "unit": known[:40]}) if known else (name, value)


def _spaced(name: str) -> str:
    """``RatedCapacity`` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
