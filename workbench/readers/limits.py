"""Limits on the size of a file, its rows, columns, lines and unpacked bytes: a file may be hostile.

Each limit is far above what cyclers write and far below what would stop a machine.
"""

from __future__ import annotations

CHUNK_ROWS = 262_144
CHUNK_BYTES = 256 << 20
"""Bytes of text in one batch. Where lines are long, a batch has fewer rows."""
MOST_ROWS = 500_000_000
MOST_COLUMNS = 4096
LONGEST_LINE = 1 << 20
HEAD_BYTES = 1 << 18
HEAD_LINES = 2000
MOST_UNPACKED = 64 << 30
RATIO_FREE = 64 << 20
"""Unpacked bytes up to which the ratio of a packed file is not checked."""
MOST_RATIO = 400
MOST_MEMBERS = 512
"""Files in a zip archive."""
MOST_IN_MEMORY = 4 << 30
"""Unpacked bytes of a file that is read into memory as a whole."""
MOST_SHEET_ROWS = 1 << 20
FREE_CELLS = 1 << 22
"""Cells of a sheet, empty ones too, up to which the share of empty cells is not checked."""
MOST_EMPTY = 64
"""Cells that a sheet may have for each filled cell."""
