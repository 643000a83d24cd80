"""A folder of many cells: each is found within its specification, batch and folder, and no two become one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue
from rich.console import Console
from support.cycler_file import cycler_text

import workbench as wb
from workbench.ingest.plan.name_rule import NameRule
from workbench.ingest.plan.paths import find, folder_of
from workbench.ingest.plan.sheet import read_sheet
from workbench.messages import typed_in

SHEET = "file,specification,rating,batch,cell\n" + "".join(
    f'batch {batch}/cell {cell}/*,M50,"1Ah,2.5V,4.2V",{batch},cell {cell}\n' for batch in "AB" for cell in (1, 2)
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


HALF_CYCLE_H = 11 / 60
"""Hours of a half cycle of `cycler_text`: ten intervals of a minute, and half of the ones beside them."""


class Folder:
    """A folder of tests that all differ a little."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._made = 0

    def put(self, name: str, current: float = 1.0, cycles: int = 2) -> Path:
        self._made += 1
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = cycler_text(cycles, self._made / 1000)
        path.write_text(text.replace(",1.0,", f",{current},").replace(",-1.0,", f",{-current},"))
        return path


@pytest.fixture
def data(tmp_path: Path) -> Folder:
    """The same names in two batches, nested folders, an unlabelled half with the same names in two folders."""
    folder = Folder(tmp_path / "data")
    for batch in "AB":
        for cell in (1, 2):
            for test in ("RPT", "ageing"):
                folder.put(f"labelled/batch {batch}/cell {cell}/{test}.csv")
    for month in ("05", "06"):
        folder.put(f"rest/{month}/coin.csv", current=0.004)
        folder.put(f"rest/{month}/pouch {month}.csv", current=5.0)
    (folder.root / "notes.txt").write_text("The cells came on Monday, and the oven, which is new, was at 25 C.\n")
    (folder.root / "cells.csv").write_text(SHEET)
    return folder


def cells(bench: wb.Bench) -> dict[str, tuple[str, str | None, list[str]]]:
    """Cell -> its specification, its batch and the names of its tests."""
    fields = ["name", "instance_name", "batch_name", "specification_name"]
    found: dict[str, tuple[str, str | None, list[str]]] = {}
    for row in bench.measurements.list(fields=fields, limit=1000).to_dict("records"):
        batch = row["batch_name"] if isinstance(row["batch_name"], str) else None
        key = (row["specification_name"], batch, [])
        found.setdefault(row["instance_name"], key)[2].append(row["name"])
    return {name: (one, batch, sorted(tests)) for name, (one, batch, tests) in found.items()}


def text_of(report: object) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    with typed_in("terminal"):
        console.print(report)
    return console.export_text()


def test_the_folder_of_many_cells_in_one_command(bench: wb.Bench, data: Folder) -> None:
    report = bench.ingest(data.root, sheet=data.root / "cells.csv")
    assert report.ok
    assert len(report.stored) == 12
    assert cells(bench) == {
        "cell 1": ("M50", "A", ["RPT", "ageing"]),
        "cell 2": ("M50", "A", ["RPT", "ageing"]),
        "B cell 1": ("M50", "B", ["RPT", "ageing"]),
        "B cell 2": ("M50", "B", ["RPT", "ageing"]),
        "05 coin": ("Unspecified 05 coin", None, ["coin"]),
        "06 coin": ("Unspecified 06 coin", None, ["coin"]),
        "pouch 05": ("Unspecified pouch 05", None, ["pouch 05"]),
        "pouch 06": ("Unspecified pouch 06", None, ["pouch 06"]),
    }
    for cell, capacity in (("05 coin", 0.004 * HALF_CYCLE_H), ("pouch 05", 5 * HALF_CYCLE_H)):
        rated = bench.specifications.get(f"Unspecified {cell}")
        assert rated.ratings.capacity.value == pytest.approx(capacity, rel=0.01)
    text = text_of(report)
    assert "Said of several files" in text
    assert text.count("No row of the sheet matches this file.") == 1
    assert str(data.root) not in text.partition("Skipped")[0]
    again = bench.ingest(data.root, sheet=data.root / "cells.csv")
    assert len(again.duplicates) == 12


