"""How do the features of dQ/dV move and shrink from the first check-up to the last?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_SLOW_CYCLE, Reads, choice, chosen_tests, drawable, per
from workbench.recipe.steps.series import MOST_POINTS

TITLE = "dQ/dV, first and last"
NEEDS = "Check-ups or slow cycles of one cell; or its cycles, which are marked as fast."


READS = Reads("series", ("Time [s]", "Voltage [V]", "Current [A]"), ("Cycle count",))


def make(facts):
    slow = facts.tests("rpt", "pocv", "formation")
    needs = READS if slow else Reads("series", ("Time [s]", "Voltage [V]", "Current [A]", "Cycle count"))
    tests = drawable(facts, slow or facts.tests("ageing") or facts.tests("rate"), NO_SLOW_CYCLE, needs)
    cells = {}
    for one in tests:
        cells.setdefault(one.cell, []).append(one)
    most = max(cells.values(), key=len, default=[])
    steps, params = chosen_tests(facts, [*most, *(one for one in tests if one not in most)], by="name", most=12)
    params["tests"]["default"] = list(dict.fromkeys(one.name for one in most))[:12]
    if "cells" in params:
        params["cells"]["default"] = [most[0].cell]
    read = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "id"},
        "max_points": MOST_POINTS,
    }
    if slow:
        steps["samples"] = {**read, "x": "Time [s]", "columns": READS.columns(facts, tests)[1:]}
    else:  # whole cycles: a test of many cycles has more samples than a plan reads
        last = min((facts.cycles_in(one) for one in most), default=2) - 2
        for step, cycle in (("early", 1), ("late", max(last, 1))):
            window = {"min": f"${step}", "max": f"${step}"}
            steps[step] = {**read, "x": "Cycle count", "columns": [*READS.needs], "window": window}
            label = {"label": f"{step.capitalize()} cycle count", "min": 0, "max": 1000000}
            params[step] = {"kind": "data", "default": cycle, "control": label}
    params["direction"] = choice("Direction", "charge", {"charge": "charge", "discharge": "discharge"})
    label = {
        "label": "Smoothing / mV",
        "description": "Width of the window. Empty: the widest of up to 20 mV that keeps the height of the peaks.",
        "min": 1.0,
        "max": 100.0,
        "step": 1.0,
    }
    params["smooth"] = {"kind": "view", "default": None, "control": label}
    params["all"] = {"kind": "view", "default": True, "control": {"label": "Show those between first and last"}}
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def constant_current(frame):
    """How many samples are before the tail at constant voltage, whose falling current says nothing of dQ/dV."""
    current, voltage = frame["Current [A]"].abs(), frame["Voltage [V]"]
    away = (voltage - voltage.iloc[-1]).abs() > 0.005
    usual = current[away].median()
    return int(np.flatnonzero(current >= 0.8 * usual)[-1]) + 1 if away.any() else len(frame)


def whole_halves(frame, direction):
    """The half cycles that pass most of the charge, without their tails at constant voltage: name, frame, charge."""
    found = []
    for half in battery.half_cycles(frame) if len(frame) else ():
        if half.direction == direction and len(half.frame) > 20:
            charge, n = battery.charge_passed(half.frame, direction), constant_current(half.frame)
            found.append((half.frame.iloc[:n], charge[:n]))
    most = max((charge[-1] for _, charge in found), default=0)
    return [(frame, charge) for frame, charge in found if charge[-1] > 0.6 * most]


def curves_of(data, params, test):
    """The curves of a test: of the two cycles that are read, or of its slowest half cycle; of one test alone all."""
    if "samples" not in data:
        for step in ("early", "late"):
            rows = not_excluded(data[step][test["id"]], test["id"])
            for frame, charge in whole_halves(rows, params["direction"])[:1]:
                yield f"{test['name']}, cycle {params[step]:g}", frame, charge
        return
    halves = whole_halves(not_excluded(data["samples"][test["id"]], test["id"]), params["direction"])
    slowest = sorted(halves, key=lambda one: one[0]["Current [A]"].abs().mean())[:1]
    chosen = slowest if len(data["chosen"]) > 1 else halves
    for frame, charge in chosen:
        counted = len(chosen) > 1 and "Cycle count" in frame
        cycle = f", cycle {frame['Cycle count'].iloc[0]:g}" if counted else ""
        yield f"{test['name']}{cycle}", frame, charge


def transform(data, params):
    params = with_defaults(params)
    curves, base = [], params.get("per", "cell")
    tests = data["chosen"].sort_values("start_time", na_position="last")
    tests = tests.assign(amount=amount_of(tests, base), name=called(tests))
    drawn = set(tests.loc[tests["amount"].isna(), "id"])  # these are named beside
    for _, test in tests[tests["amount"].notna()].iterrows():
        for name, frame, charge in curves_of(data, params, test):
            drawn.add(test["id"])
            rate = frame["Current [A]"].abs().mean() / charge[-1]
            number = sum(name == one[0].split(" (")[0] for one in curves)
            curves.append((f"{name} ({number + 1})" if number else name, frame, charge / test["amount"], rate))
    if not curves:
        if unknown := no_amount(tests["amount"], base):
            return unknown
        return battery.message(
            f"The chosen tests have no whole {params['direction']}. Choose others, or the other direction."
        )
    if not params["all"]:
        curves = [curves[0], curves[-1]] if len(curves) > 1 else curves
    factor, unit = capacity_unit(base, [charge[-1] for _, _, charge, _ in curves])
    figure = go.Figure()
    given = params["smooth"] and params["smooth"] / 1000
    window = battery.smoothing_window([(frame["Voltage [V]"], charge) for _, frame, charge, _ in curves], given)
    seen = []
    shown = battery.coloring([float(place) for place in range(len(curves))], "Order in time")
    for color, (name, frame, charge, rate) in zip(shown.colors, curves):
        voltage, slope = battery.differential_capacity(
            frame["Voltage [V]"], factor * charge, step=window.step, smooth=window.width
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
    warned = f"; {window.said}" if window.said else ""
    warned += f"; up to {fast:.2g} C: peaks are shifted by polarisation" if fast > 0.21 else ""
    lost = without_amount(tests, tests["amount"])
    untimed = (
        "no start times: in the order of ingest" if len(tests) > 1 and tests["start_time"].isna().any() else ""
    )
    cell = tests["instance_name"].iloc[0] if tests["instance_name"].nunique() == 1 else ""
    one = "one curve alone: there is no later one to compare it with" if len(curves) == 1 else ""
    none = not_drawn(tests, drawn, f"no whole {params['direction']}")
    said = (str(cell), f"window {1000 * window.width:g} mV{warned}", one, untimed, none, lost)
    return note(figure, "; ".join(text for text in said if text), data, params)
