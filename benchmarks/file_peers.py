"""Readers of cycler files beside ours, each asked in a process of its own: ``python benchmarks/file_peers.py``.

It answers lines of JSON, ``{"peer": name, "path": file}``, with the seconds of the read and its rows. Which peers there
are depends on the Python that runs it: those whose libraries are installed.
"""

from __future__ import annotations

import gzip
import io
import json
import logging
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

SKIP = {  # lines above the header, separator, encoding and what else a person would find out by looking
    "bdf_csv": (0, ",", "utf-8"),
    "arbin_csv": (0, ",", "utf-8"),
    "neware_csv": (0, ",", "utf-8"),
    "maccor_txt": (None, "\t", "latin-1"),
    "biologic_mpt": (None, "\t", "latin-1"),
    "biologic_csv": (0, ";", "utf-8"),
    "novonix_csv": (None, ",", "utf-8"),
    "basytec_txt": (None, "\t", "latin-1"),
    "landt_csv": (None, ",", "utf-8"),
    "pec_csv": (None, ",", "utf-8"),
}
FIRST = {  # words of the header line, where its place differs from file to file
    "maccor_txt": ("Rec#", "Cyc"),
    "biologic_mpt": ("time/s",),
    "novonix_csv": ("Potential",),
    "basytec_txt": ("DataSet",),
    "landt_csv": ("test_time_s", "voltage"),
    "pec_csv": ("Voltage", "Current"),
}


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def plain(path: Path) -> Path:
    """The file itself, or a copy of one that is packed."""
    if path.suffix != ".gz":
        return path
    copy = Path(tempfile.gettempdir()) / f"benchmark-{path.stem}"
    copy.write_bytes(unpacked(path))
    return copy


def header_place(kind: str, lines: list[str]) -> int:
    """The number of lines above the header."""
    known = SKIP[kind][0]
    if known is not None:
        return known
    return next(n for n, line in enumerate(lines) if any(word in line for word in FIRST[kind]))


def pandas_text(path: Path) -> int:
    import pandas as pd

    kind = next(kind for kind in SKIP if path.parent.name.startswith(kind))
    skip, mark, encoding = SKIP[kind]
    data = unpacked(path)
    if skip is None:
        text = data.decode(encoding, "replace")
        if kind == "novonix_csv":
            text = text.replace('"', "")
        skip = header_place(kind, text.split("\n"))
        data = text.encode()
    frame = pd.read_csv(io.BytesIO(data), sep=mark, skiprows=skip, index_col=False, on_bad_lines="skip")
    return len(frame)


def pyarrow_parquet(path: Path) -> int:
    import pyarrow.parquet as pq

    return int(pq.read_table(path).num_rows)


def fastexcel(path: Path) -> int:
    import fastexcel as fe

    book = fe.read_excel(str(path))
    return max(book.load_sheet(name).to_arrow().num_rows for name in book.sheet_names)


def fastnda(path: Path) -> int:
    import fastnda as nda

    return int(nda.read(str(path)).height)


def newarenda(path: Path) -> int:
    import NewareNDA

    return len(NewareNDA.read(str(path)))


def galvani(path: Path) -> int:
    from galvani import BioLogic

    return len(BioLogic.MPRfile(str(path)).data)


def mdb_export(path: Path) -> int:
    import pandas as pd

    done = subprocess.run(
        ["mdb-export", str(plain(path)), "Channel_Normal_Table"], capture_output=True, check=True
    )
    return len(pd.read_csv(io.BytesIO(done.stdout)))


def scipy_mat(path: Path) -> int:
    import scipy.io

    found = scipy.io.loadmat(path, simplify_cells=True)
    cycles = next(value for key, value in found.items() if not key.startswith("__"))["cycle"]
    return sum(len(cycle["data"]["Time"]) for cycle in cycles if "Time" in cycle["data"])


def ionworksdata(path: Path) -> int:
    import ionworksdata as iwd

    return len(iwd.read.time_series(str(path)))


def batterydf(path: Path) -> int:
    import bdf

    return len(bdf.read(str(plain(path))))


def pyprobe(path: Path) -> int:
    import polars as pl
    import pyprobe as probe

    kind = path.parent.name.partition("_")[0]
    with tempfile.TemporaryDirectory() as folder:
        made = str(Path(folder) / "made.parquet")
        probe.process_cycler_data(kind, str(plain(path)), made, overwrite_existing=True)
        return int(pl.scan_parquet(made).select(pl.len()).collect().item())


def cellpy(path: Path) -> int:
    import cellpy as cp

    instrument = {"arbin_res": "arbin_res", "biologic_mpr": "biologics_mpr"}[path.parent.name]
    return len(cp.get(str(plain(path)), instrument=instrument).data.raw)


PEERS: dict[str, tuple[Callable[[Path], int], tuple[str, ...]]] = {
    "pandas": (pandas_text, tuple(SKIP)),
    "pyarrow": (pyarrow_parquet, ("bdf_parquet", "pyprobe_parquet")),
    "fastexcel": (fastexcel, ("arbin_xlsx", "custom_xlsx")),
    "fastnda": (fastnda, ("neware_nda",)),
    "NewareNDA": (newarenda, ("neware_nda",)),
    "galvani": (galvani, ("biologic_mpr",)),
    "mdb-export, pandas": (mdb_export, ("arbin_res",)),
    "scipy": (scipy_mat, ("nasa_mat",)),
    "ionworksdata": (
        ionworksdata,
        ("arbin", "neware_csv", "maccor", "biologic_mpt", "novonix", "basytec", "bdf_csv"),
    ),
    "batterydf": (
        batterydf,
        ("bdf", "arbin_csv", "neware", "maccor", "biologic", "novonix", "basytec", "landt", "pec"),
    ),
    "PyProBE": (pyprobe, ("arbin_csv", "neware_csv", "maccor", "biologic_mpt", "novonix", "basytec")),
    "cellpy": (cellpy, ("arbin_res", "biologic_mpr")),
}


def asked(peer: str, path: Path) -> dict[str, Any]:
    begun = time.perf_counter()
    try:
        rows = PEERS[peer][0](path)
    except Exception as error:  # a peer that fails is part of the result
        return {"failed": type(error).__name__}
    return {"seconds": time.perf_counter() - begun, "rows": rows}


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(asked(job["peer"], Path(job["path"]))), flush=True)


if __name__ == "__main__":
    main()
