"""How many tests or cells are there, by batch, protocol, design or cell?"""

from workbench.gallery.entry import Made, Unmet
from workbench.gallery.facts import MOST_LISTED
from workbench.gallery.tests_plan import choice

TITLE = "How many"
LACKING = "The store has none of these records. Ingest a file: workbench ingest FILE."
COLUMNS = {
    "measurements": {
        "batch_name": "batch",
        "protocol.name": "protocol",
        "specification_name": "design",
        "instance_name": "cell",
        "measurement_type": "type",
        "tags": "tags",
    },
    "instances": {"batch_name": "batch", "specification_name": "design"},
}


def make(facts, source, by):
    if not facts.catalog[source].records:
        raise Unmet(LACKING)
    filled = {one.name for one in [*facts.catalog[source].columns, *facts.catalog[source].names] if one.filled}
    there = {name: text for name, text in COLUMNS[source].items() if name in filled}
    fields = ["id", "name", *there]
    steps = {"records": {"op": "list", "source": source, "fields": fields, "limit": MOST_LISTED}}
    default = by if by in there else next(iter(there))
    params = {"by": choice("By", default, there)}
    params["what"] = choice("Count", source, {source: "tests" if source == "measurements" else "cells"})
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    rows = data["records"]
    if rows.empty:
        return battery.message("There is nothing to count.")
    counts = rows[params["by"]].fillna("none").astype(str).replace("", "none").value_counts()
    things = "tests" if params["what"] == "measurements" else "cells"
    figure = go.Figure()
    figure.add_bar(
        x=counts.index, y=counts, text=counts, marker={"color": battery.PALETTE[0]}, name=f"Number of {things}"
    )
    figure.update_yaxes(title_text=f"Number of {things}", rangemode="tozero")
    title = params["by"].replace("_name", "").replace(".name", "").replace("_", " ").capitalize()
    figure.update_xaxes(title_text=title, type="category")
    return finished(figure, showlegend=False)
