"""Files of strangers are read apart: one that would take the server down costs itself alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.full_organization import RATINGS, begin, parquet, put, samples, upload
from support.server_in_process import Lab, lab
from support.waiting import until

from server import Settings
from workbench.errors import FileRefused, StoreFull, TooLarge
from workbench.ingest.read import parquet_subprocess
from workbench.ingest.read.parquet_subprocess import ParquetSubprocess
from workbench.table import concat


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParquetSubprocess]:
    made = ParquetSubprocess(tmp_path_factory.mktemp("apart"), 1)
    yield made
    made.close()


def bomb(path: Path, rows: int = 200_000, size: int = 1 << 20) -> Path:
    """A few kilobytes that unpack to 200 GB: one long text, named by every row."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * size]))
    table = pa.table({"Time [s]": pa.array(range(rows), pa.float64()), "note": column})
    # Without Arrow's own schema it is a plain text column that is merely stored as a dictionary.
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 5_000_000
    return path


def test_a_server_that_ends_while_it_starts_leaves_no_process(tmp_path: Path) -> None:
    made = ParquetSubprocess(tmp_path, 1)
    made.close()
    made.start()
    assert not made._workers[0].is_alive


def test_a_table_comes_back_as_it_was_as_often_as_wanted(apart: ParquetSubprocess, tmp_path: Path) -> None:
    table = samples(5000, note=pa.array(["a", None] * 2500), flag=pa.array([True, None] * 2500))
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=700)
    direct, parts = ParquetSubprocess(tmp_path, 0).tables(path), apart.tables(path)
    path.unlink()
    first, again = parts(), parts()
    read = [concat(list(one)) for one in (first, again)]
    assert read[1]["note"].tolist() == read[0]["note"].tolist()
    with pytest.raises(FileRefused):
        list(direct())
    assert read[0].n == 5000
    assert read[0]["note"].tolist() == table["note"].to_pylist()
    assert read[0]["Time [s]"].values.tobytes() == table["Time [s]"].to_numpy().tobytes()


def test_what_cannot_be_read_is_refused_with_the_readers_words(apart: ParquetSubprocess, tmp_path: Path) -> None:
    place = tmp_path / "x"
    for content, why in (
        (b"PAR1 no more", "damaged parquet"),
        (parquet(pa.table({"a": pa.array([[1]])})), "holds neither numbers"),
    ):
        place.write_bytes(content)
        with pytest.raises(FileRefused, match=why):
            apart.tables(place, "mine.parquet")
    place.write_bytes(parquet(samples()))
    with pytest.raises(TooLarge):
        apart.tables(place, most=1000)


def test_a_bomb_is_refused_and_the_next_file_is_read(apart: ParquetSubprocess, tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.parquet")
    with pytest.raises((FileRefused, TooLarge), match=r"bomb\.parquet"):
        apart.tables(path)
    good = tmp_path / "good.parquet"
    good.write_bytes(parquet(samples()))
    assert concat(list(apart.tables(good)())).n == 600


def test_damaged_bytes_anywhere_cost_the_file_alone(apart: ParquetSubprocess, tmp_path: Path, long: bool) -> None:
    whole = parquet(samples(3000, note=pa.array(["text"] * 3000)))
    place = tmp_path / "a.parquet"
    for n in range(400 if long else 40):
        at = (n * 7919) % len(whole) if n % 2 else len(whole) - 1 - (n * 31) % 900
        place.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << n % 8) or 1]) + whole[at + 1 :])
        try:
            rows = sum(part.n for part in apart.tables(place)())
        except (FileRefused, TooLarge):
            continue
        assert 0 <= rows <= 3000


@pytest.mark.long
def test_a_server_refuses_a_bomb_and_goes_on(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(readers=1)) as made:
        cell = instance(made)
        begun = begin(made, made.admin, cell, "Bomb")
        assert put(made, begun["uploads"][0], bomb(tmp_path / "b").read_bytes()).status_code == 200
        body = {"cell_instance_id": cell, "measurement": {"name": "Bomb"}, "measurement_type": "time_series"}
        path = f"/cell_measurements/{begun['measurement_id']}"
        answer = made.call("POST", f"{path}/confirm-upload", json=body)
        if answer.status_code == 200:  # the machine was so busy that the answer came first
            assert ended(made, path) == "failed"
        else:
            assert answer.status_code == 422
            assert made.call("GET", path).status_code == 404
        assert upload(made, made.admin, cell, "Good", samples())["processing_status"] in ("ready", "running")


def ended(made: Lab, path: str) -> str:
    def status() -> str:
        found: str = made.json("GET", path)["processing_status"]
        return "" if found == "running" else found

    return until(status, "the end of the processing")


def instance(made: Lab) -> str:
    project = {"project_id": made.project.id}
    spec = made.json("POST", "/cell_specifications", json={"name": "S", "ratings": RATINGS, **project})["id"]
    cell: str = made.json("POST", f"/cell_specifications/{spec}/cell_instances", json={"name": "C"})["id"]
    return cell


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="This system has no device that is always full.")
def test_a_full_disk_is_not_taken_for_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"Time [s]": [0.0, 1.0]}), path)
    job = {"path": str(path), "name": "a.parquet", "most": 1 << 20, "spool": "/dev/full"}
    said = orjson.loads(parquet_subprocess.answer_to(orjson.dumps(job)))
    assert "space" in said["no_room"]
    monkeypatch.setattr(parquet_subprocess.Worker, "ask", lambda worker, job, seconds: said)
    with pytest.raises(StoreFull, match=r"'a.parquet' could not be unpacked .*Make room"):
        ParquetSubprocess(tmp_path, 1).tables(path)
