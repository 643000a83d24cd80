"""Formats of other packages: found through their entry points, and harmless where they are broken."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from workbench.readers import BUILT_IN
from workbench.readers.file.source import look
from workbench.readers.formats.delimited import DELIMITED
from workbench.readers.plugins import GROUP, PluginWarning, outside_formats
from workbench.readers.table.columns import From
from workbench.readers.table.text_format import TextFormat
from workbench.table import concat

LAB = TextFormat(
    name="our-lab",
    brand="Our lab",
    endings=(".csv",),
    about="Known by its ticks.",
    needs=(("ticks",), ("amps",), ("volts",)),
    columns=(
        From("Time [s]", ("ticks",), "min"),
        From("Current [A]", ("amps",), "A"),
        From("Voltage [V]", ("volts",), "V"),
    ),
    sign="discharge",
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An importable module with readers, good and bad."""
    module = type(sys)("our_lab_formats")
    module.LAB, module.SAME, module.NONE = LAB, replace(DELIMITED, name="delimited"), object()  # type: ignore[attr-defined]
    module.BOTH = (LAB, replace(LAB, name="our-other"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "our_lab_formats", module)
    return "our_lab_formats"


def entry(value: str) -> EntryPoint:
    return EntryPoint("lab", value, GROUP)


def test_a_format_of_another_package_reads(package: str, tmp_path: Path) -> None:
    (found,) = outside_formats(BUILT_IN, [entry(f"{package}:LAB")])
    path = tmp_path / "test.csv"
    path.write_text("ticks,amps,volts\n0,1,3.6\n1,1,3.5\n2,1,3.4\n")
    assert found.matches(look(path))
    table = concat(list(found.read(look(path), column_map=None, sign=None).batches))
    assert table["Time [s]"].tolist() == [0.0, 60.0, 120.0]
    assert table["Current [A]"].tolist() == [1.0, 1.0, 1.0]


def test_a_package_may_declare_several(package: str) -> None:
    assert [f.name for f in outside_formats(BUILT_IN, [entry(f"{package}:BOTH")])] == ["our-lab", "our-other"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module_of_ours:LAB", "cannot be imported: No module named 'no_such_module_of_ours'"),
        ("our_lab_formats:ABSENT", "cannot be imported"),
        ("our_lab_formats:NONE", "it is not a reader: it has no 'name'"),
        ("our_lab_formats:SAME", "there is a format 'delimited' already"),
    ],
)
def test_one_that_is_broken_is_left_out_with_a_warning(value: str, why: str, package: str) -> None:
    with pytest.warns(PluginWarning, match=why):
        assert list(outside_formats(BUILT_IN, [entry(value)])) == []
