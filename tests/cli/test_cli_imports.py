"""What a command imports: held by the set of imported modules, not by a clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.docs.commands import commands

HEAVY = frozenset((
    "pandas", "scipy", "plotly", "pyarrow", "numpy", "sqlite3", "sqlite_utils", "fastapi", "starlette", "uvicorn",
    "httpx2", "jupyterlab", "jupyter_server", "IPython", "ipywidgets", "anywidget",
))  # fmt: skip
"""Not pydantic: typer imports it by itself, where it reads an option."""
NOTHING: frozenset[str] = frozenset()
HELP_MAY_IMPORT = {
    "": NOTHING,
    "demo": NOTHING,
    "lab": NOTHING,
    "ingest": NOTHING,
    "watch": NOTHING,
    "export": NOTHING,
    "export-tests": NOTHING,
    "inspect": NOTHING,
    "check": NOTHING,
    "run": NOTHING,
    "board": NOTHING,
    "warm": NOTHING,
    "catalog": NOTHING,
    "search": NOTHING,
    "backup": NOTHING,
    "copy-store": NOTHING,
    "verify": NOTHING,
    "upgrade": NOTHING,
    "recompute": NOTHING,
    "kinds": NOTHING,
    "analyse": NOTHING,
    "gallery": NOTHING,
    "trust": NOTHING,
    "audit": NOTHING,
    "serve": NOTHING,
    "mcp": NOTHING,
    "context": NOTHING,
    "author": NOTHING,
    **dict.fromkeys(("alerts", "alerts list", "alerts acknowledge"), NOTHING),
    **dict.fromkeys(("webhooks", "webhooks allow", "webhooks remove", "webhooks list"), NOTHING),
    "keys": NOTHING,
    "keys create": NOTHING,
    "keys list": NOTHING,
    "keys revoke": NOTHING,
    "users": NOTHING,
    "users list": NOTHING,
    "users add": NOTHING,
    "users remove": NOTHING,
    **dict.fromkeys(("samples", "samples show", "samples move", "samples collect"), NOTHING),
}
"""For each command the packages of `HEAVY` that its help may import."""
STORE = frozenset({"numpy", "sqlite3"})
READERS = STORE | {"pandas", "pyarrow", "scipy"}
"""Only the readers know which rules of theirs are older than today's."""
RUN_MAY_IMPORT = {
    "search": STORE,
    "keys list": STORE,
    "users list": STORE,
    "samples show": STORE,
    "verify": READERS,
    "backup": STORE,
    "upgrade --check": STORE,
}
"""The same for what these commands may import when they run."""

_PROGRAM = """
import json, os, sys
heavy = json.loads(sys.argv[1])
from workbench.cli import main
ended = {}
for words in json.loads(sys.argv[2]):
    sys.argv = ["workbench", *words]
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    try:
        main()
    except SystemExit as error:
        code = error.code or 0
    sys.stdout = out
    ended[" ".join(words)] = [code, sorted(set(heavy) & {name.partition(".")[0] for name in sys.modules})]
print(json.dumps(ended))
"""


NAMES = "print(json.dumps(sorted(sys.modules)))"


def printed(program: str) -> list[str]:
    """The names that a program prints, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    names: list[str] = json.loads(done.stdout)
    return names


def imported(*calls: list[str], **environment: str) -> dict[str, tuple[int, set[str]]]:
    """Of each call, in one process one after the other: its exit code, and the heavy packages imported until then."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(sorted(HEAVY)), json.dumps(calls)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    return {words: (code, set(names)) for words, (code, names) in json.loads(done.stdout).items()}


def test_the_table_has_every_command() -> None:
    names = set(commands())
    groups = {name.rpartition(" ")[0] for name in names}
    assert set(HELP_MAY_IMPORT) == names | groups


def test_help_imports_only_what_it_declares() -> None:
    calls = sorted(([*name.split(), "--help"] for name in HELP_MAY_IMPORT), key=lambda words: _allowed(words[:-1]))
    found = imported(*calls)
    assert len(found) == len(HELP_MAY_IMPORT)
    until_now: set[str] = set()
    for words, (code, names) in found.items():
        assert code == 0, words
        command = words.removesuffix("--help").strip()
        assert names - until_now <= HELP_MAY_IMPORT[command], words
        until_now |= HELP_MAY_IMPORT[command]


