"""The caps of a plan, enforced in one place; each error gives both numbers."""

from __future__ import annotations

from ..errors import Invalid, Problem
from ..messages import counted, spaced
from ..recipe.plot import MOST_SOURCES, Caps


def check_sources(n: int, caps: Caps) -> None:
    """Whether a step may read n sources."""
    if n > caps.max_sources:
        more = f", or raise caps.max_sources up to {MOST_SOURCES}" if caps.max_sources < MOST_SOURCES else ""
        raise Invalid(
            Problem(
                ("ids",),
                f"This step names {counted(n, 'source')} and at most {spaced(caps.max_sources)} are allowed. "
                f"Choose fewer{more}.",
                ctx={"sources": n, "most": caps.max_sources},
            )
        )


def share_of_points(n: int, caps: Caps) -> int:
    """How many samples each of n sources may give at most: ``floor(max_series_points / n)``."""
    share = caps.max_series_points // max(n, 1)
    if share == 0:
        raise Invalid(
            Problem(
                ("ids",),
                f"{counted(n, 'source')} cannot share {counted(caps.max_series_points, 'point')}: not one is left for "
                "each. Choose fewer sources or raise caps.max_series_points.",
                ctx={"sources": n, "most": caps.max_series_points},
            )
        )
    return share


def check_summary_rows(n: int, caps: Caps) -> None:
    """Whether a summary may have n rows."""
    if n > caps.max_summary_rows:
        raise Invalid(
            Problem(
                ("ids",),
                f"This summary has {counted(n, 'row')} and at most {spaced(caps.max_summary_rows)} are allowed. "
                "Choose fewer sources, or cycles instead of steps.",
                ctx={"rows": n, "most": caps.max_summary_rows},
            )
        )
