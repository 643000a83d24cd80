"""No module of these packages imports, not even for its types, one that imports it."""

from __future__ import annotations

import grimp
import pytest


@pytest.mark.parametrize("package", ["store", "records", "recipe", "engine"])
def test_imports_go_one_way(package: str) -> None:
    graph = grimp.build_graph("workbench", cache_dir=None, exclude_type_checking_imports=False)
    assert graph.nominate_cycle_breakers(f"workbench.{package}") == set()
