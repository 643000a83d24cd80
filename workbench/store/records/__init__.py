"""Records as rows: make, read, list, search and delete them, each within a scope."""
