"""Rules about the look of traces: figures without points, and traces that look or are named alike."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ..errors import listed
from ..figure_traces import SCATTER
from ..typed_arrays import Decoded, mapping
from .figure_reader import FLAT, Drawn, Trace, length
from .observation import Observation

# plotly's own colours, for figures without a template that names others.
_COLORWAY = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
)


def nothing_drawn(drawn: Drawn) -> Iterator[Observation]:
    if all(trace.draws_nothing for trace in drawn.traces):
        yield Observation("The figure has no points to show.")


def empty_trace(drawn: Drawn) -> Iterator[Observation]:
    others = not all(trace.draws_nothing for trace in drawn.traces)
    for trace in drawn.traces if others else ():
        if trace.kind in FLAT and trace.in_legend and trace.is_empty and not trace.is_swatch:
            yield Observation(f"{trace.label} has no points.", trace.n)


def same_look(drawn: Drawn) -> Iterator[Observation]:
    seen: dict[bytes, list[Trace]] = {}
    beside = _noted(drawn) if drawn.layout.get("showlegend") is False else set()
    for place, trace in enumerate(drawn.traces):
        is_told = trace.in_legend and trace.name not in beside
        look = _look(trace, place, drawn) if is_told and trace.kind in (*SCATTER, "bar") else None
        if look is not None:
            seen.setdefault(look, []).append(trace)
    twins = [alike for alike in seen.values() if _apart(alike)]
    if twins:
        names = list(dict.fromkeys(trace.name for trace in twins[0]))
        last = next(trace for trace in twins[0] if trace.name != names[0])
        others = len(twins) - 1
        more = f"; so do the traces of {others} more look{'s' * (others > 1)}" if others else ""
        quoted = listed((f"'{name}'" for name in names), most=4)
        yield Observation(f"{quoted} look alike, with the same colour, dash and symbol{more}.", last.n)


def _noted(drawn: Drawn) -> set[str]:
    """The texts of the notes: names beside the ends of lines stand for the legend."""
    notes = drawn.layout.get("annotations")
    return {str(mapping(note).get("text")) for note in (notes if isinstance(notes, list) else [])}


def _apart(alike: list[Trace]) -> bool:
    """Whether traces of the same look belong to different groups."""
    groups = {str(trace.raw.get("legendgroup") or f"#{trace.n}") for trace in alike}
    return len({trace.name for trace in alike}) > 1 and len(groups) > 1


def _look(trace: Trace, place: int, drawn: Drawn) -> bytes | None:
    """Everything that distinguishes a trace in the legend. None if its points have individual colours."""
    line, marker = mapping(trace.raw.get("line")), mapping(trace.raw.get("marker"))
    if any(length(marker.get(key)) for key in ("color", "symbol", "size")) or "coloraxis" in marker:
        return None
    default = _default_color(place, drawn)
    mode = str(trace.raw.get("mode") or ("lines" if trace.has_lines else "markers"))
    shown: dict[str, Decoded] = {"type": trace.kind or "scatter", "mode": mode}
    color = marker.get("color") or line.get("color") or default
    if trace.kind in SCATTER and "lines" in mode:
        shown["line"] = {**line, "color": line.get("color") or color}
    if trace.kind == "bar" or "markers" in mode:
        shown["marker"] = {**marker, "color": color}
    shown["other"] = [trace.raw.get(key) for key in ("opacity", "fill", "fillcolor", "fillpattern", "error_y")]
    if "text" in mode:
        return None
    return orjson.dumps(shown, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY, default=str)


def _default_color(place: int, drawn: Drawn) -> str:
    template = mapping(mapping(drawn.layout.get("template")).get("layout"))
    given = drawn.layout.get("colorway") or template.get("colorway")
    colors = given if isinstance(given, list) else _COLORWAY
    return str(colors[place % len(colors)])


def same_name(drawn: Drawn) -> Iterator[Observation]:
    seen: dict[str, Trace] = {}
    for trace in drawn.traces:
        if not trace.in_legend:
            continue
        other = seen.setdefault(trace.name, trace)
        group = trace.raw.get("legendgroup")
        if other is not trace and (group is None or group != other.raw.get("legendgroup")):
            yield Observation(
                f"data[{other.n}] and data[{trace.n}] are both called '{trace.name}' in the legend.", trace.n
            )
