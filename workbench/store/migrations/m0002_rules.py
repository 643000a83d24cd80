"""Format 2: sampled data know which rule made them, and stores know which formats can read and write them."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        2,
        "0002_rules",
        "0.2.0",
        "Each series, and each table of steps and cycles, can carry the number of the rule that made it.",
        ('ALTER TABLE "series" ADD COLUMN "rule" INTEGER',),
        # 0.1.0 refuses every step that it does not know.
        oldest_reader=2,
        oldest_writer=2,
    ),
)
