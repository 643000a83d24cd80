"""Containers that mean harm: workbooks, archives, MATLAB and HDF5 files, databases, parameter sets."""

from __future__ import annotations

import gzip
import io
import json
import resource
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from support.needs import mdbtools
from support.parameter_set import bpx
from support.workbooks import ARBIN, parts, samples, sheet_xml, write
from test_readers_hostile import SECONDS, check, consume, mutations, put

from workbench.errors import FileRefused, TooLarge
from workbench.readers import limits
from workbench.readers.file import parser_process as apart
from workbench.readers.formats import matlab
from workbench.readers.non_series.recognise import holding

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
pytestmark = pytest.mark.usefixtures("also_locked")


def grown(act: Callable[[], object]) -> float:
    """MiB by which the largest size of this process grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    act()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def refused(path: Path, words: str) -> Callable[[], None]:
    def act() -> None:
        begun = time.process_time()
        with pytest.raises((FileRefused, TooLarge), match=words):
            consume(path)
        assert time.process_time() - begun < SECONDS

    return act


def sheet(data: str) -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'


@pytest.mark.parametrize(
    "far", ['<c r="XFD1048576"><v>1</v></c>', "<c r='ZZZZ9'><v>1</v></c>", '<c s="1" r="A999999999"><v>1</v></c>']
)
def test_a_cell_far_away_does_not_make_a_sheet_of_billions(far: str, tmp_path: Path) -> None:
    data = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="9">{far}</row>'
    path = write(tmp_path / "test.xlsx", parts({"S": sheet(data)}))
    assert grown(refused(path, "No workbook has so many|spans")) < 100


@pytest.mark.parametrize("name", ["B" + "9" * 80, "AAAAAAAA1", "B0000000001", "A12345678901"])
def test_a_name_that_no_cell_has_does_not_end_the_process(name: str, tmp_path: Path) -> None:
    data = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c s="1" r = "{name}"><v>1</v></c></row>'
    refused(write(tmp_path / "test.xlsx", parts({"S": sheet(data)})), f"a cell is called '{name[:5]}")()


def test_one_long_text_in_many_cells_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_IN_MEMORY", 64 << 20)
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 2001))
    shared = f'<sst xmlns="{MAIN}"><si><t>{"x" * 100_000}</t></si></sst>'
    path = write(tmp_path / "test.xlsx", parts({"S": sheet(cells)}, shared))
    assert grown(refused(path, "add up to more than")) < 100


def test_a_workbook_that_unpacks_to_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FREE", 1 << 20)
    members = parts({"S": sheet("")}) | {"xl/media/big.bin": b"\0" * (32 << 20)}
    assert grown(refused(write(tmp_path / "test.xlsx", members), "400 times its size")) < 100


def test_sizes_that_are_not_true_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "test.xlsx", parts({"S": sheet_xml([ARBIN, *samples(1, 200)])}))
    with zipfile.ZipFile(path) as container:
        (info,) = (member for member in container.infolist() if "sheet1" in member.filename)
    lie = path.read_bytes().replace(info.file_size.to_bytes(4, "little"), (100).to_bytes(4, "little"))
    refused(put(tmp_path, lie, "lie.xlsx"), "damaged")()


def test_entities_in_a_sheet_are_not_unfolded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12)
    )
    data = '<row r="1"><c r="A1" t="inlineStr"><is><t>&m;</t></is></c></row>'
    path = write(tmp_path / "test.xlsx", parts({"S": bomb + "]>" + sheet(data)}))
    assert grown(refused(path, "test.xlsx")) < 100


def test_no_cell_makes_looking_for_errors_slow(tmp_path: Path) -> None:
    data = '<row r="1"><c r="A1"' + ' t="e"' * 40_000 + "<v/></row>"
    begun = time.process_time()
    refused(write(tmp_path / "test.xlsx", parts({"S": sheet(data)})), "empty workbook")()
    assert time.process_time() - begun < 2


def test_a_sheet_of_a_million_columns(tmp_path: Path) -> None:
    data = '<row r="1">' + "<c><v>1</v></c>" * 1_000_000 + "</row>"
    path = write(tmp_path / "test.xlsx", parts({"S": sheet(data)}))
    refused(path, "test.xlsx")()


def test_an_archive_of_one_text_is_bounded_like_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FREE", 1 << 20)
    text = "time [s],current [A],voltage [V]\n" + "0.0,0.0,0.0\n" * 2_000_000
    path = write(tmp_path / "bomb.zip", {"test.csv": text})
    assert grown(refused(path, "times its size")) < 200
    cut = path.read_bytes()[: path.stat().st_size // 2]
    refused(put(tmp_path, cut, "cut.zip"), "cut.zip")()


def test_a_locked_archive_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "test.zip", {"test.csv": "a,b\n1,2\n"})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    refused(put(tmp_path, bytes(data), "locked.zip"), "needs a password")()


def test_an_archive_of_several_files_says_what_to_do(tmp_path: Path) -> None:
    refused(write(tmp_path / "test.zip", {"a.csv": "1", "b.csv": "2"}), "several files")()


def test_matlab_that_unpacks_to_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FREE", 1 << 20)
    path = tmp_path / "bomb.mat"
    scipy.io.savemat(path, {"x": np.zeros(8_000_000)}, do_compression=True)
    job = {"path": str(path), "name": "bomb.mat", "column_map": {}}
    with pytest.raises(TooLarge, match="times its size"):
        matlab.loaded(job)


def test_matlab_that_claims_a_size(tmp_path: Path) -> None:
    path = tmp_path / "claims.mat"
    scipy.io.savemat(path, {"x": {"Time": np.arange(4.0)}})
    data = bytearray(path.read_bytes())
    place = data.index(b"\x05\0\0\0\x08\0\0\0")
    data[place + 8 : place + 16] = (2**30).to_bytes(4, "little") * 2
    path.write_bytes(bytes(data))
    assert grown(refused(path, "claims.mat")) < 500


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "held", [{"x": [[np.arange(4.0), "a"]]}, np.array([(1.0, 2.0)], [("a", object), ("b", object)]), "words"]
)
def test_matlab_arrays_that_claim_more_elements_than_bytes(held: object, packed: bool, tmp_path: Path) -> None:
    """scipy makes room for all elements of a cell array, a structure or a text before it reads one."""
    path = tmp_path / "claims.mat"
    scipy.io.savemat(path, {"outer": {"inner": held}})
    data = path.read_bytes()
    sizes = np.frombuffer(data[: len(data) // 4 * 4], "<u4")
    places = [at for at in range(128, len(data) - 16, 4) if (sizes[at // 4 : at // 4 + 2] == (5, 8)).all()]
    job = {"path": str(path), "name": "claims.mat", "column_map": {}}
    matlab._check(path, "claims.mat")
    for place in places:
        changed = bytearray(data)
        changed[place + 8 : place + 16] = (2**15).to_bytes(4, "little") * 2
        body = bytes(changed[128:])
        if packed:
            body = zlib.compress(body)
            body = (15).to_bytes(4, "little") + len(body).to_bytes(4, "little") + body
        path.write_bytes(bytes(changed[:128]) + body)
        with pytest.raises(FileRefused, match=r"an array of 1.07e\+09 elements has"):
            matlab.loaded(job)


def test_a_parameter_set_of_no_end(tmp_path: Path) -> None:
    text = bpx()[:-1] + ', "x": [' + "[1]," * 200_000 + "1]}"
    begun = time.process_time()
    with pytest.raises(FileRefused, match="not a valid BPX"):
        holding(put(tmp_path, text, "long.json"))
    assert time.process_time() - begun < SECONDS


def originals(folder: Path) -> dict[str, bytes]:
    """A small sound file of each container."""
    time_ = np.arange(40.0)
    flow = np.where(time_ < 20, 1.0, -1.0)
    run = {"Time": time_, "Current": flow, "Voltage": 3.6 + 0.1 * flow}
    made: dict[str, bytes] = {}
    for name, packed in (("matlab", False), ("matlab packed", True)):
        buffer = io.BytesIO()
        scipy.io.savemat(buffer, {"run": run}, do_compression=packed)
        made[name] = buffer.getvalue()
    text = "time [s],current [A],voltage [V]\n" + "".join(
        f"{t},{i},{3.6 + i / 10}\n" for t, i in zip(time_, flow, strict=True)
    )
    made["zip"] = write(folder / "one.zip", {"test.csv": text}).read_bytes()
    made["xlsx"] = write(folder / "one.xlsx", parts({"S": sheet_xml([ARBIN, *samples(1, 30)])})).read_bytes()
    made["bpx"] = bpx().encode()
    made["drive cycle"] = ("time [s],current [A]\n" + "".join(f"{t},{t / 7}\n" for t in range(40))).encode()
    made["capacities"] = ("cell,cycle,capacity [Ah]\n" + "".join(f"A,{t},{t / 7}\n" for t in range(40))).encode()
    return made


KINDS = ("matlab", "matlab packed", "zip", "xlsx", "bpx", "drive cycle", "capacities")


def take(path: Path) -> None:
    """What ingest does with a file, up to the store."""
    if holding(path) is None:
        consume(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_mutation_is_read_or_refused(kind: str, tmp_path: Path, long: bool) -> None:
    original = originals(tmp_path)[kind]
    random = np.random.default_rng(len(kind))
    take(put(tmp_path, original))
    few = 3 if "matlab" in kind else 15  # those are read by a process of their own
    check(lambda: mutations(original, random), 500 if long else few, tmp_path, take)


def test_every_mutation_within_a_workbook_is_read_or_refused(tmp_path: Path, long: bool) -> None:
    """Mutated inside the archive, whose checksums would else tell."""
    members = parts({"S": sheet_xml([ARBIN, *samples(1, 30)])})
    random = np.random.default_rng(7)

    def make() -> bytes:
        name = str(random.choice(list(members)))
        changed = members | {name: mutations(members[name].encode(), random)}
        return write(tmp_path / "made.xlsx", changed).read_bytes()

    check(make, 500 if long else 20, tmp_path, take)


def test_every_mutation_of_hdf5_is_read_or_refused(tmp_path: Path, long: bool) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "one.h5"
    with h5py.File(path, "w") as file:
        for name, values in {"Time": np.arange(40.0), "Current": np.ones(40), "Voltage": np.full(40, 3.6)}.items():
            file.create_dataset(f"run/{name}", data=values[np.newaxis, :], compression="gzip")
    original, random = path.read_bytes(), np.random.default_rng(5)
    check(lambda: mutations(original, random), 500 if long else 3, tmp_path, take)


def test_a_parser_that_dies_costs_its_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.mat"
    scipy.io.savemat(path, {"x": np.zeros(4)})
    monkeypatch.setattr(apart, "_PROGRAM", "import os; os.kill(os.getpid(), 11)")
    refused(path, "crashed")()
    monkeypatch.setattr(apart, "_PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(apart, "PATIENCE", 0.1)
    monkeypatch.setattr(apart, "_SECONDS", 0.1)
    refused(path, "takes longer to read than")()


def test_every_mutation_of_a_database_is_read_or_refused(shared_data: Path, tmp_path: Path, long: bool) -> None:
    mdbtools()
    original = gzip.decompress((shared_data / "arbin_res/mits7-0.res.gz").read_bytes())
    random = np.random.default_rng(5)
    check(lambda: mutations(original, random), 500 if long else 20, tmp_path, take)


def test_packed_data_that_lie_about_their_end(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(json.dumps({"Header": {"BPX": "0.1"}}).encode() * 100))
    packed[-4:] = (2**31).to_bytes(4, "little")
    with pytest.raises(FileRefused, match="gzip data"):
        holding(put(tmp_path, bytes(packed), "x.json.gz"))
