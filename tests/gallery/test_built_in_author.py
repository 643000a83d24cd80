"""The built-in author: a wish in one of four languages becomes a fitting plot, or words that say what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cells_that_fade import samples
from support.local_and_remote import sides

import workbench as wb
from workbench.authoring import CheckedAnswer
from workbench.authoring.examples import answer
from workbench.gallery.author import written
from workbench.gallery.author.forms import DETAILS, FORMS, Form
from workbench.gallery.author.matching import cycles_in, degrees, language_of, percents
from workbench.gallery.author.nearest import unknown_subjects
from workbench.gallery.author.recipe_words import WORDS
from workbench.gallery.author.sentences import _SENTENCES
from workbench.gallery.author.wish import Wish
from workbench.gallery.catalog import entries
from workbench.gallery.facts import Facts

# The wish, a part of the title of what it becomes, a part of what is chosen in it, and a part of the name of a trace.
DRAWN = [
    (
        "Plot capacity fade by batch and mark where each cell falls below 80 %.",
        "marked at 80 %",
        "",
        "LFP-C|A|B|C",
    ),
    ("Which cells fade fastest?", "Capacity fade", "", "A, 25 °C"),
    ("discharge capacity of all cells", "Discharge capacity by cycle", "", ""),
    ("Ladekapazität", "Charge capacity by cycle", "", ""),
    ("Zeige den Kapazitätsverlust der Zellen aus Charge A", "Capacity fade", "M50-A-01", "A,"),
    ("Montre la perte de capacité par lot", "Capacity fade", "", "B,"),
    ("显示批次 B 的容量衰减", "Capacity fade", "M50-B-01", "B,"),
    ("Lebensdauer der Zellen bis 85 %", "End of life", "85", ""),
    ("Voltage over time during the highway drive cycle", "Voltage over time", "drive_highway", "highway"),
    ("Stromverlauf im Fahrzyklus urban von M50-A-02", "Current over time", "drive_urban", "urban"),
    (
        "Tension et courant au cours du temps pour M50-A-01_HPPC_fresh",
        "Voltage, current",
        "HPPC_fresh",
        "HPPC_fresh",
    ),
    ("Nyquist plot of M50-A-01, fresh and aged", "Nyquist", "M50-A-01_EIS_aged", ""),
    ("阻抗谱 M50-A-03", "Nyquist", "M50-A-03_EIS_aged", ""),
    (
        "Internal resistance over state of charge for the LFP cells, on discharge",
        "Resistance by",
        "LFP-C-01",
        "LFP",
    ),
    ("How does the resistance increase with ageing at 30 % SOC?", "Growth of resistance", "30", ""),
    ("Coulombic efficiency by cycle for batch B", "Efficiency", "M50-B-04", "M50-B"),
    ("Energiewirkungsgrad je Zyklus", "Efficiency", "", ""),
    ("dQ/dV of M50-B-01 on charge, first and last check-up", "dQ/dV", "M50-B-01_RPT0", ""),
    ("Discharge curves of M50-A-04 at cycles 10, 50 and 100", "Voltage curves", "cycles 10, 50, 100", "cycle 9"),
    ("Courbes de décharge de LFP-C-01", "Voltage curves", "LFP-C-01_ageing", "cycle"),
    ("Mean temperature per cycle of each cell", "Mean temperature by cycle", "each cell", "M50-A-01"),
    ("How long does each cycle take?", "Cycle duration by cycle", "", "A"),
    ("Number of tests per protocol", "Number of tests by protocol", "", "tests"),
    ("Wie viele Zellen gibt es je Charge?", "Number of cells", "", "cells"),
    ("Histogram of the initial capacity of all cells", "Initial capacity", "", "A"),
    ("Initial resistance against initial capacity", "nitial capacity", "", "A"),
    ("Rate capability of the pouch cells", "Rate capability", "PCH", ""),
    ("Ragone plot", "Ragone", "", ""),
    ("Outliers among the cells of batch A", "Outliers", "M50-A-01", ""),
    ("Capacity at each check-up, absolute", "check-ups", "its value", ""),
    ("LLI over ageing cycles", "LLI", "", ""),
    (
        "Discharge capacity over the ageing cycles, mean and band of one standard deviation for each batch",
        "Capacity fade",
        "",
        "A,",
    ),
    (
        "画出电芯 M50-A-01 老化测试第 1、10、30 次循环的放电电压曲线,横轴为已放出的容量",
        "Voltage curves",
        "10, 30",
        "cycle 9",
    ),
    (
        "Discharge resistance at 10 s from HPPC against state of charge, aged dashed",
        "Resistance by",
        "kinds of lines",
        "",
    ),
    ("Capacity in the rate test against the C-rate", "Rate capability", "", ""),
    ("Ab welchem Zyklus fällt jede Zelle unter 90 %?", "End of life", "90", ""),
    (
        "dQ/dV en charge du premier et du dernier RPT de M50-B-03",
        "dQ/dV",
        "first and last: False",
        "M50-B-03_RPT0",
    ),
    ("Spannung über der Zeit im GITT, zweite Achse", "Voltage over time", "eine zweite Achse", "GITT"),
    ("Température au cours du temps des essais de vieillissement", "Temperature over time", "3 essais sur 1", ""),
    ("What happened in M50-A-01_HPPC_fresh?", "What happened", "HPPC_fresh", "Rest"),
    ("Compare the simulations M50_DFN_C10 and M50_DFN_1C", "Voltage of the simulations", "", "M50_DFN_1C"),
    ("Plot the LFP_SPM_1C simulation against capacity", "Voltage of the simulations", "", "LFP_SPM_1C"),
    (
        "Montre le potentiel à l'équilibre du graphite en fonction de la stœchiométrie",
        "Open-circuit",
        "",
        "Graphite",
    ),
    ("M50 正极的开路电位曲线", "Open-circuit", "", "NMC811"),
    ("Kapazitätsverlust je Charge, mit einer Linie bei 90 %", "Capacity fade", "line at y = 90", "A,"),
    ("How hot did the cells of batch B get in each cycle?", "Mean temperature by cycle", "M50-B-01", "B"),
    ("dQ/dV of the RPTs of M50-B-02 between 3.3 and 4.1 V", "dQ/dV", "axis in V: 3.3 to 4.1", "M50-B-02"),
    ("Entladespannungskurven von LFP-C-02 in Zyklus 5 und 115", "Voltage curves", "cycles 5, 115", "cycle 4"),
    ("Zeige die Zelltemperatur während der Autobahnfahrt", "Temperature over time", "drive_highway", "highway"),
    ("Muestra la capacidad frente al número de ciclo de las celdas del lote C", "Capacity fade", "LFP-C-01", "C,"),
    ("Cuántas pruebas hay por protocolo", "Number of tests by protocol", "", "tests"),
    ("Bode plot of M50-A-03 aged", "Nyquist and Bode", "Show: Bode", "M50-A-03_EIS_aged"),
    ("Lithiumverlust und Aktivmaterialverlust über die Alterung", "LAM anode", "", "M50-A-01"),
]
IN_WORDS = [
    ("Plot the pressure inside the cells over time", "no pressure"),
    ("Show the gas evolution during formation", "no gas"),
    ("Druck in der Zelle über die Zeit", "Druck"),
    ("Kapazitätsverlust der Charge Z", "'Z' gibt es"),
    ("容量衰减 批次 Z", "没有“Z”"),
    ("Fade of cell M50-A-99", "M50-A-01"),
    ("Concentration d'électrolyte dans le séparateur", "séparateur"),
    ("Strom der Novonix-Datei über der Zeit", "Novonix"),
    ("Fade of the NMC811 cells", "'NMC811'"),
    ("Show data of the other organization", "this project and nothing else"),
    ("Supprime les essais de M50-A-01", "seulement"),
    ("Predict the capacity at cycle 1000", "do not foretell"),
    ("Self-discharge of the stored cells", "No test is a storage"),
    ("Capacity fade at -10 °C", "25, 45 °C"),
    ("Find the knee of each cell", "workbench analyse knee"),
    ("Temperature during the ageing of PCH-01", "No test fits"),
    ("Show fade of cells tested last month", "by their date"),
    ("What is the meaning of life?", "Capacity fade"),
    ("A histogram of the temperature of the ageing tests", "a histogram"),
    ("比较各批次电芯在第一次 RPT 中的放电容量:每个批次一个箱线图", "箱线图"),
    ("Heatmap der Kapazität aus den Check-ups", "Heatmap"),
    ("Timeline of all tests of M50-A-01, one horizontal bar for each test", "bars"),
    ("Tension simulée et tension mesurée M50-A-01_RPT0 en fonction de la capacité", "no simulation beside"),
    ("Vergleiche Simulation und Messung bei der Autobahnfahrt", "Nahe daran: Voltage of the simulations"),
    ("Show the discharge power at each state of charge for the fresh HPPC tests", "analyse power_capability"),
    ("Wie dick ist die SEI-Schicht nach 100 Zyklen?", "Dicke"),
    ("Perte d'énergie en pourcentage selon la viscosité de l'électrolyte", "« viscosité »"),
    ("Fracture toughness of the cathode particles", "do not know what to draw"),
    ("Diagrammes de Nyquist, un panneau par cellule", "un panneau par élément"),
    ("Capacity of each check-up against throughput, coloured by the ageing temperature", "the throughput"),
    ("Température maximale de chaque cycle en fonction du temps", "maximale de chaque cycle"),
]
EVERY_DAY = {0, 3, 4, 6, 9, 11, 16, 18, 22, 28, 39}
"""Places of the wishes of the everyday suite."""


def some(count: int, every_day: set[int]) -> Any:
    """The places of all wishes; most of them only at full size."""
    return [place if place in every_day else pytest.param(place, marks=pytest.mark.long) for place in range(count)]


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


def answered(bench: wb.Bench, wish: str) -> tuple[str, str]:
    """The title of the draft, empty for an answer in words, and what is said."""
    made = written(wish, bench.backend)
    draft = made["draft"]
    return (str(draft["name"]) if isinstance(draft, dict) else ""), str(made["say"])


@pytest.mark.parametrize("place", some(len(DRAWN), EVERY_DAY))
def test_a_wish_becomes_the_fitting_plot(bench: wb.Bench, place: int) -> None:
    wish, title, choice, shown = DRAWN[place]
    checked: CheckedAnswer = bench.backend.propose(wish)
    assert checked.is_sound, checked.words or checked.say
    assert title in checked.draft["name"]
    assert choice in checked.say
    assert not unknown_subjects(Wish(wish, Facts(bench.backend)))
    names = {trace.name for trace in checked.numbers.traces}
    assert any(part in name for part in shown.split("|") for name in names), names
    assert checked.numbers.points > 3
    assert {one["code"] for one in checked.hints} <= {"same_look", "axis_untitled"}


@pytest.mark.parametrize("place", some(len(IN_WORDS), set(range(0, len(IN_WORDS), 2))))
def test_what_is_not_there_is_said_in_words(bench: wb.Bench, place: int) -> None:
    wish, words = IN_WORDS[place]
    name, say = answered(bench, wish)
    assert name == ""
    assert words in say


def test_a_draft_is_changed_by_the_choices_of_a_wish(bench: wb.Bench) -> None:
    first = written("Which cells fade fastest?", bench.backend)["draft"]
    changed = written("only batch A, each cell", bench.backend, first)
    params = changed["draft"]["config"]["params"]
    assert params["cells"]["default"] == ["M50-A-01", "M50-A-02", "M50-A-03", "M50-A-04"]
    assert params["group"]["default"] == "cells"
    assert changed["draft"]["name"] == first["name"]
    other = written("Now the Nyquist plot of M50-A-01 instead", bench.backend, first)
    assert "Nyquist" in other["draft"]["name"]
    lost = written("make it nicer", bench.backend, first)
    assert lost["draft"] is None
    assert "Cells" in lost["say"]


def test_a_wish_that_chooses_what_the_draft_has_is_about_another_plot(bench: wb.Bench) -> None:
    first = written("voltage of the last RPT of M50-A-01", bench.backend)["draft"]
    other = written("compare fade of batch A and B", bench.backend, first)
    assert other["draft"]["name"] == "Capacity fade"
    again = written("only M50-A-01", bench.backend, first)
    assert again["draft"]["name"] == first["name"]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("Capacity fade of the pilot line", "called 'pilot line'"),
        ("Capacity fade of severson cells, please", "called 'severson'"),
        ("Zeige den Kapazitätsverlust der Zellen von Sunwoda", "heißt nichts 'sunwoda'"),
        ("Montre la perte de capacité pour les cellules Sanyo", "« cellules sanyo »"),
        ("Capacity fade of the fresh cells of every batch", ""),
        ("Capacity fade for all of our M50 cells", ""),
    ],
)
def test_a_word_that_chose_nothing_is_named(bench: wb.Bench, wish: str, said: str) -> None:
    title, answer = answered(bench, wish)
    assert title == "Capacity fade"
    assert said in answer
    assert bool(said) == ("called" in answer or "heißt" in answer or "s'appelle" in answer)


def test_one_of_several_cells_is_not_taken_for_all(bench: wb.Bench) -> None:
    """A control of one cell cannot show a batch: its first cell would be another plot."""
    refused = written("Nur noch Batch B", bench.backend, dict(answer("fade")["draft"]))
    assert refused["draft"] is None
    assert "Cell" in refused["say"]
    changed = written("Nur noch M50-B-02", bench.backend, dict(answer("fade")["draft"]))
    assert changed["draft"]["config"]["params"]["cells"]["default"] is not None


@pytest.mark.parametrize("form", [*FORMS, *DETAILS], ids=lambda form: form.names["en"])
def test_a_form_is_named_in_four_languages_and_given_by_recipes_that_are_there(form: Form) -> None:
    assert form.names.keys() == {"en", "de", "fr", "zh"}
    assert form.given_by <= {
        *entries(),
        "cycles",
        "samples",
        "cells",
        "counts",
        "extremes",
        "results",
        "simulations",
    }


@pytest.mark.parametrize(
    ("wish", "name", "said"),
    [
        ("min voltage per cycle", "Min voltage by cycle", ""),
        ("Ladekapazität je Zyklus", "Charge capacity by cycle", ""),
        ("charge current of each cycle", "Mean charge current by cycle", ""),
        ("mean voltage per cycle", None, "I cannot draw the mean voltage"),
        ("lowest temperature of each cycle", None, "lowest temperature"),
        ("voltage of M50-A-01_HPPC_fresh between 0.5 and 1 h", "Voltage over time", "axis in h: 0.5 to 1"),
        ("Strom im GITT, die ersten 10 Stunden", "Current over time", "axis in h: up to 10"),
        ("capacity fade of batch A without a legend", "Capacity fade", ""),
        ("capacity fade of batch A, cycles 5 to 20", "Capacity fade", "cycle 5 to cycle 20"),
        ("Discharge resistance at 10 s from HPPC against state of charge", "Resistance by", ""),
        ("DCIR after 30 s", "Resistance by", "asked: the time in the pulse"),
        ("resistance at 80 % SOC", "Resistance by", "asked: the state of charge."),
        ("resistance at 50 % SOC over time for each batch", "Growth of resistance", ""),
        ("Nyquist at 50 % SOC", "Impedance", "asked: the state of charge."),
        ("impedance at 1 kHz", "Impedance", "asked: the frequency."),
        ("voltage of the RPT between hour 3 and hour 5", "Voltage over time", "asked: the range of time."),
        ("average efficiency per batch", "Efficiency", "asked: a mean of each group."),
        ("mean temperature per cycle for batch A and B", "Mean temperature by cycle", ""),
        ("average retention per batch", "Capacity fade", ""),
        ("median retention per batch", "Capacity fade", "asked: a median of each group."),
        ("fade of the 3 worst cells", "Capacity fade", "asked: only the best or worst."),
        ("efficiency of the last 50 cycles", "Efficiency", "asked: the cycles."),
        ("voltage vs capacity for the last discharge of M50-A-01", "Voltage curves", "asked: the cycles."),
        ("fade vs calendar days", None, "values over days"),
        ("retention of M50-A-01 vs. time in days", None, "values over days"),
        ("current of the highway test after 3 h", "Current over time", "asked: the range of time."),
        ("coulombic efficiency below 99.9 %", "Efficiency", "asked: the limit."),
        ("mark where each cell falls below 90 % of its capacity", "Discharge capacity by cycle, marked", ""),
        ("capacity from the RPTs of M50-A-01", "Capacity of check-ups", ""),
        ("capacity of M50-A-01", "Discharge capacity by cycle", ""),
        ("Kapazität der Zellen bei 45 °C", "Discharge capacity by cycle", ""),
        ("voltage over the discharge capacity of M50-A-01", None, "do not know"),
        ("dV/dQ of M50-B-01", "dQ/dV", "asked: dV/dQ"),
        ("capacity fade in % of the rated capacity", "Capacity fade", "asked: the rated capacity."),
        (
            "charge and discharge capacity per cycle of M50-A-01",
            "Capacity fade",
            "asked: charge and discharge in",
        ),
        ("slope of the capacity fade", "Capacity fade", "asked: the rate of fade."),
        ("how long is the CV phase", "Capacity by step", "asked: the duration."),
        ("specific energy of the pouch cells", "Discharge energy", "asked: the energy per mass"),
        ("voltage curves of LFP-C-01 every 50 cycles", "Voltage curves", "asked: the cycles."),
        ("voltage curves of M50-A-01 at cycles 1, 5, 10 and 20", "Voltage curves", "asked: the cycles."),
        ("when does each cell reach 80 %?", "End of life", ""),
        ("which cells are below 90 %?", "End of life", ""),
        ("SOH < 80 %", "Discharge capacity by cycle, marked at 80 %", ""),
        ("how many cycles did each cell do?", None, "do not know"),
        ("how many EIS tests are there?", "Number of tests by", "asked: which of them"),
        ("number of cells by supplier", "Number of cells by batch", "asked: the grouping."),
        ("number of tests by tag", "Number of tests by tags", ""),
        ("Arrhenius plot of capacity fade", "Temperature law", ""),
        ("does temperature influence ageing?", "Temperature law", ""),
        ("delta Q against cycle life", None, "analyse delta_q"),
        ("DRT of M50-A-01", None, "analyse drt"),
        ("RMSE of the simulation", None, "no simulation beside"),
        ("calendar ageing, capacity against days", None, "No test fits"),
        ("capacity retention against time", "Capacity fade", "asked: the axis of time."),
        ("capcity retension of batch A", "Capacity fade", "I read 'retension' as 'retention'."),
        ("U vs t of M50-A-01_HPPC_fresh", "Voltage over time", ""),
        ("CE of M50-A-01 per cycle", "Efficiency", ""),
    ],
)
def test_another_quantity_is_not_drawn_for_the_one_that_was_asked(
    bench: wb.Bench, wish: str, name: str | None, said: str
) -> None:
    made = written(wish, bench.backend)
    assert said in made["say"] if said else "Not as" not in made["say"]
    assert made["draft"] is None if name is None else made["draft"]["name"].startswith(name)


@pytest.mark.parametrize(
    ("wish", "shown"),
    [
        ("voltage of the last RPT of M50-A-01", {"M50-A-01_RPT3"}),
        ("first RPT of M50-B-01, voltage over time", {"M50-B-01_RPT0"}),
        ("letzter RPT von M50-A-02, Spannung über die Zeit", {"M50-A-02_RPT3"}),
        ("dQ/dV of M50-A-01 for RPT0 and the last RPT", {"M50-A-01_RPT0", "M50-A-01_RPT3"}),
        ("dQ/dV of M50-A-01_RPT1 and the last RPT", {"M50-A-01_RPT1", "M50-A-01_RPT3"}),
        ("voltage of the last test of M50-A-01", {"M50-A-01_EIS_aged"}),
    ],
)
def test_the_first_or_last_test_of_a_kind_is_the_one_that_is_drawn(
    bench: wb.Bench, wish: str, shown: set[str]
) -> None:
    params = written(wish, bench.backend)["draft"]["config"]["params"]
    assert set(params["tests"]["default"]) == shown


@pytest.mark.parametrize(
    ("wish", "batches"),
    [
        ("compare fade of batch A and B", {"A", "B"}),
        ("fade of lot c", {"C"}),
        ("fade of each batch, a line for each cell", None),
    ],
)
def test_names_of_batches_are_found_however_they_are_written(
    bench: wb.Bench, wish: str, batches: set[str] | None
) -> None:
    made = written(wish, bench.backend)
    shown = re.findall(r"'(?:M50|LFP)-(.)-\d\d'", str(made["say"]))
    assert (set(shown) or None) == batches


@pytest.mark.parametrize(
    ("wish", "value"),
    [("capacity per cycle of M50-A-01", "value"), ("capacity fade of M50-A-01", "first")],
)
def test_a_capacity_is_drawn_as_such_and_its_loss_as_a_share(bench: wb.Bench, wish: str, value: str) -> None:
    made: Any = written(wish, bench.backend)
    assert made["draft"]["config"]["params"]["relative"]["default"] == value


def test_results_of_other_cells_are_not_drawn_for_the_cells_that_are_named(bench: wb.Bench) -> None:
    checked: CheckedAnswer = bench.backend.propose("LLI of M50-A-01 over ageing cycles")
    assert {trace.name for trace in checked.numbers.traces} == {"M50-A-01"}
    assert answered(bench, "LLI of M50-B-01 over ageing cycles")[0] != "LLI over Ageing cycles"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """Tests that a sheet labels with a batch of several letters and a temperature; one of them too short to age."""
    folder = tmp_path_factory.mktemp("labelled")
    rows = []
    for cell, batch, heat, periods in (("c1", "hot", 45, 30), ("c2", "hot", 45, 3), ("c3", "cold", 5, 30)):
        lines, time = ["Time [s],Current [A],Voltage [V],Cycle"], 0
        for cycle in range(periods):
            for current, ends in ((1.0, (4.1, 3.0)), (-1.0, (3.1, 4.2))):
                for k in range(11):
                    voltage = ends[0] + (ends[1] - ends[0]) * k / 10
                    lines.append(f"{time},{current},{voltage - heat / 10_000:.4f},{cycle}")
                    time += 360 - cycle
        (folder / f"{cell}_run.csv").write_text("\n".join(lines) + "\n")
        rows.append({"file": f"{cell}_*", "cell": cell, "test": "run", "batch": batch, "temperature [degC]": heat})
    with wb.open(folder / "store.db") as made:
        paths = sorted(folder.glob("*.csv"))
        assert made.ingest(paths, sheet=rows, sign="discharge", column_map={"Cycle": "Cycle from cycler"}).ok
        yield made


@pytest.mark.parametrize(
    ("wish", "cells"),
    [
        ("capacity of the cells at 45 °C", {"c1", "c2"}),
        ("capacity fade at 5 °C", {"c3"}),
        ("capacity of batch cold", {"c3"}),
        ("capacity of the hot batch", {"c1", "c2"}),
    ],
)
def test_cells_are_chosen_by_what_a_sheet_says_of_their_tests(lab: wb.Bench, wish: str, cells: set[str]) -> None:
    made = written(wish, lab.backend)
    assert set(made["draft"]["config"]["params"]["cells"]["default"]) == cells, made["say"]


def test_a_temperature_that_is_not_known_chooses_nothing(lab: wb.Bench, unlabelled: wb.Bench) -> None:
    assert answered(lab, "capacity fade at 25 °C") == ("", "No cell ages at 25 °C. There is 5, 45 °C.")
    name, say = answered(unlabelled, "capacity fade at 25 °C")
    assert name == ""
    assert "No cell of this project has a known temperature" in say


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """A store of files that name no batch, temperature or kind of test: cycles of four cells, samples of one."""
    folder = tmp_path_factory.mktemp("unlabelled")
    rows = [(f"B{cell}T25", cycle, 2.0 - 0.004 * cell * cycle) for cell in (1, 2, 3, 7) for cycle in range(1, 121)]
    lines = ["cell,cycle,capacity_Ah", *(f"{cell},{cycle},{capacity:.4f}" for cell, cycle, capacity in rows)]
    (folder / "capacity_by_cycle.csv").write_text("\n".join(lines) + "\n")
    samples = [
        f"{10 * place},{-1.0 if place % 60 < 30 else 1.0},{3.5 + 0.01 * (place % 60)}" for place in range(240)
    ]
    (folder / "20240105_first_try.csv").write_text(
        "Time [s],Current [A],Voltage [V]\n" + "\n".join(samples) + "\n"
    )
    with wb.open(folder / "store.db") as bench:
        assert bench.ingest([folder / "capacity_by_cycle.csv", folder / "20240105_first_try.csv"]).ok
        yield bench


@pytest.mark.parametrize(
    ("wish", "title", "said"),
    [
        ("Capacity over cycle number for B2T25 and B7T25", "capacity by cycle", "'B2T25' and 'B7T25'"),
        ("Rétention de capacité de B3T25, marque où elle passe sous 80 %", "marked at 80 %", "B3T25"),
        ("capacity retention of B1T25 to B3T25", "capacity by cycle", "'B1T25', 'B2T25' and 'B3T25'"),
        ("histogram of the first discharge capacity", "First discharge capacity", ""),
        ("Voltage over time of the 20240105 test, log x axis", "Voltage over time", "x axis: logarithmic"),
        ("Compare la rétention de capacité des lots", "", "n'a de lot"),
        ("Fade of B0099", "", "'B0099'"),
        ("Simulated voltage at 2C", "", "no simulation"),
        ("Nyquist-Diagramm von B1T25", "", "impedance spectrum"),
    ],
)
def test_files_without_labels_are_drawn_by_the_names_of_their_cells(
    unlabelled: wb.Bench, wish: str, title: str, said: str
) -> None:
    checked = unlabelled.backend.propose(wish)
    assert said in checked.say
    assert (title in checked.draft["name"] and checked.is_sound) if title else checked.draft is None, checked.words


def test_a_name_of_a_cell_and_of_a_test_of_another_cell_is_the_cell(tmp_path: Path) -> None:
    with wb.open(tmp_path / "own.db") as own:
        for high, (cell, test) in enumerate((("B0029", "ageing"), ("other", "B0029"), ("third", "more"))):
            rows = [
                f"{600 * n},{(-1.0, 1.0)[n % 12 < 6]},{3.5 + 0.05 * (n % 6) + high / 10:.3f},{n // 12}"
                for n in range(240)
            ]
            (tmp_path / f"{test}.csv").write_text("Time [s],Current [A],Voltage [V],Cycle\n" + "\n".join(rows))
            own.ingest(tmp_path / f"{test}.csv", instance=cell, sign="discharge")
        answer = own.author().ask("capacity fade of B0029")
        assert answer.values["cells"] == ["B0029"]


def test_on_an_empty_store_every_wish_is_answered_in_words(tmp_path: Path) -> None:
    with wb.open(tmp_path / "empty.db") as bench:
        for wish, *_ in DRAWN:
            name, say = answered(bench, wish)
            assert name == "", wish
            assert len(say) > 8, wish
            assert "–" not in say, wish


def test_a_server_answers_as_a_local_bench_does(demo_copy: Path) -> None:
    with sides(demo_copy) as made:
        for wish in ("Wie viele Zellen gibt es je Charge?", "Plot the pressure over time"):
            near, far = made.near.backend.propose(wish), made.far.backend.propose(wish)
            assert near.model_copy(update={"timings": {}}) == far.model_copy(update={"timings": {}})


def test_every_recipe_with_words_is_in_the_gallery_and_is_found_by_its_title(bench: wb.Bench) -> None:
    assert set(WORDS) <= set(entries())
    for language in ("en", "de", "fr", "zh"):
        assert all(language in sentences for sentences in _SENTENCES.values())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Show the fade of each cell", "en"),
        ("Zeige die Alterung der Zellen", "de"),
        ("Montre la perte des cellules", "fr"),
        ("容量衰减", "zh"),
        ("Nyquist", "en"),
        ("Kapazität von M50-A-01 in mAh je Zyklus", "de"),
    ],
)
def test_the_answer_is_in_the_language_of_the_wish(text: str, language: str) -> None:
    assert language_of(text) == language


def test_numbers_are_read_as_people_write_them() -> None:
    assert percents("below 80 %, then 72,5 percent") == [80.0, 72.5]
    assert percents("降到百分之80") == [80.0]
    assert degrees("at 25 and 45 °c") == [25.0, 45.0]
    assert degrees("at -10 °c") == [-10.0]
    assert cycles_in("cycles 1, 50 and 100") == [1, 50, 100]
    assert cycles_in("the 10th cycle") == [10]
    assert cycles_in("第 20 圈") == [20]
    assert cycles_in("per cycle of m50-a-01") == []


def test_a_plot_that_turns_out_empty_is_answered_in_words(tmp_path: Path) -> None:
    """The person read "Drawn", and then what a language model has to do."""
    with wb.open(tmp_path / "own.db") as own:
        limits = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        own.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **limits})
        own.instances.create(name="C1", specification="cell")
        cut = samples(0, 0, 1).query("`Voltage [V]` > 3.4 and `Voltage [V]` < 3.9").reset_index(drop=True)
        cut["Time [s]"] -= cut["Time [s]"].iloc[0]
        own.measurements.create(time_series=cut, name="first", instance="C1", tags=["formation"], sign="discharge")
        checked = own.backend.propose("formation of C1")
        assert checked.draft is None
        assert not checked.problems
        assert "the first cycle is not complete" in checked.say
