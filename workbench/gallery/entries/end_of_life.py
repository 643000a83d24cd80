"""When does each cell reach the end of its life?"""

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

TITLE = "End of life"
NEEDS = "Tests that repeat a full cycle at least ten times."


READS = Reads(
    "cycles",
    ("Cycle count", "Discharge capacity [A.h]", "Complete"),
    (*RATE, "Mean temperature [degC]", "Cycle in life"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("ageing"), NO_AGEING, READS)
    steps, params = chosen_tests(facts, tests, "ageing", most=60)
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles")
    words = "Of the capacity of the first complete cycle."
    label = {"label": "End of life at / %", "description": words, "min": 30, "max": 99, "step": 1}
    params["threshold"] = {"kind": "view", "default": 80, "control": label}
    groups = {"batch": "batch"} if any(one.batch for one in tests) else {}
    groups |= {"temperature": "temperature"} if facts.cell_temperature or facts.test_temperature else {}
    if groups:
        params["color"] = choice("Colour", next(iter(groups)), {**groups, "none": "one for all"})
    params["sort"] = {"kind": "view", "default": False, "control": {"label": "Longest life first"}}
    return Made(steps, params)


# The script of the figure
STYLES = {
    "reached": "reached",
    "extrapolated": "extrapolated",
    "beyond": "not reached",
}
NEEDED = [
    *("Cycle count", "Discharge capacity [A.h]", "Complete"),
    *("Mean discharge current [A]", "Discharge energy [W.h]", "Discharge duration [s]"),
    "Mean temperature [degC]",
]


def transform(data, params):
    params = with_defaults(params)
    share = params["threshold"] / 100
    rows, partly = from_full(data["rows"])
    found, refused = [], {}
    rows = rows.assign(degrees=degrees_of(rows).round(0))
    rows["life"], own = lives(rows)
    full = rows[rows["Complete"].fillna(True).astype(bool)]
    left = (incomplete(rows, full), of_course(full)[1])
    none = not_drawn(data["chosen"], data["rows"]["measurement_id"], "no cycles")
    partly = "; ".join(text for text in (none, own, *left, partly, odd_degrees(rows)) if text)
    rows = along_life(rows)
    for _, cycles in rows.groupby("life", sort=False):
        cycles = cycles.sort_values("Cycle count")
        cell, batch, degrees = (cycles[name].iloc[0] for name in ("instance_name", "batch_name", "degrees"))
        group = {
            "batch": "no batch" if pd.isna(batch) else batch,
            "temperature": f"{degrees:g} °C" if degrees == degrees else "temperature unknown",
        }.get(params.get("color"), "")
        one = {"cell": str(cell), "test": str(cycles["name"].iloc[0]), "group": group}
        cycles = cycles[[name for name in NEEDED if name in cycles]]
        reached = battery.end_of_life(cycles, threshold=share).iloc[0]
        if reached["EOL reached"] not in ("yes", "no"):  # refused: neither reached nor beyond
            refused.setdefault(str(reached["Warning"]).rstrip("."), []).append(one["cell"])
            continue
        one["last"] = cycles["Cycle count"].max()
        if reached["Valid"] and reached["EOL cycle"] == reached["EOL cycle"]:
            found.append({**one, "how": "reached", "eol": reached["EOL cycle"]})
            continue
        ahead = battery.eol_extrapolation(cycles, threshold=share).iloc[0]
        if ahead["Valid"] and ahead["EOL cycle"] == ahead["EOL cycle"]:
            ends = {"low": ahead["EOL low"], "high": ahead["EOL high"]}
            found.append({**one, "how": "extrapolated", "eol": ahead["EOL cycle"], **ends})
        else:
            found.append({**one, "how": "beyond", "eol": one["last"], "why": str(ahead["Warning"])})
    if not found:
        return battery.message(f"{next(iter(refused), 'No cycles to draw')}. Choose other cells.", unmet=True)
    for why, cells in refused.items():
        more = " ..." if len(cells) > 5 else ""
        partly = "; ".join(text for text in (partly, f"without {', '.join(cells[:5])}{more}: {why}") if text)
    found = pd.DataFrame(found)
    order, up = (["how", "eol", "cell"], [False, False, True]) if params["sort"] else (["group", "cell"], True)
    again = found["cell"].duplicated(keep=False)
    found["cell"] = found["cell"].mask(again, found["cell"] + ", " + found["test"])
    found = found.assign(how=pd.Categorical(found["how"], list(STYLES), ordered=True)).sort_values(
        order, ascending=up
    )
    groups = sorted(found["group"].unique())
    colors = distinct(groups)
    figure, across = go.Figure(), len(found) > 8
    for how, name in STYLES.items():
        one = found[found["how"] == how]
        if one.empty:
            continue
        shade = [colors[group] for group in one["group"]]
        marker = {"color": shade if how == "reached" else "rgba(0,0,0,0)", "line": {"color": shade, "width": 2}}
        if how == "beyond":
            # The outline is seen on a dark page too.
            marker = {
                "color": [battery.pale(color, 0.25) for color in shade],
                "line": {"color": shade, "width": 1},
            }
        error, at, long = None, ("y", "x") if across else ("x", "y"), "error_x" if across else "error_y"
        if how == "extrapolated":
            # Said, since plotly's own grey for open bars is not seen on a dark page.
            error = {"array": one["high"] - one["eol"], "arrayminus": one["eol"] - one["low"], "color": "#444444"}
        figure.add_bar(
            **dict(zip(at, (one["cell"], one["eol"]))),
            **{long: error},
            orientation="h" if across else "v",
            customdata=one["cell"],
            marker=marker,
            name=name,
            showlegend=len(groups) == 1,
            text=[f"> {last:g}" for last in one["last"]]
            if how == "beyond"
            else [f"{eol:.0f}" for eol in one["eol"]],
            textposition="inside" if how == "extrapolated" else "outside",
            constraintext="none",
            cliponaxis=False,
            insidetextanchor="start",
            textfont={"size": 11, **({"color": "#444444"} if how == "extrapolated" else {})},
            hovertemplate="Whole name: %{customdata}<br>Cycles: %{text}<extra>" + name + "</extra>",
        )
        if len(groups) > 1:  # the bars of one kind have several colours
            grey = {"reached": "#777777", "extrapolated": "rgba(0,0,0,0)", "beyond": "#DDDDDD"}[how]
            mark = {"color": grey, "size": 10, "symbol": "square", "line": {"color": "#777777", "width": 1}}
            figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=name)
    for group in groups if len(groups) > 1 else []:
        mark = {"color": colors[group], "size": 10, "symbol": "square"}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=group)
    short = battery.short_names(found["cell"], 20)
    cells = {
        "title_text": "Cell",
        "categoryorder": "array",
        "categoryarray": found["cell"],
        "tickvals": list(short),
    }
    cells["ticktext"] = list(short.values())
    most = found[["eol", *(["high"] if "high" in found else [])]].max(axis=None)
    cycles = {"title_text": f"Cycles to {params['threshold']:g} %", "range": [0, (1.2 if across else 1.12) * most]}
    if across:
        figure.update_xaxes(**cycles).update_yaxes(**cells, autorange="reversed")
        figure.update_layout(height=min(max(440, 18 * len(found) + 170), 1400))
    else:
        figure.update_yaxes(**cycles).update_xaxes(**cells, autotickangles=[0, 90])
    finished(figure)
    ahead = "; extrapolated with its 90 % band" if (found["how"] == "extrapolated").any() else ""
    note(figure, f"of the first capacity{ahead}" + (f"; {partly}" if partly else ""), data, params)
    if across:  # the lines above begin over the names of the cells, not over the plot
        figure.update_annotations(xshift=-6.5 * max(map(len, short.values())))
    return figure
