"""Over which time constants is the polarisation distributed, and does the distribution give the spectrum again?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import VALID, stored_results
from workbench.gallery.tests_plan import NO_SPECTRUM, choice, per_area

TITLE = "Distribution of relaxation times"
NEEDS = "Impedance spectra, and the stored results of 'drt'."
ANALYSES = ("drt",)


def make(facts):
    columns = ("Distribution [Ohm]", "Peak", "Peak area [Ohm]", "Spectrum", "Voltage [V]", "Frequency [Hz]")
    columns += ("Z_Re [Ohm]", "Z_Im [Ohm]", "Lambda", "Peaks at lambda / 10", "Peaks at 10 lambda", "rms relative")
    steps, params = stored_results(
        facts,
        "drt",
        "eis",
        lacking=NO_SPECTRUM,
        x="Time constant [s]",
        columns=columns,
        by="measurement_name",
        most=2,
    )
    tests = [str(row["measurement_id"]) for row in facts.results("drt") if row[VALID]]
    steps["spectra"] = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "measurement_id"},
        "x": "Frequency [Hz]",
        "columns": ["Z_Re [Ohm]", "Z_Im [Ohm]", *facts.shared(tests, "series", ("Cycle count",))],
        "window": {"min": 1e-9, "max": None},
        "max_points": 5000,
    }
    shown = {"middle": "the middle one of each test", "all": "all"}
    params["shown"] = choice("Spectra", "middle", shown)
    return Made(steps, {**params, **per_area(facts)})


# The script of the figure
from plotly.subplots import make_subplots


def sweeps_of(frame, test):
    """The spectra of a test by the numbers that the analysis gives them."""
    if test in EXCLUDED_CYCLES and "Cycle count" not in frame:
        return {}  # it is not known which samples the analysis left out
    rows = not_excluded(frame, test).dropna(subset=["Frequency [Hz]", "Z_Re [Ohm]", "Z_Im [Ohm]"])
    points = battery.bode(rows) if len(rows) else pd.DataFrame({"Spectrum": []})
    return dict(list(points.groupby("Spectrum")))


def is_of(sweep, one):
    """Whether a distribution is of a sweep: its time constants go half a decade beyond the frequencies at both ends."""
    fast, slow = 2 * np.pi * sweep["Frequency [Hz]"].max(), 2 * np.pi * sweep["Frequency [Hz]"].min()
    ends = np.log10([fast * one["Time constant [s]"].min(), slow * one["Time constant [s]"].max()])
    return np.allclose(ends, [-0.5, 0.5], atol=0.02)


def transform(data, params):
    params = with_defaults(params)
    curves, said, base, lost, refused, middle = [], [], params.get("per", "cell"), 0, 0, False
    tests = data["chosen"].sort_values("start_time", na_position="last")
    if tests.empty:
        return battery.message("Choose a test that has a result.")
    tests = tests.assign(amount=amount_of(tests, base), measurement_name=called(tests, "measurement_name"))
    every = pd.concat([data["values"][id]["Z_Re [Ohm]"] for id in tests["id"]], ignore_index=True)
    factor, unit = ohm_unit(base, every)
    for _, test in tests.iterrows():
        table = data["values"][test["id"]]
        refused += int(table["Distribution [Ohm]"].isna().sum())
        table = table.dropna(subset=["Distribution [Ohm]"])
        found = [one for _, one in table.groupby("Spectrum")]
        several = len(found)
        if params["shown"] == "middle" and len(found) > 1:
            found, middle = [found[len(found) // 2]], True
        sweeps = sweeps_of(data["spectra"][test["measurement_id"]], test["measurement_id"])
        for one in found:
            name = of_spectrum(test["measurement_name"], one, several)
            sweep = sweeps.get(int(one["Spectrum"].iloc[0]))
            if sweep is None or not is_of(sweep, one):
                sweep, lost = None, lost + 1
            curves.append((name, one, sweep, factor * test["amount"]))
            first = one.iloc[0]
            few, many = sorted((first["Peaks at 10 lambda"], first["Peaks at lambda / 10"]))
            said.append(
                f"λ = {first['Lambda']:.1g}, {one['Peak'].max() + 1:g} peaks ({few:g} to {many:g} at 10 λ and λ/10)"
            )
    if not curves:
        return battery.message("The chosen tests have no distribution. Choose others.", unmet=True)
    figure = make_subplots(rows=2, row_heights=[0.53, 0.47], vertical_spacing=0.22)
    names = [name for name, *_ in curves]
    shown = battery.coloring(
        names if len(curves) <= 8 else [float(place) for place in range(len(curves))], "Spectrum"
    )
    for color, (name, one, sweep, scale) in zip(shown.colors, curves):
        style = {"name": name, "legendgroup": name, "line": {"color": color, "width": 1.8}, "mode": "lines"}
        figure.add_scatter(
            x=one["Time constant [s]"],
            y=scale * one["Distribution [Ohm]"],
            customdata=np.column_stack([one["Peak"] + 1, scale * one["Peak area [Ohm]"]]),
            hovertemplate=f"%{{x:.3g}} s: %{{y:.3g}} {unit}"
            f"<br>Peak: %{{customdata[0]:.0f}}<br>Peak area: %{{customdata[1]:.3g}} {unit}",
            row=1,
            col=1,
            **style,
        )
        style |= {"showlegend": False, "hoverinfo": "skip"}
        inside = one
        if sweep is not None:
            low, high = sweep["Frequency [Hz]"].min(), sweep["Frequency [Hz]"].max()
            inside = one[one["Frequency [Hz]"].between(0.99 * low, 1.01 * high)]
            dots = {**style, "mode": "markers", "marker": {"color": color, "size": 5, "symbol": "circle-open"}}
            size, angle = scale * sweep["Z_Mod [Ohm]"], np.radians(sweep["Minus phase [deg]"])
            figure.add_scatter(x=size * np.cos(angle), y=size * np.sin(angle), row=2, col=1, **dots)
        figure.add_scatter(x=scale * inside["Z_Re [Ohm]"], y=-scale * inside["Z_Im [Ohm]"], row=2, col=1, **style)
    figure.add_traces(shown.bar)
    decades = [10.0**power for power in range(-7, 5)]
    ticks = [f"{10.0**power:g}" if power % 2 == 0 else "" for power in range(-7, 5)]
    figure.update_xaxes(title_text="Time constant / s", type="log", tickvals=decades, ticktext=ticks, row=1, col=1)
    figure.update_yaxes(title_text=f"Distribution / {unit}", rangemode="tozero", row=1, col=1)
    figure.update_xaxes(title_text=f"Z′ / {unit}", row=2, col=1)
    figure.update_yaxes(title_text=f"−Z″ / {unit}", scaleanchor="x2", scaleratio=1, row=2, col=1)
    worst = max(float(one["rms relative"].iloc[0]) for _, one, *_ in curves)
    is_open = any(
        one["Distribution [Ohm]"].iloc[-1] > 0.01 * one["Distribution [Ohm]"].max() for _, one, *_ in curves
    )
    more = "; the last peak goes on below the lowest frequency" if is_open else ""
    more += "; of each test the spectrum in the middle" if middle else ""
    more += f"; without dots: {lost}, whose samples are not those of the distribution" if lost else ""
    more += f"; no distribution of {refused} spectra, whose fit or Kramers-Kronig test fails" if refused else ""
    bare = without_amount(tests, tests["amount"])
    more += f"; {bare}" if bare else ""
    several = f"; and {len(said) - 2} more" if len(said) > 2 else ""
    finished(figure, showlegend=shown.legend)
    return note(
        figure,
        f"{'; '.join(said[:2])}{several}; below: line from the distribution, rms {100 * worst:.1g} %{more}",
        data,
        params,
    )
