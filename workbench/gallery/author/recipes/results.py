"""What do the stored results of an analysis say?"""

from workbench.gallery.entry import Made
from workbench.gallery.facts import MOST_LISTED
from workbench.gallery.tests_plan import choice

TITLE = "Stored results"
MOST_DRAWN = 100


def make(facts, source, x, columns, ids=None):
    fields = ["id", "name"] + (["instance_name", "measurement_name"] if source == "analyses" else [])
    fields += ["material_name"] if source == "materialProperties" else []
    steps = {"records": {"op": "list", "source": source, "fields": fields, "limit": MOST_LISTED}}
    steps["values"] = {
        "op": "series",
        "source": source,
        "ids": {"from": "records", "column": "id"},
        "x": x,
        "columns": list(columns),
        "max_points": 2000,
    }
    params = {}
    if ids is not None:
        steps["all"] = dict(steps["records"])
        steps["records"] = {**steps["records"], "where": {"ids": "$records"}}
        control = {"label": "Records", "optionsFrom": {"step": "all", "value": "id", "label": "name"}}
        params["records"] = {"kind": "data", "default": ids[:MOST_DRAWN], "control": control}
    params |= {"quantity": choice("Quantity", columns[0], {name: name for name in columns})}
    params["x"] = choice("Over", x, {x: x})
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    records, column, over = data["records"], params["quantity"], params["x"]
    figure = go.Figure()
    name_of = next(name for name in ("instance_name", "material_name", "name") if name in records)
    many = records[name_of].duplicated(keep=False)
    colors = palette(sorted(records[name_of].dropna().unique()))
    for (_, record), repeated in zip(records.iterrows(), many):
        rows = data["values"][record["id"]][[over, column]].dropna()
        if rows.empty:
            continue
        # A capacity that begins again: no line joins one half cycle to the next.
        again = rows[over].diff().abs() > 0.5 * (rows[over].max() - rows[over].min())
        lines = [part for _, part in rows.groupby(again.cumsum())] if len(rows) > 10 else [rows]
        rows = pd.concat([pd.concat([part, part.tail(1) * np.nan]) for part in lines]).iloc[:-1]
        name = str(record["name"]) if repeated else str(record[name_of])
        figure.add_scatter(
            x=rows[over],
            y=rows[column],
            mode="lines+markers" if len(rows) < 60 else "lines",
            line={
                "color": colors.get(record[name_of]),
                "dash": DASHES[len(figure.data) % 4] if repeated else "solid",
            },
            name=name,
        )
    if not figure.data:
        return battery.message("No record has these values.")
    figure.update_xaxes(title_text=battery.axis_title(over))
    figure.update_yaxes(title_text=battery.axis_title(column))
    return finished(figure)
