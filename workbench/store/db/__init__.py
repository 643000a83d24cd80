"""The database file: connections, transactions, formats and upgrades, checksums, backup and verify."""