def test_a_file_at_a_time_gives_the_same_cells_apart(bench: wb.Bench, data: Folder) -> None:
    for path in sorted(data.root.glob("rest/*/coin.csv")):
        assert bench.ingest(path).ok
    assert {name: tests for name, (_, _, tests) in cells(bench).items()} == {"coin": ["coin"], "06 coin": ["coin"]}
    data.put("rest/06/coin.csv", current=0.004, cycles=3)
    report = bench.ingest(data.root / "rest" / "06")
    assert [file.instance for file in report] == ["06 coin", "pouch 06"]


def test_a_sheet_that_comes_later_leaves_nothing_behind(bench: wb.Bench, data: Folder) -> None:
    labelled = data.root / "labelled"
    assert bench.ingest(labelled).ok
    assert len(cells(bench)) == 8
    report = bench.ingest(labelled, sheet=data.root / "cells.csv")
    assert report.ok
    assert {name: (one, batch) for name, (one, batch, _) in cells(bench).items()} == {
        "cell 1": ("M50", "A"),
        "cell 2": ("M50", "A"),
        "B cell 1": ("M50", "B"),
        "B cell 2": ("M50", "B"),
    }
    assert list(bench.specifications.list()["name"]) == ["M50"]
    assert [file.odd for file in report] == [[]] * 8


def test_a_sheet_of_cells_alone_joins_their_tests(bench: wb.Bench, data: Folder) -> None:
    labelled = data.root / "labelled"
    assert bench.ingest(labelled).ok
    rows = [{"file": f"batch A/cell {n}/*", "cell": f"cell {n}"} for n in (1, 2)]
    assert bench.ingest(labelled / "batch A", sheet=rows).ok
    found = cells(bench)
    assert found["cell 1"] == ("Unspecified cell 1", None, ["RPT", "ageing"])
    assert found["cell 2"] == ("Unspecified cell 2", None, ["RPT", "ageing"])
    assert len(bench.specifications.list()) == len(found) == 6


def test_files_of_one_name_are_one_cell_if_a_rule_says_so(bench: wb.Bench, data: Folder) -> None:
    report = bench.ingest(data.root / "rest")
    (said,) = {
        sentence.partition("If")[2] for file in report for sentence in file.assumed if "of one cell" in sentence
    }
    assert said == ' they are of one cell, say name_rule="{cell}".'
    with wb.open(data.root.parent / "other.db") as other:
        assert other.ingest(data.root / "rest", name_rule="{cell}").ok
        assert cells(other)["coin"] == ("Unspecified coin", None, ["coin", "coin (2)"])


