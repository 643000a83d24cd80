"""Is a change of capacity between check-ups real, or due to temperature and rest?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per, summary, with_tests

TITLE = "Capacity of check-ups with temperature and rest"
NEEDS = "Check-ups of a cell at several ages."
LACKING = "No test is a check-up. A slow discharge at several ages, with the tag 'RPT', would do."


READS = Reads(
    "steps",
    ("Step count", "Step type", "Duration [s]", "Mean current [A]", "Discharge capacity [A.h]"),
    ("Mean temperature [degC]", "Time in life [d]", "Cycle count"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("rpt", "pocv"), LACKING, READS)
    steps, params = chosen_tests(facts, tests)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    params["relative"] = choice("Capacity", "first", {"first": "% of the first check-up", "value": "its value"})
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    base, found, none = params.get("per", "cell"), [], []
    every = data["rows"].sort_values("Step count", kind="stable")
    counted = every.index.isin(not_excluded(every).index)
    for _, steps in every.assign(counted=counted).groupby("measurement_id", sort=False):
        rest = steps["Duration [s]"].where(steps["Step type"].eq("Rest")).shift()
        most = steps["Discharge capacity [A.h]"].max()
        whole = steps[steps["counted"] & (steps["Discharge capacity [A.h]"] > 0.8 * most)]
        if whole.empty or not most > 0:
            none.append(str(steps["name"].iloc[0]))
            continue
        slow = whole["Mean current [A]"].abs().idxmin()
        found.append(
            {**steps.loc[slow].to_dict(), "rest": rest[slow] / 3600 if rest[slow] == rest[slow] else np.nan}
        )
    if not found:
        return battery.message("The chosen cells have no check-up with a discharge. Choose others.", unmet=True)
    axes = {"Time in life [d]": "Time since the first test of the cell / d"}
    rows, x_title, undated = along_ages(pd.DataFrame(found), axes)
    amount = amount_of(rows, base)
    factor, unit = capacity_unit(base, rows["Discharge capacity [A.h]"])
    rows["value"] = factor * rows["Discharge capacity [A.h]"] / amount
    title = f"Capacity / {unit}"
    if params["relative"] == "first":
        rows["value"] = 100 * battery.of_first(rows["value"], rows["instance_name"])
        title = "Capacity / % of the first"
    heat = rows["Mean temperature [degC]"] if "Mean temperature [degC]" in rows else pd.Series(np.nan, rows.index)
    known = heat.notna().any()
    if params["relative"] == "first" and rows["instance_name"].value_counts().max() < 2:
        return battery.message("Each chosen cell has one check-up only. A change needs two.", unmet=True)
    low, high = (heat.min(), heat.max()) if known else (0.0, 0.0)
    scale = [[place / 10, color] for place, color in enumerate(battery.sequential(11))]
    figure = go.Figure()
    for number, (cell, one) in enumerate(rows.assign(heat=heat).groupby("instance_name")):
        one = one.sort_values("x")
        symbol = SYMBOLS[number % len(SYMBOLS)] + "-open" * (number // len(SYMBOLS) % 2)
        marker = {"color": battery.PALETTE[number % 8]}
        style = {
            "name": cell,
            "legendgroup": cell,
            "mode": "lines+markers",
            "line": {"color": "#AAAAAA", "width": 1.2},
        }
        if known:
            marker = {"color": one["heat"], "cmin": low, "cmax": high, "colorscale": scale}
            # The legend has a symbol of its own, since one of many colours is drawn black there.
            figure.add_scatter(
                x=[None], y=[None], marker={"symbol": symbol, "size": 9, "color": "#777777"}, **style
            )
        figure.add_scatter(
            x=one["x"],
            y=one["value"],
            marker={"size": 9, "symbol": symbol, "line": {"color": "#888888", "width": 1}, **marker},
            showlegend=not known,
            **style,
            customdata=np.column_stack([one["heat"], one["rest"]]),
            hovertemplate=f"{cell}: %{{y:.4g}}<br>Temperature: %{{customdata[0]:.1f}} °C"
            "<br>Rest: %{customdata[1]:.2g} h",
        )
    figure.update_xaxes(title_text=x_title)
    figure.update_yaxes(title_text=title)
    if known:
        figure.add_trace(battery.color_bar(low, high, "Mean temperature / °C"))
    finished(figure)
    ends = name_ends(figure, [trace for trace in figure.data if trace.customdata is not None])
    rest = rows["rest"].dropna()
    spans = " to ".join(dict.fromkeys(f"{hours:.2g}" for hours in (rest.min(), rest.max())))
    said = f"slow discharges; rest before: {spans} h" if len(rest) else "no rest before the discharge is logged"
    spread = f"temperatures differ by {heat.max() - heat.min():.1f} K" if known else "no temperature is logged"
    unlogged = ", ".join(list(dict.fromkeys(rows.loc[heat.isna(), "instance_name"].astype(str)))[:5])
    spread += f", none is logged for {unlogged}" if known and unlogged else ""
    current = rows["Mean current [A]"].abs()
    usual = current.groupby(rows["instance_name"]).transform("median")
    unlike = ", ".join(list(dict.fromkeys(rows.loc[(current - usual).abs() > 0.2 * usual, "instance_name"]))[:5])
    unlike = f"check-ups at unlike currents: {unlike}" if unlike else ""
    lost = f"left out: {', '.join(none[:4])}{' ...' if len(none) > 4 else ''} (no discharge)" if none else ""
    return note(
        figure,
        "; ".join(
            text for text in (said, unlike, spread, undated, lost, without_amount(rows, amount), ends) if text
        ),
        data,
        params,
    )
