"""The option of pages whose controls work, and what is said of them before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ..messages import counted
from .console import err

ControlsOption = Annotated[
    bool,
    typer.Option(
        "--controls",
        help="With `.html`: the view controls with few values work in the file, without a kernel. The figures of all "
        "their choices are computed.",
    ),
]


def say_size(size: Mapping[str, Any]) -> None:
    """Say how many figures a page will have, about how large it will be, and what stays fixed."""
    err.print(
        f"{counted(size['figures'], 'figure')} for {counted(size['turning'], 'control')}, about "
        f"{size['bytes'] / 1e6:.1f} MB (at most {size['most_bytes'] / 1e6:.0f} MB).",
        markup=False,
        soft_wrap=True,
    )
    for one in size["fixed"]:
        err.print(f"  fixed: '{one['label']}' ({one['why']})", markup=False, soft_wrap=True)
