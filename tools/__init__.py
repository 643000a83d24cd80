"""Programs that the project's developers run; no part of the library."""
