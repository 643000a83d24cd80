"""Walls around figures in a browser that do not rely on the check of a figure: the policy of a page, scripts that keep
plotly.js and what it writes from fetching, and a browser without a network for pictures."""

from __future__ import annotations

import importlib
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from .errors import ExportUnavailable

# A page must not fetch anything: the owner of an address inside a figure would learn who looks at it.
# WebGL traces need unsafe-eval: plotly.js compiles their shaders at run time.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self' file: 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
POLICY_TAG = f'<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">'
WITHOUT_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # Nothing answers at port 9. By default a browser goes around its proxy for addresses of this machine.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_LINK = re.compile(r"(https://|mailto:)", re.IGNORECASE)
_PICTURE = re.compile(r"(data:image/(png|jpeg|gif|webp);base64,|#)", re.IGNORECASE)
_LOADS = re.compile(r"url\(\s*[\"']?(?!#|[\"']?#)|image-set|@import|\\", re.IGNORECASE)
_ELEMENTS = frozenset(("script", "foreignobject", "iframe", "animate", "set", "handler", "object", "embed"))


@cache
def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def fitted_notes() -> str:
    """The script with the function that lets notes above a plot fit a narrow window."""
    return _source("narrow_notes.js").rstrip()


def page_start(title: str) -> str:
    """How a page begins, up to its title. The policy comes first: it restricts only what follows it."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{POLICY_TAG}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>"""


def inert_script(scope: str | None = None) -> str:
    """The script that keeps figures from fetching, to be run before plotly.js. ``scope`` selects the elements that hold
    figures. None is the whole page, of which no script fetches."""
    script = f"{_source('inert.js').rstrip()}({json.dumps(scope)});\n"
    return script if scope is not None else offline_plotly(script)


def offline_plotly(source: str) -> str:
    """Scripts after names that they find in the place of the browser's own ways to fetch."""
    return _source("offline.js") + source


def browser_without_network() -> type:
    """Kaleido's browser, started so that it reaches no other machine and no server of this one."""
    chromium = importlib.import_module("choreographer.browsers.chromium").Chromium

    def get_cli(self: object) -> Sequence[str]:
        return [*chromium.get_cli(self), *WITHOUT_NETWORK]

    return type("BrowserWithoutNetwork", (chromium,), {"get_cli": get_cli})


class InertPage:
    """The page in which kaleido draws, with our policy and script, and without MathJax of the network."""

    def __init__(self) -> None:
        self._generator = importlib.import_module("kaleido").PageGenerator(mathjax=False)

    def generate_index(self) -> str:
        page: str = self._generator.generate_index()
        head, opened, rest = page.partition("<head>")
        if not opened:
            raise ExportUnavailable("This version of kaleido has a page without a head. Export .html instead.")
        return f"{head}{opened}\n{POLICY_TAG}\n<script>{inert_script()}</script>{rest}"


def check_svg(drawn: bytes) -> bytes:
    """An svg picture as it is, if it neither runs nor fetches when it is opened.

    Raises
    ------
    ExportUnavailable
        If it could. plotly.js writes quotes of some texts wrongly, of which a text may make an attribute.
    """
    try:
        elements = ET.fromstring(drawn).iter()  # noqa: S314  (our own browser wrote it; expat bounds entities)
    except ET.ParseError as error:
        raise ExportUnavailable(
            f"plotly.js made an svg picture that is not XML ({error}): a text of the figure has signs that XML "
            "does not allow. Export .png or .html instead."
        ) from error
    for element in elements:
        name = _local(element.tag)
        if name in _ELEMENTS:
            raise _refused(f"the element '{name}'")
        for key, value in element.attrib.items():
            attribute = _local(key)
            if attribute.startswith("on"):
                raise _refused(f"a script in '{attribute}'")
            if attribute == "href" and not (_LINK if name == "a" else _PICTURE).match(value):
                raise _refused(f"the address '{value[:60]}'")
            if attribute != "href" and _LOADS.search(value):
                raise _refused(f"'{value[:60]}' in '{attribute}'")
    return drawn


def _local(name: str) -> str:
    return name.rpartition("}")[2].lower()


def _refused(what: str) -> ExportUnavailable:
    return ExportUnavailable(
        f"The svg picture would hold {what}, which could run or fetch when it is opened. Change the text of the "
        "figure, or export .png."
    )
