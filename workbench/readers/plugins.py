"""Formats of other packages: an installed package declares readers under the entry point ``workbench.readers``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points

from .file.outside_parsers import reason
from .reading import Reader

GROUP = "workbench.readers"
NEEDED = ("name", "brand", "endings", "about", "sign_rule", "counters", "matches", "read")


class PluginWarning(UserWarning):
    """A format of another package cannot be used."""


def outside_formats(taken: Iterable[str], found: Iterable[EntryPoint] | None = None) -> Iterator[Reader]:
    """The readers that other packages declare. An entry point names one reader, or a tuple of readers.

    A reader that cannot be imported, is not a reader or has a name that is taken is left out with a warning.
    """
    names = set(taken)
    for entry in entry_points(group=GROUP) if found is None else found:
        try:
            loaded = entry.load()
        except Exception as error:  # the import of another package may fail in any way; the workbench must start
            _warn(entry, f"it cannot be imported: {reason(error)}")
            continue
        for reader in loaded if isinstance(loaded, tuple | list) else (loaded,):
            lacking = [name for name in NEEDED if not hasattr(reader, name)]
            if lacking:
                _warn(entry, f"it is not a reader: it has no '{lacking[0]}'")
            elif reader.name in names:
                _warn(entry, f"there is a format '{reader.name}' already")
            else:
                names.add(reader.name)
                yield reader


def _warn(entry: EntryPoint, why: str) -> None:
    text = f"The file format '{entry.name}' ({entry.value}) is left out: {why}."
    warnings.warn(text, PluginWarning, stacklevel=3)
