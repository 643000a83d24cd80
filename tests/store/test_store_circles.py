"""No module of these packages imports, not even for its types, one that imports it."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp
import pytest


@pytest.mark.parametrize("package", ["store", "records", "recipe", "engine"])
def test_imports_go_one_way(package: str) -> None:
    graph = grimp.build_graph("workbench", cache_dir=None, exclude_type_checking_imports=False)
    modules = {name for name in graph.modules if f"{name}.".startswith(f"workbench.{package}.")}
    imports = {name: graph.find_modules_directly_imported_by(name) & modules for name in modules}
    assert sum(map(len, imports.values())) > len(modules)
    TopologicalSorter(imports).prepare()
