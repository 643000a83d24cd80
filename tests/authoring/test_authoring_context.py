"""The two texts alone must do: they name whatever a sound recipe may need, and what they show as an answer is one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from workbench import battery
from workbench.authoring import prompt_text, system_text
from workbench.authoring.catalog_text import LEVELS, _told, told
from workbench.authoring.context import LEAST, ROOM
from workbench.authoring.edits import texts_of
from workbench.authoring.examples import NAMES, answer, example
from workbench.authoring.helpers import _BESIDE, analyses, helpers, is_analysis
from workbench.authoring.helpers import _told as told_of_helper
from workbench.authoring.topics import ANALYSES, Wish
from workbench.bench import Bench
from workbench.cycling.columns import SERIES_COLUMNS
from workbench.cycling.cycles import CYCLE_COLUMNS
from workbench.cycling.life import LIFE_COLUMNS
from workbench.cycling.steps import STEP_COLUMNS, STEP_TYPES
from workbench.local import LocalBackend
from workbench.recipe.filters import ALL, APPLIES, SAMPLED
from workbench.recipe.parse import parse_draft
from workbench.recipe.plot import AuthoringDraft
from workbench.recipe.schema import schema_of
from workbench.recipe.steps import Function
from workbench.records import SOURCES
from workbench.records.catalog import Catalog, CatalogColumn, CatalogSeries, CatalogSource, CatalogSummary
from workbench.store.records.listing import list_columns

SYSTEM = system_text()
ANSWERS = [json.loads(text) for text in re.findall(r"```json\n(.*?)\n```", SYSTEM, re.DOTALL)]
BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[Bench]:
    with Bench(LocalBackend.open(demo_store)) as made:
        yield made


@pytest.fixture(scope="module")
def prompt(bench: Bench) -> str:
    return prompt_text("Show how capacity fades.", bench.catalog())


def has(text: str, name: str) -> bool:
    """Whether a text contains a name as a whole word."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]\w)", text) is not None


def test_the_demo_fits(bench: Bench, prompt: str) -> None:
    assert len(SYSTEM) + len(prompt) <= ROOM == 24_000
    for wish in (
        "",
        "capacity fade by batch",
        "impedance",
        "rest voltage relaxation",
        "resistance of pulses, GITT",
        "10 s discharge resistance against state of charge from all HPPC tests",
        "Wie hängt der Widerstandsanstieg mit dem Kapazitätsverlust zusammen? Eine Farbe je Temperatur.",
        "Vergleiche den Pulswiderstand (10 s) über den SOC bei verschiedenen Temperaturen.",
    ):
        assert bench.context_texts(wish).characters <= ROOM, wish
    assert prompt.endswith("Show how capacity fades.")


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_and_column_is_named(prompt: str, source: str) -> None:
    assert f"## {source}: " in prompt
    part = prompt.partition(f"## {source}: ")[2].partition("\n## ")[0]
    common = prompt.partition("Every source also has: ")[2].partition("\n")[0]
    assert "Every name in `.value` has one in `.unit`" in prompt
    for name in list_columns(SOURCES[source]):
        shown = re.sub(r"\.unit$", ".value", name)
        assert has(part, shown) or has(common, shown), name


def test_what_a_helper_returns_is_said_without_its_heading() -> None:
    doc = "A mean.\n\nReturns\n-------\nfloat : the mean of all. No more."
    assert told_of_helper(doc) == "A mean. Returns float : the mean of all."
    assert "----" not in helpers()


def test_cycles_are_read_with_regard_to_complete() -> None:
    """The text says so, and each example that reads cycles does so."""
    assert '"where": {"Complete": [true, null]}' in SYSTEM
    read = 0
    for one in ANSWERS:
        plan = one["draft"]["config"]["plan"]["steps"]
        cycles = [name for name, step in plan.items() if step.get("dataset") == "cycles"]
        joined = {step["right"]: step["where"] for step in plan.values() if "Complete" in step.get("where", {})}
        assert joined == {name: {"Complete": [True, None]} for name in cycles}
        assert not [name for name, step in plan.items() if step.get("input") in cycles]
        read += len(cycles)
    assert read


def unfolded(text: str) -> str:
    """A text with `{Min,Max} x` written as `Min x, Max x`."""
    return re.sub(
        r"\{([A-Z][a-z]+(?:,[A-Z][a-z]+)+)\} ([^,\n]+)",
        lambda found: ", ".join(f"{first} {found[2]}" for first in found[1].split(",")),
        text,
    )


