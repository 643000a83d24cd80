"""The first plot of a notebook: its page gets plotly.js while the user writes the next cell.

A page takes most of a second to unpack and compile plotly.js, and the first plot waited for that.
"""

from __future__ import annotations

import os
import sys
from functools import cache

_QUIET_SECONDS = 0.3
"""So long after a bench was opened, the cell that opened it has mostly ended."""


def prepare() -> None:
    """Begin, in a kernel of JupyterLab or Notebook, to bring plotly.js to the page; once in each kernel."""
    # The server of a page sets this name. Whoever runs notebooks without a page keeps no widgets in them.
    if "ipykernel" in sys.modules and "JPY_SESSION_NAME" in os.environ:
        import asyncio  # a kernel has it

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a thread, or a kernel that runs cells in another way
            return
        loop.call_later(_QUIET_SECONDS, _bring)


@cache
def _bring() -> None:
    from ..notebook.plotly_ahead import PlotlyAhead  # widgets are loaded only when they are used

    PlotlyAhead()
