"""How do the charge and discharge curves change with age?"""

from workbench.analyses.test_kinds import KINDS
from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per
from workbench.recipe.steps.series import MOST_POINTS

TITLE = "Voltage curves"
NEEDS = "Tests with cycles."
LACKING = "No test with cycles. Ingest a cycler file."


READS = Reads("series", ("Cycle count", "Time [s]", "Voltage [V]", "Current [A]"))


def make(facts):
    liked = facts.tests("ageing") or facts.tests("rate", "formation", "rpt", "pocv") or facts.tests()
    # A test with spectra between its charges is of another kind too, and has voltage curves.
    others = {one.id for one in facts.tests(*(kind for kind in KINDS if kind != "eis"))}
    impedance = {one.id for one in facts.tests("eis")} - others
    liked = [one for one in liked if one.id not in impedance]
    tests = drawable(facts, liked, LACKING, READS)
    steps, params = chosen_tests(facts, tests, most=1, by="name")
    for step in ("early", "middle", "late"):
        steps[step] = {
            "op": "series",
            "source": "measurements",
            "ids": {"from": "chosen", "column": "id"},
            "x": "Cycle count",
            "columns": ["Time [s]", "Voltage [V]", "Current [A]"],
            "window": {"min": f"${step}", "max": f"${step}"},
            "max_points": MOST_POINTS,  # without all samples of a cycle the charge passed is only near to it
        }
    # The last cycle may not be whole.
    late = min(100, max(facts.cycles_in(tests[0]) - 2, 2)) if facts.tests("ageing") else 2
    for step, value in {"early": int(late > 2), "middle": late // 2, "late": late}.items():
        label = f"{step.capitalize()} cycle count"
        params[step] = {"kind": "data", "default": value, "control": {"label": label, "min": 0, "max": 1000000}}
    shown = {"both": "both", "charge": "charge", "discharge": "discharge"}
    params["direction"] = choice("Half cycles", "both", shown)
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    tests = data["chosen"]
    if tests.empty:
        return battery.message("Choose a test.")
    base = params.get("per", "cell")
    tests = tests.assign(amount=amount_of(tests, base))
    steps = [step for step in ("early", "middle", "late") if params[step] is not None]
    cycles = {params[step]: step for step in reversed(steps)}  # a cycle that is named twice is drawn once
    cycles = dict(sorted(cycles.items()))
    shades = dict(zip(cycles, battery.sequential(len(cycles))))
    # A test has a dash of its own, and where there are more tests than dashes a colour.
    many, colors = len(tests) > len(DASHES), distinct(list(tests["id"]))
    names = tests["instance_name"].where(
        ~tests["instance_name"].duplicated(keep=False), tests.apply(of_cell, axis=1)
    )
    figure, curves, lacking = go.Figure(), [], {}
    for number, (place, test) in enumerate(tests.iterrows()):
        for turn, (cycle, step) in enumerate(cycles.items()):
            frame = not_excluded(data[step][test["id"]], test["id"])
            halves = battery.half_cycles(frame) if len(frame) else []
            halves = [half for half in halves if params["direction"] in ("both", half.direction)]
            if not halves:
                lacking.setdefault(str(names[place]), []).append(f"{cycle:g}")
            for half in halves:
                label = f"cycle {cycle:g}" + (f", {names[place]}" if len(tests) > 1 else "")
                charge = battery.charge_passed(half.frame, half.direction)
                line = {"color": shades[cycle], "dash": DASHES[number % len(DASHES)]}
                line = {"color": colors[test["id"]], "dash": DASHES[turn]} if many else line
                curves.append((label, half, charge, test["amount"], line))
    factor, unit = capacity_unit(base, [np.nanmax(charge) for _, _, charge, *_ in curves])
    for label, half, charge, amount, line in curves:
        figure.add_scatter(
            x=factor * charge / amount,
            y=half.frame["Voltage [V]"],
            mode="lines",
            name=label,
            legendgroup=label,
            showlegend=not any(trace.name == label for trace in figure.data),
            line=line,
            hovertemplate=f"{half.direction}, {label}: %{{x:.4g}}, %{{y:.3f}} V<extra></extra>",
        )
    if not figure.data:
        return battery.message("The chosen cycles are not in this test. Choose others: cycles count from 0.")
    figure.update_xaxes(title_text=f"Charge passed / {unit}", rangemode="tozero")
    figure.update_yaxes(title_text="Voltage / V")
    finished(figure)
    ends = name_ends(figure)
    lost = without_amount(tests, tests["amount"])
    more = f" and {len(tests) - 4} more" if len(tests) > 4 else ""
    by_cycles = {}
    for name, missing in lacking.items():
        by_cycles.setdefault(", ".join(missing), []).append(name)
    none = [
        f"no curve of cycle {missing}: {', '.join(of[:4])}{f' and {len(of) - 4} more' if len(of) > 4 else ''}"
        for missing, of in by_cycles.items()
    ]
    said = (", ".join(called(tests)[:4]) + more, *none, lost, ends)
    return note(figure, "; ".join(text for text in said if text), data, params)
