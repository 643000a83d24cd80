"""The page that shows the API: only where it is asked for, and nothing in it comes from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from support.server_in_process import lab

from server import Settings


def test_without_the_setting_there_is_no_page(tmp_path: Path) -> None:
    with lab(tmp_path) as made:
        assert [made.client.get(path).status_code for path in ("/docs", "/docs/swagger-ui.css", "/redoc")] == [
            404
        ] * 3


def test_the_page_and_its_files_come_from_here(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(readers=0, docs=True)) as made:
        page = made.client.get("/docs")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "//" not in page.text.replace("<!doctype", "")
        assert "<script>" not in page.text
        named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(named) == 3
        for name in named:
            answer = made.client.get(f"/{name}")
            assert answer.status_code == 200
            assert answer.headers["content-type"].split(";")[0] in ("text/javascript", "text/css")
            assert answer.content
        assert '"openapi.json"' in made.client.get("/docs/start.js").text
        assert "/docs" not in made.client.get("/openapi.json").json()["paths"]
