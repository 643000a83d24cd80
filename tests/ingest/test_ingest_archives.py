"""An archive of many files is a folder: its files are ingested as if it had been unpacked."""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cycler_file import cycler_text
from support.local_and_remote import opened

import workbench as wb
from workbench.ingest.plan import unpack


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


FILES = {
    "A/c1.csv": cycler_text(),
    "A/c2.csv": cycler_text(1),
    "B/c3.csv": cycler_text(offset=0.01),
    "notes.txt": "Made by hand.\n",
    "__MACOSX/A/._c1.csv": "x",
    ".hidden.csv": cycler_text(3),
}


def packed(path: Path, files: dict[str, str | bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as container:
            for name, content in files.items():
                container.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as tape:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tape.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("A/link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tape.addfile(link)
    return path


@pytest.mark.parametrize(("ending", "where"), [(".zip", "near"), (".tar.gz", "near"), (".zip", "far")])
def test_the_files_of_an_archive_are_ingested(ending: str, where: str, tmp_path: Path) -> None:
    path = packed(tmp_path / f"rack{ending}", dict(FILES))
    with opened(tmp_path / "lab.db", where) as bench:
        report = bench.ingest(path, name_rule="{batch}/{cell}")
        assert [(file.path, file.status) for file in report] == [
            (f"{path}/A/c1.csv", "stored"), (f"{path}/A/c2.csv", "stored"), (f"{path}/B/c3.csv", "stored"),
        ]  # fmt: skip
        assert [(file.instance, file.batch) for file in report] == [("c1", "A"), ("c2", "A"), ("c3", "B")]
        assert report.skipped == [f"{path}/notes.txt"]
        again = bench.ingest(tmp_path, name_rule="{batch}/{cell}")
        assert [file.status for file in again] == ["duplicate"] * 3


def test_archives_within_an_archive(bench: wb.Bench, tmp_path: Path) -> None:
    inner = packed(tmp_path / "inner.zip", {"c1.csv": cycler_text(), "c2.csv": cycler_text(1)}).read_bytes()
    path = packed(tmp_path / "outer.zip", {"week 1.zip": inner, "c3.csv": cycler_text(3)})
    report = bench.ingest(path)
    assert [file.path for file in report] == [
        f"{path}/c3.csv", f"{path}/week 1.zip/c1.csv", f"{path}/week 1.zip/c2.csv",
    ]  # fmt: skip
    assert report.ok


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_no_name_in_an_archive_leaves_its_folder(ending: str, tmp_path: Path) -> None:
    names = ["../../up.csv", "/abs.csv", "a/../b.csv", "C:\\win.csv", "a", "a/b.csv", "same.csv", "same.csv"]
    path = tmp_path / f"bad{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as container, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name that is there twice
            for name in names:
                container.writestr(name, name)
    else:
        packed(path, {name: name for name in names})
    unpacked = unpack.Unpacked()
    found = unpacked.add(path, path.name)
    (root,) = unpacked.folders
    assert found
    assert all(root in file.resolve().parents for file in found)
    assert not (tmp_path / "up.csv").exists()
    del unpacked
    assert not root.exists()


def test_an_archive_over_a_limit_or_damaged_is_refused_in_words(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = packed(tmp_path / "bomb.zip", {"a.csv": b"0" * (80 << 20), "b.csv": b"1"})
    (refused,) = bench.ingest(bomb)
    assert (refused.path, refused.status) == (str(bomb), "refused")
    assert "times its size" in refused.why
    monkeypatch.setattr(unpack, "MOST_FILES", 2)
    many = packed(tmp_path / "many.zip", {f"{n}.csv": cycler_text() for n in range(3)})
    (refused,) = bench.ingest(many)
    assert "holds more than 2 files" in refused.why
    data = bytearray(many.read_bytes())
    data[60:400] = bytes(340)
    broken = tmp_path / "broken.zip"
    broken.write_bytes(data)
    (refused,) = bench.ingest(broken)
    assert "damaged" in refused.why
    assert "bomb" not in str(list(bench.measurements.list(fields=["name"])["name"]))


def test_a_watched_folder_takes_an_archive_once(bench: wb.Bench, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    packed(folder / "rack.zip", {"c1.csv": cycler_text(), "c2.csv": cycler_text(1)})
    (report,) = bench.watch(folder, settle=0.01, once=True)
    assert [file.status for file in report] == ["stored", "stored"]


def test_an_archive_that_is_called_as_its_folder_holds_other_cells(bench: wb.Bench, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    names = ["c1.csv", "c2.csv"]
    for number, name in enumerate(names):
        (folder / name).write_text(cycler_text(number + 1))
    packed(folder / "data.zip", {name: cycler_text(number + 3) for number, name in enumerate(names)})
    report = bench.ingest(folder)
    assert [file.status for file in report] == ["stored"] * 4
    assert len({file.instance for file in report}) == 4
    packed(folder / "data.zip", {name: cycler_text(2, 0.01 + 0.01 * number) for number, name in enumerate(names)})
    assert [file.instance for file in bench.ingest(folder)][2:] == [file.instance for file in report][2:]


def test_archives_of_one_name_in_two_folders_hold_other_cells(bench: wb.Bench, tmp_path: Path) -> None:
    for number, batch in enumerate("AB"):
        (tmp_path / "in" / batch).mkdir(parents=True)
        packed(
            tmp_path / "in" / batch / "rack.zip",
            {"c1.csv": cycler_text(2 * number + 1), "c2.csv": cycler_text(2 * number + 2)},
        )
    report = bench.ingest(tmp_path / "in")
    assert [file.instance for file in report] == ["A rack c1", "A rack c2", "B rack c1", "B rack c2"]


def test_an_archive_beside_the_folder_that_it_was_made_of_holds_its_cells(bench: wb.Bench, tmp_path: Path) -> None:
    (tmp_path / "in" / "rack").mkdir(parents=True)
    (tmp_path / "in" / "rack" / "c1.csv").write_text(cycler_text(2))
    packed(tmp_path / "in" / "rack.zip", {"c1.csv": cycler_text(1), "c2.csv": cycler_text(3)})
    report = bench.ingest(tmp_path / "in")
    assert [file.instance for file in report] == ["c1", "c1", "c2"]


def test_a_folder_within_one_of_its_name_holds_other_cells(bench: wb.Bench, tmp_path: Path) -> None:
    for number, place in enumerate(("data", "data/data")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "c1.csv").write_text(cycler_text(number + 1))
    report = bench.ingest(tmp_path / "data")
    assert len({file.instance for file in report}) == 2
