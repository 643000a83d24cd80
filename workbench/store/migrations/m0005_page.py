"""Format 5: what the web page needs: sign-ins, one-time codes, links for outsiders, stars, and notes on revisions."""

from __future__ import annotations

from .migration import Migration

MIGRATIONS = (
    Migration(
        5,
        "0005_page",
        "0.1.1",
        "Sign-ins of the web page, links for outsiders, stars, and notes on revisions of plots.",
        (
            "CREATE TABLE sign_ins (secret BLOB PRIMARY KEY NOT NULL, token BLOB NOT NULL, key_id TEXT NOT NULL "
            "REFERENCES keys(id) ON DELETE CASCADE, created_at INTEGER NOT NULL, used_at INTEGER NOT NULL) STRICT",
            "CREATE INDEX sign_ins_key ON sign_ins (key_id)",
            "CREATE TABLE sign_in_codes (code BLOB PRIMARY KEY NOT NULL, key_id TEXT NOT NULL "
            "REFERENCES keys(id) ON DELETE CASCADE, expires_at INTEGER NOT NULL) STRICT",
            "CREATE TABLE sign_in_tries (address TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
            "CREATE TABLE shares (id TEXT PRIMARY KEY NOT NULL, token BLOB NOT NULL, project_id TEXT NOT NULL "
            "REFERENCES projects(id) ON DELETE CASCADE, dashboard_id TEXT NOT NULL REFERENCES dashboards(id) "
            "ON DELETE CASCADE, plot_id TEXT REFERENCES plots(id) ON DELETE CASCADE, revision INTEGER, "
            'about TEXT NOT NULL CHECK (json_valid("about")), created_by TEXT NOT NULL REFERENCES users(id), '
            "created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER, used_at INTEGER, "
            "uses INTEGER NOT NULL) STRICT",
            "CREATE INDEX shares_project ON shares (project_id)",
            "CREATE INDEX shares_token ON shares (token)",
            "CREATE TABLE user_items (user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE, "
            "kind TEXT NOT NULL, id TEXT NOT NULL, starred_at INTEGER, opened_at INTEGER, "
            "PRIMARY KEY (user_id, kind, id)) STRICT",
            'ALTER TABLE "plot_revisions" ADD COLUMN "note" TEXT',
        ),
    ),
)
