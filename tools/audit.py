"""Compares versions with the list of known holes, `requirements/advisories.toml`: ``python -m tools.audit``.

It asks nobody: the list is kept by hand and has a date. It looks at the floors in pyproject.toml, at the locks of the
server image, and at what is installed in this environment.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import distributions
from typing import TypedDict

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from .lock_file import BUILD, LOCK, ROOT, locked

LIST = ROOT / "requirements" / "advisories.toml"


class Entry(TypedDict):
    """A hole as the list has it."""

    package: str
    ids: list[str]
    fixed: str
    seen: date
    what: str
    source: str


class Open(TypedDict):
    """A hole that no version closes."""

    package: str
    ids: list[str]
    newest: str
    seen: date
    what: str
    here: str
    source: str


class Known(TypedDict):
    """The list."""

    checked: date
    advisory: list[Entry]
    open: list[Open]


@dataclass(frozen=True)
class Found:
    """A version with a hole, and where it is chosen or allowed."""

    where: str
    package: str
    version: str
    entry: Entry

    def __str__(self) -> str:
        fixed, ids = self.entry["fixed"], ", ".join(self.entry["ids"])
        return f"{self.where}: {self.package} {self.version} has {ids}; {fixed} closes it. {self.entry['what']}"


def known() -> Known:
    """The list of known holes."""
    found: Known = tomllib.loads(LIST.read_text("utf-8"))  # type: ignore[assignment]  # the tests look at each field
    return found


def floors() -> Iterator[tuple[str, str]]:
    """Each package that the library or an extra declares, with the lowest version that it allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for text in [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]:
        wanted = Requirement(text)
        if wanted.name != project["name"]:
            lowest = [one.version for one in wanted.specifier if one.operator in (">=", "==", "~=")]
            yield canonicalize_name(wanted.name), lowest[0] if lowest else "0"


def chosen() -> Iterator[tuple[str, str, str]]:
    """Where a version is allowed, locked or installed, the package, and the version."""
    for name, version in floors():
        yield "the lowest version in pyproject.toml", name, version
    for path in (LOCK, BUILD):
        for one in locked(path.read_text("utf-8")):
            yield str(path.relative_to(ROOT)), canonicalize_name(one.name), one.version
    for there in distributions():
        yield "installed here", canonicalize_name(there.metadata["Name"]), there.version


def holes(entries: list[Entry]) -> list[Found]:
    """Every version that has one of the holes."""
    by_package: dict[str, list[Entry]] = {}
    for entry in entries:
        by_package.setdefault(canonicalize_name(entry["package"]), []).append(entry)
    return [
        Found(where, package, version, entry)
        for where, package, version in chosen()
        for entry in by_package.get(package, [])
        if Version(version) < Version(entry["fixed"])
    ]


def main() -> None:
    """Print what has a hole, and end with 1 if something does."""
    listed = known()
    found = holes(listed["advisory"])
    for one in found:
        print(one)
    for left in listed["open"]:
        ids = ", ".join(left["ids"])
        print(f"Open in every version of {left['package']}, up to {left['newest']}: {ids}. {left['here']}")
    print(f"{len(listed['advisory'])} advisories, list of {listed['checked']}: {len(found) or 'nothing'} found.")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
