"""Format 2: each publication of sampled data notes the rule that made them, and a store says who can read it."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        2,
        "0002_rules",
        "0.1.1",
        "Samples, steps and cycles carry the number of the rule that made them.",
        ('ALTER TABLE "series_log" ADD COLUMN "rule" INTEGER',),
        # 0.1.0 refuses every step that it does not know.
        oldest_reader=2,
        oldest_writer=2,
    ),
)
