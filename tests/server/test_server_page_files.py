"""The addresses of the web page: its HTML, its files, their headers."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from support.server_in_process import Lab, lab

from server import Settings, page_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small page in the place of ours."""
    made = tmp_path / "page"
    (made / "vendor").mkdir(parents=True)
    (made / "index.html").write_text('<script type="module" src="/static/__VERSION__/main.js"></script>')
    (made / "main.js").write_text("export const a = 1;\n" * 100)
    (made / "vendor" / "lib.js").write_text("export {};")
    (made / "vendor" / "VENDORED.md").write_text("# not for browsers")
    monkeypatch.setattr(page_files, "FOLDER", made)
    return made


@pytest.mark.parametrize(
    "path", ["/", "/boards/a/b/plots/c/edit?values=%7B%7D", "/explore", "/s/token", "/admin/keys"]
)
def test_one_html_is_at_every_address_of_the_page(served: Lab, folder: Path, path: str) -> None:
    answer = served.client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    version = re.findall(r"/static/([0-9a-f]{16})/main.js", answer.text)
    assert version == [page_files.page(folder).version]
    head = served.client.head(path)
    assert (head.status_code, head.content) == (200, b"")


def test_an_address_that_nothing_has_is_a_page_for_people_and_json_for_programs(served: Lab, folder: Path) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nope", "/boardss/a", "/static/x"):
        seen = served.client.get(path, headers=browser)
        assert (seen.status_code, seen.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert page_files.page(folder).version in seen.text
        assert seen.headers["vary"] == "accept, accept-encoding"
        assert seen.headers["content-security-policy"] == served.client.get("/").headers["content-security-policy"]
        for accept in ("*/*", "application/json"):
            read = served.client.get(path, headers={"accept": accept})
            assert (read.status_code, read.json()["error_code"]) == (404, "NOT_FOUND")
    assert served.client.post("/nope", headers=browser).json()["error_code"] == "NOT_FOUND"


def test_the_policy_allows_no_inline_script_and_nothing_from_elsewhere(served: Lab, folder: Path) -> None:
    headers = served.client.get("/").headers
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' "
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='; "
        "style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["permissions-policy"] == "camera=(), microphone=(), geolocation=()"
    assert "cross-origin-opener-policy" not in headers


def test_only_links_for_it_are_shown_in_frames_of_the_sites_that_are_named(folder: Path, tmp_path: Path) -> None:
    with lab(tmp_path, Settings(embed_origins=("https://wiki.lab.example",), readers=0)) as open_one:
        for path, frames in (("/", "'none'"), ("/s/x", "'none'"), ("/embed/x", "https://wiki.lab.example")):
            found = open_one.client.get(path).headers["content-security-policy"]
            assert found.endswith(f"frame-ancestors {frames}")


def test_files_are_packed_once_and_kept_for_ever(served: Lab, folder: Path) -> None:
    version = page_files.page(folder).version
    path = f"/static/{version}/main.js"
    answer = served.client.get(path)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.content == (folder / "main.js").read_bytes()
    plain = served.client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == answer.content
    assert plain.headers["vary"] == answer.headers["vary"] == "accept-encoding"
    known = page_files.page(folder).file("main.js")
    assert known is not None
    assert known.packed is known.packed
    assert gzip.decompress(known.packed) == known.content


def test_the_plot_view_and_plotly_come_with_it(served: Lab, folder: Path) -> None:
    version = page_files.page(folder).version
    view = served.client.get(f"/static/{version}/plot_view.js").text
    assert "export default" in view
    assert served.client.get(f"/static/{version}/plotly.js").text.startswith("/**\n* plotly.js v")


@pytest.mark.parametrize(
    "name",
    ["none.js", "index.html", "vendor/VENDORED.md", "../page_files.py", "%2e%2e/page_files.py", "/etc/passwd", ""],
)
def test_only_files_of_the_page_are_given(served: Lab, folder: Path, name: str) -> None:
    version = page_files.page(folder).version
    assert served.client.get(f"/static/{version}/{name}").status_code == 404
    assert served.client.get("/static/0000000000000000/main.js").status_code == 404


def test_a_changed_file_gives_another_version(folder: Path) -> None:
    before = page_files.page(folder).version
    page_files.page.cache_clear()
    (folder / "main.js").write_text("export const a = 2;\n")
    assert page_files.page(folder).version != before


def test_robots_and_icon_are_there(served: Lab) -> None:
    assert served.client.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    assert served.client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
    assert served.client.head("/favicon.ico").status_code == 200
