"""A figure written to a file: as it is, fitted to a paper, or as its numbers."""

from __future__ import annotations

from pathlib import Path

from .. import export, figure_numbers
from ..errors import BadRequest
from ..passport import Passport, embedded
from ..pictures import PaperOptions, Remark, draw, fitted, wants_paper
from ..whole_file import refuse_folder


def save_figure(
    target: Path, figure: bytes, paper: PaperOptions, *, tidy: bool = False, passport: Passport | None = None
) -> list[Remark]:
    """Write encoded figure bytes to a file, fitted to a paper if one is asked for; what is to be known about it.

    A table has the plotted numbers as they are; ``tidy``, and for print, under their quantities and units.
    """
    ending = writable_ending(target)
    remarks: list[Remark] = []
    if ending in export.TABLES and (tidy or wants_paper(paper)):
        export.save_table(target, figure_numbers.tidy(figure), passport)
        return remarks
    if tidy:
        raise BadRequest(f"Tidy numbers go to .csv or .parquet, not to '.{ending}'.")
    if wants_paper(paper):
        figure, remarks = fitted(figure, paper)
    if ending not in export.PICTURES:
        export.save(target, figure, title=target.stem, passport=passport)
        return remarks
    made = draw(figure, ending, title=target.stem)
    export.write(target, made.file if passport is None else embedded(ending, made.file, passport))
    return [*remarks, *made.remarks]


def writable_ending(target: Path) -> str:
    """The ending of a file that can be written; BadRequest for another one, or a folder that does not exist."""
    ending = export.ending_of(target, (*export.ENDINGS, "ipynb"))
    if not target.parent.is_dir():
        raise BadRequest(
            f"There is no folder '{target.parent}' to write '{target.name}' in. Create it, or name another one."
        )
    refuse_folder(target)
    return ending
