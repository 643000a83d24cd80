"""Format 6: what each publication of sampled data held, when a person last changed a growing record, and alerts."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        6,
        "0006_as_of_and_alerts",
        "0.1.1",
        "Data can be drawn as they were at an earlier time; alerts say when a plan gives something for the first time.",
        (
            'ALTER TABLE "series_log" ADD COLUMN "content" BLOB',
            'ALTER TABLE "series_log" ADD COLUMN "layout" BLOB',
            'ALTER TABLE "series_log" ADD COLUMN "tail" BLOB',
            "CREATE TABLE record_edits (kind TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, "
            "PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID",
            "CREATE TABLE alerts (id TEXT PRIMARY KEY NOT NULL, project_id TEXT NOT NULL REFERENCES projects(id) "
            "ON DELETE CASCADE, plot_id TEXT NOT NULL REFERENCES plots(id) ON DELETE CASCADE, name TEXT NOT NULL, "
            'about TEXT NOT NULL CHECK (json_valid("about")), webhook TEXT, problem TEXT, '
            "created_by TEXT NOT NULL REFERENCES users(id), created_at INTEGER NOT NULL, seen_at INTEGER) STRICT",
            "CREATE INDEX alerts_project ON alerts (project_id)",
            "CREATE INDEX alerts_plot ON alerts (plot_id)",
            "CREATE TABLE alert_occurrences (id TEXT PRIMARY KEY NOT NULL, alert_id TEXT NOT NULL "
            "REFERENCES alerts(id) ON DELETE CASCADE, key TEXT NOT NULL, first_true INTEGER NOT NULL, "
            'found TEXT NOT NULL CHECK (json_valid("found")), known INTEGER NOT NULL, '
            "acknowledged_at INTEGER, acknowledged_by TEXT REFERENCES users(id)) STRICT",
            "CREATE INDEX alert_occurrences_key ON alert_occurrences (alert_id, key)",
            "CREATE TABLE open_alerts (id TEXT PRIMARY KEY NOT NULL REFERENCES alert_occurrences(id) "
            "ON DELETE CASCADE, dashboard_id TEXT NOT NULL REFERENCES dashboards(id) ON DELETE CASCADE) STRICT",
            "CREATE INDEX open_alerts_dashboard ON open_alerts (dashboard_id)",
            "CREATE TABLE alert_deliveries (id TEXT PRIMARY KEY NOT NULL REFERENCES alert_occurrences(id) "
            "ON DELETE CASCADE, address TEXT NOT NULL, tries INTEGER NOT NULL, next_at INTEGER, "
            "delivered_at INTEGER, problem TEXT) STRICT",
            "CREATE INDEX alert_deliveries_due ON alert_deliveries (next_at)",
            "CREATE TABLE webhook_addresses (address TEXT PRIMARY KEY NOT NULL, private INTEGER NOT NULL, "
            "created_by TEXT NOT NULL REFERENCES users(id), created_at INTEGER NOT NULL) STRICT",
        ),
        # Older code knows another checksum of the log, and would not note who changed a record that grows.
        oldest_reader=6,
        oldest_writer=6,
    ),
)
