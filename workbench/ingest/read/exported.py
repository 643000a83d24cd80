"""Files that the workbench exported: their samples go in as they were stored, with what was known of them."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict

from pydantic import JsonValue

from ...cycling.checks import Survey
from ...cycling.cycles import cycles_of
from ...cycling.given_samples import Rules
from ...cycling.steps import OWN_TIME, StepsBuilder, replaced
from ...errors import BadRequest, FileRefused
from ...exchange import EXCLUSIONS, Excluded, Passport, tables
from ...records.exclusion import cycles_text
from ...records.specification import ESTIMATED
from ...table import Table
from ..limits import JsonObject, Limits, RecordFields
from ..plan.destination import Destination
from ..plan.labels import Labels, Ratings
from . import samples_file
from .cycler_step_types import CyclerStepTypes

_WITH_A_WARNING = frozenset({"time", "null"})
"""Rules of samples that a file of a cycler may break: a time that falls or is missing is stored, with a warning."""


class Brought(TypedDict):
    """What an exported file says of its records, and whether its steps were given."""

    measurement: RecordFields
    instance: RecordFields
    batch: RecordFields
    specification: RecordFields
    given_steps: bool


@dataclass
class Restored:
    """What an exported file brought: its samples are in the spool."""

    passport: Passport
    content_hash: str
    steps: Table
    cycles: Table
    survey: Survey
    given: bool
    """Whether the steps were given, so that they are used as they are."""

    @property
    def brought(self) -> Brought:
        """What the file says of its records."""
        passport = self.passport
        return Brought(
            measurement=passport.measurement,
            instance=passport.instance or {},
            batch=passport.batch or {},
            specification=passport.specification or {},
            given_steps=self.given,
        )


def restored(passport: Passport, path: Path, file: IO[bytes], limits: Limits, deadline: float) -> Restored | None:
    """The samples of an exported file, left in ``file``, an empty spool; None if it is not as its passport says.

    A file that was changed is an ordinary one, and its passport says nothing of it any more.
    """
    if passport.rows > limits.rows or len(passport.columns) > limits.columns:
        return None
    content, survey, rules = samples_file.ContentHash(), Survey(), Rules()
    try:
        table = passport.given_steps()
        given = table is not None and OWN_TIME not in table
        read = _was_read(passport)
        borne = _WITH_A_WARNING if read else frozenset()
        builder, words = StepsBuilder(owning=not given and (table is not None or read)), CyclerStepTypes()
        for batch in tables(path, passport):
            rules.feed(batch)
            if rules.broken.keys() - borne or survey.rows > passport.rows or time.monotonic() > deadline:
                return None
            content.feed(batch)
            survey.feed(batch, batch["Step count"].values)
            builder.feed(batch)
            words.feed(batch)
            samples_file.put(file, "series", batch)
        if content.hexdigest() != passport.content_hash:
            return None
        steps = table if table is not None and given else builder.finish()
        if table is not None and not given:
            steps = replaced(steps, table.columns)
        if read and not given:
            steps = words.added_to(steps)
    except FileRefused:
        return None
    except Exception:  # a passport is anybody's text; what cannot be read by it is read without it
        return None
    cycles = cycles_of(steps)
    samples_file.put(file, "steps", steps)
    samples_file.put(file, "cycles", cycles)
    return Restored(passport, passport.content_hash, steps, cycles, survey, given)


def _was_read(passport: Passport) -> bool:
    """Whether its samples are from a file of a cycler."""
    source = passport.measurement.get("source") or {}
    if source.get("format") == "exported":
        source = source.get("exported_from") or {}
    return source.get("format") is not None and source.get("steps") != "given"


def labels_of(brought: Brought) -> Labels:
    """The names that an exported file gives cell, batch and specification, and the properties of the cell."""
    specification, instance = brought["specification"], brought["instance"]
    ratings: Ratings = specification.get("ratings") or {}
    return Labels(
        specification=specification.get("name"),
        batch=brought["batch"].get("name"),
        instance=instance.get("name"),
        measurement=brought["measurement"].get("name"),
        ratings={name: value for name, value in ratings.items() if value is not None},
        design=specification.get("properties") or {},
        cell=instance.get("properties") or {},
    )


def estimate_of(brought: Brought) -> dict[str, JsonValue]:
    """What the ``source`` of the specification of an exported file says of ratings that were estimated; nothing where
    somebody said them. Step types, and which cycles are complete, do without estimated ones."""
    source = brought["specification"].get("source")
    if not isinstance(source, dict) or source.get("ratings") != ESTIMATED:
        return {}
    return {key: source[key] for key in _OF_ESTIMATES if isinstance(source.get(key), str | int | float)}


def known_of(brought: Brought, to: Destination) -> dict[str, JsonObject]:
    """What an exported file knows besides of the cell, batch and specification that it names, by the kind of record.

    ``to`` is where the file goes by what is said from outside: of a record that is another one there nothing is taken.
    """
    said = {"specification": to.specification, "batch": to.batch, "instance": to.instance}
    records = {
        "specification": brought["specification"],
        "batch": brought["batch"],
        "instance": brought["instance"],
    }
    found: dict[str, JsonObject] = {}
    for kind, record in records.items():
        if said[kind] not in (None, record.get("name")):
            continue
        found[kind] = {field: record[field] for field in _BESIDES[kind] if record.get(field)}
    source = found.get("specification", {}).pop("source", None)
    if isinstance(source, dict):
        estimated = _OF_ESTIMATES if source.get("ratings") == ESTIMATED else ("own",)
        found["specification"]["source"] = {key: value for key, value in source.items() if key not in estimated}
    return found


_BESIDES = {
    "specification": ("notes", "form_factor", "manufacturer", "source"),
    "batch": ("notes", "date_manufactured", "properties"),
    "instance": ("notes", "date_manufactured"),
}
_OF_ESTIMATES = ("ratings", "file", "capacity", "at_least", "own")
MEASURED = ("start_time", "end_time", "tags", "notes", "properties", "protocol", "test_setup")
"""What a measurement brings of its own."""


def exclusions_of(brought: Brought | None) -> list[Excluded]:
    """What an exported file says is left out of its measurement; without what is not an exclusion."""
    listed = None if brought is None else brought["measurement"].get(EXCLUSIONS)
    found = []
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict) or not all(
            isinstance(one.get(key), str) for key in ("name", "cycles", "reason")
        ):
            continue
        with suppress(BadRequest):
            cycles = cycles_text(one["cycles"])
            found.append(Excluded(name=one["name"][:200] or cycles, cycles=cycles, reason=one["reason"][:1000]))
    return found
