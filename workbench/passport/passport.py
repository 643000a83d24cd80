"""The passport of a figure: what it was drawn from. It holds no key, no address, no path and no name of a person."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from typing import Annotated

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ..dataset import SeriesSet, StepResult
from ..errors import BadRequest
from ..recipe.jsontext import canonical
from ..recipe.plot import PlotConfig
from ..table import Column, Table

VERSION = 1
KEY = "battery-workbench"
"""The name under which files hold a passport."""
MOST_BYTES = 4 << 20
"""Most bytes of an unpacked passport. All of it may be hostile."""
MOST_SOURCES = 1000
"""Sources that a step names one by one; the others are in the hash of the step."""
_TEST = "measurement_id"
_NOT_OURS = "This file holds a passport that is damaged or was not written by the workbench."
Digest = Annotated[str, Field(max_length=64, pattern=r"^[0-9a-f]*$")]
Name = Annotated[str, Field(max_length=500)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SourceSeen(_Part):
    """What a step read of one source: its samples in the window, or its rows, and a hash of those that it took.

    ``name`` is the source's, where a step of the plan lists it.
    """

    samples: Annotated[int, Field(ge=0)]
    hash: Digest
    name: Name | None = None


class StepSeen(_Part):
    """What a step gave: its rows, and hashes of its columns; by source in a series step, and in steps and cycles."""

    rows: Annotated[int, Field(ge=0)]
    hash: Digest
    columns: dict[Name, Digest] = Field(default_factory=dict, max_length=10_000)
    sources: dict[Name, SourceSeen] = Field(default_factory=dict, max_length=MOST_SOURCES)


class PlotSeen(_Part):
    """The saved plot that was drawn, its revision, and its name then; files of older versions lack the name."""

    id: Name
    revision: Annotated[int, Field(ge=1)]
    name: Name | None = None

    @classmethod
    def of(cls, id: str, revision: int, name: str) -> PlotSeen:
        return cls(id=id, revision=revision, name=name[:500])


class Passport(_Part):
    """What an exported figure was drawn from.

    Attributes
    ----------
    recipe : plan, transform and params as JSON; None if it was left out.
    parts : a hash of each part of the recipe, also where the recipe was left out.
    values : all effective values, by param name.
    steps : what each step of the plan gave, as hashes.
    figure : hash of the drawn figure.
    versions : of the workbench and of what draws.
    warnings : the codes of the warnings.
    made_at : when it was exported, UTC.
    made_by : id of the user who exported it.
    plot : the saved plot, if it was one.
    data_at : a time at which the data were just so, in microseconds since 1970 by the clock of the store.
    """

    version: Annotated[int, Field(ge=1)] = VERSION
    recipe: dict[str, JsonValue] | None = None
    parts: dict[Name, Digest] = Field(default_factory=dict, max_length=100)
    values: dict[Name, JsonValue] = Field(default_factory=dict, max_length=10_000)
    steps: dict[Name, StepSeen] = Field(default_factory=dict, max_length=1000)
    figure: Digest = ""
    versions: dict[Name, Name] = Field(default_factory=dict, max_length=100)
    warnings: list[Name] = Field(default_factory=list, max_length=10_000)
    made_at: Name = ""
    made_by: Name | None = None
    plot: PlotSeen | None = None
    data_at: Annotated[int, Field(ge=0)] | None = None

    def as_json(self) -> bytes:
        """The passport as JSON."""
        return orjson.dumps(self.model_dump(mode="json", exclude_none=True))

    def packed(self) -> bytes:
        """The passport as zlib of its JSON."""
        return zlib.compress(self.as_json(), 9)

    def text(self) -> str:
        """The packed passport in letters that end no element and no text of any format."""
        return base64.b64encode(self.packed()).decode()

    @property
    def code(self) -> str:
        """A short code of the figure for people, such as ``wb:8f3a-21c0``."""
        return f"wb:{self.figure[:4]}-{self.figure[4:8]}"


def made(
    config: PlotConfig,
    *,
    values: Mapping[str, JsonValue],
    steps: Mapping[str, StepResult],
    figure: bytes,
    versions: Mapping[str, str],
    made_at: str,
    warnings: list[str] | None = None,
    made_by: str | None = None,
    plot: PlotSeen | None = None,
    with_recipe: bool = True,
    data_at: int | None = None,
) -> Passport:
    """The passport of a drawn recipe.

    Parameters
    ----------
    values : all effective values.
    steps : what the steps of the plan gave.
    figure : the encoded figure.
    plot : the saved plot.
    with_recipe : without it only the hashes of the recipe are kept.
    """
    recipe = config.dump()
    names = _names(steps)
    return Passport(
        recipe=recipe if with_recipe else None,
        parts={name: _digest(canonical(part)) for name, part in recipe.items()},
        values=dict(values),
        steps={name: _seen(result, names) for name, result in steps.items()},
        figure=hashlib.sha256(figure).hexdigest(),
        versions=dict(versions),
        warnings=warnings or [],
        made_at=made_at,
        made_by=made_by,
        plot=plot,
        data_at=data_at,
    )


def from_json(data: bytes) -> Passport:
    """The passport of a JSON text from anywhere.

    Raises
    ------
    BadRequest
        If it is not one, or too large, or of a newer workbench.
    """
    if len(data) > MOST_BYTES:
        raise BadRequest(f"The passport of this file is larger than {MOST_BYTES >> 20} MiB, the limit.")
    try:
        raw = orjson.loads(data)
        if isinstance(raw, dict) and isinstance(raw.get("version"), int) and raw["version"] > VERSION:
            raise BadRequest("A newer workbench wrote this passport. Update battery-workbench to read it.")
        return Passport.model_validate(raw)
    except (orjson.JSONDecodeError, ValidationError, RecursionError):
        raise BadRequest(_NOT_OURS) from None


def from_packed(data: bytes) -> Passport:
    """The passport of its packed bytes; unpacks at most ``MOST_BYTES``. Errors as `from_json`."""
    try:
        text = zlib.decompressobj().decompress(data, MOST_BYTES + 1)
    except Exception:  # other packages put their own zlib in its place, which has errors of its own
        raise BadRequest(_NOT_OURS) from None
    return from_json(text)


def from_text(text: bytes) -> Passport:
    """The passport of its text. Errors as `from_json`."""
    try:
        return from_packed(base64.b64decode(b"".join(text.split()), validate=True))
    except binascii.Error:
        raise BadRequest(_NOT_OURS) from None


def _names(steps: Mapping[str, StepResult]) -> dict[str, str]:
    """The names of records by id, from the steps that list both."""
    found: dict[str, str] = {}
    for result in steps.values():
        if isinstance(result, Table) and {"id", "name"} <= set(result):
            ids, names = result["id"].tolist(), result["name"].tolist()
            found |= {
                id: name[:500]
                for id, name in zip(ids, names, strict=True)
                if isinstance(id, str) and isinstance(name, str)
            }
    return found


def _seen(result: StepResult, names: Mapping[str, str]) -> StepSeen:
    if isinstance(result, Table):
        columns = {name: _column(column) for name, column in result.items()}
        return StepSeen(rows=result.n, hash=_of(columns), columns=columns, sources=_tests(result, names))
    return _series(result, names)


def _tests(table: Table, names: Mapping[str, str]) -> dict[str, SourceSeen]:
    """The rows of each test, where the rows are steps or cycles of tests."""
    if _TEST not in table or table[_TEST].kind != "text" or not table.n:
        return {}
    column = table[_TEST]
    owners = np.where(column.null_mask(), -1, column.values)
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=owners[order][0] - 1))
    found: dict[str, SourceSeen] = {}
    for rows in np.split(order, starts[1:]):
        owner = int(owners[rows[0]])
        if owner < 0 or len(found) >= MOST_SOURCES:
            continue
        id = column.words[owner]
        of = {name: _column(other.take(rows)) for name, other in table.items()}
        found[id] = SourceSeen(samples=len(rows), hash=_of(of), name=names.get(id))
    return found if len(found) < table.n else {}


def _series(series: SeriesSet, names: Mapping[str, str]) -> StepSeen:
    found = {}
    for id, samples in series.items():
        of = {name: _column(column) for name, column in samples.table.items()}
        of["\0rows"] = _digest(samples.rows.astype("<i8").tobytes())
        found[id] = SourceSeen(samples=samples.total, hash=_of(of), name=names.get(id))
    return StepSeen(
        rows=sum(samples.table.n for samples in series.values()),
        hash=_of({id: f"{one.samples} {one.hash}" for id, one in found.items()}),
        sources=dict(list(found.items())[:MOST_SOURCES]),
    )


def _column(column: Column) -> str:
    """A hash of the kind, the values and the nulls of a column."""
    digest = hashlib.sha256(f"{column.kind}\0".encode())
    if column.kind in ("text", "mixed"):
        digest.update(orjson.dumps(column.tolist(), default=repr))
        return digest.hexdigest()[:16]
    missing = column.null_mask()
    values = column.values
    digest.update(values.dtype.str.encode())
    digest.update(values[~missing].tobytes())
    digest.update(missing.tobytes())
    return digest.hexdigest()[:16]


def _of(parts: Mapping[str, str]) -> str:
    return _digest(orjson.dumps(list(parts.items())))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
