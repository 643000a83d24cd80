"""Draws figures in a Chromium without a network, by kaleido, and prints a drawing as a pdf of its true size."""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from ..errors import ExportUnavailable
from ..inert_page import POLICY_TAG, InertPage, browser_without_network, check_svg
from .pdf_content import cut_page
from .sized_files import Size, svg_in_mm

T = TypeVar("T")
Browser: TypeAlias = Any
"""Kaleido's browser; kaleido has no types."""
Content: TypeAlias = Mapping[str, Any]
"""A figure as plain JSON values."""
_LONGEST_S = 90.0
"""Time for a picture, and for each of several."""
ROOM_MM = 2.0
"""By how much the printed page is larger than the drawing: Chromium rounds a page down to whole dots, and would cut off
what is on the last ones. The page is cut to the drawing afterwards."""
_SIDES = ("marginTop", "marginBottom", "marginLeft", "marginRight")
_ONE_PAGE: Mapping[str, str | int] = {"pageRanges": "1", **dict.fromkeys(_SIDES, 0)}
_PAPER = {"width": 1032, "height": 700, "deviceScaleFactor": 1, "mobile": False}
"""The inside of an A4 page across, in pixels: what is drawn for it is not cut."""
_READY = """new Promise((go) => {
  const look = () => (document.body?.dataset.ready ? go("1") : setTimeout(look, 50));
  look();
})"""
# Texts of the drawing whose box reaches over its edge, by more than half a pixel.
_CLIPPED = """(() => {
  const page = document.querySelector("svg").getBoundingClientRect();
  const over = (box) => box.width > 0 && (box.left < page.left - 0.5 || box.right > page.right + 0.5 ||
    box.top < page.top - 0.5 || box.bottom > page.bottom + 0.5);
  return JSON.stringify([...document.querySelectorAll("svg text")]
    .filter((text) => over(text.getBoundingClientRect())).map((text) => text.textContent.trim().slice(0, 60)));
})()"""


@dataclass(frozen=True)
class Drawn:
    """What the browser made.

    Attributes
    ----------
    file : the svg, png or pdf.
    clipped : texts of the drawing that reach over its edge. None where nobody looked.
    """

    file: bytes
    clipped: tuple[str, ...] | None = None


def quick_picture(content: Content, format: str, size: Size, scale: float) -> Drawn:
    """A figure as svg or png, as kaleido makes it."""
    (drawn,) = quick_pictures([content], format, size, scale)
    if isinstance(drawn, ExportUnavailable):
        raise drawn
    return drawn


def quick_pictures(
    contents: Iterable[Content], format: str, size: Size, scale: float
) -> list[Drawn | ExportUnavailable]:
    """Each figure as svg or png; for one that cannot be drawn, the error. One start of the browser draws them, and
    another one those that follow on a figure that never ends."""
    made: list[Drawn | ExportUnavailable] = []
    options, waiting = _options(format, size, scale), iter(contents)
    content = next(waiting, None)
    while content is not None:
        clock = _Clock()

        async def work(browser: Browser, clock: _Clock = clock) -> None:
            nonlocal content
            while content is not None and not clock.late:
                clock.start()
                drawing, content = content, next(waiting, None)
                try:
                    file: bytes = await browser.calc_fig(drawing, opts=options)
                    made.append(Drawn(check_svg(file) if format == "svg" else file))
                except Exception as error:  # kaleido and the browser raise errors of many classes
                    if clock.late:
                        raise
                    made.append(error if isinstance(error, ExportUnavailable) else _not_drawn(error))

        try:
            _guarded(work, clock)
        except ExportUnavailable as error:
            if not clock.late:
                raise
            made.append(error)
    return made


def measured_picture(content: Content, format: str, size: Size, scale: float, title: str) -> Drawn:
    """A figure as svg, png or pdf of its true size, and which of its texts are cut off. One start of the browser."""

    async def work(browser: Browser) -> Drawn:
        svg = check_svg(await browser.calc_fig(content, opts=_options("svg", size, 1)))
        in_mm = svg_in_mm(svg, size)
        tab = await _page(browser, in_mm, size, title)
        clipped = tuple(json.loads(await _evaluated(tab, _CLIPPED)))
        if format == "pdf":
            return Drawn(cut_page(await _printed(tab, _ONE_PAGE), size.width_mm, size.height_mm), clipped)
        if format == "svg":
            return Drawn(in_mm, clipped)
        return Drawn(await browser.calc_fig(content, opts=_options(format, size, scale)), clipped)

    return _guarded(work)


