"""Pictures for print: a figure fitted to a paper, drawn at its true size, and read back."""

from .browser import printed
from .drawing import Picture, draw, thumbnails
from .fitting import PaperOptions, fitted, wants_paper
from .remark import Remark, as_warnings

__all__ = [
    "PaperOptions",
    "Picture",
    "Remark",
    "as_warnings",
    "draw",
    "fitted",
    "printed",
    "thumbnails",
    "wants_paper",
]
