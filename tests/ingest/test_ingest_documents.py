"""Documents beside a test (json, jsonld) label it; a sheet and options go before them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cycler_file import cycler_text
from support.local_and_remote import opened

import workbench as wb
from workbench.ingest.plan.documents import Documents


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


PLAIN = {
    "specification": {"name": "M50", "porosity": 0.3},
    "cell": {"name": "K1", "mass": {"value": 68.5, "unit": "g"}, "supplier": "us"},
    "temperature [degC]": 25,
    "protocol": "RPT",
    "tags": ["ageing", "first"],
    "history": [{"step": 1}],
    "comment": None,
}


@pytest.mark.parametrize(
    ("name", "where"),
    [("c1.json", "near"), ("c1.json", "far"), ("c1_meta.json", "near"), ("metadata.json", "near")],
)
def test_a_document_of_the_same_name_labels_a_test(name: str, where: str, folder: Path, tmp_path: Path) -> None:
    put(folder, "c1.csv", cycler_text())
    put(folder, name, PLAIN)
    with opened(tmp_path / "lab.db", where) as bench:
        (report,) = bench.ingest(folder)
        assert (report.specification, report.instance, report.status) == ("M50", "K1", "stored")
        (said,) = [remark for remark in report.assumed if name in remark]
        assert "Not taken: history." in said
        assert bench.instances.get("K1").properties["mass"] == {"value": 68.5, "unit": "g"}
        test = bench.measurements.get(report.measurement_id)
        assert test.properties["temperature"] == {"value": 25.0, "unit": "degC"}
        assert (test.protocol["name"], set(test.tags)) == ("RPT", {"ageing", "first"})
        assert bench.ingest(folder).skipped == []


@pytest.mark.parametrize("name", ["c1.json", "c1.metadata.json", "c1-info.jsonld", "c1.csv.json", "metadata.json"])
def test_the_names_of_documents(name: str, folder: Path) -> None:
    files = [put(folder, "c1.csv", ""), put(folder, name, PLAIN)]
    labels, _ = Documents(files).labels(files[0])
    assert labels is not None
    assert (labels.instance, labels.design["porosity"]) == ("K1", 0.3)
    files.append(put(folder, "c10.csv", ""))
    assert Documents(files).labels(files[2])[0] is None


def test_a_document_about_no_file_is_skipped_as_before(bench: wb.Bench, folder: Path) -> None:
    for name in ("c1.csv", "c2.csv"):
        put(folder, name, cycler_text(1 + int(name[1])))
    for name, content in {
        "package.json": PLAIN,
        "broken.json": "{",
        "c9.json": PLAIN,
        "c2.json": "[" * 9999,
    }.items():
        put(folder, name, content)
    report = bench.ingest(folder)
    assert [file.instance for file in report] == ["c1", "c2"]
    assert len(report.skipped) == 4


def test_sheet_and_options_go_before_a_document(bench: wb.Bench, folder: Path) -> None:
    put(folder, "c1.csv", cycler_text())
    put(folder, "c1.json", PLAIN)
    sheet = [{"file": "c1", "cell": "S7", "mass [g]": 70}]
    (report,) = bench.ingest(folder, specification="Other", sheet=sheet)
    assert (report.specification, report.instance) == ("Other", "S7")
    assert bench.instances.get("S7").properties["mass"]["value"] == 70.0
    assert bench.instances.get("S7").properties["supplier"] == "us"


def test_a_list_of_cells_labels_the_files_whose_names_begin_with_them(bench: wb.Bench, folder: Path) -> None:
    cells = [{"Sample ID": f"run_0{n}", "Cathode Weight (mg)": 35.0 + n, "Rack Position": n} for n in (1, 2, 3)]
    put(folder, "run.json", cells)
    put(folder, "run_01_GCPL.csv", cycler_text())
    put(folder, "run_02.csv", cycler_text(1))
    put(folder, "run_022.csv", cycler_text(3))
    report = bench.ingest(folder)
    assert [file.instance for file in report] == ["run_01", "run_02", "run_022"]
    assert bench.instances.get("run_01").properties["Cathode Weight"] == {"value": 36.0, "unit": "mg"}
    assert bench.instances.get("run_022").properties == {}


def test_linked_data_names_its_files_and_cells(bench: wb.Bench, folder: Path) -> None:
    cell = {
        "@context": ["https://w3id.org/emmo/domain/battery/context", {"schema": "https://schema.org/"}],
        "@id": "https://example.org/cells/k9",
        "@type": ["schema:Product", "Battery"],
        "hasProperty": [
            {"@type": "RatedCapacity", "hasMeasurementUnit": "emmo:AmpereHour", "hasNumberValue": 4.8},
            {"@type": "Mass", "hasMeasurementUnit": "emmo:Gram", "hasNumberValue": 63, "rdfs:label": "mass"},
        ],
        "schema:additionalProperty": [{"schema:name": "Form factor", "schema:value": "prismatic"}],
        "schema:model": "G20", "schema:name": "g20-k9",
        "schema:subjectOf": [{"@id": "https://example.org/data/first.csv#dataset"}],
    }  # fmt: skip
    sets = {
        "@context": "https://schema.org/",
        "@graph": [
            {"@type": "Dataset", "about": {"@id": "https://example.org/cells/z3"}, "measurementTechnique": "GITT",
             "distribution": [{"contentUrl": "https://example.org/data/Second.csv"}]},
            {"@id": "https://example.org/cells/z3", "@type": "BatteryCell", "name": "z3", "model": "Z"},
        ],
    }  # fmt: skip
    put(folder, "cell.jsonld", cell)
    put(folder, "sets.json", sets)
    put(folder, "first.csv", cycler_text())
    put(folder, "Second.csv", cycler_text(1))
    report = bench.ingest(folder)
    found = {file.measurement: (file.specification, file.instance) for file in report}
    assert found == {"first": ("G20", "g20-k9"), "Second": ("Z", "z3")}
    assert bench.specifications.get("G20").ratings.capacity.value == 4.8
    assert bench.instances.get("g20-k9").properties["mass"] == {"value": 63.0, "unit": "g"}
    assert (
        bench.measurements.list(fields=["name", "protocol.name"]).set_index("name")["protocol.name"]["Second"]
        == "GITT"
    )


def test_the_documents_of_real_cells(shared_data: Path, tmp_path: Path) -> None:
    for name in ("240620_kigr_gen2.json", "google_g20m7_202512.jsonld", "google_g20m7_202512_kcsb0s.jsonld"):
        (tmp_path / name).write_bytes((shared_data / "cell_metadata" / name).read_bytes())
    first = put(tmp_path, "240620_kigr_gen2_01_GCPL.csv", cycler_text())
    name = "SINTEF__google-g20m7-202512-kcsb0s__20260109__C5__25degC.bdf.parquet"
    second = put(tmp_path, name, "")
    documents = Documents(sorted(tmp_path.iterdir()))
    labels, _ = documents.labels(first)
    assert labels is not None
    assert labels.instance == "240620_kigr_gen2_01"
    assert labels.cell["Cathode Weight"] == {"value": 35.35, "unit": "mg"}
    labels, _ = documents.labels(second)
    assert labels is not None
    assert (labels.specification, labels.instance) == ("G20M7", "google-g20m7-202512-kcsb0s")
    assert labels.ratings["capacity"] == {"value": 4.835, "unit": "A.h"}


def test_a_document_without_labels_is_said_to_hold_none(bench: wb.Bench, folder: Path) -> None:
    put(folder, "c1.csv", cycler_text(2))
    file_of = {"@type": "DataDownload", "contentUrl": "c1.csv"}
    put(folder, "c1.json", {"@context": "https://schema.org", "@type": "Dataset", "distribution": [file_of]})
    (file,) = bench.ingest(folder)
    (said,) = [text for text in file.assumed if "c1.json" in text]
    assert said.startswith("'c1.json' beside the file holds nothing that is a label.")
