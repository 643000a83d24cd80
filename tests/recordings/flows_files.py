"""Uploads, kept files, forms and ingests: each flow on a fresh copy of the store."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from tests.recordings.asking import UNKNOWN, Asking, flow
from tests.recordings.operations import (
    IDS,
    PLOT,
    SAMPLES,
    D,
    P,
    parquet,
    samples,
)
from tests.stores.old_store import id_of

ARROW = "application/vnd.apache.arrow.stream"
HERE, BOARD, SAVED = P.format_map(IDS), D.format_map(IDS), PLOT.format_map(IDS)
CELL = f"/cell_instances/{IDS['instance_id']}"
_LAST = (
    *(
        "plot_id}",
        "dashboard_id}",
        "/simulations/{simulation_id}",
        "study_id}",
        "analysis_id}",
        "property_set_id}",
    ),
    *("material_id}", "raw_data_id}", "model_id}", "record_id}", "measurement_id}", "batch_id}", "instance_id}"),
    *("specification_id}", "drive_cycle_id}", "user_id}", "project_id}"),
)


def address(answer: Any) -> str:
    """Where an answer leads, from the root of the server."""
    found = answer.headers.get("location") or answer.json()["url"]
    return found.removeprefix("http://localhost")


def put(asking: Asking, entry: dict[str, Any], data: bytes, **more: Any) -> Any:
    """Send bytes to a signed address, without a key."""
    path = urlsplit(entry["signed_url"]).path
    headers = {"Content-Type": "application/octet-stream"}
    return asking(
        "PUT", path, data, who=None, headers=headers, note=f"{len(data)} bytes", label=_signed(entry), **more
    )


def _signed(entry: dict[str, Any]) -> str:
    return f"PUT the address of {entry['filename']}"


@flow()
def uploads(asking: Asking) -> None:
    """An upload from its beginning to the parts of its download, and what goes wrong on the way."""
    place = f"{CELL}/cell_measurements/initiate-upload"
    body = {
        "measurement": {"name": "uploaded", "tags": ["new"], "protocol": {"n": 1}},
        "measurement_type": "time_series",
    }
    begun = asking.json("POST", place, body)
    confirm = f"/cell_measurements/{begun['measurement_id']}/confirm-upload"
    asking("POST", confirm, body, note="nothing sent")
    series, _ = begun["uploads"]
    put(asking, series, b"no parquet")
    put(asking, series, parquet(samples()))
    asking("GET", urlsplit(series["signed_url"]).path, who=None, label="GET the address of an upload")
    asking("POST", confirm, body, who="manager", note="somebody else")
    asking("POST", confirm, {**body, "measurement_type": "file"}, note="another type")
    made = asking.json("POST", confirm, body)
    asking("POST", confirm, body, note="twice")
    put(asking, series, parquet(samples()))
    record = f"/cell_measurements/{made['id']}"
    for path in (
        record,
        f"{record}/cycles",
        f"{record}/steps_and_cycles",
        f"{record}/files",
        f"{CELL}/cell_measurements",
    ):
        asking("GET", path)
    asking("GET", f"{record}/steps/download")
    _ranges(asking, address(asking("GET", f"{record}/time_series/download")))
    _extended(asking, record)
    for wrong, data in (
        ("no parquet", b"PAR1 no parquet"),
        ("no rows", parquet(samples(0))),
        ("no time", parquet(samples().drop_columns(["Time [s]"]))),
        (
            "time runs back",
            parquet(samples().slice(1).append_column("x", pa.array(range(59))).take(list(range(58, -1, -1)))),
        ),
        ("texts", parquet(pa.table({"Time [s]": ["a", "b"]}))),
    ):
        one = asking.json("POST", place, {"measurement": {"name": wrong}})
        put(asking, one["uploads"][0], data)
        asking(
            "POST", f"/cell_measurements/{one['measurement_id']}/confirm-upload", {"measurement": {"name": wrong}}
        )
    with_steps = asking.json("POST", place, {"measurement": {"name": "with steps"}})
    put(asking, with_steps["uploads"][0], parquet(samples()))
    put(
        asking,
        with_steps["uploads"][1],
        parquet(pa.table({"Step count": [0, 1], "Start index": [0, 30], "End index": [29, 59]})),
    )
    asking(
        "POST",
        f"/cell_measurements/{with_steps['measurement_id']}/confirm-upload",
        {"measurement": {"name": "with steps"}},
    )
    asking("GET", f"/cell_measurements/{with_steps['measurement_id']}/steps_and_cycles")
    asking(
        "POST", "/cell_measurements/{upload_id}/confirm-upload".format_map(IDS), {"measurement": {"name": "begun"}}
    )


def _ranges(asking: Asking, place: str) -> None:
    """A download, whole and in parts; of parquet only its length is the same with every version of its library."""
    label = "GET the address of a download"
    whole = asking("GET", place, who=None, label=label)
    tag = whole.headers["etag"]
    for given in (
        "bytes=0-3",
        "bytes=-4",
        "bytes=0-0,5-6",
        "bytes=5-1",
        "rows=0-1",
        "bytes=999999999-",
        "bytes=-0",
    ):
        asking("GET", place, who=None, headers={"Range": given}, label=f"{label}, {given}")
    for tagged in (tag, '"other"'):
        headers = {"Range": "bytes=0-3", "If-Range": tagged}
        asking("GET", place, who=None, headers=headers, label=f"{label}, if range {tagged == tag}")
    asking("PUT", place, b"x", who=None, label="PUT the address of a download")
    asking("GET", place.replace("/storage/", "/storage/A"), who=None, label="GET a forged address")


def _extended(asking: Asking, record: str) -> None:
    """More samples for a running test."""
    asking("POST", f"{record}/confirm-extend", {}, note="before it was begun")
    asking("PATCH", record, {"end_time": None})
    more = asking.json("POST", f"{record}/initiate-extend", {})
    asking("POST", f"{record}/confirm-extend", {}, note="nothing sent")
    put(asking, more["uploads"][0], parquet(samples(20, 60.0, 2)))
    asking("POST", f"{record}/confirm-extend", {})
    asking("POST", f"{record}/confirm-extend", {}, note="twice")
    asking("GET", f"{record}/cycles")
    again = asking.json("POST", f"{record}/initiate-extend", {})
    put(asking, again["uploads"][0], parquet(samples(20, 0.0, 9)))
    asking("POST", f"{record}/confirm-extend", {}, note="from before the end")
    asking("GET", record)
    asking("PATCH", record, {"end_time": "2025-04-30T00:00:00Z", "start_time": "2025-04-01T00:00:00Z"})
    asking("POST", f"{record}/initiate-extend", {}, note="of one that has ended")
    asking("POST", f"/cell_measurements/{id_of('measurements', 'P-A-1', 'weighing')}/initiate-extend", {})


@flow()
def kept_files(asking: Asking) -> None:
    """Measurements of files, and raw data: sent, linked and read in parts."""
    place = f"{CELL}/cell_measurements/initiate-upload"
    named = {"measurement": {"name": "two files"}, "measurement_type": "file", "filenames": ["a b.txt", "ü.bin"]}
    for wrong in ([], ["a", "a"], ["a/b"], [""], ["x" * 300], [5], None):
        asking("POST", place, {**named, "filenames": wrong})
    for kind in ("properties", "other"):
        asking("POST", place, {**named, "measurement_type": kind})
    begun = asking.json("POST", place, named)
    for entry, data in zip(begun["uploads"], (b"0123456789" * 10, b"\x00\xff"), strict=True):
        put(asking, entry, data)
    made = asking.json("POST", f"/cell_measurements/{begun['measurement_id']}/confirm-upload", named)
    for name in ("a b.txt", "ü.bin", "none"):
        found = asking("GET", f"/cell_measurements/{made['id']}/files/{name}")
        if found.status_code < 400:
            _ranges(asking, address(found))
    photos = id_of("measurements", "P-A-2", "photos")
    _ranges(asking, address(asking("GET", f"/cell_measurements/{photos}/files/list.csv")))
    raw = {
        "project_id": IDS["project_id"],
        "name": "raw",
        "filename": "r.txt",
        "content_type": "text/plain",
        "size_bytes": 5,
    }
    begun = asking.json("POST", "/raw_data/initiate-upload", raw)
    confirm = f"/raw_data/{begun['raw_data_id']}/confirm-upload"
    asking("POST", confirm, raw, note="nothing sent")
    put(asking, begun["uploads"][0], b"four")
    asking("POST", confirm, raw, note="too few bytes")
    put(asking, begun["uploads"][0], b"bytes")
    asking("POST", confirm, {**raw, "filename": "other"}, note="another file name")
    made = asking.json("POST", confirm, {**raw, "source": "channel", "metadata": {"a": 1.0}})
    asking("POST", confirm, raw, note="twice")
    _ranges(asking, address(asking("GET", f"/raw_data/{made['id']}/download-url")))
    links = f"/cell_measurements/{IDS['measurement_id']}/raw_data"
    for ids in ([made["id"]], [made["id"], IDS["raw_data_id"]], [UNKNOWN], [5], []):
        asking("POST", links, {"raw_data_ids": ids})
    asking("GET", links)
    asking("GET", f"/raw_data/{made['id']}/cell_measurements")
    asking("DELETE", f"{links}/{made['id']}")
    asking("DELETE", f"{links}/{made['id']}", note="once more")
    asking("DELETE", f"/raw_data/{made['id']}")
    asking("POST", "/raw_data/initiate-upload", {"name": "x", "filename": "a/b", "project_id": IDS["project_id"]})
    asking("POST", "/raw_data/initiate-upload", {"name": "x", "filename": "a"}, note="of no project")


@flow()
def forms(asking: Asking) -> None:
    """Records that come as forms, with their tables read again."""
    table = pa.table(
        {"SOC": [0.1, 0.5, None], "R [Ohm]": [0.03, -0.0, 5e-324], "word": ["a", None, "ü"], "n": [1, 2, 3]}
    )
    file = {"file": ("t.parquet", parquet(table), "application/octet-stream")}
    described = [
        {"name": "SOC", "unit": ""},
        {"name": "R [Ohm]", "unit": "Ohm"},
        {"name": "word"},
        {"name": "n", "dtype": "int"},
    ]
    analysis = {"name": "by form", "measurement_id": IDS["measurement_id"], "analysis_type": "dcir"}
    for more in (
        {"columns": json.dumps(described), "metadata": '{"a": 1.0, "b": [null]}', "plots": "[1]", "notes": "n"},
        {"columns": json.dumps(described[:1])},
        {"columns": '[{"name": "a"}, {"name": "a"}]'},
        {"metadata": "[]"},
        {"metadata": '{"a": NaN}'},
        {"plots": "{}"},
        {"name": ""},
    ):
        asking("POST", "/analyses", data={**analysis, **more}, files=file, note=json.dumps(more)[:60])
    made = asking.json("POST", "/analyses", data={**analysis, "name": "second"}, files=file, note="plain")
    asking("GET", f"{HERE}/records/analyses/{made['id']}/table")
    asking("GET", address(asking("GET", f"/analyses/{made['id']}/download-url")), who=None, label="GET the table")
    properties = {"name": "by form", "material_id": IDS["material_id"], "project_id": IDS["project_id"]}
    for more in (
        {"columns": '[{"name": "SOC", "unit": "1", "source_column_index": 0}]', "source": '{"doi": "x"}'},
        {"source": "x"},
        {},
    ):
        asking(
            "POST",
            "/material_property_datasets",
            data={**properties, **more},
            files=file,
            note=json.dumps(more)[:60],
        )
    sets = asking.json(
        "POST", "/material_property_datasets", data={**properties, "name": "third"}, files=file, note="plain"
    )
    one = f"/material_property_datasets/{sets['id']}"
    asking("GET", f"{one}/data")
    asking(
        "PATCH",
        f"{one}/file",
        files={"file": ("u.parquet", parquet(table.slice(0, 1)), "text/plain")},
        note="a shorter file",
    )
    for path in (one, f"{one}/data"):
        asking("GET", path)
    asking("GET", address(asking("GET", f"{one}/download-url")), who=None, label="GET the file")
    csv = {"file": ("t.csv", b"a,b\n1,x\n,y\n", "text/csv")}
    asking("POST", "/material_property_datasets", data={**properties, "name": "as csv"}, files=csv, note="csv")
    run = {"name": "by form", "project_id": IDS["project_id"]}
    parts = {
        "time_series": SAMPLES,
        "steps": ("s.parquet", parquet(pa.table({"Step count": [0, 1]})), "text/plain"),
    }
    for more in (
        {"metrics": '{"rmse": 0.1}', "source": "{}", "state": "completed"},
        {"state": "lost"},
        {"metrics": "1"},
        {"model_id": UNKNOWN},
    ):
        asking("POST", "/simulations", data={**run, **more}, files=parts, note=json.dumps(more))
    made = asking.json(
        "POST",
        "/simulations",
        data={**run, "name": "x", "study_id": IDS["study_id"]},
        files=parts,
        note="in a study",
    )
    for what in ("steps", "time_series"):
        asking(
            "GET",
            address(asking("GET", f"/simulations/{made['id']}/{what}/download")),
            who=None,
            label=f"GET {what}",
        )
    for ids in ([made["id"], IDS["simulation_id"]], [UNKNOWN], []):
        for limit in (None, 1, 0, "x"):
            asking("POST", "/simulations/statuses", {"simulation_ids": ids, "limit": limit})
    custom = {"name": "custom", "project_id": IDS["project_id"]}
    for data in (b'{"a": 1}', b"[]", b"no json", b'{"a": 1, "a": 2}', b""):
        model = {"file": ("m.json", data, "application/json")}
        asking(
            "POST",
            "/models/upload-custom",
            data={**custom, "name": data.decode()},
            files=model,
            note=data.decode(),
        )
    variables = f"/models/{IDS['model_id']}/custom-variables"
    for body in (
        {"name": "v", "expression": "a + 1"},
        {"name": "v", "expression": "b"},
        {"name": "w"},
        {"name": "", "expression": "1"},
    ):
        asking("POST", variables, body)


@flow()
def ingests(asking: Asking) -> None:
    """Files that are sent and read by the server; what it says of them."""
    place = f"{HERE}/ingests"
    sent = {"Content-Type": "application/octet-stream"}
    lines = [f"{n},{3.5 + n / 100},{1 if n < 10 else -1},{n // 10}" for n in range(20)]
    good = "\n".join(["Time [s],Voltage [V],Current [A],Step count", *lines]).encode()

    def send(name: str, data: bytes, **more: Any) -> Any:
        return asking(
            "POST", f"{place}/files", data, params={"name": name}, headers=sent, note=f"{len(data)} bytes", **more
        )

    for name in ("a/b.csv", "..", "", "x" * 300):
        send(name, good)
    first, second, third = (
        send(name, data).json()["file"]
        for name, data in (("one.csv", good), ("two.csv", b"no data\n"), ("three.csv", good))
    )
    send("theirs.csv", good, who="viewer")
    for body in (
        {"files": []},
        {"files": [UNKNOWN]},
        {"files": [first], "options": {"nonsense": 1}},
        {"files": [first], "options": {"format": "no format"}},
        {"files": [first], "options": {"jobs": "2"}},
        {"files": [first], "options": {"zone": "Mars/One"}},
        {"files": [first], "options": {"rating": 5}},
        {"files": [first], "tests": []},
        {"files": [first], "tests": [{"files": [0, 0]}]},
        {"files": [first], "tests": [{"files": ["a"]}]},
        {"files": [first], "tests": [{"files": [0], "nonsense": 1}]},
        {"files": [first], "tests": [5]},
        {"files": [first], "who": 1},
    ):
        asking("POST", place, body)
    options = {"instance": "P-A-1", "sign": "discharge"}
    _read(asking, place, {"files": [first], "options": {**options, "dry_run": True}})
    again = send("one.csv", good).json()["file"]
    _read(asking, place, {"files": [again, second], "options": {**options, "keep_file": True}})
    labels = {"instance": "P-A-2", "measurement": "by a test", "tags": ["sent"]}
    _read(
        asking,
        place,
        {
            "files": [third],
            "tests": [{"files": [0], "labels": labels, "assumed": ["a"]}],
            "options": {"sign": "discharge"},
        },
    )
    asking("GET", f"{place}/{UNKNOWN}")
    asking("GET", f"{HERE}/records/measurements", params={"ref": "one"})
    asking("GET", f"/cell_instances/{IDS['instance_id']}/cell_measurements")


def _read(asking: Asking, place: str, body: Any) -> None:
    """Have files read, and keep what the server says when it is done."""
    begun = asking.json("POST", place, body)
    asking.wait(f"{place}/{begun['id']}")
    asking("GET", f"{place}/{begun['id']}")
    asking("GET", f"{place}/{begun['id']}", who="contributor")
