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
PREFIXES = {
    "n": 1e-9,
    "µ": 1e-6,
    "μ": 1e-6,
    "u": 1e-6,
    "m": 1e-3,
    "c": 1e-2,
    "d": 0.1,
    "k": 1e3,
    "M": 1e6,
    "": 1.0,
}
BASES = {
    name: (name, 1.0) for name in ("g", "A", "V", "W", "Ohm", "m", "s", "Hz", "F", "J", "N", "Pa", "mol", "L")
}
BASES |= {"min": ("s", 60.0), "h": ("s", 3600.0)}


def scaled(unit):
    """What a unit measures, as powers of base units, and how large it is in them. One that is not known measures
    itself."""
    size, powers = 1.0, {}
    plain = unit.replace("Ah", "A.h").replace("Wh", "W.h").replace("Ω", "Ohm").replace("ohm", "Ohm")
    for place, part in enumerate(plain.split("/")):
        for factor in re.split(r"[ .·⋅*]+", part.strip("() ")):
            found = re.fullmatch(r"([^\d^\-]+)\^?(\d?)", factor)
            if factor in ("", "1"):
                continue
            name, power = (found[1], int(found[2] or 1)) if found else (factor, 1)
            prefix, base = ("", name) if name in BASES else (name[:1], name[1:])
            if not found or base not in BASES or prefix not in PREFIXES:
                return unit, 1.0
            power = -power if place else power
            base, many = BASES[base]
            size *= (PREFIXES[prefix] * many) ** power
            powers[base] = powers.get(base, 0) + power
    return tuple(sorted((base, power) for base, power in powers.items() if power)), size


def in_one_unit(rows, column):
    """The rows with a property in the unit that most of them have, without those whose unit does not convert to it:
    rows, unit, and names of those left out."""
    held = column.removesuffix(".value") + ".unit"
    if held not in rows or not rows[held].notna().any():
        return rows, "", []
    units = rows[held].fillna("").astype(str).str.strip()
    known = units[units != ""]
    if known.empty:
        return rows, "", []
    unit = known.mode()[0] if (known.value_counts() > 1).any() else known.iloc[0]
    measures, size = scaled(unit)
    factors = {one: scaled(one)[1] / size if scaled(one)[0] == measures else np.nan for one in units.unique()}
    factors |= {unit: 1.0, **({} if unit == "1" else {"": np.nan})}
    factor = units.map(factors)
    kept = rows[factor.notna()]
    return kept.assign(**{column: kept[column] * factor[factor.notna()]}), unit, [*rows.loc[factor.isna(), "name"]]


def titled(column, unit):
    name = (
        column.removeprefix("properties.").removesuffix(".value").rpartition(".")[2].replace("_", " ").capitalize()
    )
    return battery.axis_title(f"{name} [{unit}]") if unit not in ("", "1") else name


def transform(data, params):
    columns = params["columns"]
    rows = data["chosen"].dropna(subset=columns)
    if rows.empty or not columns:
        return battery.message("No cell to draw. Choose cells that have this property.")
    rows = rows.assign(group=rows["batch_name"].fillna("no batch"))
    if "instance_name" in rows:
        rows["name"] = rows["instance_name"]
    units, lost = {}, {}
    for column in columns:
        if pd.api.types.is_numeric_dtype(rows[column]):
            rows, units[column], names = in_one_unit(rows, column)
            lost.update(dict.fromkeys(names))
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
    title = titled(columns[0], units.get(columns[0], ""))
    if params["form"] == "points" and len(columns) > 1:
        figure.update_xaxes(title_text=title).update_yaxes(
            title_text=titled(columns[1], units.get(columns[1], ""))
        )
    elif texts or params["form"] == "histogram":
        figure.update_xaxes(title_text=title).update_yaxes(title_text="Number of cells")
        figure.update_layout(barmode="stack")
    else:
        figure.update_yaxes(title_text=title).update_xaxes(title_text="Cell", type="category")
    finished(figure, showlegend=rows["group"].nunique() > 1)
    if lost:
        few = ", ".join(str(name) for name in list(lost)[:5]) + (" ..." if len(lost) > 5 else "")
        above(figure, f"left out, since the unit is unknown or of another quantity: {few}", "#555555", 2)
    return figure
