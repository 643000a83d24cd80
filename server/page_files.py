"""The web page: one HTML text for all its addresses, and its files under an address that changes with them.

The files are those in ``server/page``, the notebook's plot view, and plotly.js as the plotly package brings it. They
hold no data: the page signs in, and reads what it shows from the same HTTP interface as every program.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from posixpath import normpath

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from workbench.cached_property import cached_property
from workbench.inert_page import inert_script
from workbench.plotly_files import parsed_sooner
from workbench.store.store import Store

FOLDER = Path(__file__).parent / "page"
PLACES = ("boards", "explore", "bring-in", "admin", "s", "embed")
"""The first parts of the addresses of the page. The same HTML is at each of them and below; its modules read the
rest."""
VERSION_MARK = "__VERSION__"
"""In the HTML, the place of the version in the addresses of files: ``/static/__VERSION__/page.css``."""
_FIRST = {
    "": ("pages/home.js",),
    "boards": ("pages/plot.js", "vendor/plotly-cartesian.js"),
    "s": ("pages/shared.js", "vendor/plotly-cartesian.js"),
    "embed": ("pages/shared.js", "vendor/plotly-cartesian.js"),
}
"""What the page at a place loads beside ``main.js``. The HTML names it, with all modules that it imports: a browser
would find them one after the other."""
STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",  # plotly's empty <style>, which it fills as an object
    "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",  # that of the maps in the full plotly.js
)
_NOTEBOOK = Path(str(files("workbench"))) / "notebook"
_BESIDE = {
    "plot_view.js": _NOTEBOOK / "plot_view.js",
    "plot_view.css": _NOTEBOOK / "plot_view.css",
    "answer_view.js": _NOTEBOOK / "answer_view.js",
    "plotly.js": Path(str(files("plotly"))) / "package_data" / "plotly.min.js",
}
"""Files of other folders, by their name among the files of the page."""
_FIGURES = ".wb-figure, #js-plotly-tester"
"""The elements of the page that hold figures; plotly measures texts in the last one."""
_BEFORE = {
    "plot_view.js": inert_script(_FIGURES).encode()
    + b"".join(
        (_NOTEBOOK / name).read_bytes() for name in ("figure_layout.js", "still_picture.js", "plotly_library.js")
    )
}
"""What comes before a file: what looks at all that plotly writes into a figure, what lays figures out, and what the
view of a notebook asks."""
_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_COMMENTS = re.compile(r"/\*\*.*?\*/|^[ \t]*//[^\n]*|(?<=[;{,)]) // [^\n\"'`]*$", re.DOTALL | re.MULTILINE)
"""Comments of our modules, which a test holds to these forms: before a statement, on a line of its own, or after a
statement and without quotes, so that it cannot be a part of a text. They are an eighth of what a browser would load."""
_STYLE_COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)
_IMPORTS = re.compile(r"""^(?:import|export)\s[^;'"]*\bfrom\s+"(\.[^"]+)";""", re.MULTILINE)
_PACKED_ALREADY = (".png", ".woff2", ".ico")
_HOME = "index.html"
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="3" y="8" width="23" height="16" rx="3" '
    'fill="none" stroke="#2a6f97" stroke-width="3"/><rect x="27" y="13" width="3" height="6" fill="#2a6f97"/>'
    '<path d="M8 19l5-5 4 3 5-6" fill="none" stroke="#e07a2f" stroke-width="3"/></svg>'
)


def policy(frame_ancestors: str = "'none'") -> str:
    """The content security policy of the page. Only those of ``frame_ancestors`` may show it in a frame."""
    return (
        "default-src 'none'; script-src 'self'; connect-src 'self'; "
        f"style-src 'self' {' '.join(STYLES)}; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; "
        f"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}"
    )


def routes() -> list[Route]:
    """The addresses of the page and of its files."""
    below = [f"/{place}{rest}" for place in PLACES for rest in ("", "/{rest:path}")]
    return [
        *(Route(path, _page, methods=["GET"], include_in_schema=False) for path in ("/", *below)),
        Route("/static/{version}/{name:path}", _file, methods=["GET"], include_in_schema=False),
        Route("/favicon.ico", _icon, methods=["GET"], include_in_schema=False),
        Route("/robots.txt", _robots, methods=["GET"], include_in_schema=False),
    ]


@dataclass(frozen=True)
class File:
    """A file of the page in memory."""

    content: bytes
    media_type: str
    may_pack: bool = True

    @cached_property
    def packed(self) -> bytes:
        """Its bytes with gzip, made once in a process. Somebody waits for it, so a large file is packed less well."""
        return gzip.compress(self.content, 9 if len(self.content) < 1 << 20 else 6, mtime=0)

    def answer(self, request: Request, headers: dict[str, str], status: int = 200) -> Response:
        """The file as the request asks for it."""
        found = {"vary": "accept-encoding", **headers, "cross-origin-resource-policy": "same-origin"}
        if self.may_pack and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, status, {**found, "content-encoding": "gzip"}, self.media_type)
        return Response(self.content, status, found, self.media_type)


