"""How do the cells compare in a property that is noted of them?"""

from workbench.gallery.entry import Made
from workbench.gallery.facts import MOST_LISTED
from workbench.gallery.tests_plan import choice

TITLE = "Cells compared"


def make(facts, columns, cells=None, histogram=False, source="instances"):
    called = "name" if source == "instances" else "instance_name"
    fields = ["id", called, "batch_name", "specification_name"]
    for column in columns:
        fields += [column, *([column.removesuffix(".value") + ".unit"] if column.endswith(".value") else [])]
    steps = {"cells": {"op": "list", "source": source, "fields": fields, "limit": MOST_LISTED}}
    names = cells if cells is not None else [str(row["name"]) for row in facts.rows("instances", ["name"])]
    steps["chosen"] = {"op": "list", "source": source, "where": {"ids": "$cells"}, "fields": fields}
    steps["chosen"]["limit"] = MOST_LISTED
    rows = facts.rows(source, ["id", called, columns[0]])
    ids = [str(row["id"]) for row in rows if str(row[called]) in set(names) and row[columns[0]] is not None]
    control = {"label": "Cells", "optionsFrom": {"step": "cells", "value": "id", "label": called}}
    params = {"cells": {"kind": "data", "default": ids[:400], "control": control}}
    forms = {"bars": "one bar each", "histogram": "histogram"}
    if len(columns) > 1:
        forms = {"points": "one against the other"}
    params["form"] = choice("Draw", "histogram" if histogram and len(columns) == 1 else next(iter(forms)), forms)
    params["columns"] = {"kind": "view", "default": list(columns), "control": {"label": "Properties"}}
    params["columns"]["control"]["options"] = list(columns)
    return Made(steps, params)


# The script of the figure
def titled(rows, column):
    name = (
        column.removeprefix("properties.").removesuffix(".value").rpartition(".")[2].replace("_", " ").capitalize()
    )
    unit = column.removesuffix(".value") + ".unit"
    units = rows[unit].dropna().unique() if unit in rows else []
    return battery.axis_title(f"{name} [{units[0]}]") if len(units) == 1 and units[0] != "1" else name


def transform(data, params):
    columns = params["columns"]
    rows = data["chosen"].dropna(subset=columns)
    if rows.empty or not columns:
        return battery.message("No cell to draw. Choose cells that have this property.")
    rows = rows.assign(group=rows["batch_name"].fillna("no batch"))
    if "instance_name" in rows:
        rows["name"] = rows["instance_name"]
    colors, figure = palette(sorted(rows["group"].unique())), go.Figure()
    texts = not pd.api.types.is_numeric_dtype(rows[columns[0]])
    for group, part in rows.groupby("group"):
        style = {"name": str(group), "marker": {"color": colors[group]}}
        hover = "%{text}: %{x}, %{y}<extra></extra>"
        if params["form"] == "points" and len(columns) > 1:
            figure.add_scatter(
                x=part[columns[0]],
                y=part[columns[1]],
                mode="markers",
                text=part["name"],
                hovertemplate=hover,
                **style,
            )
        elif texts:
            counts = part[columns[0]].value_counts()
            figure.add_bar(x=counts.index, y=counts, **style)
        elif params["form"] == "histogram":
            figure.add_histogram(x=part[columns[0]], bingroup="cells", nbinsx=24, **style)
        else:
            figure.add_bar(x=part["name"], y=part[columns[0]], **style)
    title = titled(rows, columns[0])
    if params["form"] == "points" and len(columns) > 1:
        figure.update_xaxes(title_text=title).update_yaxes(title_text=titled(rows, columns[1]))
    elif texts or params["form"] == "histogram":
        figure.update_xaxes(title_text=title).update_yaxes(title_text="Number of cells")
        figure.update_layout(barmode="stack")
    else:
        figure.update_yaxes(title_text=title).update_xaxes(title_text="Cell", type="category")
    return finished(figure, showlegend=rows["group"].nunique() > 1)
