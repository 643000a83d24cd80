"""What names a dataset and a figure in the caches, and what keeps an entry good."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version

from pydantic import JsonValue

from ..dataset import MAGIC
from ..recipe.bind import Bound
from ..recipe.jsontext import canonical
from ..recipe.modules import LIBRARIES
from ..store.scope import Scope
from ..version import __version__
from .reader import Dependency

SHAPE = "5"
"""Rises when the same plan on the same store is to give other steps or warnings than before."""


def dataset_key(bound: Bound, scope: Scope, store: str) -> str:
    """Names the answer of a bound plan (data params bound) as one caller sees it; ``store`` is its identity."""
    who = canonical([SHAPE, MAGIC.decode(), versions()["battery-workbench"], store, *scope.name])
    return _digest(who, bound.canonical())


def figure_key(content: str, script: str, params: Mapping[str, JsonValue]) -> str:
    """Names a figure: the content of its dataset, the script, all params, the versions that draw it, and the time zone
    of the machine, in which scripts may show times."""
    zone = [*time.tzname, time.timezone, time.altzone]
    return _digest(
        content.encode(), script.encode(), canonical(dict(params)), canonical(versions()), canonical(zone)
    )


def content_key(packed: bytes) -> str:
    """Names the steps that a transform is given, whenever and from whatever they were read."""
    return hashlib.sha256(packed).hexdigest()


@cache
def versions() -> dict[str, str]:
    """The versions that a figure depends on: of the workbench, and of the libraries that scripts can import."""
    return {"battery-workbench": __version__} | {name: version(name) for name in sorted(LIBRARIES)}


def as_json(dependencies: Mapping[Dependency, int]) -> list[list[str | int]]:
    """Revisions as the metadata of an entry holds them."""
    return [[*key, revision] for key, revision in dependencies.items()]


def from_json(stored: Iterable[Sequence[str | int]]) -> dict[Dependency, int]:
    """What ``as_json`` wrote."""
    return {tuple(map(str, key)): int(revision) for *key, revision in stored}


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
