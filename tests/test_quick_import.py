"""Imports that wait until something of a module is asked for, and what they leave to the garbage collector."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import workbench
from workbench import export, quick_import
from workbench.quick_import import FEW, decorated_later, later

HERE = Path(workbench.__file__).parent
WAITING = [
    path
    for path in sorted(HERE.rglob("*.py"))
    if "= later(" in path.read_text("utf-8") and path.name != "quick_import.py"
]


def ran(program: str) -> str:
    """What a program prints, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()


def test_a_module_that_waits_gives_what_the_module_has(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = later("workbench.export")
    assert waits.picture is export.picture
    monkeypatch.setattr(export, "picture", str)
    assert waits.picture is str
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = waits.nothing_such
    monkeypatch.setattr(quick_import, "_LATER", [])  # or the next server in this process would import it
    with pytest.raises(ModuleNotFoundError):
        _ = later("workbench.nothing_such").name


def test_a_module_is_imported_when_something_of_it_is_asked_for() -> None:
    program = (
        "import sys; from workbench.quick_import import later; waits = later('workbench.units'); "
        "print('workbench.units' in sys.modules); waits.split_unit; print('workbench.units' in sys.modules)"
    )
    assert ran(program).split() == ["False", "True"]


def test_a_method_is_decorated_once_when_it_is_first_looked_up() -> None:
    seen = []

    def loud(function: Callable[..., str]) -> Callable[..., str]:
        seen.append(function.__name__)
        function.__doc__ = "Decorated."
        return function

    class Base:
        @decorated_later(lambda: loud)
        def hello(self, name: str) -> str:
            return f"hello {name}"

    class Sub(Base):
        pass

    assert not seen
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(Sub().hello, ["you"] * 50)) == {"hello you"}
    assert Base.hello.__doc__ == Sub.hello.__doc__ == "Decorated."
    assert seen == ["hello"]


def test_opening_a_bench_reads_no_options_of_an_ingest(tmp_path: Path) -> None:
    asked = "'workbench.ingest.options' in sys.modules"
    program = (
        f"import sys, workbench as wb; bench = wb.open({str(tmp_path / 'lab.db')!r}); bench.instances.list(); "
        f"print({asked}); print('name_rule' in bench.ingest.__doc__); print({asked})"
    )
    assert ran(program).split() == ["False", "True", "True"]


def declared(tree: ast.Module, package: list[str]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Of each block: the names that type checkers import with their modules, and those that wait."""
    for block in tree.body:
        if isinstance(block, ast.If) and block.orelse and ast.unparse(block.test) == "TYPE_CHECKING":
            read: dict[str, str] = {}
            for one in block.body:
                if isinstance(one, ast.Import):
                    read |= {name.asname or name.name: name.name for name in one.names}
                elif isinstance(one, ast.ImportFrom):
                    base = [*package[: len(package) - one.level + 1], *([one.module] if one.module else [])]
                    read |= {name.asname or name.name: ".".join([*base, name.name]) for name in one.names}
            waits = {
                ast.unparse(one.targets[0]): ast.literal_eval(one.value.args[0])
                for one in block.orelse
                if isinstance(one, ast.Assign)
                and isinstance(one.value, ast.Call)
                and ast.unparse(one.value.func) == "later"
            }
            yield read, waits


@pytest.mark.parametrize("path", WAITING, ids=lambda path: path.relative_to(HERE).as_posix())
def test_what_waits_is_what_type_checkers_read(path: Path) -> None:
    package = ["workbench", *path.relative_to(HERE).parts[:-1]]
    blocks = list(declared(ast.parse(path.read_text("utf-8")), package))
    waiting = {name: module for _, waits in blocks for name, module in waits.items()}
    assert len(waiting) == path.read_text("utf-8").count("= later(")
    for read, waits in blocks:
        assert waits.items() <= read.items()


def test_imports_of_a_process_that_has_just_begun_are_set_apart() -> None:
    program = "import gc, workbench as wb; {}; wb.open; print(gc.get_freeze_count() > 0, gc.isenabled())"
    assert ran(program.format("pass")).split() == ["True", "True"]
    own = f"held = [[] for _ in range({FEW})]"
    assert ran(program.format(own)).split() == ["False", "True"], "a circle among these would never be freed"
    assert ran(program.format("gc.disable()")).split() == ["False", "False"]


def test_only_what_came_first_is_set_apart() -> None:
    """What was set apart is not among the objects that the collector counts: later imports find few again."""
    program = """
import gc, weakref, workbench as wb
wb.open
class Circle: pass
held = Circle(); held.own = held; seen = weakref.ref(held)
wb.plan, wb.Recipe
from workbench.quick_import import not_collected
with not_collected():
    import pandas
del held
gc.collect()
print(seen())
"""
    assert ran(program).split() == ["None"]