def test_a_name_rule_without_a_specification_finds_the_cell_in_its_batch(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for batch in "AB":
        folder.put(f"{batch}_c1_RPT.csv")
    assert bench.ingest(folder.root, name_rule="{batch}_{cell}_{test}").ok
    folder.put("B_c1_ageing.csv")
    assert bench.ingest(folder.root, name_rule="{batch}_{cell}_{test}").ok
    assert cells(bench) == {
        "c1": ("Unspecified c1", "A", ["RPT"]),
        "B c1": ("Unspecified B c1", "B", ["RPT", "ageing"]),
    }


def test_a_batch_for_all_files_names_another_cell(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert bench.ingest(folder.put("A/c1.csv"), specification="M50", batch="A").ok
    report = bench.ingest(folder.put("B/c1.csv"), specification="M50", batch="B")
    assert "There is a cell 'c1' in another batch, so this cell is called 'B c1'." in report[0].assumed
    assert {name: batch for name, (_, batch, _) in cells(bench).items()} == {"c1": "A", "B c1": "B"}


def test_a_name_in_two_specifications_is_asked_about(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for kind in ("LFP", "NMC"):
        assert bench.ingest(folder.put(f"{kind}/c1.csv"), specification=kind, instance="c1", batch=kind).ok
    why = bench.ingest(folder.put("new/RPT.csv"), instance="c1")[0].why
    assert "There are 2 cells 'c1': in 'LFP, batch LFP' and 'NMC, batch NMC'." in why
    assert "Say which one it is with specification" in why
    assert bench.ingest(folder.root / "new", instance="c1", batch="NMC").ok
    assert bench.ingest(folder.put("more/RPT.csv"), instance="c1", specification="LFP").ok
    assert sorted(bench.measurements.list(fields=["specification_name"])["specification_name"]) == [
        "LFP",
        "LFP",
        "NMC",
        "NMC",
    ]


def test_two_tests_of_one_name_from_two_folders_are_reported(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    folder.put("week 1/RPT.csv")
    folder.put("week 2/RPT.csv")
    report = bench.ingest(folder.root, instance="c1", specification="M50")
    assert [file.measurement for file in report] == ["RPT", "RPT (2)"]
    assert report[1].assumed[-1] == (
        "The cell has a test 'RPT' from another folder ('in/week 1'). This one, from 'in/week 2', is called 'RPT (2)'."
    )


def test_a_rule_with_folders_begins_at_the_folder_that_is_ingested(tmp_path: Path) -> None:
    rule, root = NameRule("{batch}/{cell}_{test}"), tmp_path / "data"
    labels, _ = rule.labels(root / "A" / "c1_RPT.csv", root)
    assert labels is not None
    assert (labels.batch, labels.instance) == ("A", "c1")
    assert rule.labels(root / "c1_RPT.csv", root)[0] is None  # not the folder above
    deep = root / "old" / "A" / "c1_RPT.csv"
    assert rule.labels(deep, root)[0] is None
    why = rule.why_not(deep, root)
    assert "'old/A/c1_RPT' does not match the name rule '{batch}/{cell}_{test}', which begins in the folder" in why
    fixed = why.rpartition("write '")[2].removesuffix("'.")
    labels, _ = NameRule(fixed).labels(deep, root)
    assert labels is not None
    assert labels.batch == "A"


def test_a_rule_with_folders_through_an_ingest(bench: wb.Bench, data: Folder) -> None:
    report = bench.ingest(data.root, name_rule="labelled/batch {batch}/{cell}/{test}", specification="M50")
    assert report.ok
    by_name = {Path(file.path).parent.name: file for file in report}
    assert by_name["05"].odd == [
        "'rest/05/pouch 05' does not match the name rule 'labelled/batch {batch}/{cell}/{test}', which begins in the "
        "folder 'data'."
    ]
    assert "B cell 1" in cells(bench)


def test_a_named_file_has_the_folders_that_were_typed(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "data")
    path = folder.put("A/c1.csv")
    for given in (path, tmp_path / "data" / "A" / "*.csv"):
        found = find(given)
        labels, _ = NameRule("{batch}/{cell}").labels(path, found.roots.get(path))
        assert labels is not None
        assert labels.batch == "A"
    assert find(tmp_path / "data" / "**" / "*.csv").roots[path] == tmp_path / "data"
    assert find(tmp_path / "*").roots[path] == tmp_path
    assert folder_of(path, tmp_path / "data") == "data/A"


def test_a_pattern_of_a_sheet_does_not_take_a_folder_above(tmp_path: Path) -> None:
    root = tmp_path / "A" / "run"
    rows = read_sheet([{"file": "A/*", "batch": "A"}, {"file": "B/*", "batch": "B"}])
    labels, _ = rows.labels(root / "B" / "c1.csv", root)
    assert labels is not None
    assert labels.batch == "B"
    assert rows.rows[0].used == 0


def test_the_head_line_says_that_each_file_became_a_cell(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for number in range(4):
        folder.put(f"c1_{number}.csv")
    report = bench.ingest(folder.root, name_rule="{cell}", dry_run=True)
    assert report.headline.endswith("The name rule '{cell}' made each file a cell of its own.")
    assert "made each file a cell of its own" in text_of(report).splitlines()[0]
    assert "made each file" in report._repr_html_()
    report = bench.ingest(folder.root, dry_run=True)
    assert "Each file is a cell of its own; name_rule or sheet says" in report.headline
    report = bench.ingest(folder.root, name_rule="{cell}_{test}")
    assert report.headline == report.summary == "4 stored"


def test_a_copy_of_a_file_does_not_hide_that_each_file_became_a_cell(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    made = [folder.put(f"c{number}.csv") for number in range(4)]
    (folder.root / "copy of c0.csv").write_bytes(made[0].read_bytes())
    assert "Each file is a cell of its own" in bench.ingest(folder.root).headline


def test_a_copy_with_other_labels_does_not_move_a_test_each_time(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    (folder.root / "copy.csv").write_bytes(folder.put("c1.csv").read_bytes())
    sheet: list[dict[str, JsonValue]] = [{"file": "c1", "cell": "K1"}, {"file": "copy", "cell": "K2"}]
    for status in ("stored", "duplicate"):
        first, second = bench.ingest(folder.root, sheet=sheet)
        assert (first.status, second.status) == (status, "duplicate")
        assert "c1.csv' of this run has the same samples, and other labels" in " ".join(second.odd)
        assert [*cells(bench)] == ["K1"]
    sheet[0]["cell"] = "K9"
    bench.ingest(folder.root, sheet=sheet)
    assert [*cells(bench)] == ["K9"]
    sheet[1]["cell"] = "K9"
    assert not any(file.odd for file in bench.ingest(folder.root, sheet=sheet))


def test_a_copy_that_has_labels_labels_one_that_has_none(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    (folder.root / "copy.csv").write_bytes(folder.put("c1.csv").read_bytes())
    bench.ingest(folder.root, sheet=[{"file": "copy", "cell": "K2"}])
    assert [*cells(bench)] == ["K2"]


def test_a_row_of_one_name_that_fits_several_folders_is_reported(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for cell in ("a", "b"):
        folder.put(f"{cell}/RPT.csv")
    said = "Row 2 of the sheet, 'RPT.csv', fits files in 2 folders: all of them are of the cell 'K1'."
    report = bench.ingest(folder.root, sheet=[{"file": "RPT.csv", "cell": "K1"}], dry_run=True)
    assert [any(said in text for text in file.odd) for file in report] == [True, True]
    assert "such as 'a/RPT.csv'" in " ".join(report[0].odd)
    for row in ({"file": "RPT.csv", "batch": "B"}, {"file": "*RPT.csv", "cell": "K1"}):
        report = bench.ingest(folder.root, sheet=[row], dry_run=True)
        assert not any("folders: all" in text for file in report for text in file.odd)


# Ratings


def test_a_rating_that_a_sheet_writes_once_is_known_for_all_files(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for name in ("a", "b", "c"):
        folder.put(f"{name}.csv")
    sheet: list[dict[str, JsonValue]] = [{"file": name, "specification": "M50", "cell": name} for name in "abc"]
    sheet[2]["rating"] = "5Ah,2.5V,4.2V"
    report = bench.ingest(folder.root, sheet=sheet)
    assert not any("estimated" in text for file in report for text in (*file.assumed, *file.changed))
    assert bench.specifications.get("M50").ratings.capacity.value == 5
    mine = bench.specifications.get("M50").ratings.model_copy(deep=True)
    mine.capacity.value = 4.9
    bench.specifications.update("M50", ratings=mine.model_dump())
    folder.put("d.csv")
    bench.ingest(folder.root, sheet=[*sheet, {"file": "d", "specification": "M50", "cell": "d"}])
    assert bench.specifications.get("M50").ratings.capacity.value == 4.9


def test_an_estimate_of_a_cell_grows_with_its_own_files(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    assert bench.ingest(folder.put("a.csv", current=0.5), instance="c1").ok
    report = bench.ingest(folder.put("b.csv", current=2.0), instance="c1")
    assert bench.specifications.get("Unspecified c1").ratings.capacity.value == pytest.approx(
        2 * HALF_CYCLE_H, abs=1e-3
    )
    assert any("whose ratings are estimated" in changed for changed in report[0].changed)
    assert bench.ingest(folder.put("other.csv", current=9.0)).ok
    assert bench.specifications.get("Unspecified c1").ratings.capacity.value == pytest.approx(
        2 * HALF_CYCLE_H, abs=1e-3
    )


def test_step_types_do_not_hang_on_an_estimate(bench: wb.Bench, tmp_path: Path) -> None:
    """Currents of 50 uA are not a rest in a cell whose capacity was estimated from a file of 5 A."""
    folder = Folder(tmp_path / "in")
    large = bench.ingest(folder.put("large.csv", current=5.0), specification="S")[0]
    small = bench.ingest(folder.put("small.csv", current=0.00005), specification="S")[0]
    for file in (large, small):
        types = bench.measurements.steps(bench.measurements.get(file.measurement_id))["Step type"].tolist()
        assert types[:3] == ["Constant current charge", "Rest", "Constant current discharge"]
    capacity = {"value": 5.0, "unit": "A.h"}
    ratings = bench.specifications.get("S").ratings.model_dump(exclude_none=True) | {"capacity": capacity}
    bench.specifications.update("S", ratings=ratings)
    steps = bench.measurements.steps(bench.measurements.get(small.measurement_id))
    assert steps["Step type"].tolist()[:3] == ["Rest", "Rest", "Rest"]


@pytest.mark.parametrize("filled", [True, False])
def test_an_estimate_is_a_lower_bound_unless_the_cell_was_filled(
    filled: bool, bench: wb.Bench, tmp_path: Path
) -> None:
    lines, time = ["Time [s],Current [A],Voltage [V],Cycle from cycler,Step from cycler"], 0
    steps = [(-1.0, -1.0, 3.0, 4.2, 30), (1.0, 1.0, 4.2, 3.0, 30)]
    if filled:
        steps.insert(1, (-1.0, -0.05, 4.2, 4.2, 20))
    for number, (first, last, low, high, n) in enumerate(steps):
        for k in range(n + 1):
            lines.append(
                f"{time},{first + (last - first) * k / n:.4f},{low + (high - low) * k / n:.4f},1,{number}"
            )
            time += 60
    (tmp_path / "c.csv").write_text("\n".join(lines))
    report = bench.ingest(tmp_path / "c.csv", sign="discharge")
    (said,) = [sentence for sentence in report[0].assumed if sentence.startswith("Ratings")]
    assert ("lower bound" in said, "at least" in said) == (not filled, not filled)
    assert ("at_least" in bench.specifications.get("Unspecified c").source) is not filled


# What stores of 0.1.0 hold


def test_cells_of_the_common_specification_stay_until_recompute(bench: wb.Bench, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    for name, current in (("coin", 0.004), ("large", 5.0)):
        report = bench.ingest(folder.put(f"{name}.csv", current), specification="Unspecified", batch="A")
        bench.measurements.update(report[0].measurement_id, tags=["old"])
    folder.put("coin.csv", current=0.004, cycles=4)
    assert [file.instance for file in bench.ingest(folder.root / "coin.csv")] == ["coin"]
    assert bench.recompute(check=True).cells == ["coin", "large"]
    assert {one for one, _, _ in cells(bench).values()} == {"Unspecified"}
    assert bench.recompute().cells == ["coin", "large"]
    assert bench.recompute().is_nothing
    assert {name: (one, batch) for name, (one, batch, _) in cells(bench).items()} == {
        "coin": ("Unspecified coin", "A"),
        "large": ("Unspecified large", "A"),
    }
    for name, capacity in (("coin", 0.004 * HALF_CYCLE_H), ("large", 5 * HALF_CYCLE_H)):
        rated = bench.specifications.get(f"Unspecified {name}").ratings.capacity.value
        assert rated == pytest.approx(capacity, rel=0.01)
    assert bench.verify() == []