def test_every_column_of_samples_and_summaries_is_named(prompt: str, bench: Bench) -> None:
    for dataset, columns in (("steps", STEP_COLUMNS), ("cycles", CYCLE_COLUMNS)):
        part = unfolded(prompt.partition(f"## summary, dataset {dataset}: ")[2].partition("\n## ")[0])
        assert [column.name for column in (*columns, *LIFE_COLUMNS) if column.name not in part] == []
    catalog = bench.catalog()
    for source in SAMPLED:
        part = unfolded(prompt.partition(f"## {source}: ")[2].partition("\n## ")[0])
        there = {column.name for column in catalog[source].series}
        cycler = {column.name for column in (*SERIES_COLUMNS, *LIFE_COLUMNS)}
        ours = there if source in ("analyses", "materialProperties") else there & cycler
        assert [name for name in ours if name not in part] == []


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    whole = schema_of(AuthoringDraft)
    yield "AuthoringDraft", whole
    yield from ((name, part) for name, part in whole["$defs"].items() if "properties" in part)


def numbers(about: Any) -> Iterator[int]:
    """Every bound that a schema states."""
    if isinstance(about, dict):
        yield from (value for key, value in about.items() if key in BOUNDS)
        for value in about.values():
            yield from numbers(value)
    elif isinstance(about, list):
        for item in about:
            yield from numbers(item)


@pytest.mark.parametrize(
    ("name", "part"), list(objects()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_field_and_limit_is_told(name: str, part: dict[str, Any]) -> None:
    """A limit is written beside the field, or beside the name of the field's type."""
    told_at = re.search(rf"^{name}[ :](?:.|\n  )*", SYSTEM.partition("# Fields and limits")[2], re.MULTILINE)
    assert told_at is not None
    shared = "".join(re.findall(r"^(?:Name|Short|Ids) = .*$", SYSTEM, re.MULTILINE))
    for field, about in part["properties"].items():
        optional = "" if field in part.get("required", ()) else "?"
        line = re.search(rf"(?<!\w){re.escape(field)}{re.escape(optional)}(?: = [^:]*)?: (.*)", told_at[0])
        assert line is not None, field
        for number in numbers({key: value for key, value in about.items() if key != "$ref"}):
            assert re.search(rf"\b{number}\b", line[1] + shared), (field, number)
        if about.get("default") is not None:
            assert f"{field}? = {json.dumps(about['default'])}:" in told_at[0]
        for value in about.get("enum", []):
            assert json.dumps(value) in line[1]


def test_filters_are_told_with_their_sources() -> None:
    for key, sources in APPLIES.items():
        (line,) = re.findall(rf"^  {key}\?: .*$", SYSTEM, re.MULTILINE)
        named = "all" if set(sources) == set(ALL) else ", ".join(sources)
        assert f"[{named}]" in line


def test_words_of_the_rules_are_those_of_the_code(prompt: str) -> None:
    """Names of helpers that are not near the wish give way where there is little room."""
    prompt += analyses(Wish(""))
    for word in (*get_args(Function), *STEP_TYPES, *battery.__all__):
        thing = getattr(battery, word, None)
        if not (isinstance(thing, type) and issubclass(thing, Warning)):
            assert has(SYSTEM + prompt, word), word
    assert "{" + "step_types}" not in SYSTEM


def test_the_examples_are_whole_answers() -> None:
    assert [answer(name) for name in NAMES] == ANSWERS
    assert len(ANSWERS) == 2


@pytest.mark.parametrize("name", NAMES)
def test_an_example_opens_with_something_drawn_and_says_why_not_on_an_empty_store(
    bench: Bench, name: str, tmp_path: Path
) -> None:
    draft = example(name)
    assert parse_draft(draft).name == draft["name"]
    assert bench.check(draft["config"]) == []
    checked = bench.check_answer(dict(answer(name)))
    assert checked.is_sound
    assert checked.numbers is not None
    assert checked.numbers.trace_count >= 2
    assert checked.hints == [], "An author copies what the examples do."
    assert [warning["code"] for warning in checked.warnings if warning["code"] != "list_truncated"] == []
    with Bench(LocalBackend.open(tmp_path / "empty.db")) as empty:
        drawn = empty.figure(draft["config"])
    assert not drawn.data
    assert drawn.layout.annotations


def test_the_example_of_curves_draws_every_test_that_it_lists(bench: Bench) -> None:
    drawn = bench.figure(example("curves")["config"], word="RPT", first=0, last=9)
    assert len({trace.name for trace in drawn.data}) == 6
    assert {warning["code"] for warning in drawn.workbench.warnings} == {"list_truncated"}


@pytest.mark.parametrize(
    ("wish", "helper", "source"),
    [
        ("Show the impedance of aged cells", "nyquist_trace(", "measurements"),
        ("Zeige die Impedanz der gealterten Zellen", "nyquist_trace(", "measurements"),
        ("Montre la résistance des impulsions", "pulse_resistance(", "measurements"),
        ("画出每个电芯的内阻", "pulse_resistance(", "measurements"),
        ("Vergleiche das Modell mit der Messung", "", "simulations"),
        ("Masse et surface de chaque cellule", "", "cellSpecifications"),
        ("半电池的电极电位", "", "materialProperties"),
    ],
)
def test_what_is_near_the_wish_comes_first(bench: Bench, wish: str, helper: str, source: str) -> None:
    text = prompt_text(wish, bench.catalog())
    assert helper in text
    sources = re.findall(r"^## (\w+): \d+ records", text, re.MULTILINE)
    others = [name for name in sources if name != "measurements"]
    assert sources[0] == "measurements"
    assert source in (sources[0], *others[:2])


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("Is there a knee in the capacity curves of the cells aged at 45 degC?", "knee"),
        ("Wo ist das Knie der gealterten Zellen?", "knee"),
        ("各个电芯的拐点在哪里", "knee"),
        ("Relaxation der Spannung nach Pulsen der gealterten Zellen", "relaxation"),
        ("Efficacité énergétique de chaque lot vieilli", "efficiency"),
        ("Welche gealterten Zellen sind Ausreißer?", "outliers"),
        ("Coulomb-Wirkungsgrad der Zyklen, Ausreißer rot", "stands_apart"),
        ("库仑效率的异常循环", "stands_apart"),
    ],
)
def test_an_analysis_that_the_wish_names_is_described_first(wish: str, name: str) -> None:
    """Whatever else the wish is near; in words of four languages, with accents too."""
    first, *_ = analyses(Wish(wish)).splitlines()
    assert first.startswith(f"- {name}(")
    columns = [one for one in getattr(getattr(battery, name), "columns", ()) if one not in _BESIDE]
    assert columns or name == "stands_apart"
    assert [one for one in columns if f"`{one}`" not in first] == []


