"""PostgreSQL in the place of a file: connections, the dialect, the tables."""
