"""A pdf is read back: its page, its fonts, the sizes of its letters; and its page is cut."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from workbench.pictures.pdf_content import Font, NotReadable, cut_page, read_pdf

DRAWS = "/Resources <</Font <</F6 5 0 R>> /XObject <</X8 8 0 R /X9 9 0 R>>>>"
PAGE = f"/Type /Page /MediaBox [0 0 300 200] /Contents 4 0 R {DRAWS}"
TEXT = b"""q .24 0 0 -.24 0 200 cm
q 3 0 0 3 0 0 cm BT /F6 10 Tf 1 0 0 -1 5 5 Tm <0001> Tj ET Q
BT /F6 50 Tf 0 1 -1 0 5 5 Tm [<0001> -20 (a \\(b\\) Tj)] TJ ET
/X8 Do /X9 Do Q"""
FORM = b"BT /F6 30 Tf (inner) Tj ET"


def pdf(page: str = PAGE, content: bytes = TEXT, descriptor: str = "/FontFile2 7 0 R") -> bytes:
    """A small pdf as Skia lays it out: objects in plain form, one compressed stream."""
    packed = zlib.compress(content)
    parts = [
        (1, b"<</Type /Catalog /Pages 2 0 R>>"),
        (2, b"<</Type /Pages /Count 1 /Kids [3 0 R]>>"),
        (3, b"<<" + page.encode() + b" /Parent 2 0 R>>"),
        (4, b"<</Filter /FlateDecode /Length %d>> stream\n" % len(packed) + packed + b"\nendstream"),
        (5, b"<</Type /Font /Subtype /Type0 /BaseFont /AAAAAA+LiberationSans /DescendantFonts [6 0 R]>>"),
        (6, b"<</Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+LiberationSans /FontDescriptor 10 0 R>>"),
        (
            8,
            b"<</Type /XObject /Subtype /Form /Matrix [2 0 0 2 0 0] /Length %d>> stream\n" % len(FORM)
            + FORM
            + b"\n",
        ),
        (9, b"<</Type /XObject /Subtype /Image /Length 6>> stream\nendobj\nendstream"),
        (10, b"<</Type /FontDescriptor " + descriptor.encode() + b">>"),
    ]
    made, places = b"%PDF-1.4\n", {}
    for number, body in parts:
        places[number] = len(made)
        made += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%d 1\n%010d 00000 n \n" % place for place in places.items())
    start = len(made)
    return made + b"xref\n" + table + b"trailer\n<</Size 11 /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start


def test_page_fonts_and_letters_are_found() -> None:
    found = read_pdf(pdf())
    assert (found.width, found.height, found.bitmaps) == (300, 200, 1)
    assert found.fonts == (Font("LiberationSans", True),)
    # 10 units at 3 x 0.24, 50 turned at 0.24, 30 in a form of twice the size.
    assert found.letters == pytest.approx((7.2, 12.0, 14.4))


def test_a_font_that_is_not_in_the_file_is_found() -> None:
    assert read_pdf(pdf(descriptor="/Flags 4")).fonts == (Font("LiberationSans", False),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "0 pages"),
        (b"no pdf", "0 pages"),
        (pdf().replace(b"/MediaBox [0 0 300 200]", b""), "no size"),
        (pdf(content=b"q 1 2 cm Q"), "fewer than six"),
        (pdf().replace(zlib.compress(TEXT)[:10], b"0123456789"), "cannot be unpacked"),
        (pdf().replace(b"/Length 6", b"/Length 6 0 R"), "no length"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, words: str) -> None:
    with pytest.raises(NotReadable, match=words):
        read_pdf(data)


def test_the_page_is_cut_from_its_top_left_corner(tmp_path: Path) -> None:
    cut = cut_page(pdf(), 50.8, 25.4)
    assert cut.startswith(pdf().rstrip()), "what was there stays as it was"
    found = read_pdf(cut)
    assert (found.width, found.height) == pytest.approx((144, 72), abs=0.001)
    assert found.letters == read_pdf(pdf()).letters
    assert b"/MediaBox [0.0000 128.0000 144.0000 200.0000]" in cut
    if shutil.which("pdfinfo"):
        path = tmp_path / "cut.pdf"
        path.write_bytes(cut)
        said = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, check=True)
        assert "144 x 72 pts" in said.stdout
        assert said.stderr == "", "the appended table of references is sound"
    with pytest.raises(NotReadable, match="no page or no trailer"):
        cut_page(pdf()[:-20], 50, 50)
