"""A public name that moved works for one more release, and warns once at the line that uses it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import ModuleType

import pytest

from workbench.deprecated import moved
from workbench.errors import NotFound


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("workbench.old_place")
    places = {"Absent": "workbench.errors:NotFound", "Lost": "workbench.errors:NeverThere"}
    module.__getattr__ = moved(module.__name__, places, until="0.3")  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_an_old_name_is_the_new_one_and_warns_where_it_is_used(old: ModuleType) -> None:
    with pytest.warns(
        DeprecationWarning, match=r"old_place\.Absent is now workbench\.errors\.NotFound.* 0\.3"
    ) as said:
        assert old.Absent is NotFound
    assert said[0].filename == __file__


def test_it_warns_once(old: ModuleType) -> None:
    with pytest.warns(DeprecationWarning, match="is now"):
        from workbench.old_place import Absent
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert old.Absent is Absent


def test_any_other_name_is_as_unknown_as_ever(old: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Absnt'"):
        old.Absnt  # noqa: B018
    assert not hasattr(old, "__path__")


def test_a_place_that_is_wrong_is_an_error(old: ModuleType) -> None:
    with pytest.warns(DeprecationWarning, match="is now"), pytest.raises(AttributeError, match="NeverThere"):
        old.Lost  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("text", "TextFormat"),
        ("columns", "From"),
        ("arrow", "read_typed"),
        ("arrow", "ParquetFormat"),
        ("apart", "apart"),
    ],
)
def test_what_packages_with_formats_use_has_its_old_place_too(module: str, name: str) -> None:
    """As the guide to formats of 0.1.0 named them; in a process of its own, since each warns once."""
    code = f"from workbench.readers.{module} import {name}; print({name}.__module__)"
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("workbench.readers.")
    assert f"workbench.readers.{module}.{name} is now" in done.stderr