@pytest.mark.parametrize(
    ("wish", "name", "words"),
    [
        ("Label each line at its end", "end_labels", "battery.end_labels(figure.data)"),
        ("The cell's name at the end of each line", "end_labels", "battery.end_labels(figure.data)"),
        ("线末标注电池名", "end_labels", "battery.end_labels(figure.data)"),
        ("CV-Anteil der Ladung je Zyklus", "capacity_by_step", "`CV share of charge`"),
        ("Diffusion des GITT", "gitt", "`D [m2/s]` (NaN without `radius`)"),
        ("Hochrechnung auf 80 %", "eol_extrapolation", "beyond 1.2 times the last cycle"),
    ],
)
def test_what_a_helper_refuses_and_gives_is_told_in_its_line(wish: str, name: str, words: str) -> None:
    first, *_ = analyses(Wish(wish), columns=False).splitlines()
    assert first.startswith(f"- {name}(")
    assert words in first


def test_what_lines_and_half_cycles_need_is_told() -> None:
    """Each was missing when thirty wishes were answered from the text alone, and failed where it was missing."""
    for words in (
        "`battery.break_gaps`",
        "0.02 of the largest where noise begins or ends half cycles",
        "draw the rows with the `n` of the beginning",
        "title the rate that they have",
        "First and last cycle: two such steps",
    ):
        assert words in SYSTEM, words


def test_short_parts_of_names_are_whole_words() -> None:
    assert Wish("GITT").ranked(["efficiency", "ici", "gitt"]) == ["gitt", "ici"]


def test_words_name_analyses_that_there_are() -> None:
    assert [name for name in ANALYSES if not is_analysis(name)] == []


def test_names_that_the_wish_says_are_kept_where_there_is_little_room(bench: Bench) -> None:
    """The wish decides before the number of records: the room is for what it asks."""
    catalog = bench.catalog()
    for wish, name, values in (
        ("Impedance at -20 °C: which temperature did the protocol have?", "protocol.temperature.value", "25, 45"),
        ("Kapazität über der C-Rate, protocol c_rate", "protocol.c_rate", "1, 0.1, 0.05"),
    ):
        part = prompt_text(wish, catalog).partition("## measurements: ")[2].partition("\n## ")[0]
        (line,) = re.findall(rf"^- {re.escape(name)} .*$", part, re.MULTILINE)
        assert line.endswith(f": {values}"), line


