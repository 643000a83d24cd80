"""What a wish does not want, and what it changes in the plot that is shown: the rest of the plot stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.gallery.author import written
from workbench.gallery.author.leaving_out import parted
from workbench.gallery.author.matching import written_out

A, B = [f"M50-A-0{n}" for n in range(1, 5)], [f"M50-B-0{n}" for n in range(1, 5)]
LFP = [f"LFP-C-0{n}" for n in range(1, 5)]


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


def talked(bench: wb.Bench, *wishes: str) -> tuple[dict[str, Any], str]:
    """The last draft of a conversation, and what was said last."""
    draft, say = None, ""
    for wish in wishes:
        made: Any = written(wish, bench.backend, draft)
        draft, say = made["draft"] or draft, made["say"]
    assert draft is not None, say
    return draft, say


def default(draft: dict[str, Any], name: str) -> Any:
    return draft["config"]["params"][name]["default"]


@pytest.mark.parametrize(
    ("wish", "cells"),
    [
        ("capacity fade not batch B", [*LFP, *A, "PCH-02"]),
        ("capacity fade, not the 45 °C cells", [*LFP[:2], *A[:2], *B[:2], "PCH-02"]),
        ("Kapazität je Zyklus, aber nicht Charge B", [*LFP, *A, "PCH-02"]),
        ("perte de capacité sauf lot B", [*LFP, *A, "PCH-02"]),
        ("capacity fade of batch A without M50-A-01, M50-A-02 and M50-A-03", ["M50-A-04"]),
        ("all cells but not M50-A-01: fade", [*LFP, *A[1:], *B, "PCH-02"]),
        ("fade at 45 °C, not batch B", [*LFP[2:], *A[2:]]),
        ("not M50-A-01 but M50-A-02: fade", ["M50-A-02"]),
        ("capacity fade without LFP cells per batch", [*A, *B, "PCH-02"]),
        ("capacity fade, no LFP", [*A, *B, "PCH-02"]),
        ("not interested in LFP, show the fade of the others", [*A, *B, "PCH-02"]),
        ("Zeige nur Charge A, Kapazitätsverlust, ohne die 45 °C Zellen", A[:2]),
        ("Kapazitätsverlust der Chargen A und B", [*A, *B]),
        ("fade, batches A vs B", [*A, *B]),
        ("fade of batch A and LFP-C-03", ["LFP-C-03", *A]),
        ("fade without batch A and LFP-C-03", [*LFP[:2], LFP[3], *B, "PCH-02"]),
        ("capacity per cycle w/o batch A and without LFP-C-03", [*LFP[:2], LFP[3], *B, "PCH-02"]),
    ],
)
def test_what_a_wish_does_not_want_is_not_drawn(bench: wb.Bench, wish: str, cells: list[str]) -> None:
    """``not batch B`` drew batch B."""
    draft, _ = talked(bench, wish)
    assert default(draft, "cells") == cells


@pytest.mark.parametrize(
    ("wishes", "param", "chosen"),
    [
        (["fade of batch A", "drop M50-A-01"], "cells", A[1:]),
        (["fade of batch A", "also M50-B-02"], "cells", [*A, "M50-B-02"]),
        (["fade of batch A", "and batch B", "without the 45 °C ones"], "cells", [*A[:2], *B[:2]]),
        (["fade", "only 45 °C", "only batch A"], "cells", A[2:]),
        (["Nyquist of M50-A-01", "only fresh"], "tests", ["M50-A-01_EIS_fresh"]),
        (["Nyquist of M50-A-01", "without the aged ones"], "tests", ["M50-A-01_EIS_fresh"]),
        (["voltage of M50-A-01_HPPC_fresh over time", "and M50-A-03"], "tests",
         ["M50-A-01_HPPC_fresh", "M50-A-03_HPPC_aged"]),
        (["voltage of M50-A-01_RPT0 over time", "now for M50-A-02, the first RPT"], "tests", ["M50-A-02_RPT0"]),
    ],
)  # fmt: skip
def test_a_change_adds_narrows_or_leaves_out_and_keeps_the_rest(
    bench: wb.Bench, wishes: list[str], param: str, chosen: list[str]
) -> None:
    draft, say = talked(bench, *wishes, "log y axis")
    assert default(draft, param) == chosen, say
    first, _ = talked(bench, wishes[0])
    others = {name: one["default"] for name, one in first["config"]["params"].items() if name != param}
    assert {name: default(draft, name) for name in others} == others


def test_another_quantity_is_added_to_the_samples_that_are_shown(bench: wb.Bench) -> None:
    """``also show temperature`` put the temperature of the cells, as bars, in place of the plot."""
    wishes = ["voltage of M50-A-02_drive_highway over time", "as points", "also show temperature"]
    both, say = talked(bench, *wishes)
    assert both["name"] == "Voltage, temperature over time"
    assert both["config"]["plan"]["steps"]["samples"]["columns"] == ["Voltage [V]", "Temperature [degC]"]
    assert default(both, "tests") == ["M50-A-02_drive_highway"]
    assert default(both, "lines") == "markers"
    assert bench.backend.check_answer({"say": say, "draft": both}).is_sound
    for wish in ("drop the voltage", "only the temperature"):
        one, _ = talked(bench, *wishes, wish)
        assert one["name"] == "Temperature over time"
    draft, say = talked(bench, wishes[0], "also show the pressure")
    assert "no pressure" in say
    assert draft["name"] == "Voltage over time"


def test_another_quantity_of_cycles_is_chosen_by_the_control(bench: wb.Bench) -> None:
    draft, _ = talked(bench, "energy per cycle of M50-A-01", "make it charge energy")
    assert draft["name"] == "Charge energy by cycle"
    assert default(draft, "quantity") == "Charge energy [W.h]"
    assert default(draft, "cells") == ["M50-A-01"]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("also show the resistance growth", "cannot add that"),
        ("undo", "Press Undo"),
        ("as a box plot", "cannot draw a box plot"),
        ("colour batch A red", "cannot have that: the colours"),
        ("with error bars", "has that already"),
    ],
)
def test_a_change_that_cannot_be_made_is_said_and_changes_nothing(bench: wb.Bench, wish: str, said: str) -> None:
    first, _ = talked(bench, "capacity fade of batch A")
    made = written(wish, bench.backend, first)
    assert made["draft"] is None
    assert said in str(made["say"])


def test_one_direction_is_not_put_in_place_of_the_other_where_both_are_wanted(bench: wb.Bench) -> None:
    first, _ = talked(bench, "dQ/dV of M50-B-01 on charge")
    assert written("also on discharge", bench.backend, first)["draft"] is None
    assert default(talked(bench, "dQ/dV of M50-B-01 on charge", "on discharge")[0], "direction") == "discharge"


def test_a_cell_that_a_plot_cannot_take_is_named(bench: wb.Bench) -> None:
    _, say = talked(bench, "rate capability of the pouch cells", "also M50-A-01")
    assert "Not shown, since this plot cannot take them: M50-A-01." in say
    _, say = talked(bench, "histogram of the initial capacity", "only batch A")
    assert "Not shown" not in say


def test_a_part_of_a_change_that_cannot_be_made_is_named(bench: wb.Bench) -> None:
    _, say = talked(bench, "capacity fade", "only batch A, every tenth cycle")
    assert "Not as you asked: the cycles." in say


def test_another_quantity_of_cycles_is_shown_for_the_cells_that_were_shown(bench: wb.Bench) -> None:
    """It was drawn for all cells, though the change names none."""
    draft, say = talked(bench, "energy per cycle of LFP-C-01", "now capacity")
    assert default(draft, "cells") == ["LFP-C-01"]
    assert "cells of the plot before" in say


def test_a_count_by_something_else_has_another_name(bench: wb.Bench) -> None:
    draft, _ = talked(bench, "how many tests per protocol", "per batch")
    assert draft["name"] == "Number of tests by batch"


def test_another_plot_in_place_of_the_one_before_is_called_so(bench: wb.Bench) -> None:
    _, say = talked(bench, "capacity fade of batch A", "show the Nyquist plot of M50-A-01")
    assert "This is another plot, in place of 'Capacity fade'." in say


def test_the_legend_and_the_title_are_removed_and_not_taken_for_data(bench: wb.Bench) -> None:
    for wish in ("remove the legend", "delete the legend", "entferne die Legende", "supprime la légende"):
        draft, say = talked(bench, "capacity fade of batch A", wish)
        assert "legend: none" in say
        assert "'legend': 'none'" in draft["config"]["transform"]
    assert "no title" in talked(bench, "capacity fade", "remove the title")[1]
    assert "y axis: logarithmic" in talked(bench, "capacity fade", "log y")[1]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("capacity fade without outliers", "cannot leave out 'outliers'"),
        ("Spannungskurven der Zelle M50-A-01 ohne Zyklus 1", "nicht weglassen"),
        ("capacity fade without formation tests", "cannot leave that out"),
    ],
)
def test_what_cannot_be_left_out_is_said(bench: wb.Bench, wish: str, said: str) -> None:
    assert said in str(written(wish, bench.backend)["say"])


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("voltage drop in the HPPC of M50-A-01", ""),
        ("the capacity does not reach 80 %", "reach"),
        ("fade without A1, B2 and C3 per batch", "A1, B2, C3"),
        ("fade ohne Charge C je Zelle", "Charge C"),
        ("in %, not in Ah", ""),
    ],
)
def test_what_is_left_out_ends_where_something_else_begins(text: str, unwanted: str) -> None:
    assert parted(text, frozenset({"b2", "c3"}))[1] == unwanted


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("U vs t of C1", "voltage over time of C1"),
        ("plot I over time", "plot current over time"),
        ("Q vs n", "capacity per cycle"),
        ("CE of C1", "coulombic efficiency of C1"),
        ("SOH < 80 %", "SOH  below 80 %"),
        ("the CELL T-3", "the CELL T-3"),
        ("delta Q against cycle life", "delta Q against cycle life"),
    ],
)
def test_symbols_of_the_field_are_read(text: str, read: str) -> None:
    assert written_out(text) == read
