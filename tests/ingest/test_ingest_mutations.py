"""Files that hold several tests, archives and documents, damaged at random: read right or refused, in little time."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
from support.workbooks import workbook
from test_ingest_archives import packed
from test_ingest_documents import PLAIN

from workbench.errors import FileRefused, TooLarge
from workbench.ingest.plan.documents import Documents
from workbench.ingest.plan.paths import find
from workbench.readers import SeveralTests, read
from workbench.readers.file.nested_structures import Group, Structure, parts_of
from workbench.readers.file.structure_samples import samples_of
from workbench.readers.file.structure_tests import by_test
from workbench.readers.non_series.recognise import holding

SECONDS = 10.0
N = 24
T = np.arange(N) * 60.0
FLOW = np.where(np.arange(N) < N // 2, 1.0, -1.0)
VOLTS = 3.7 - 0.1 * FLOW
FREQUENCY = np.logspace(3, -1, 9)
MARKS = [b'"', b"\n", b",", b";", b"\t", b"\r", b"\0", b"-", b"!", b"/", b"9" * 400]


def mutated(original: bytes, random: np.random.Generator) -> bytes:
    """With one to five bytes, cuts, repeats or marks changed at random."""
    data = bytearray(original)
    for _ in range(int(random.integers(1, 6))):
        place = int(random.integers(0, len(data) or 1))
        match int(random.integers(0, 6)):
            case 0 if data:
                data[place] ^= 1 << int(random.integers(0, 8))
            case 1:
                del data[place:]
            case 2:
                del data[place : place + int(random.integers(1, 40))]
            case 3:
                data[place:place] = random.bytes(int(random.integers(1, 9)))
            case 4:
                data[place:place] = data[place : place + 60] * int(random.integers(1, 20))
            case _:
                data[place:place] = MARKS[int(random.integers(0, len(MARKS)))]
    return bytes(data)


def rows_of(path: Path) -> int:
    """The rows of all tests of a file. What is wrong in one of them may be refused."""
    try:
        return sum(batch.n for batch in read(path).batches)
    except SeveralTests as several:
        rows = 0
        for test in several.tests:
            with suppress(FileRefused, TooLarge):
                rows += sum(batch.n for batch in read(path, test=test).batches)
        return rows


def check(
    original: bytes, name: str, take: Callable[[Path], object], times: int, folder: Path, most: int | None = None
) -> None:
    """Take mutations of a file; none may break in another way than by a refusal, hang, or give more than ``most``."""
    random = np.random.default_rng(len(original))
    path = folder / name
    path.write_bytes(original)
    take(path)
    for number in range(times):
        path.write_bytes(data := mutated(original, random))
        begun, said = time.process_time(), ""
        try:
            found = take(path)
            if most is not None and isinstance(found, int):
                assert found <= most + data.count(b"\n") + data.count(b"\r")
        except (FileRefused, TooLarge) as refused:
            said = str(refused)
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
        assert str(folder) not in said
        assert time.process_time() - begun < SECONDS


def rack() -> pd.DataFrame:
    frames = [
        pd.DataFrame({"time [s]": T, "current [A]": FLOW * (n + 1), "voltage [V]": VOLTS, "cell": cell})
        for n, cell in enumerate(("A", "B", "C"))
    ]
    return pd.concat(frames).sort_values("time [s]", kind="stable")


def test_tables_of_several_cells(tmp_path: Path, long: bool) -> None:
    check(rack().to_csv(index=False).encode(), "rack.csv", rows_of, 500 if long else 24, tmp_path, most=0)
    buffer = io.BytesIO()
    rack().to_parquet(buffer)
    check(buffer.getvalue(), "rack.parquet", rows_of, 500 if long else 25, tmp_path)


def test_no_row_of_a_table_is_in_two_cells(tmp_path: Path, long: bool) -> None:
    """Names of cells and their rows at random: each row is read once, in the cell that it names."""
    random = np.random.default_rng(5)
    words = ["A", "A ", "b,c", 'q"u', "7", "é", "A1"]
    for number in range(300 if long else 12):
        frame = rack().sample(frac=1, random_state=number).sort_values("time [s]", kind="stable")
        frame["cell"] = random.choice(words[: int(random.integers(2, len(words)))], len(frame))
        path = tmp_path / f"rack{number}.csv"
        frame.to_csv(path, index=False)
        expected = frame["cell"].str.strip().value_counts().to_dict()
        if len(expected) < 2:
            continue
        with pytest.raises(SeveralTests) as several:
            read(path)
        assert set(several.value.tests) == set(expected)
        for cell, rows in expected.items():
            table = list(read(path, test=cell, sign="discharge").batches)
            assert sum(batch.n for batch in table) == rows
            assert {str(word).strip() for batch in table for word in batch["cell"].tolist()} == {cell}


NESTED = """Cycle ID,Step ID,Step Name,Capacity(mAh)
,,Record ID,Time(h:min:s.ms),Voltage(V),Current(mA),Capacity(mAh),Realtime
""" + "".join(
    f"{n // 4 + 1},{n // 2 + 1},CC,0\n" * (n % 4 == 0)
    + f",{n // 2 + 1},CC,0\n" * (n % 4 == 2)
    + f",,{n},0:00:{n % 2:02d}.000,3.{5 + n % 2},{500 * (-1) ** (n // 2)},0,2024-05-13 10:00:{n:02d}\n"
    for n in range(40)
)


def test_nested_tables_whose_cycles_carry_a_step(tmp_path: Path, long: bool) -> None:
    check(NESTED.encode(), "nested.csv", rows_of, 500 if long else 24, tmp_path, most=0)


def test_workbooks_of_drive_cycles(tmp_path: Path, long: bool) -> None:
    rows = [["Time [s]", "Current [A]"], *([n, n % 3 - 1] for n in range(20))]
    path = workbook(tmp_path / "two.xlsx", {"Urban": rows, "Motorway": rows})
    check(path.read_bytes(), "made.xlsx", holding, 500 if long else 25, tmp_path)
    with zipfile.ZipFile(path) as container:
        members = {name: container.read(name) for name in container.namelist()}
    random = np.random.default_rng(3)
    for _ in range(500 if long else 25):
        name = str(random.choice(list(members)))
        with zipfile.ZipFile(path, "w") as container:
            for other, content in members.items():
                container.writestr(other, mutated(content, random) if other == name else content)
        with suppress(FileRefused, TooLarge):
            holding(path)


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".tar"])
def test_archives(ending: str, tmp_path: Path, long: bool) -> None:
    inner = packed(tmp_path / "in.zip", {"x.csv": "1,2\n", "y.csv": "3,4\n"}).read_bytes()
    made = packed(tmp_path / f"one{ending}", {"a/c1.csv": rack().to_csv(), "b.csv": "x" * 999, "in.zip": inner})
    content = made.read_bytes()
    made.unlink()

    def take(path: Path) -> None:
        found = find(path)
        assert found.refused or found.files
        for file in found.files:
            assert file == path or any(folder in file.resolve().parents for folder in found.unpacked.folders)
        for why in found.refused.values():
            assert f"many{ending}" in why or "in.zip" in why

    (folder := tmp_path / "one").mkdir()
    check(content, f"many{ending}", take, 500 if long else 25, folder)


def test_documents(tmp_path: Path, long: bool) -> None:
    linked = {
        "@context": "https://schema.org/", "@type": "Battery", "name": "c1", "model": "M",
        "hasProperty": [{"@type": "Mass", "hasNumberValue": 1e300, "hasMeasurementUnit": "emmo:Gram"}],
        "subjectOf": [{"@id": "https://example.org/c1.csv"}], "distribution": {"contentUrl": "x/c1.csv"},
    }  # fmt: skip
    for content in (PLAIN, linked, [{"Sample ID": "c1", "Mass (g)": 3, "x": [1]}]):
        test = tmp_path / "c1.csv"
        test.write_text("")

        def take(path: Path, test: Path = test) -> None:
            labels, remarks = Documents([test, path]).labels(test)
            assert (labels is None) == (not remarks)
            if labels is not None:
                json.dumps(labels.said(), allow_nan=False)

        check(json.dumps(content).encode(), "c1.json", take, 500 if long else 60, tmp_path)


def leaf(random: np.random.Generator) -> Group:
    n = int(random.integers(3, 9))
    made: dict[str, Any] = {"t": np.arange(n) * 1.0, "I": np.ones(n), "V": np.full(n, 3.6)}
    if random.random() < 0.3:
        made |= {"freq": FREQUENCY, "Z": FREQUENCY + 1j}
    if random.random() < 0.2:
        made = {"freq": FREQUENCY, "zre": FREQUENCY, "zim": -FREQUENCY, "note": "x"}
    if random.random() < 0.2:
        made["I"] = np.ones(int(random.integers(0, 9)))
    return made


NAMES = ("cell1", "cell2", "T25", "fresh", "cycle", "cyc01", "a/b", "", "data", "charge", "EIS", "t", "type", "é!")


def grown(random: np.random.Generator, depth: int) -> Structure:
    if depth == 0 or random.random() < 0.1:
        return leaf(random)
    if random.random() < 0.4:
        return [grown(random, depth - 1) for _ in range(int(random.integers(1, 4)))]
    names = random.choice(NAMES, int(random.integers(1, 4)), replace=False)
    made: dict[str, Structure] = {str(name): grown(random, depth - 1) for name in names}
    if random.random() < 0.2:
        made |= {"type": "impedance", "odd": None, "n": 3, "m": np.ones((2, 3)), "o": np.array([None, 1], object)}
    return made


def test_every_sample_of_a_structure_is_in_one_test(long: bool) -> None:
    """Structures at random: the tests have the rows of the parts, no part is in two, and each has its own name."""
    random = np.random.default_rng(11)
    for _ in range(2000 if long else 40):
        structure: Group = {"data": grown(random, int(random.integers(0, 5)))}
        parts = list(parts_of(structure))
        if not parts:
            continue
        tests = by_test(parts)
        listed = [id(part) for of_test in tests.values() for part in of_test]
        assert sorted(listed) == sorted(map(id, parts))
        facts, table = samples_of(structure, "x.mat", {})
        assert [one["name"] for one in facts["tests"]] == list(tests)
        assert sum(one["rows"] for one in facts["tests"]) == table.num_rows
        for one in facts["tests"]:
            same = {part.set.name for part in tests[one["name"]] if not part.is_spectrum}
            if len(same) < 2:
                assert one["rows"] == sum(part.rows for part in tests[one["name"]])


def matlab(folder: Path) -> bytes:
    run = {"time_s": T, "current_A": FLOW, "voltage_V": VOLTS}
    spectrum = {"f": FREQUENCY, "freq": FREQUENCY, "Z": FREQUENCY + 1j}
    grid = {f"cell{n}": {"T10": run, "T25": run | {"EIS": spectrum}} for n in (1, 2)}
    scipy.io.savemat(folder / "grid.mat", {"data": grid})
    return (folder / "grid.mat").read_bytes()


def tables(folder: Path) -> bytes:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "tables.h5", "w") as file:
        for cell in ("A1", "A2"):
            file[f"cells/{cell}/raw"] = np.rec.fromarrays([T, FLOW, VOLTS], names="Time,Current,Voltage")
    return (folder / "tables.h5").read_bytes()


@pytest.mark.parametrize(("make", "name"), [(matlab, "grid.mat"), (tables, "tables.h5")])
def test_structures_and_tables_in_a_process_of_their_own(
    make: Callable[[Path], bytes], name: str, tmp_path: Path, long: bool
) -> None:
    check(make(tmp_path), name, rows_of, 500 if long else 1, tmp_path)


@pytest.mark.parametrize("library", ["galvani", "yadg"])
def test_modular_files_with_an_installed_reader(
    library: str, shared_data: Path, tmp_path: Path, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "yadg":
        (tmp_path / "galvani").mkdir()
        (tmp_path / "galvani/__init__.py").write_text("raise ImportError")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    content = (shared_data / "biologic_mpr/00_test_04_MB_C01.mpr").read_bytes()
    check(content, "one.mpr", rows_of, 500 if long else 2, tmp_path)
