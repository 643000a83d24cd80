"""Format 3: a key may have a permission, which narrows the role of its user."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        3,
        "0003_key_permissions",
        "0.1.1",
        "Keys may have a permission that narrows the role of their user.",
        ('ALTER TABLE "keys" ADD COLUMN "permission" TEXT',),
        # Older code would give a key that may only read all rights of its user.
        oldest_writer=3,
    ),
)
