"""Documents beside a test (json, jsonld) that say what it is of: their labels for the files that they are about.

A document is about a file if it has the file's name (``c1.csv`` and ``c1.json``), if it names the file, as a data set
of schema.org does, if the id of its cell begins the name of the file, or if it is called ``metadata`` and there is one
file in its folder.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import JsonValue

from ...errors import BadRequest
from ...exchange import Passport
from ...records.values import clean_text
from ..limits import JsonObject
from .headings import FILE, Heading
from .labels import Labels
from .linked_data import Described, described, is_linked
from .paths import shown, stem_of

ENDINGS = (".json", ".jsonld")
MOST_BYTES = 16 << 20
MOST_ROWS = 10_000
MOST_PROPERTIES = 200
_LONGEST = 500
_KIND = re.compile(r"[._ -]?(?:metadata|meta|info)$", re.IGNORECASE)
_CELL = ("sample id", "cell id", "cell", "cell name", "battery id", "barcode", "sample name", "instance")
_NAME = ("name",)
_ABOUT = ("cell", "instance", "test", "measurement", "specification")


@dataclass
class Document:
    """A document and what it says; ``used`` when it labelled a file."""

    path: Path
    rows: list[Described]
    used: bool = False
    left: set[str] = field(default_factory=set)
    """Names that it says, but that are not labels."""


class Documents:
    """The documents in the folders of the files of an ingest."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._of: dict[Path, list[Document]] = {}
        self._others: Counter[Path] = Counter()
        """Folder -> the number of its files that are not documents."""
        for path in files:
            self._others[path.parent] += not path.name.casefold().endswith(ENDINGS)
            if path.name.casefold().endswith(ENDINGS) and (document := _read(path)) is not None:
                self._of.setdefault(path.parent, []).append(document)

    @property
    def used(self) -> Set[Path]:
        """The documents that labelled a file, so that they are not files to be read."""
        return {one.path for documents in self._of.values() for one in documents if one.used}

    def labels(self, path: Path) -> tuple[Labels | None, list[str]]:
        """What the documents beside a file say of it, None if none is about it; and a remark for each that is used."""
        about: list[Described] = []
        remarks = []
        for document in self._of.get(path.parent, []):
            if document.path == path:
                continue
            alone = self._others[path.parent] == 1 and len(document.rows) == 1
            rows = [row for row in document.rows if _is_about(row, document.path, path, alone=alone)]
            if not rows:
                continue
            document.used = True
            about += rows
            remarks.append(_remark(document, rows))
        found = Labels()
        for row in sorted(about, key=lambda row: row.by_address):
            found = found.over(row.labels)
        return found if about else None, remarks


def _is_about(row: Described, document: Path, path: Path, *, alone: bool) -> bool:
    """Whether a document is about a file. ``alone``: it says one thing, and there is one file in the folder."""
    if path.name.casefold() in row.files:
        return True
    if row.files:
        return False
    stem = stem_of(path).casefold()
    if row.id is not None:
        begins = row.id.casefold()
        return stem == begins or (stem.startswith(begins) and not stem[len(begins)].isalnum())
    if alone and _KIND.fullmatch(document.stem):
        return True
    own = document.name[: -len(document.suffix)].casefold()
    return own in (path.name.casefold(), stem) or _KIND.sub("", own) in (path.name.casefold(), stem)


def _remark(document: Document, rows: list[Described]) -> str:
    said = Labels()
    for row in rows:
        said = row.labels.over(said)
    names = [name for name in said.said() if name not in ("design", "cell", "test")]
    count = len(said.design) + len(said.cell) + len(said.test)
    told = ", ".join([*names, *([f"{count} properties" if count != 1 else "1 property"] if count else [])])
    left = f" Not taken: {', '.join(sorted(document.left)[:10])}." if document.left else ""
    if not told:
        return f"'{shown(document.path.name)}' beside the file holds nothing that is a label.{left}"
    return f"Labels are from '{shown(document.path.name)}' beside the file: {told}.{left}"


def _read(path: Path) -> Document | None:
    """A document; None for a file that is not one, or says nothing of a test."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(content, dict) and {"Header", "Parameterisation"} <= content.keys():
        return None  # a BPX set, which becomes a specification
    if Passport.is_meant(content):
        return None  # it goes along with the file that the workbench exported, which is read by it
    document = Document(path, [])
    if is_linked(content):
        document.rows = list(described(content))
    else:
        rows = content if isinstance(content, list) else [content]
        many = isinstance(content, list)
        for row in rows[:MOST_ROWS]:
            if isinstance(row, dict) and (found := _row(row, document, many=many)) is not None:
                document.rows.append(found)
    return document if document.rows else None


def _row(row: JsonObject, document: Document, *, many: bool) -> Described | None:
    """What one object says. Of ``many`` in a list, each must name its file or its cell."""
    files: set[str] = set()
    labels = Labels()
    cell: str | None = None
    for place, (key, value) in enumerate(_flat(row, document.left)):
        if place >= MOST_PROPERTIES:
            document.left.add(f"all after the first {MOST_PROPERTIES}")
            break
        folded = " ".join(key.replace("_", " ").casefold().split())
        try:
            if folded in _CELL and isinstance(value, str | int) and not isinstance(value, bool):
                cell = clean_text(str(value))
                continue
            heading = Heading(key, "")
            if heading.means == FILE:
                files.add(Path(str(value)).name.casefold())
                continue
            labels = heading.labels(_as_text(value)).over(labels)
        except (BadRequest, ValueError):
            document.left.add(key)
    if many and not files and cell is None:
        return None
    if cell is not None:
        labels = replace(labels, instance=cell)
    said = labels.said()
    return Described(frozenset(files), cell if many and not files else None, labels) if said or files else None


def _flat(row: Mapping[str, JsonValue], left: set[str]) -> Iterator[tuple[str, str | int | float | bool]]:
    """Keys as headings of a sheet, and their values: those of objects within are written ``cell.mass [g]``."""
    for key, value in row.items():
        if isinstance(value, dict) and value.keys() == {"value", "unit"}:
            inner = value["value"]
            if isinstance(inner, str | int | float):
                yield f"{key} [{value['unit']}]", inner
        elif isinstance(value, dict) and key.casefold() in _ABOUT:
            for name, inner in value.items():
                if isinstance(inner, dict) and inner.keys() == {"value", "unit"}:
                    name, inner = f"{name} [{inner['unit']}]", inner["value"]
                if name.casefold() in _NAME and isinstance(inner, str):
                    yield key, inner
                elif isinstance(inner, str | int | float):
                    yield f"{key}.{name}", inner
                elif inner is not None:
                    left.add(f"{key}.{name}")
        elif isinstance(value, list) and key.casefold() in ("tags", "labels") and all(map(_is_text, value)):
            yield key, ";".join(map(str, value))
        elif isinstance(value, str | int | float):
            yield key, value
        elif value is not None:
            left.add(key)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _as_text(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("not a number")
        return repr(value)
    text = clean_text(str(value)) if value != "" else ""
    if len(text) > _LONGEST:
        raise ValueError("too long")
    return text
