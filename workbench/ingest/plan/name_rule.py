"""What the name of a file says, by a rule such as ``{batch}_{cell}_{test}``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import BadRequest
from ...records.values import composed
from .headings import FILE, Heading
from .labels import Labels
from .paths import shown, stem_of

_FIELD = re.compile(r"\{([^{}]*)\}")
_NOT_HERE = (FILE, "rating", "column_map")


@dataclass
class NameRule:
    """A rule, ready to be asked.

    Words in braces are headings as a sheet has them (``{cell}``, ``{temperature [degC]}``); ``{}`` stands for
    anything that is not kept. All else stands for itself, ``*`` for anything. A rule with ``/`` looks at the
    folders too: of a folder that is ingested it begins at that folder, of a file that is named it begins as many
    folders above the file as it has ``/``. The ending does not count.
    """

    text: str
    headings: list[Heading | None] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        parts: list[str | None] = []
        at, last = 0, 0
        for match in _FIELD.finditer(self.text):
            if match.start() == at and at:
                raise BadRequest(
                    f"In the rule '{self.text}' two fields touch. Put a character such as '_' between them."
                )
            parts.append(_literal(self.text[last : match.start()]))
            self.headings.append(self._heading(match[1]))
            parts.append(None)
            at = last = match.end()
        parts.append(_literal(self.text[last:]))
        named = [heading for heading in self.headings if heading is not None]
        if not named or _FIELD.sub("", self.text).count("{") or _FIELD.sub("", self.text).count("}"):
            raise BadRequest(f"'{self.text}' is not a name rule. Write it like '{{batch}}_{{cell}}_{{test}}'.")
        keys = [heading.key for heading in named]
        if twice := [heading.text for heading in named if keys.count(heading.key) > 1]:
            raise BadRequest(f"The rule '{self.text}' has the field '{twice[0]}' twice.")
        self._short = re.compile("".join("([^/]+?)" if part is None else part for part in parts))
        self._long = re.compile("".join("([^/]+)" if part is None else part for part in parts))

    def _heading(self, name: str) -> Heading | None:
        if not name.strip():
            return None
        heading = Heading(name, f"The rule '{self.text}'")
        if heading.means in _NOT_HERE:
            raise BadRequest(f"The rule '{self.text}' has a field '{heading.text}', which only a sheet can give.")
        return heading

    def why_not(self, path: Path, root: Path | None = None) -> str:
        """The sentence about a file that the rule does not fit."""
        if root is None or "/" not in self.text:
            return f"The file name does not match the name rule '{self.text}'."
        name = shown(self._name(path, root))
        deeper = name.count("/") > self.text.count("/") and not self.text.startswith("*/")
        fix = f" Where there are more folders above, write '*/{self.text}'." if deeper else ""
        begins = f"which begins in the folder '{shown(Path(os.path.abspath(root)).name)}'"
        return f"'{name}' does not match the name rule '{self.text}', {begins}.{fix}"

    def _name(self, path: Path, root: Path | None) -> str:
        """The name that the rule looks at: with the folders of the file, as far as they count."""
        depth = self.text.count("/")
        if root is None or not depth:
            folders = path.absolute().parts[:-1][-depth:] if depth else ()
        else:
            folders = Path(os.path.abspath(path)).relative_to(os.path.abspath(root)).parts[:-1]
        return "/".join([*map(composed, folders), stem_of(path)])

    def labels(self, path: Path, root: Path | None = None) -> tuple[Labels | None, str]:
        """What the name of a file says, None if the rule does not fit it; and a remark if it fits in several ways.

        Every field takes as little as it can, the last one all the rest. ``root``: the folder that is ingested.
        """
        name = self._name(path, root)
        match = self._short.fullmatch(name)
        if match is None:
            return None, ""
        found = Labels()
        for heading, text in zip(self.headings, match.groups(), strict=True):
            if heading is not None:
                found = heading.labels(text).over(found)
        other = self._long.fullmatch(name)
        if other is None or other.groups() == match.groups():
            return found, ""
        read = ", ".join(
            f"{heading.text} '{text}'"
            for heading, text in zip(self.headings, match.groups(), strict=True)
            if heading is not None
        )
        several = f"The file name matches the name rule in several ways. It was read as {read}."
        return found, f"{several} A sheet can say it for sure."


def _literal(text: str) -> str:
    return ".*?".join(re.escape(part) for part in composed(text).split("*"))
