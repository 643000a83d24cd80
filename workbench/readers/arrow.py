"""Where typed columns were read in 0.1.0."""

from __future__ import annotations

from ..deprecated import moved

__getattr__ = moved(
    __name__,
    {
        "ParquetFormat": "workbench.readers.table.typed_columns:ParquetFormat",
        "read_typed": "workbench.readers.table.typed_columns:read_typed",
    },
    until="0.2",
)
