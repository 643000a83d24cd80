"""Bounds on what a file may be: a cycler file is hostile input until it has been read.

Each is far above what cyclers write and far below what would take a machine down.
"""

from __future__ import annotations

CHUNK_ROWS = 262_144
CHUNK_BYTES = 256 << 20
"""Text that one batch may hold: a batch has fewer rows where lines are long."""
MOST_ROWS = 500_000_000
MOST_COLUMNS = 4096
LONGEST_LINE = 1 << 20
HEAD_BYTES = 1 << 18
HEAD_LINES = 2000
MOST_UNPACKED = 64 << 30
RATIO_FREE = 64 << 20
"""Unpacked bytes below which the ratio of a packed file is not asked."""
MOST_RATIO = 400
MOST_MEMBERS = 512
"""Entries of a zip container."""
MOST_IN_MEMORY = 4 << 30
"""Unpacked bytes of a container that is read as a whole."""
MOST_SHEET_ROWS = 1 << 20
FREE_CELLS = 1 << 22
"""Cells of a sheet, empty ones too, for which it is not asked how many are filled."""
MOST_EMPTY = 64
"""Cells that a sheet may span for each that is filled."""
