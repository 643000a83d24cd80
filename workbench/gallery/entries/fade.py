"""Which cells fade fastest, and under which conditions?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import (
    NO_AGEING,
    RATE,
    Reads,
    choice,
    chosen_tests,
    drawable,
    per,
    summary,
    with_tests,
)

TITLE = "Capacity fade"
NEEDS = "Tests that repeat a full cycle at least ten times."


READS = Reads(
    "cycles",
    ("Cycle count", "Discharge capacity [A.h]", "Complete"),
    ("Cycle in life", "Capacity throughput in life [A.h]", *RATE, "Mean temperature [degC]"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("ageing"), NO_AGEING, READS)
    facts.name_unrecognised("ageing")
    steps, params = chosen_tests(facts, tests, "ageing")
    steps["cycles"] = summary(facts, tests, READS)
    steps["fade"] = with_tests(facts, "cycles", complete=True)
    axes = {"cycle": "cycle"}
    if "Capacity throughput in life [A.h]" in READS.columns(facts, tests):
        axes |= {"throughput": "equivalent full cycles"}
    params["relative"] = choice("Capacity", "first", {"first": "% of the first cycle", "value": "its value"})
    params["over"] = choice("Over", "cycle", axes)
    groups = {"cells": "each cell"}
    if any(one.batch for one in tests):
        spreads = {"batch": "mean ± s.d.", "range": "min to max"}
        groups = {**spreads, **groups}
    params["group"] = choice("Show", next(iter(groups)), groups)
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def at_unlike_currents(rows):
    """Whether cells are discharged at currents more than 20 % apart."""
    if "Mean discharge current [A]" not in rows:
        return False
    currents = rows.groupby("instance_name")["Mean discharge current [A]"].median().abs()
    return currents.max() > 1.2 * currents.min()


def transform(data, params):
    params = with_defaults(params)
    fade = data["fade"].dropna(subset=["Discharge capacity [A.h]"])
    if fade.empty:
        return battery.message("No complete cycle to draw. Choose other cells.")
    base, lost = params.get("per", "cell"), incomplete(of_chosen(data, "cycles"), data["fade"])
    there = fade if params["relative"] != "first" else fade[fade["Discharge capacity [A.h]"] > 0]
    none = not_drawn(data["chosen"], there["measurement_id"], "no complete cycle")
    lost = "; ".join(text for text in (none, lost) if text)
    fade, partly = from_full(fade)
    fade = fade.assign(degrees=degrees_of(fade).round(0), value=fade["Discharge capacity [A.h]"])
    fade["why"] = off_course(fade)
    if params["relative"] == "first":
        first, own = first_in_life(fade[fade["why"] == ""])
        partly = "; ".join(text for text in (own, partly) if text)
        fade["value"] = 100 * fade["value"] / fade["measurement_id"].map(first)
        title = "Capacity retention / %"
        over = fade.loc[(fade["value"] > 150) & (fade["why"] == ""), "measurement_id"]
        high = fade["measurement_id"].isin(over)
        if high.any():
            names = ", ".join(fade.loc[high, "instance_name"].unique()[:5])
            said = f"left out, since later cycles pass over 150 % of the first: {names}"
            fade, partly = fade[~high], f"{said}; {partly}" if partly else said
        if fade.empty:
            return battery.message(f"No test can be compared with its first cycle; {said}.", unmet=True)
    else:
        amount = amount_of(fade, base)
        factor, unit = capacity_unit(base, fade["Discharge capacity [A.h]"])
        lost = "; ".join(text for text in (lost, without_amount(fade, amount)) if text)
        fade["value"] = factor * fade["value"] / amount
        title = f"Discharge capacity / {unit}"
    in_life = "Cycle in life" in fade and fade.groupby("instance_name")["measurement_id"].nunique().max() > 1
    fade["x"] = fade["Cycle in life"] if in_life else fade["Cycle count"]
    x_title = "Cycle in the life of the cell" if in_life else "Cycle count"
    if params["over"] == "throughput":
        rated = rated_of(fade)
        most = fade.groupby("instance_name")["Discharge capacity [A.h]"].transform("max")
        unrated = ", ".join(list(dict.fromkeys(fade.loc[rated.isna(), "instance_name"]))[:5])
        unrated = f"rating unknown, a full cycle is of the largest capacity: {unrated}" if unrated else ""
        fade["x"] = fade["Capacity throughput in life [A.h]"] / (2 * rated.fillna(most))
        x_title = "Equivalent full cycles"
        unknown = without(fade, fade["x"], "charge throughput unknown")
        lost = "; ".join(text for text in (lost, unrated, unknown) if text)
        if fade["x"].isna().all():
            return battery.message("The charge throughput of the chosen cells is unknown.", unmet=True)
    fade = fade.dropna(subset=["x", "value"])

    by_batch = params["group"] != "cells"
    fade["group"] = fade["instance_name"]
    if by_batch:
        most = fade.groupby("instance_name")["Discharge capacity [A.h]"].transform("max")
        fade["group"] = batches(fade, rated_of(fade).fillna(most))
    colors = distinct(sorted(fade["group"].unique()))
    dashes = dict(zip(sorted(fade["degrees"].dropna().unique()), DASHES * 10))
    apart = fade[fade["why"] != ""]
    fade = fade[fade["why"] == ""]
    figure, partial, unlike, warm, thick = go.Figure(), False, [], [], False
    for (group, degrees), rows in fade.groupby(["group", "degrees"], dropna=False):
        cells = rows["instance_name"].nunique()
        name = f"{group}, {degrees:g} °C" if degrees == degrees else str(group)
        if by_batch:
            name += f" (n = {cells})"
        style = {"color": colors[group], "dash": dashes.get(degrees, "solid")}
        banded = by_batch and cells > 1 and params["over"] == "cycle"
        if banded:  # where a cell ends, or has a check-up, the mean of the others is elsewhere
            mean = battery.mean_and_spread(rows, "x", "value")
            mean = mean[mean["n"] == cells]
            banded = len(mean) > 0
            partial |= banded and mean["x"].max() < rows["x"].max()
            thick |= banded
            unlike += [name] if banded and at_unlike_currents(rows) else []
            heat = unlike_temperatures(rows) if banded else ""
            warm += [f"{name}, {heat}"] if heat else []
        for number, (cell, one) in enumerate(rows.groupby("instance_name")):
            one = one.sort_values("x")
            figure.add_scatter(
                x=one["x"],
                y=one["value"],
                mode="lines" if len(one) > 1 else "markers",
                line={**style, "width": 1 if banded else 1.8},
                opacity=0.45 if banded else 1,
                name=name,
                legendgroup=name,
                showlegend=not banded and number == 0,
                hovertext=f"Cell: {cell}",  # of a batch the names are that of the batch
                hovertemplate=f"{cell}, {x_title.lower()} %{{x:.5g}}: %{{y:.4g}}<extra></extra>",
            )
        if banded:
            if params["group"] == "range":
                ends = rows.groupby("x")["value"].agg(["min", "max"]).reindex(mean["x"])
                mean = mean.assign(low=ends["min"].to_numpy(), high=ends["max"].to_numpy())
            shade, line = battery.band(mean, "x", name, colors[group])
            line["line"] = {**style, "width": 2.4}
            figure.add_traces([shade, line])
    for group, rows in apart.groupby("group"):
        open_marks(figure, rows, colors[group], str(group), x_title.lower())
    beyond = ranged(figure, fade["value"], apart["value"])
    figure.update_xaxes(title_text=x_title, rangemode="tozero")
    figure.update_yaxes(title_text=title)
    words = {"batch": "mean ± s.d. of the cells", "range": "mean of the cells, with the lowest and highest"}
    spread = f"thick: {words[params['group']]}, thin: each cell" if thick else ""
    spread += "; the mean ends with the first cell of its group that ends" if partial else ""
    spread += f"; a mean over cells at unlike currents: {', '.join(unlike[:3])}" if unlike else ""
    spread += f"; a mean over cells at unlike temperatures: {'; '.join(warm[:3])}" if warm else ""
    first = "of the first complete cycle" if params["relative"] == "first" else ""
    finished(figure)
    ends = name_ends(figure)
    marks = f"open marks: {whys(apart['why'])}" if len(apart) else ""
    marks += f", {beyond} of them beyond the range" if beyond else ""
    return note(
        figure,
        "; ".join(text for text in (first, marks, spread, partly, lost, odd_degrees(fade), ends) if text),
        data,
        params,
    )
