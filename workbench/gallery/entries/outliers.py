"""Which cells differ from the others of their group?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import RATE, Reads, choice, chosen_tests, drawable, per, summary, with_tests

TITLE = "Outliers"
NEEDS = "Several cells of a batch that were tested alike; a verdict needs six."
LACKING = "No test repeats a full cycle. Outliers are looked for among ageing tests of several cells."


READS = Reads(
    "cycles",
    ("Cycle count", "Discharge capacity [A.h]", "Complete"),
    ("Coulombic efficiency", *RATE, "Cycle in life", "Mean temperature [degC]"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("ageing"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "ageing")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles", complete=True)
    shown = {"retention": "retention", "capacity": "first capacity"}
    if "Coulombic efficiency" in READS.columns(facts, tests):
        shown["ce"] = "median coulombic efficiency"
    params["quantity"] = choice("Value", "retention", shown)
    groups = {
        "auto": "batch and temperature; all where that has fewer than six",
        "condition": "batch and temperature",
    }
    params["group"] = choice("Compare", "auto", {**groups, "batch": "batch", "all": "all"})
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    rows, partly = from_full(data["rows"].dropna(subset=["Discharge capacity [A.h]"]))
    rows, beside = of_course(rows)
    rows, own = of_first_current(rows)
    rows = along_life(rows)
    if rows.empty:
        return battery.message("No complete cycle to look at. Choose other cells.", unmet=True)
    base = params.get("per", "cell")
    factor, unit = capacity_unit(base, rows["Discharge capacity [A.h]"])
    amount = amount_of(rows, base)
    lost = without_amount(rows, amount) if params["quantity"] == "capacity" else ""
    there = data["rows"].loc[data["rows"]["Discharge capacity [A.h]"] > 0, "measurement_id"]
    none = not_drawn(data["chosen"], there, "no complete cycle")
    rows = rows.assign(degrees=degrees_of(rows).round(0), per=factor * rows["Discharge capacity [A.h]"] / amount)
    rows = rows.sort_values("Cycle count")
    batch, degrees = (
        rows["batch_name"].fillna("no batch"),
        rows["degrees"].map(", {:g} °C".format, na_action="ignore"),
    )
    names = {"condition": batch + names_or(degrees, ""), "batch": batch, "all": pd.Series("all", rows.index)}
    sizes = rows.groupby(names["condition"])["instance_name"].nunique()
    names["auto"] = names["condition"] if (sizes >= 6).all() else names["all"]
    rows["group"] = names[params["group"]]
    if params["quantity"] == "capacity" and base == "cell":  # what a larger cell has more is not apart
        rows["group"] = sized(rows["group"], rated_of(rows))
    last = rows.groupby("instance_name")["Cycle count"].transform("max")
    long = last >= 0.5 * last.groupby(rows["group"]).transform("median")
    common = last.where(long).groupby(rows["group"]).transform("min")
    at = rows[(rows["Cycle count"] <= common) & long]
    short = sorted(set(rows["instance_name"]) - set(at["instance_name"]))
    cells = at.groupby("instance_name").agg(
        group=("group", "first"),
        at=("Cycle count", "max"),
        first=("Discharge capacity [A.h]", "first"),
        per=("per", "first"),
        last=("Discharge capacity [A.h]", "last"),
    )
    if "Coulombic efficiency" in at:
        cells["ce"] = at.groupby("instance_name")["Coulombic efficiency"].median()
    value, title = {
        "retention": (100 * cells["last"] / cells["first"], "Retention / %"),
        "capacity": (cells["per"], f"First capacity / {unit}"),
        "ce": (100 * cells.get("ce", pd.Series(np.nan, cells.index)), "Coulombic efficiency / %"),
    }[params["quantity"]]
    cells["value"] = value
    unknown = ""
    if params["quantity"] == "ce":
        unknown = without(cells.reset_index(), cells.reset_index()["value"], "no coulombic efficiency")
        cells = cells.dropna(subset=["value"]).copy()
        if cells.empty:
            return battery.message("No chosen cell has a coulombic efficiency. Choose others.", unmet=True)
    table = battery.outliers(cells.reset_index(), value="value", cell="instance_name", group="group")
    table = table.set_index("Cell").reindex(cells.index)
    cells["n"], cells["z"] = table["n"], table["z"]
    judged = cells["n"] >= 6
    cells["outlier"] = table["Outlier"] == "yes"
    groups = sorted(cells["group"].unique())
    figure = go.Figure()
    for number, group in enumerate(groups):
        one = cells[cells["group"] == group].sort_values("value")
        offset = np.linspace(-0.2, 0.2, len(one)) if len(one) > 1 else [0.0]
        edge = np.where(one["outlier"], "#D55E00", "#888888")
        figure.add_scatter(
            x=number + np.asarray(offset),
            y=one["value"],
            mode="markers+text",
            text=np.where(one["outlier"], one.index, ""),
            textposition="middle right",
            textfont={"size": 10},
            marker={
                "size": 11,
                "color": one["z"].abs().fillna(0),
                "coloraxis": "coloraxis",
                "line": {"color": edge, "width": np.where(one["outlier"], 3, 1)},
            },
            customdata=np.column_stack([one.index, one["z"].fillna(np.nan), one["n"]]),
            hovertemplate="Cell: %{customdata[0]}<br>%{y:.4g}, z = %{customdata[1]:.2f}, n = %{customdata[2]}"
            "<extra></extra>",
            showlegend=False,
        )
        median = one["value"].median()
        figure.add_scatter(
            x=[number - 0.35, number + 0.35],
            y=[median] * 2,
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": "#777777", "width": 1.5},
        )
    axis = {
        "tickvals": list(range(len(groups))),
        "ticktext": [
            f"{name}<br>cycle {cells.loc[cells['group'] == name, 'at'].max():g}, n = {(cells['group'] == name).sum()}"
            for name in groups
        ],
    }
    figure.update_xaxes(**axis, range=[-0.6, len(groups) - 0.2], title_text="Group of cells")
    figure.update_yaxes(title_text=title)
    bar = {"title": {"text": "|z|", "side": "right"}, "thickness": 14}
    finished(figure, coloraxis={"colorscale": "Viridis", "cmin": 0, "cmax": 5, "colorbar": bar})
    few = "groups of fewer than six: a ranking, no verdict" if not judged.all() else ""
    left = f"not compared, too short: {', '.join(short[:5])}" if short else ""
    partial = incomplete(of_chosen(data, "cycles"), data["rows"])
    found = ", ".join(cells.index[cells["outlier"]])
    few = few or {"retention": "at the last cycle that all have", "ce": "median"}.get(params["quantity"], "")
    warm = [f"{group}, {heat}" for group, one in rows.groupby("group") if (heat := unlike_temperatures(one))]
    warm = f"groups of cells at unlike temperatures: {'; '.join(warm[:3])}" if warm else ""
    outlying = f"outliers (|z| > 3.5): {found}" if found else ""
    return note(
        figure,
        "; ".join(
            text
            for text in (
                outlying,
                warm,
                few,
                left,
                none,
                partial,
                own,
                beside,
                partly,
                lost,
                unknown,
                odd_degrees(rows),
            )
            if text
        ),
        data,
        params,
    )