_HELP = f"""
import contextlib, io, json, sys
from workbench.cli import main
sys.argv = ["workbench", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
{NAMES}
"""


def test_the_list_of_the_commands_needs_no_models() -> None:
    assert {"pydantic", "numpy", "workbench.store", "workbench.records"} & set(printed(_HELP)) == set()


def _allowed(words: list[str]) -> int:
    """Commands that may import nothing come first: what one call has imported is there for the next."""
    return len(HELP_MAY_IMPORT[" ".join(words)])


@pytest.mark.parametrize("command", sorted(RUN_MAY_IMPORT))
def test_a_command_of_the_store_alone_needs_no_frames(command: str, demo_store: Path, tmp_path: Path) -> None:
    more = {"backup": [str(tmp_path / "copy.db")], "search": ["cell"]}
    words = [*command.split(), *more.get(command, [])]
    ((code, names),) = imported([*words, "--store", str(demo_store)]).values()
    assert code == 0
    assert names <= RUN_MAY_IMPORT[command]


NOT_TO_OPEN = (
    "pandas", "pyarrow", "scipy", "plotly", "narwhals", "rich", "ssl", "asyncio", "ipywidgets", "fastapi",
    *(f"workbench.{room}" for room in (
        "alerts.webhooks", "analyses.run", "authoring", "battery", "board_export", "cycling", "engine",
        "exchange", "export", "figure_numbers", "fleet", "gallery", "language_models", "lint", "lock",
        "measurement_export", "notebook", "passport", "pictures", "readers.recognition", "recipe.plot", "remote",
        "simulation", "standalone_page", "transform",
    )),
)  # fmt: skip
"""What whoever opens a store and counts its cells does not wait for; `NOT_TO_LIST` is the same with a frame."""
NOT_TO_LIST = frozenset(NOT_TO_OPEN) - {"pandas", "pyarrow", "workbench.transform"} | {
    "workbench.transform.script"
}


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ("repr(bench.instances)", frozenset(NOT_TO_OPEN)),
        ("bench.catalog()", frozenset(NOT_TO_OPEN) - {"workbench.cycling"}),
        ("bench.measurements.list()", NOT_TO_LIST),
    ],
)
def test_a_bench_is_opened_without_what_it_does_not_need_yet(
    asked: str, waits: frozenset[str], demo_copy: Path
) -> None:
    program = f"import json, sys, workbench as wb; bench = wb.open({str(demo_copy)!r}); {asked}; {NAMES}"
    printed(f"import workbench as wb; bench = wb.open({str(demo_copy)!r}); {asked}; bench.close(); print([])")
    names = printed(program)  # after another process has asked, which keeps what it found in the cache
    assert waits & set(names) == set()
    assert "workbench.local" in names
    assert not any(name.startswith("workbench.readers.formats") for name in names)


def test_a_server_imports_all_at_its_start(demo_copy: Path) -> None:
    """Nobody's first request waits for an import."""
    made = f"from server.app import create_app; create_app({str(demo_copy)!r}, protected=False)"
    names = set(printed(f"import json, sys; {made}; {NAMES}"))
    assert {"pandas", "workbench.analyses.run", "workbench.authoring", "workbench.lint", "plotly"} <= names
    assert {
        "workbench.battery",
        "workbench.engine.answer",
        "workbench.gallery.author",
        "workbench.cycling",
    } <= names


@pytest.mark.parametrize(("line", "completed"), [("workbench in", "ingest"), ("workbench run --pro", "--project")])
def test_shell_completion_imports_nothing_heavy(line: str, completed: str) -> None:
    environment = {
        "_WORKBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    ((code, names),) = imported([], **environment).values()
    assert (code, names) == (0, set())
    script = "import sys; from workbench.cli import main; sys.argv[0] = 'workbench'; main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert completed in done.stdout.split()


def test_the_catalog_of_a_store_without_files_imports_no_format(tmp_path: Path) -> None:
    """All formats take longer to import than the catalog of ten thousand cells takes."""
    program = (
        f"import sys, workbench as wb; wb.open({str(tmp_path / 'lab.db')!r}).catalog(); "
        "print([name for name in sys.modules if name.startswith('workbench.readers.formats')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"