def test_what_the_wish_is_about_is_named_however_little_room_there_is(bench: Bench) -> None:
    catalog = bench.catalog()
    text = _told(catalog, LEVELS[-1], Wish("Widerstand je Temperatur"))
    assert "- protocol.temperature.value [degC] number: 25, 45" in text
    assert "- properties.ageing_temperature.value [degC] number: 25, 45" in text
    assert "ageing_temperature" not in _told(catalog, LEVELS[-1], Wish("Nyquist plot"))


def test_the_columns_of_each_type_of_analysis_are_told(bench: Bench, prompt: str) -> None:
    """A column of one type is lacking in the tables of the others: a step over all of them would read nulls."""
    fields = ["id", "analysis_type"]
    plan = {"steps": {"all": {"op": "list", "source": "analyses", "fields": fields, "limit": 1000}}}
    held: dict[str, set[str]] = {}
    for row in bench.dataset(plan)["all"].to_dict("records"):
        held.setdefault(row["analysis_type"], set()).update(bench.analyses.table(row["id"]).columns)
    part = prompt.partition("## analyses: ")[2].partition("\n## ")[0]
    (line,) = re.findall(r"^- series columns by analysis_type: (.*)$", part, re.MULTILINE)
    told_of = {kind: names.split(", ") for kind, names in re.findall(r'"(\w+)": ([^;]*)', line)}
    assert {kind: set(names) for kind, names in told_of.items()} == held
    assert len(held) == 3
    catalog = bench.catalog().as_dict()
    assert list(catalog["kinds"]) == ["analyses"], "One kind needs no word."
    assert all("kinds" not in one for source in catalog["sources"] for one in source["series"]), "0.1.0 refuses it"
    assert Catalog.of(catalog).sources == bench.catalog().sources


def test_what_the_rules_say_of_kinds_and_first_cycles_is_true_of_the_demo(bench: Bench) -> None:
    tests = {"op": "list", "source": "measurements", "fields": ["id", "name", "protocol.name"], "limit": 1000}
    columns = ["Cycle count", "Coulombic efficiency", "Complete"]
    read = {"op": "summary", "dataset": "cycles", "ids": {"from": "tests", "column": "id"}, "columns": columns}
    on = {"left": "id", "right": "measurement_id"}
    named = {"op": "join", "left": "tests", "right": "cycles", "on": on, "where": {"Complete": [True, None]}}
    rows = bench.dataset({"steps": {"tests": tests, "cycles": read, "named": named}})["named"]
    ageing = rows[rows["protocol.name"] == "CCCV ageing"]
    assert "`nameContains` may find fewer" in SYSTEM
    assert ageing["id"].nunique() > ageing[ageing["name"].str.contains("ageing")]["id"].nunique() > 0
    assert "Efficiency (leave out the first cycle of a test)" in SYSTEM
    checks = rows[rows["protocol.name"] == "RPT"].set_index("Cycle count")["Coulombic efficiency"]
    assert checks[0].max() > 2
    assert 0.95 < checks[1].min() <= checks[1].max() < 1


def test_the_idiom_for_tests_of_a_kind_finds_all_of_them(bench: Bench) -> None:
    """A name may not say the kind; and only a step of rows gives the ids of samples."""
    (idiom,) = re.findall(r"^- Tests of a kind: `(\{.*?\}\})`", SYSTEM, re.MULTILINE)
    kind = {**json.loads(idiom), "where": {"protocol.name": "CCCV ageing"}}
    tests = {"op": "list", "source": "measurements", "fields": ["id", "name", "protocol.name"], "limit": 1000}
    columns = ["Voltage [V]"]
    read = {"op": "series", "source": "measurements", "ids": {"from": "kind", "column": "id"}, "x": "Time [s]"}
    data = bench.dataset({"steps": {"tests": tests, "kind": kind, "read": {**read, "columns": columns}}})
    assert len(data["read"]) == len(data["kind"]) == 13
    assert set(data["kind"]["protocol.name"]) == {"CCCV ageing"}


def test_the_values_of_a_number_are_all_there_if_they_are_few() -> None:
    """A wish may ask for a temperature at which nothing was measured."""
    few = CatalogColumn("protocol.temperature.value", "number", "degC", "Found.", 3, [25.0, 45.5])
    many_values = CatalogColumn("test_setup.channel", "integer", None, "Found.", 9, [1, 2, 3, 4, 5])
    catalog = Catalog([CatalogSource("measurements", "Tests.", 9, [], [few, many_values], [])], [], [])
    whole, brief = told(catalog, 10_000), _told(catalog, LEVELS[-2], Wish("temperature"))
    for text in (whole, brief):
        assert "- protocol.temperature.value [degC] number (3): 25, 45.5" in text
    assert "- test_setup.channel integer: 1, 2, 3, 4, 5, …" in whole
    assert "test_setup" not in brief


