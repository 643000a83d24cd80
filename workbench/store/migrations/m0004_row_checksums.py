"""Format 4: rows of keys, members, uploads, attached files and the audit log have a checksum."""

from __future__ import annotations

from .migration import Migration

_TABLES = ("keys", "members", "project_roles", "uploads", "upload_objects", "attachments", "audit")
MIGRATIONS = (
    Migration(
        4,
        "0004_row_checksums",
        "0.1.1",
        "Rows of keys, members, uploads and the audit log carry a checksum.",
        tuple(f'ALTER TABLE "{table}" ADD COLUMN "crc" INTEGER' for table in _TABLES),
        # Older code would change a row and leave its checksum.
        oldest_writer=4,
    ),
)
