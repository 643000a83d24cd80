"""Format 7: samples may be kept outside of the file, as one object for each stored generation of a series."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        7,
        "0007_objects",
        "0.1.1",
        "Samples can be kept in a folder or an object store.",
        (
            "CREATE TABLE series_objects (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, "
            "generation INTEGER NOT NULL, revision INTEGER NOT NULL, size INTEGER NOT NULL, "
            "directory INTEGER NOT NULL, directory_crc INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT",
            "CREATE TABLE series_waiting (id INTEGER PRIMARY KEY NOT NULL, lease TEXT, beat INTEGER NOT NULL) STRICT",
            "CREATE TABLE object_leftovers (name TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, "
            "since INTEGER NOT NULL) STRICT",
        ),
        # Older code looks for all chunks in the file, and would forget the objects of series that it deletes.
        oldest_reader=7,
        oldest_writer=7,
    ),
)
