"""How does a quantity change from cycle to cycle, and where does it cross a limit?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import (
    NO_AGEING,
    RATE,
    Reads,
    choice,
    chosen_tests,
    drawable,
    summary,
    with_tests,
)

TITLE = "A quantity by cycle"


def make(facts, tests, columns, relative=False, threshold=None, shown_cells=None):
    first, *others = facts.of_cycles(*columns)
    course = [name for name in ("Discharge capacity [A.h]", *RATE) if name not in columns]
    reads = Reads("cycles", ("Cycle count", first, "Complete"), (*others, *course, "Cycle in life"))
    tests = drawable(facts, tests, NO_AGEING, reads)
    steps, params = chosen_tests(facts, tests)
    wanted = reads.columns(facts, tests)
    steps["cycles"] = summary(facts, tests, reads)
    steps["rows"] = with_tests(facts, "cycles", complete=True)
    shown = [name for name in columns if name in wanted]
    params["quantity"] = choice("Quantity", shown[0], {name: name for name in shown})
    params["relative"] = choice(
        "Values", "first" if relative else "value", {"value": "as measured", "first": "% of the first cycle"}
    )
    control = {"label": "Mark below / % (empty: no)", "min": 1, "max": 100}
    params["threshold"] = {"kind": "view", "default": threshold, "control": control}
    groups = {"cells": "each cell"}
    if any(one.batch for one in tests if shown_cells is None or one.cell in shown_cells):
        groups = {"batch": "by batch", **groups}
    params["group"] = choice("Colours", next(iter(groups)), groups)
    return Made(steps, params)


# The script of the figure
def falls_below(one, column, limit):
    """The cycle from which a test is below the limit, %, and its value; None if it never is. The capacity must stay
    below it, as in battery.end_of_life, so that one poor cycle does not end it."""
    if column == "Discharge capacity [A.h]" and limit < 100:
        life = battery.end_of_life(one, threshold=limit / 100)
        if len(life) and life["EOL reached"].iloc[0] in ("yes", "no"):
            return (life["EOL cycle"].iloc[0], limit) if life["EOL reached"].iloc[0] == "yes" else (None, None)
    below = one[one["value"] < limit]
    return (None, None) if below.empty else (below["Cycle count"].iloc[0], below["value"].iloc[0])


def transform(data, params):
    column, limit = params["quantity"], params["threshold"]
    rows = data["rows"].dropna(subset=[column, "Cycle count"])
    lost = incomplete(of_chosen(data, "cycles").dropna(subset=[column, "Cycle count"]), rows)
    if rows.empty:
        return battery.message("No complete cycle to draw. Choose other cells.")
    relative, partly = params["relative"] == "first" or limit is not None, ""
    if relative and column == "Discharge capacity [A.h]":
        rows, partly = from_full(rows)
    if relative:
        rows, apart = of_course(rows)
        partly = "; ".join(text for text in (partly, apart) if text)
    rows = rows.assign(
        value=100 * battery.of_first(rows[column], rows["measurement_id"]) if relative else rows[column]
    )
    by_batch = params["group"] == "batch"
    rows["group"] = rows["batch_name"].fillna("no batch") if by_batch else rows["instance_name"]
    groups = sorted(rows["group"].unique())
    colors = palette(groups)
    dashes = {group: DASHES[place // len(battery.PALETTE) % 4] for place, group in enumerate(groups)}
    figure, never, named, marked = go.Figure(), [], set(), 0
    for _, one in rows.groupby("measurement_id", sort=False):
        one = one.sort_values("Cycle count")
        cell, group = one["instance_name"].iloc[0], one["group"].iloc[0]
        figure.add_scatter(
            x=one["Cycle count"],
            y=one["value"],
            mode="lines" if len(one) > 1 else "markers",
            line={"color": colors[group], "dash": dashes[group], "width": 1.6},
            marker={"color": colors[group]},
            name=str(group),
            legendgroup=str(group),
            showlegend=group not in named,
            hovertemplate=f"{cell}, cycle %{{x}}: %{{y:.4g}}<extra></extra>",
        )
        named.add(group)
        if limit is not None:
            at, value = falls_below(one, column, limit)
            if at is None:
                never.append(cell)
                continue
            marked += 1
            figure.add_scatter(
                x=[at],
                y=[value],
                mode="markers+text",
                text=[f"{cell}: {at:.5g}" if at % 1 else f"{cell}: {at:g}"],
                textposition="bottom left" if marked % 2 == 0 else "top right",
                marker={"color": colors[group], "symbol": "x", "size": 9},
                name=str(group),
                legendgroup=str(group),
                showlegend=False,
                hovertemplate=f"{cell} falls below {limit:g} % in cycle %{{x:.5g}}<extra></extra>",
            )
    title = battery.axis_title(column)
    figure.update_yaxes(title_text=f"{column.partition(' [')[0]} (of the first cycle) / %" if relative else title)
    figure.update_xaxes(title_text="Cycle count", rangemode="tozero")
    if limit is not None:
        figure.add_hline(y=limit, line={"color": "#888888", "dash": "dot", "width": 1})
    finished(figure, showlegend=1 < len(named) <= 16)
    said = f"never below {limit:g} %: {', '.join(never)}" if never else ""
    if len(never) > 4:
        said = f"{len(never)} cells never fall below {limit:g} %"
    return note(figure, "; ".join(text for text in (said, partly, lost) if text), data, params)