class _Clock:
    """Ends the process of a browser that has drawn too long.

    A time limit within the event loop is not enough: a page in which plotly counts without end answers no command
    any more, and kaleido waits for it when it cleans up.
    """

    def __init__(self) -> None:
        self.browser: Browser = None
        self.late = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to count, or begin anew."""
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(_LONGEST_S, self._end)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.late = True
        self.browser.subprocess.terminate()


async def _within_time(kaleido: Browser, work: Callable[[Browser], Coroutine[None, None, T]], clock: _Clock) -> T:
    """Run work in a new browser, which ends when the time of the clock is over."""
    browser = kaleido.Kaleido(n=1, page_generator=InertPage(), browser_cls=browser_without_network(), timeout=None)
    async with browser:
        clock.browser = browser
        clock.start()
        try:
            return await work(browser)
        except (Exception, asyncio.CancelledError) as error:  # what waits for an ended browser is cancelled
            if clock.late:
                raise ExportUnavailable(
                    f"The browser did not finish the picture in {_LONGEST_S:g} s. A distance between ticks, contours "
                    "or bins that is much smaller than its axis takes plotly for ever. Draw less, or export .csv."
                ) from error
            raise
        finally:
            clock.stop()


def _options(format: str, size: Size, scale: float) -> dict[str, str | float]:
    return {"format": format, "width": size.width, "height": size.height, "scale": scale}


async def _page(browser: Browser, svg: bytes, size: Size, title: str) -> Browser:
    """A tab with a page that is the drawing, which may neither run nor fetch anything."""
    measures = f"{size.width_mm + ROOM_MM:.6g}mm {size.height_mm + ROOM_MM:.6g}mm"
    page = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{POLICY_TAG}<title>{_escaped(title)}</title>
<style>@page {{ size: {measures}; margin: 0 }} html, body {{ margin: 0; padding: 0 }}
svg {{ display: block; overflow: visible }}</style>
</head><body>{svg.decode()}</body></html>"""
    tab = await browser.create_tab("about:blank")
    tree = await _sent(tab, "Page.getFrameTree")
    await _sent(tab, "Page.setDocumentContent", frameId=tree["frameTree"]["frame"]["id"], html=page)
    await _evaluated(tab, "document.fonts.ready.then(() => '1')")
    return tab


def printed(page: bytes) -> bytes:
    """A page of ours as pdf, on the paper that its style names, once its body has ``data-ready``.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing, or the browser fails.
    """

    async def work(browser: Browser) -> bytes:
        tab = await browser.create_tab("about:blank")
        await _sent(tab, "Emulation.setDeviceMetricsOverride", **_PAPER)
        tree = await _sent(tab, "Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        await _sent(tab, "Page.setDocumentContent", frameId=frame, html=page.decode())
        await _evaluated(tab, _READY)
        return await _printed(tab, {})

    return _guarded(work)


async def _printed(tab: Browser, more: Mapping[str, str | int]) -> bytes:
    done = await _sent(tab, "Page.printToPDF", printBackground=True, preferCSSPageSize=True, **more)
    return base64.b64decode(done["data"])


async def _evaluated(tab: Browser, script: str) -> str:
    done = await _sent(tab, "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    return str(done["result"].get("value", "[]"))


async def _sent(tab: Browser, command: str, **params: Browser) -> Browser:
    answer = await tab.send_command(command, params=params)
    if "error" in answer:
        raise RuntimeError(f"{command}: {answer['error'].get('message')}")
    return answer["result"]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _guarded(work: Callable[[Browser], Coroutine[None, None, T]], clock: _Clock | None = None) -> T:
    """Run work with a browser of kaleido; what is missing or fails becomes a sentence that says what to do."""
    try:
        kaleido = importlib.import_module("kaleido")
    except ImportError as error:
        message = "Pictures need kaleido: install battery-workbench[export]. A .html export works without it."
        raise ExportUnavailable(message) from error
    try:
        return _in_a_thread(lambda: _within_time(kaleido, work, clock or _Clock()))
    except ExportUnavailable:
        raise
    except Exception as error:  # kaleido and the browser raise errors of many classes
        if type(error).__name__ == "ChromeNotFoundError":
            message = "Pictures need a browser: install Chrome or Chromium. A .html export works without one."
        else:
            raise _not_drawn(error) from error
        raise ExportUnavailable(message) from error


def _not_drawn(error: Exception) -> ExportUnavailable:
    return ExportUnavailable(
        f"The browser could not draw the picture ({type(error).__name__}: {error}). Export .html instead."
    )


def _in_a_thread(work: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run in an event loop of its own: that of a notebook runs already. ``kaleido.calc_fig_sync`` would do it in a
    browser with a network if the user has started one with ``kaleido.start_sync_server``."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()
