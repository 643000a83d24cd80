"""macOS and Windows, as far as Linux can show them: all is imported, files are read, figures drawn, strangers refused.

The workbench was never run there. What these tests take away is in `support.other_system`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cycler_file import cycler_text
from support.system_names import missing, stand_in

from tools import other_systems

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stand-ins take from Linux what others lack")
ROOT = Path(__file__).parents[1]

IMPORTS = f"""
import importlib, pkgutil, sys
import server, workbench
skipped = {sorted(other_systems.LINUX_ONLY)}
for package in (workbench, server):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        names = set(found.name.split("."))
        if found.name not in skipped and not {{"__main__", "lab_socket", "recipes", "examples", "sample_data"}} & names:
            importlib.import_module(found.name)
loaded = sorted(set(skipped) & set(sys.modules))
assert loaded == [], loaded
"""
READS = """
import sys
from pathlib import Path
import workbench as wb
from workbench.errors import NotProtected
from workbench.ingest.read import worker_pool
worker_pool._PER_WORKER = worker_pool._PER_FILE = 1
folder = Path(sys.argv[1])
with wb.open(folder / "lab.db") as bench:
    report = bench.ingest(folder / "files", jobs=2)
    print([(file.status, file.why) for file in report])
    print(bench.figure({"plan": {"steps": {"all": {"op": "list", "source": "measurements"}}},
        "transform": "def transform(data, params):\\n    return go.Figure(go.Bar(y=[len(data['all'])]))"}).data[0].y)
    try:
        bench.figure({"plan": {"steps": {"all": {"op": "list", "source": "measurements"}}},
            "transform": "def transform(data, params):\\n    return go.Figure()"}, protected=True)
    except NotProtected as error:
        print(error)
"""
SERVES = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
import pyarrow as pa, pyarrow.parquet as pq
from server import descriptors, downloads, serving
from server.app import create_app
from server.settings import Settings
from workbench.ingest.read.parquet_subprocess import ParquetSubprocess
from workbench.store.db import lease
from workbench.store.scope import EVERYTHING
from workbench.store.store import Store
from workbench.transform import protected
from workbench.errors import FileRefused, NotProtected
folder = Path(sys.argv[1])
descriptors.raise_limit()
listening = serving.listen("127.0.0.1", 0)
listening.close()
assert lease.is_held(lease.take(), 0)
with TestClient(create_app(folder / "lab.db", Settings(), protected=False)) as client:
    assert client.get("/healthz", headers={"Host": "localhost"}).status_code == 200
with Store.open(folder / "lab.db") as store:
    (owner, *_), = store.execute("select owner from series where dataset = 'series' limit 1").fetchall()
    info = store.series.info(owner, "series", scope=EVERYTHING)
    made = downloads.prepared(store, folder, owner, "series", downloads.revision(info), 10**9)
    assert pq.read_table(made).num_rows == info.rows
table = pa.table({"Time [s]": [0.0, 1.0, 2.0], "Voltage [V]": [3.0, 3.1, 3.2]})
pq.write_table(table, folder / "a.parquet")
locked = ParquetSubprocess(folder / "spools", 1)
try:
    locked.tables(folder / "a.parquet")
except FileRefused as error:
    assert "--trust-files" in str(error), error
else:
    raise AssertionError("read without a lock")
locked.close()
readers = ParquetSubprocess(folder / "spools", 0)
read = readers.tables(folder / "a.parquet")
assert [one.n for one in read()] == [one.n for one in read()] == [3]
del read
readers.close()
assert list((folder / "spools").iterdir()) == []
try:
    protected.required()
except NotProtected as error:
    print(error)
"""


def run(system: str, program: str, *words: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        cwd=ROOT,
        env=stand_in(system),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SYSTEMS = {"win32": "Windows", "darwin": "macOS"}


def test_the_stand_in_takes_away_what_it_says() -> None:
    """Else the other tests show nothing: the lock's own modules do not come without these names."""
    assert {"fork", "geteuid", "O_CLOEXEC", "pread", "sched_getaffinity"} <= set(missing("os", "win32"))
    assert {"memfd_create", "pidfd_open"} <= set(missing("os", "darwin"))
    assert "fork" not in missing("os", "darwin")
    program = "from workbench.transform.protected import pool; pool._READY_SECONDS; pool.Pool()._alive()"
    for system in SYSTEMS:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=stand_in(system),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert "on this system" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_all_but_the_lock_works_with_what_a_system_has(system: str, tmp_path: Path) -> None:
    """Every module is imported; two jobs read good files; the server answers; a protected script is refused."""
    (tmp_path / "files").mkdir()
    for number in range(4):
        (tmp_path / "files" / f"cell {number}.csv").write_text(cycler_text(offset=number / 100))
    read, drawn, refused, not_served = run(system, IMPORTS + READS + SERVES, tmp_path).splitlines()
    assert read == str([("stored", "")] * 4)
    assert drawn == "(4,)"
    assert SYSTEMS[system] in refused
    assert SYSTEMS[system] in not_served


def test_a_name_that_another_system_lacks_is_found(tmp_path: Path) -> None:
    lines = [
        'server/descriptors.py:20: error: Module has no attribute "getrlimit"  [attr-defined]',
        'workbench/transform/protected/lock.py:110: error: Module has no attribute "setresgid"  [attr-defined]',
        "Found 2 errors in 2 files (checked 529 source files)",
    ]
    assert other_systems.found_in(lines) == lines[:1]
