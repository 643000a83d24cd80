"""Uploads, extensions and downloads: bit for bit, twice without harm, in parts without a credential."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.full_organization import RATINGS, begin, parquet, put, samples, upload
from support.power_cut import names_kept
from support.server_in_process import Lab, lab
from support.waiting import until

from server import intake, uploading
from workbench import living_process
from workbench.records import Measurement, RawData
from workbench.store.scope import Scope


def cell(lab: Lab) -> str:
    body = {"name": "LG M50", "ratings": RATINGS, "project_id": lab.project.id}
    spec = lab.json("POST", "/cell_specifications", json=body)["id"]
    made: str = lab.json("POST", f"/cell_specifications/{spec}/cell_instances", json={"name": "Cell"})["id"]
    return made


def downloaded(lab: Lab, measurement: str) -> bytes:
    found = lab.call("GET", f"/cell_measurements/{measurement}/time_series/download")
    assert found.status_code == 307
    answer = lab.client.get(found.headers["location"])
    assert answer.status_code == 200
    data: bytes = answer.content
    return data


def confirm(lab: Lab, begun: dict[str, Any], instance: str, name: str = "m", **more: Any) -> Any:
    body = {"cell_instance_id": instance, "measurement": {"name": name}, "measurement_type": "time_series", **more}
    return lab.call("POST", f"/cell_measurements/{begun['measurement_id']}/confirm-upload", json=body)


def test_every_column_comes_back_to_the_bit(served: Lab) -> None:
    instance = cell(served)
    n = 70_000
    nan = np.arange(n) * 1.5
    nan[3] = np.nan
    nan[4] = -0.0
    table = samples(
        n,
        **{
            "NaN and minus zero": nan,
            "float32": np.arange(n, dtype=np.float32) / 3,
            "int with nulls": pa.array([None if i % 3 else i for i in range(n)], pa.int64()),
            "int8": pa.array((np.arange(n) % 100).astype(np.int8)),
            "text": pa.array([None if i % 5 else f"ä{i % 7}" for i in range(n)]),
            "flag": pa.array([None if i % 2 else True for i in range(n)]),
            "nothing": pa.nulls(n, pa.float64()),
        },
    )
    made = upload(served, served.admin, instance, "m", table, notes="n", tags=["b", "A"], protocol={"name": "p"})
    assert (made["processing_status"], made["steps_created"], made["tags"]) == ("ready", 0, ["A", "b"])
    assert (made["sample_count"], made["step_count"], made["measurement_type"]) == (n, 700, "time_series")
    data = downloaded(served, made["id"])
    back = pq.read_table(io.BytesIO(data))
    assert back.column_names == table.column_names
    for name in table.column_names:
        assert back[name].type == table[name].type, name
        assert back[name].null_count == table[name].null_count, name
        if pa.types.is_floating(table[name].type) and not table[name].null_count:
            assert back[name].to_numpy().tobytes() == table[name].to_numpy().tobytes(), name
        else:
            assert back[name].to_pylist() == table[name].to_pylist(), name
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 3
    assert downloaded(served, made["id"]) == data


def test_a_download_is_read_in_parts_without_a_credential(served: Lab) -> None:
    made = upload(served, served.admin, cell(served), "m", samples(70_000))
    address = served.call("GET", f"/cell_measurements/{made['id']}/time_series/download").headers["location"]
    whole = served.client.get(address)
    assert whole.headers["accept-ranges"] == "bytes"
    size = len(whole.content)
    for header, part in (
        ("bytes=-262144", whole.content[-262144:]),
        ("bytes=-8", whole.content[-8:]),
        ("bytes=0-3", whole.content[:4]),
        ("bytes=100-", whole.content[100:]),
        (f"bytes={size - 1}-{size + 100}", whole.content[-1:]),
    ):
        answer = served.client.get(address, headers={"Range": header})
        assert (answer.status_code, answer.content) == (206, part), header
        start = size - len(part) if header.startswith("bytes=-") else int(header[6:].partition("-")[0])
        assert answer.headers["content-range"] == f"bytes {start}-{start + len(part) - 1}/{size}"
    beyond = served.client.get(address, headers={"Range": f"bytes={size}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    for odd in ("bytes=5-1", "rows=1-2", "bytes=0-1,5-6", "bytes=-"):
        assert served.client.get(address, headers={"Range": odd}).content == whole.content
    other = served.client.get(address, headers={"Range": "bytes=0-3", "If-Range": '"other"'})
    assert other.status_code == 200


def test_an_upload_is_no_record_before_it_is_confirmed(served: Lab) -> None:
    instance = cell(served)
    begun = begin(served, served.admin, instance, "m")
    assert [entry["filename"] for entry in begun["uploads"]] == ["time_series.parquet", "steps.parquet"]
    for entry in begun["uploads"]:
        assert all(isinstance(entry[key], str) for key in ("filename", "signed_url", "token", "path"))
        assert entry["multipart"] is None
        assert urlsplit(entry["signed_url"]).netloc == "localhost"
    assert served.call("GET", f"/cell_measurements/{begun['measurement_id']}").status_code == 404
    assert served.json("GET", f"/cell_instances/{instance}/cell_measurements")["items"] == []
    early = confirm(served, begun, instance)
    assert (early.status_code, early.json()["error_code"]) == (409, "CONFLICT")
    assert served.client.get(urlsplit(begun["uploads"][0]["signed_url"]).path).status_code == 404


def test_a_put_and_a_confirm_that_come_twice_do_no_harm(served: Lab) -> None:
    instance = cell(served)
    begun = begin(served, served.admin, instance, "m")
    assert put(served, begun["uploads"][0], b"half of").status_code == 200
    assert put(served, begun["uploads"][0], parquet(samples())).status_code == 200
    first = confirm(served, begun, instance)
    again = confirm(served, begun, instance)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["id"] == again.json()["id"] == begun["measurement_id"]
    assert served.json("GET", f"/cell_instances/{instance}/cell_measurements")["total"] == 1
    late = put(served, begun["uploads"][0], parquet(samples(100)))
    assert late.status_code == 409
    assert served.json("GET", f"/cell_measurements/{first.json()['id']}")["sample_count"] == 600


def test_a_taken_name_is_refused_when_an_upload_begins(served: Lab) -> None:
    instance = cell(served)
    made = upload(served, served.admin, instance, "m", samples())
    path = f"/cell_instances/{instance}/cell_measurements/initiate-upload"
    taken = served.call("POST", path, json={"measurement": {"name": "m"}})
    assert (taken.status_code, taken.json()["detail"]) == (409, {"existing_id": made["id"]})
    first, second = begin(served, served.admin, instance, "n"), begin(served, served.admin, instance, "n")
    for begun in (first, second):
        put(served, begun["uploads"][0], parquet(samples()))
    assert confirm(served, first, instance, "n").status_code == 200
    late = confirm(served, second, instance, "n")
    assert (late.status_code, late.json()["detail"]) == (409, {"existing_id": first["measurement_id"]})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"this is no parquet file", "parquet"),
        (parquet(samples().drop_columns(["Step count"])), "Step count"),
        (parquet(samples().set_column(0, "Time [s]", pa.array(np.arange(600) + 5.0))), "Time"),
        (parquet(pa.table({"Step count": [0], "Time [s]": [0.0], "Current [A]": [[1.0]]})), "Current"),
    ],
)
def test_what_cannot_be_read_is_refused_and_leaves_nothing(served: Lab, data: bytes, words: str) -> None:
    instance = cell(served)
    begun = begin(served, served.admin, instance, "m")
    put(served, begun["uploads"][0], data)
    refused = confirm(served, begun, instance)
    assert refused.status_code == 422
    assert words in refused.json()["message"]
    assert served.json("GET", f"/cell_instances/{instance}/cell_measurements")["items"] == []
    assert upload(served, served.admin, instance, "m", samples())["processing_status"] == "ready"


def test_only_who_began_an_upload_confirms_it(served: Lab) -> None:
    instance = cell(served)
    other = served.person("other@lab", role="Admin")
    begun = begin(served, served.admin, instance, "m")
    put(served, begun["uploads"][0], parquet(samples()))
    body = {"cell_instance_id": instance, "measurement": {"name": "m"}, "measurement_type": "time_series"}
    path = f"/cell_measurements/{begun['measurement_id']}/confirm-upload"
    assert served.call("POST", path, other, json=body).status_code == 403
    assert served.call("POST", path, json={**body, "cell_instance_id": "another"}).status_code == 400
    wrong = served.call(
        "POST", path, json={**body, "measurement": {"name": "m", "start_time": "soon", "colour": 1}}
    )
    assert {tuple(item["loc"]) for item in wrong.json()["detail"]} == {
        ("measurement", "start_time"),
        ("measurement", "colour"),
    }
    turned = {"name": "m", "start_time": "2026-01-02T00:00:00Z", "end_time": "2026-01-01T00:00:00Z"}
    assert served.call("POST", path, json={**body, "measurement": turned}).status_code == 422
    assert served.call("POST", path, json=body).status_code == 200


def test_a_given_step_table_is_used_as_it_is(served: Lab) -> None:
    instance = cell(served)
    first = upload(served, served.admin, instance, "m", samples())
    file = served.call("GET", f"/cell_measurements/{first['id']}/steps/download")
    steps = pq.read_table(io.BytesIO(file.content))
    typed = steps.set_column(
        steps.column_names.index("Step type"), "Step type", pa.array(["Mine"] * steps.num_rows)
    )
    begun = begin(served, served.admin, instance, "n")
    for entry, data in zip(begun["uploads"], (parquet(samples()), parquet(typed)), strict=True):
        assert put(served, entry, data).status_code == 200
    made = confirm(served, begun, instance, "n").json()
    tables = served.json("GET", f"/cell_measurements/{made['id']}/steps_and_cycles")
    assert set(tables["steps"]["Step type"]) == {"Mine"}
    assert tables["steps"]["Start time [s]"][:2] == [0.0, 100.0]
    assert served.json("GET", f"/cell_measurements/{made['id']}/cycles")["cycles"] == tables["cycles"]


def test_floats_of_json_tables_carry_a_point(served: Lab) -> None:
    made = upload(served, served.admin, cell(served), "m", samples())
    text = served.call("GET", f"/cell_measurements/{made['id']}/steps_and_cycles").text
    assert '"Duration [s]":[99.0,99.0' in text
    assert '"Step count":[0,1,2' in text
    assert '"Energy retention":[1.0,' in text


def test_files_keep_their_order_and_their_bytes(served: Lab) -> None:
    instance = cell(served)
    names = ["b ö.csv", "a.bin"]
    begun = begin(served, served.admin, instance, "f", measurement_type="file", filenames=names)
    assert [entry["filename"] for entry in begun["uploads"]] == names
    for n, entry in enumerate(begun["uploads"]):
        assert put(served, entry, bytes([n]) * 3_000_000).status_code == 200
    body = {"measurement_type": "file", "filenames": names}
    made = confirm(served, begun, instance, "f", **body).json()
    assert (made["processing_status"], made["measurement_type"]) == ("ready", "file")
    path = f"/cell_measurements/{made['id']}/files"
    assert served.json("GET", path) == {"filenames": names}
    found = served.call("GET", f"{path}/b%20%C3%B6.csv")
    assert served.client.get(found.headers["location"]).content == bytes([0]) * 3_000_000
    part = served.client.get(found.headers["location"], headers={"Range": "bytes=1048570-1048580"})
    assert part.content == bytes([0]) * 11
    assert served.call("GET", f"{path}/none").status_code == 404
    assert served.call("GET", f"/cell_measurements/{made['id']}/time_series/download").status_code == 404
    for bad in (["a/b"], ["a?"], ["a#b"], ["100%"], ["x", "x"], [], [".."], [3]):
        path = f"/cell_instances/{instance}/cell_measurements/initiate-upload"
        answer = served.call(
            "POST", path, json={"measurement": {"name": "g"}, "measurement_type": "file", "filenames": bad}
        )
        assert answer.status_code == 422, bad


def test_a_running_test_is_extended(served: Lab) -> None:
    instance = cell(served)
    whole = samples(70_000)
    made = upload(served, served.admin, instance, "m", whole.slice(0, 40_050))
    old = served.call("GET", f"/cell_measurements/{made['id']}/time_series/download").headers["location"]
    before = served.client.get(old).content
    begun = served.json("POST", f"/cell_measurements/{made['id']}/initiate-extend", json={})
    assert [entry["filename"] for entry in begun["uploads"]] == ["time_series_extend.parquet"]
    assert put(served, begun["uploads"][0], parquet(whole.slice(40_050))).status_code == 200
    path = f"/cell_measurements/{made['id']}/confirm-extend"
    done = served.json("POST", path, json={})
    assert (done["processing_status"], done["processing_error"], done["sample_count"]) == ("ready", None, 70_000)
    assert served.json("POST", path, json={})["sample_count"] == 70_000
    assert pq.read_table(io.BytesIO(downloaded(served, made["id"]))).equals(whole)
    assert served.client.get(old).content == before
    fresh = upload(served, served.admin, instance, "whole", whole)
    one, other = (
        served.json("GET", f"/cell_measurements/{id}/steps_and_cycles") for id in (made["id"], fresh["id"])
    )
    assert one == other


def test_a_failed_extension_leaves_the_old_rows(served: Lab) -> None:
    made = upload(served, served.admin, cell(served), "m", samples())
    extend = f"/cell_measurements/{made['id']}"
    for table in (samples(), samples().drop_columns(["Step count"])):
        begun = served.json("POST", f"{extend}/initiate-extend", json={})
        put(served, begun["uploads"][0], parquet(table))
        done = served.json("POST", f"{extend}/confirm-extend", json={})
        assert done["processing_status"] == "ready"
        assert done["processing_error"]
        assert done["sample_count"] == 600
    served.json("PATCH", extend, json={"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-02T00:00:00Z"})
    ended = served.call("POST", f"{extend}/initiate-extend", json={})
    assert (ended.status_code, ended.json()["error_code"]) == (409, "CONFLICT")


def test_a_running_test_takes_one_extension_at_a_time(served: Lab) -> None:
    whole = samples(600)
    made = upload(served, served.admin, cell(served), "m", whole.slice(0, 400))
    extend = f"/cell_measurements/{made['id']}"
    lost = served.json("POST", f"{extend}/initiate-extend", json={})
    begun = served.json("POST", f"{extend}/initiate-extend", json={})
    assert put(served, lost["uploads"][0], parquet(whole.slice(500))).status_code == 409
    assert put(served, begun["uploads"][0], parquet(whole.slice(400, 100))).status_code == 200
    other = served.person("other@lab", role="Admin")
    second = served.call("POST", f"{extend}/initiate-extend", json={})
    third = served.call("POST", f"{extend}/initiate-extend", other, json={})
    assert (second.status_code, third.status_code) == (409, 409)
    assert "not confirmed" in second.json()["message"]
    assert "Another user" in third.json()["message"]
    assert served.json("POST", f"{extend}/confirm-extend", json={})["sample_count"] == 500
    assert served.call("POST", f"{extend}/initiate-extend", other, json={}).status_code == 200
    assert served.call("POST", f"{extend}/initiate-extend", json={}).status_code == 409


def test_long_work_goes_on_after_the_answer(served: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "PATIENCE", 0.0)
    instance = cell(served)
    made = upload(served, served.admin, instance, "m", samples(200_000))
    assert made["processing_status"] == "running"
    listed = served.json("GET", f"/cell_instances/{instance}/cell_measurements")["items"]
    assert [one["id"] for one in listed] == [made["id"]]
    assert waited(served, made["id"])["sample_count"] == 200_000
    begun = begin(served, served.admin, instance, "bad")
    put(served, begun["uploads"][0], parquet(samples().drop_columns(["Step count"])))
    answer = confirm(served, begun, instance, "bad")
    if answer.status_code == 200:
        failed = waited(served, begun["measurement_id"])
        assert failed["processing_status"] == "failed"
        assert "Step count" in failed["processing_error"]


def waited(lab: Lab, measurement: str) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        one: dict[str, Any] = lab.json("GET", f"/cell_measurements/{measurement}?include_steps=false")
        return None if one["processing_status"] in ("pending", "running") else one

    return until(found, "the end of the processing")


def test_bytes_that_were_taken_survive_a_power_cut(served: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    files = served.store.path.with_name(f"{served.store.path.name}.files")
    kept = names_kept(monkeypatch, files)
    begun = begin(served, served.admin, cell(served), "m")
    assert put(served, begun["uploads"][0], parquet(samples())).status_code == 200
    assert [name for name in kept if name.startswith("incoming/object-")]


@pytest.mark.parametrize("killed", ["in a container an hour ago", "when the power was cut"])
def test_what_a_killed_server_left_undone_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    with lab(tmp_path) as first:
        instance = cell(first)
        begun = begin(first, first.admin, instance, "m")
        put(first, begun["uploads"][0], parquet(samples()))
        with monkeypatch.context() as patched:
            # As if the process had died just after its answer was made durable.
            patched.setattr(intake.Intake, "start", lambda self, upload: Stopped())
            if "power" in killed:
                patched.setattr(living_process, "start_of_machine", lambda: "the start before")
            else:
                patched.setattr(
                    intake.lease, "take", lambda: f'["container {living_process.start_of_machine()} pid", 1, ""]'
                )
            assert confirm(first, begun, instance).json()["processing_status"] == "running"
        if "hour" in killed:
            with first.store.transaction() as db:
                db.execute("UPDATE uploads SET beat = 0, crc = null")
        key = first.admin
    with lab(tmp_path) as second:
        second.admin = key
        assert waited(second, begun["measurement_id"])["sample_count"] == 600
        scope = Scope(second.organization.id, second.project.id)
        assert second.store.rows.get(Measurement, begun["measurement_id"], scope).processing_status == "ready"
        assert second.store.verify() == []
    assert not list((tmp_path / "lab.db.files" / "running").iterdir())


class Stopped:
    def result(self, timeout: float) -> None:
        raise TimeoutError


def test_raw_data_come_back_as_they_were_sent(served: Lab) -> None:
    body = {
        "project_id": served.project.id,
        "name": "Raw",
        "filename": "raw ä.csv",
        "content_type": "text/csv",
        "metadata": {"a": 1},
        "source": "cycler",
    }
    begun = served.json("POST", "/raw_data/initiate-upload", json=body)
    entry = begun["uploads"][0]
    path = f"/raw_data/{begun['raw_data_id']}"
    assert served.call("POST", f"{path}/confirm-upload", json=body).status_code == 409
    sent = served.client.put(
        urlsplit(entry["signed_url"]).path, content=b"1,2\n", headers={"Content-Type": "text/csv"}
    )
    assert sent.status_code == 200
    assert served.call("POST", f"{path}/confirm-upload", json={**body, "size_bytes": 5}).status_code == 400
    made = served.json("POST", f"{path}/confirm-upload", json={**body, "size_bytes": 4})
    assert served.json("POST", f"{path}/confirm-upload", json={**body, "size_bytes": 4}) == made
    assert (made["filename"], made["size_bytes"], made["source"]) == ("raw ä.csv", 4, "cycler")
    assert "piece" not in made
    url = served.json("GET", f"{path}/download-url")["url"]
    got = served.client.get(url)
    assert (got.content, got.headers["content-type"]) == (b"1,2\n", "text/csv; charset=utf-8")
    assert served.json("PATCH", path, json={"source": ""})["source"] is None
    measured = upload(served, served.admin, cell(served), "m", samples())["id"]
    for _ in range(2):
        assert (
            served.call(
                "POST", f"/cell_measurements/{measured}/raw_data", json={"raw_data_ids": [made["id"]]}
            ).status_code
            == 204
        )
    assert served.json("GET", f"{path}/cell_measurements") == {"items": [measured], "total": 1}
    assert served.json("GET", f"/cell_measurements/{measured}/raw_data")["items"][0]["id"] == made["id"]
    assert served.call("DELETE", f"/cell_measurements/{measured}/raw_data/{made['id']}").status_code == 204
    assert served.json("GET", f"{path}/cell_measurements")["total"] == 0
    assert served.call("DELETE", path).status_code == 204
    assert served.store.verify() == []
    assert made["name"] == "Raw"


def test_a_content_type_that_no_header_takes_is_refused_and_hurts_no_download(served: Lab) -> None:
    body = {"project_id": served.project.id, "name": "Raw", "filename": "a.csv"}
    for odd in ("text/csv\r\nX-More: 1", "表/csv", "a" * 201):
        refused = served.call("POST", "/raw_data/initiate-upload", json={**body, "content_type": odd})
        assert refused.status_code == 422
        assert refused.json()["detail"][0]["loc"] == ["content_type"]
    begun = served.json("POST", "/raw_data/initiate-upload", json={**body, "content_type": None})
    put(served, begun["uploads"][0], b"1,2\n")
    path = f"/raw_data/{begun['raw_data_id']}"
    refused = served.call("POST", f"{path}/confirm-upload", json={**body, "content_type": "表/csv"})
    assert refused.status_code == 422
    served.json("POST", f"{path}/confirm-upload", json=body)
    scope = Scope(served.organization.id, served.project.id)
    served.store.rows.update(RawData, begun["raw_data_id"], {"content_type": "表/csv"}, scope)
    got = served.client.get(served.json("GET", f"{path}/download-url")["url"])
    assert (got.content, got.headers["content-type"]) == (b"1,2\n", "application/octet-stream")


def test_what_killed_requests_left_is_removed_after_a_day(tmp_path: Path) -> None:
    with lab(tmp_path) as first:
        waiting = begin(first, first.admin, cell(first), "m")
        put(first, waiting["uploads"][0], parquet(samples()))
    incoming = tmp_path / "lab.db.files" / "incoming"
    (kept,) = incoming.iterdir()
    for name, age in (("0a" * 16, 25), ("1b" * 16, 1)):
        path = incoming / name
        path.touch()
        os.utime(path, (time.time() - age * 3600,) * 2)
    with lab(tmp_path):
        assert sorted(path.name for path in incoming.iterdir()) == sorted(["1b" * 16, kept.name])


@pytest.mark.parametrize("name", ["about.json", "bytes", "a.csv"])
def test_a_file_of_any_name_reaches_its_ingest(served: Lab, name: str) -> None:
    """Also one with the name of what the server keeps beside it."""
    place = f"/projects/{served.project.id}/ingests"
    rows = "\n".join(f"{n},{1.0 if n % 20 < 10 else -1.0},{3.5 + n / 1000}" for n in range(60))
    data = f"Time [s],Current [A],Voltage [V]\n{rows}\n".encode()
    id = served.json("POST", f"{place}/files", params={"name": name}, content=data)["file"]
    run = served.json("POST", place, json={"files": [id], "options": {"sign": "discharge"}})["id"]
    until(lambda: served.json("GET", f"{place}/{run}")["state"] != "running", "the ingest", 60)
    (file,) = served.json("GET", f"{place}/{run}")["report"]["files"]
    assert (file["path"], file["rows"], file["status"]) == (name, 60, "stored")


def test_a_file_beside_another_one_of_its_name_does_not_take_its_place(served: Lab) -> None:
    place = f"/projects/{served.project.id}/ingests"
    sent = [
        served.json("POST", f"{place}/files", params={"name": "a.csv"}, content=content)["file"]
        for content in (b"a,b\n1,2\n", b"{}")
    ]
    refused = served.call("POST", place, json={"files": sent, "tests": [{"files": [0], "beside": [1]}]})
    assert (refused.status_code, "are called 'a.csv'" in refused.json()["message"]) == (400, True)
    assert served.call("POST", place, json={"files": sent}).status_code == 200