@dataclass(frozen=True)
class Page:
    """All files of the page, as this process found them."""

    version: str
    files: dict[str, Path]

    @cache  # noqa: B019 - there is one page in a process
    def home(self, place: str) -> File | None:
        """The HTML at a place, with the version and what it loads first in it; None if it is not installed."""
        found = self.files.get(_HOME)
        if found is None:
            return None
        first = "".join(f"{_link(name)}\n" for name in self.loaded_first(place))
        text = found.read_text("utf-8").replace("</head>", f"{first}</head>").replace(VERSION_MARK, self.version)
        return File(text.encode(), _MEDIA[".html"])

    def loaded_first(self, place: str) -> list[str]:
        """The modules and scripts that the page at a place needs before it can show anything, each once."""
        found: dict[str, None] = {}
        ahead = ["main.js", *_FIRST.get(place, ())]
        while ahead:
            name = ahead.pop(0)
            if name in found or name not in self.files:
                continue
            found[name] = None
            if _is_ours(name):
                text = self.files[name].read_text("utf-8")
                ahead += [normpath(PurePosixPath(name).parent / other) for other in _IMPORTS.findall(text)]
        return list(found)

    @cache  # noqa: B019 - there is one page in a process
    def file(self, name: str) -> File | None:
        """A file by its name; None if there is none."""
        found = self.files.get(name)
        if found is None or name == _HOME:
            return None
        suffix = PurePosixPath(name).suffix
        return File(_content(name, found), _MEDIA[suffix], suffix not in _PACKED_ALREADY)

    def __hash__(self) -> int:
        return hash(self.version)


def _is_ours(name: str) -> bool:
    """Whether a file is a module of ours."""
    return name.endswith(".js") and not name.startswith("vendor/") and name != "plotly.js"


def _link(name: str) -> str:
    """What makes a browser load a file before something asks for it. plotly.js is a plain script, and comes last."""
    address = f'href="/static/{VERSION_MARK}/{name}"'
    if name.startswith("vendor/plotly"):
        return f'<link rel="preload" as="script" fetchpriority="low" {address}>'
    return f'<link rel="modulepreload" {address}>'


def _content(name: str, path: Path) -> bytes:
    """A file as browsers get it: our modules and styles without comments, each statement on the line that it has in the
    source; the whole plotly.js as a browser parses it sooner."""
    if _is_ours(name):
        return without_comments((_BEFORE.get(name, b"") + path.read_bytes()).decode()).encode()
    if name.endswith(".css") and not name.startswith("vendor/"):
        return _STYLE_COMMENTS.sub(_lines, path.read_text("utf-8")).encode()
    return parsed_sooner(path.read_text("utf-8")).encode() if name == "plotly.js" else path.read_bytes()


def without_comments(source: str) -> str:
    """A module without its comments, with as many lines."""
    return _COMMENTS.sub(_lines, source)


def _lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


@cache
def page(folder: Path = FOLDER) -> Page:
    """The page in a folder. Its version is a hash of all its files."""
    found = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in _MEDIA
    }
    found |= _BESIDE
    digest = hashlib.sha256()
    for name, path in found.items():
        content = _content(name, path)
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return Page(digest.hexdigest()[:16], found)


async def _page(request: Request) -> Response:
    home = page(FOLDER).home(request.url.path.split("/")[1])
    if home is None:
        raise HTTPException(404)
    return home.answer(request, _headers(request, await _frames(request)))


def absent(request: Request) -> Response | None:
    """The page for a person at an address that nothing has: it says so, and leads home. None for programs."""
    home = page(FOLDER).home("absent") if "text/html" in request.headers.get("accept", "") else None
    if home is None:
        return None
    return home.answer(request, {**_headers(request), "vary": "accept, accept-encoding"}, 404)


def _headers(request: Request, frame_ancestors: str = "'none'") -> dict[str, str]:
    headers = {
        "content-security-policy": policy(frame_ancestors),
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "cache-control": "no-cache",
    }
    if request.url.scheme == "https":
        headers["cross-origin-opener-policy"] = "same-origin"  # browsers warn about it on plain http
    return headers


async def _frames(request: Request) -> str:
    """Who may show an address in a frame: nobody, but of links that were made for it the sites that the operator
    names."""
    sites: tuple[str, ...] = request.app.state.workbench.settings.embed_origins
    if not sites or not request.url.path.startswith("/embed/"):
        return "'none'"
    token = request.url.path.split("/")[2]
    store: Store = request.app.state.workbench.store
    refuses = await run_in_threadpool(store.shares.refuses_frames, token)
    return "'none'" if refuses else " ".join(sites)


async def _file(request: Request) -> Response:
    known = page(FOLDER)
    found = known.file(request.path_params["name"]) if request.path_params["version"] == known.version else None
    if found is None:
        # A page that was opened before an upgrade must not mix its modules with newer ones.
        message = "There is no such file in this version of the page. Load the page again."
        return Response(message, 404, {"cache-control": "no-store"}, media_type="text/plain")
    return found.answer(request, {"cache-control": "public, max-age=31536000, immutable"})


async def _icon(request: Request) -> Response:
    return Response(_ICON, media_type=_MEDIA[".svg"], headers={"cache-control": "public, max-age=86400"})


async def _robots(request: Request) -> Response:
    return Response("User-agent: *\nDisallow: /\n", media_type="text/plain")