def test_every_kind_of_test_is_named_with_its_count(prompt: str, bench: Bench) -> None:
    part = prompt.partition("## Kinds of tests")[2].partition("\n## ")[0]
    for name in ("protocol.name", "tags"):
        (line,) = re.findall(rf"^- {re.escape(name)}: (.*)$", part, re.MULTILINE)
        told = dict(re.findall(r'"([^"]+)" (\d+)', line))
        plan = {"steps": {"tests": {"op": "list", "source": "measurements", "fields": [name], "limit": 1000}}}
        held = Counter(
            value.strip()
            for text in bench.dataset(plan)["tests"][name].dropna()
            for value in (text.split(",") if name == "tags" else [text])
        )
        assert {key: int(count) for key, count in told.items()}.items() <= held.items()
        assert len(told) == min(len(held), 12)
        assert min(map(int, told.values())) >= max(sorted(held.values())[: len(held) - len(told)], default=0)
    assert '"RPT" 48' in re.findall(r"^- words in name.*$", part, re.MULTILINE)[0]
    assert re.search(r"with impedance.*: 6$", part, re.MULTILINE)


def test_a_plot_that_is_to_be_changed_stands_in_the_prompt(bench: Bench) -> None:
    for board in bench.dashboards.list()["id"]:
        for plot in bench.dashboards.get(board).plots():
            draft = {"name": plot.name, "config": plot.record.config}
            text = prompt_text("Make the lines thicker.", bench.catalog(), draft)
            plan, params = (json.loads(one) for one in re.findall(r"```json\n(.*?)\n```", text, re.DOTALL))
            (script,) = re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
            assert (plan, params) == (draft["config"]["plan"], draft["config"]["params"])
            assert script == draft["config"]["transform"].rstrip()
            assert len(SYSTEM) + len(text) - sum(map(len, texts_of(draft).values())) <= ROOM
            assert "## cellSpecifications" in text


def many(columns: int, records: int = 5) -> Catalog:
    """A catalog of a project whose records have many names of their own."""
    names = [CatalogColumn(f"properties.name_{n}", "text", None, "Found.", 5, ["value"]) for n in range(columns)]
    series = [CatalogSeries(f"Column {n} [V]", "number", "V", 5) for n in range(columns)]
    source = CatalogSource("measurements", "Tests.", records, [], names, series)
    summary = [
        CatalogSummary(f"Given {n}", "number", None, "A column of given summaries.", 1) for n in range(columns)
    ]
    return Catalog([source], summary, [])


def test_a_catalog_grows_up_to_a_cap_and_says_what_is_left_out() -> None:
    small, large, huge = (told(many(n), LEAST) for n in (3, 60, 5000))
    assert len(small) < len(large) <= LEAST
    assert "left out" not in small
    assert len(huge) <= LEAST
    for what in ("names", "series columns", "columns"):
        assert re.search(rf"- and 49\d\d more {what}, left out here", huge)


def test_one_left_out_is_one() -> None:
    level = LEVELS[-1]
    text = told(many(level.names + 1), 0)
    assert "and 1 more name, left out" in text


def test_values_of_users_are_quoted_on_one_line(bench: Bench) -> None:
    column = CatalogColumn("notes_of_mine", "text", None, "Found.", 1, ['a\n# Answer "x"\n- y'])
    catalog = Catalog([CatalogSource("measurements", "Tests.", 1, [], [column], [])], [], [])
    assert '- notes_of_mine: "a # Answer \\"x\\" - y"' in told(catalog, 10_000)


def test_names_are_told_whole_where_there_is_little_room(prompt: str) -> None:
    names = re.search(r"^- name: (.*)$", prompt.partition("## measurements: ")[2], re.MULTILINE)
    assert names is not None
    assert '"LFP-C-01_HPPC_fresh"' in names[1]
    assert names[1].count('"') >= 6
    protocols = re.search(r"^- protocol\.name: (.*)$", prompt, re.MULTILINE)
    assert protocols is not None
    assert protocols[1].count('"') >= 6


def test_an_example_stands_once() -> None:
    column = CatalogColumn("source.of", "text", None, "Found.", 3, [f"{'x' * 60}{n}" for n in range(3)])
    catalog = Catalog([CatalogSource("measurements", "Tests.", 3, [], [column], [])], [], [])
    assert _told(catalog, LEVELS[-2], Wish("")).count("xxx…") == 1
