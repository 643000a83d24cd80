"""Which part of the impedance grows with age, and does it depend on the state of charge?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_SPECTRUM, Reads, choice, chosen_tests, drawable, per_area

TITLE = "Impedance: Nyquist and Bode"
NEEDS = "Impedance spectra."


VOLTAGE = "Voltage [V]"
READS = Reads("series", ("Frequency [Hz]", "Z_Re [Ohm]", "Z_Im [Ohm]"), ("Cycle count", VOLTAGE))


def make(facts):
    tests = drawable(facts, facts.tests("eis"), NO_SPECTRUM, READS)
    cells = {}
    for one in tests:
        cells.setdefault(one.cell, []).append(one.name)
    steps, params = chosen_tests(facts, tests, "eis", by="name", most=6)
    fullest = max(cells, key=lambda cell: len(cells[cell]))
    params["tests"]["default"] = list(dict.fromkeys(cells[fullest]))[:6]
    if "cells" in params:
        params["cells"]["default"] = [fullest]
    steps["spectra"] = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "id"},
        "x": "Frequency [Hz]",
        "columns": READS.columns(facts, tests),
        "window": {"min": 1e-9, "max": None},
        "max_points": 5000,
    }
    volted = [one.id for one in tests if facts.of_any([one.id], "series", [VOLTAGE])]
    if 0 < len(volted) < len(tests):  # a plan fails where all that it reads lack a column
        same = {"op": "join", "left": "chosen", "right": "tests", "on": {"left": "id", "right": "id"}}
        steps["volted"] = {**same, "fields": ["name"], "where": {"id": [*volted]}}
        ids = {"from": "volted", "column": "id"}
        steps["voltages"] = {**steps["spectra"], "ids": ids, "columns": [VOLTAGE]}
    shown = {"middle": "the middle one of each test", "all": "all"}
    params["spectra"] = choice("Spectra", "middle", shown)
    params["show"] = choice("Show", "both", {"both": "Nyquist and Bode", "nyquist": "Nyquist", "bode": "Bode"})
    params["decades"] = {"kind": "view", "default": False, "control": {"label": "Mark the decades of frequency"}}
    return Made(steps, {**params, **per_area(facts)})


# The script of the figure
from plotly.subplots import make_subplots


def spectra_of(frame):
    """The spectra of a test: a new one where the cycle changes, or the frequency goes back by a decade."""
    logs = np.log10(frame["Frequency [Hz]"].to_numpy())
    turns = np.r_[False, np.abs(np.diff(logs)) >= 1]
    if "Cycle count" in frame:
        turns |= np.r_[False, np.diff(frame["Cycle count"].fillna(0).to_numpy()) != 0]
    return [part for _, part in frame.groupby(np.cumsum(turns)) if len(part) >= 5]


def with_voltages(data, id):
    """The samples of a test, with its voltage where other tests have none."""
    frame = data["spectra"][id]
    if id in data.get("voltages", ()):
        return frame.assign(**{"Voltage [V]": data["voltages"][id]["Voltage [V]"].reindex(frame.index)})
    return frame


def panels(show):
    """The figure, and the cells of its three panels; None for one that is not shown."""
    if show == "nyquist":
        return make_subplots(), ({"row": 1, "col": 1}, None, None)
    if show == "bode":
        figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06)
        return figure, (None, {"row": 1, "col": 1}, {"row": 2, "col": 1})
    rows = [[{"colspan": 2}, None], [{}, {}]]
    figure = make_subplots(
        rows=2, cols=2, specs=rows, row_heights=[0.58, 0.42], horizontal_spacing=0.2, vertical_spacing=0.19
    )
    return figure, ({"row": 1, "col": 1}, {"row": 2, "col": 1}, {"row": 2, "col": 2})


def transform(data, params):
    params = with_defaults(params)
    base = params.get("per", "cell")
    tests = data["chosen"].sort_values("start_time", na_position="last")
    tests = tests.assign(amount=amount_of(tests, base), name=called(tests))
    if tests.empty:
        return battery.message("Choose a test.")
    every = pd.concat([data["spectra"][id]["Z_Re [Ohm]"] for id in tests["id"]], ignore_index=True)
    factor, unit = ohm_unit(base, every)
    curves, middle, drawn = [], False, set(tests.loc[tests["amount"].isna(), "id"])
    for _, test in tests[tests["amount"].notna()].iterrows():
        found = spectra_of(not_excluded(with_voltages(data, test["id"]), test["id"]))
        drawn |= {test["id"]} if found else set()
        if params["spectra"] == "middle" and len(found) > 1 and len(tests) > 1:
            found, middle = [found[len(found) // 2]], True
        for spectrum in found:
            volts = spectrum["Voltage [V]"].mean() if "Voltage [V]" in spectrum else np.nan
            label = f"{test['name']}" + (f", {volts:.2f} V" if volts == volts else "")
            curves.append((label, spectrum, factor * test["amount"]))
    if not curves:
        if unknown := no_amount(tests["amount"], base):
            return unknown
        return battery.message(
            "The chosen tests have no spectrum of five points or more. Choose others.", unmet=True
        )
    figure, (nyquist, size, phase) = panels(params["show"])
    named = len(tests) > 1 and len(curves) <= 8
    values = [name for name, *_ in curves] if named else [float(place) for place in range(len(curves))]
    shown = battery.coloring(values, "Order in time")
    sizes = [factor * np.hypot(spectrum["Z_Re [Ohm]"], spectrum["Z_Im [Ohm]"]) for _, spectrum, factor in curves]
    for color, (name, spectrum, factor) in zip(shown.colors, curves):
        real, minus = factor * spectrum["Z_Re [Ohm]"], -factor * spectrum["Z_Im [Ohm]"]
        frequency = spectrum["Frequency [Hz]"]
        style = {
            "mode": "lines+markers",
            "line": {"color": color, "width": 1.4},
            "marker": {"size": 4, "color": color},
        }
        style |= {"name": name, "legendgroup": name, "showlegend": shown.legend}
        hover = (
            f"Frequency: %{{customdata:.3~s}}Hz<br>%{{x:.4g}}, %{{y:.4g}} {unit}<extra>%{{fullData.name}}</extra>"
        )
        if nyquist:
            figure.add_scatter(x=real, y=minus, customdata=frequency, hovertemplate=hover, **style, **nyquist)
            power = np.log10(frequency)
            at = np.isclose(power, power.round(), atol=0.02) if params["decades"] else np.zeros(len(power), bool)
            ring = {"symbol": "circle-open", "size": 9, "color": color, "line": {"width": 1.6}}
            if at.any():
                rings = {"mode": "markers", "marker": ring, "legendgroup": name, "showlegend": False}
                figure.add_scatter(x=real[at], y=minus[at], hoverinfo="skip", **rings, **nyquist)
            style["showlegend"] = False
        if size:
            figure.add_scatter(x=frequency, y=np.hypot(real, minus), **style, **size)
            style["showlegend"] = False
            figure.add_scatter(x=frequency, y=np.degrees(np.arctan2(minus, real)), **style, **phase)
    if nyquist:
        figure.update_xaxes(title_text=f"Z′ / {unit}", **nyquist)
        figure.update_yaxes(title_text=f"−Z″ / {unit}", scaleanchor="x", scaleratio=1, **nyquist)
    if size:
        figure.update_yaxes(title_text=f"|Z| / {unit}", **log_ticks(np.concatenate(sizes)), **size)
        figure.update_yaxes(title_text="−Phase / °", **phase)
        # Panels beside each other are too narrow for a tick a decade.
        frequencies = np.concatenate([spectrum["Frequency [Hz]"] for _, spectrum, _ in curves])
        ticks = {"type": "log"} if nyquist else log_ticks(frequencies)
        figure.update_xaxes(**ticks, title_text="Frequency / Hz" if nyquist else "", **size)
        figure.update_xaxes(**ticks, title_text="Frequency / Hz", **phase)
    figure.add_traces(shown.bar)
    finished(figure, showlegend=shown.legend)
    rings = "rings: decades of frequency" if nyquist and params["decades"] else ""
    one = "of each test the spectrum in the middle" if middle else ""
    none = not_drawn(tests, drawn, "no spectrum of five points or more")
    said = (one, rings, none, without_amount(tests, tests["amount"]))
    return note(figure, "; ".join(text for text in said if text), data, params)
