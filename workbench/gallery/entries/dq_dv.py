"""How do the features of dQ/dV move and shrink from the first check-up to the last?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per

TITLE = "dQ/dV, first and last"
NEEDS = "Check-ups or slow cycles of one cell; or its cycles, which are marked as fast."
LACKING = "No test has a slow charge or discharge. Ingest a check-up (RPT) or a cycle at C/10 or slower."


READS = Reads("series", ("Time [s]", "Voltage [V]", "Current [A]"), ("Cycle count",))


def make(facts):
    slow = facts.tests("rpt", "pocv", "formation")
    tests = drawable(facts, slow or facts.tests("rate", "ageing"), LACKING, READS)
    cells = {}
    for one in tests:
        cells.setdefault(one.cell, []).append(one)
    most = max(cells.values(), key=len, default=[])
    steps, params = chosen_tests(facts, [*most, *(one for one in tests if one not in most)], by="name", most=12)
    params["tests"]["default"] = list(dict.fromkeys(one.name for one in most))[:12]
    if "cells" in params:
        params["cells"]["default"] = [most[0].cell]
    steps["samples"] = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "id"},
        "x": "Time [s]",
        "columns": READS.columns(facts, tests)[1:],
        "max_points": 5000,
    }
    params["direction"] = choice("Direction", "charge", {"charge": "charge", "discharge": "discharge"})
    label = {"label": "Smoothing / mV", "min": 2.0, "max": 100.0, "step": 2.0}
    params["smooth"] = {"kind": "view", "default": 20.0, "control": label}
    params["all"] = {"kind": "view", "default": True, "control": {"label": "Show those between first and last"}}
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def whole_halves(frame, direction):
    """The half cycles that pass most of the charge, with the charge that each passed."""
    found = [half for half in battery.half_cycles(frame) if half.direction == direction]
    found = [(half, battery.charge_passed(half.frame, direction)) for half in found if len(half.frame) > 20]
    most = max((charge[-1] for _, charge in found), default=0)
    return [(half, charge) for half, charge in found if charge[-1] > 0.6 * most]


def transform(data, params):
    curves, base = [], params.get("per", "cell")
    factor, unit = capacity_unit(base)
    tests = data["chosen"].sort_values("start_time", na_position="last")
    tests = tests.assign(amount=amount_of(tests, base), name=called(tests))
    for _, test in tests.iterrows():
        halves = whole_halves(not_excluded(data["samples"][test["id"]], test["id"]), params["direction"])
        if not halves:
            continue
        slowest = min(halves, key=lambda one: one[0].frame["Current [A]"].abs().mean())
        chosen = [slowest] if len(data["chosen"]) > 1 else halves
        for half, charge in chosen:
            rate = half.frame["Current [A]"].abs().mean() / charge[-1]
            counted = len(chosen) > 1 and "Cycle count" in half.frame
            cycle = f", cycle {half.frame['Cycle count'].iloc[0]:g}" if counted else ""
            curves.append((f"{test['name']}{cycle}", half, factor * charge / test["amount"], rate))
    if not curves:
        return battery.message(f"The chosen tests have no whole {params['direction']}. Choose others.")
    if not params["all"]:
        curves = [curves[0], curves[-1]] if len(curves) > 1 else curves
    figure = go.Figure()
    seen = []
    shown = battery.coloring([float(place) for place in range(len(curves))], "Order in time")
    for color, (name, half, charge, rate) in zip(shown.colors, curves):
        voltage, slope = battery.differential_capacity(
            half.frame["Voltage [V]"], charge, step=0.002, smooth=params["smooth"] / 1000
        )
        high = np.abs(slope) > 0.02 * np.abs(slope).max()
        seen += [voltage[high].min(), voltage[high].max()]
        figure.add_scatter(
            x=voltage,
            y=np.abs(slope),
            mode="lines",
            name=name,
            showlegend=shown.legend,
            line={"color": color},
            hovertemplate="%{x:.3f} V: %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    figure.add_traces(shown.bar)
    margin = 0.03 * (max(seen) - min(seen))
    figure.update_xaxes(title_text="Voltage / V", range=[min(seen) - margin, max(seen) + margin])
    figure.update_yaxes(title_text=f"dQ/dV on {params['direction']} / {unit} V⁻¹", rangemode="tozero")
    finished(figure)
    fast = max(rate for *_, rate in curves)
    warned = f"; up to {fast:.2g} C: peaks are shifted by polarisation" if fast > 0.21 else ""
    lost = without_amount(tests, tests["amount"])
    untimed = (
        "no start times: in the order of ingest" if len(tests) > 1 and tests["start_time"].isna().any() else ""
    )
    cell = tests["instance_name"].iloc[0] if tests["instance_name"].nunique() == 1 else ""
    said = (str(cell), f"window {params['smooth']:g} mV{warned}", untimed, lost)
    return note(figure, "; ".join(text for text in said if text))
