"""The answer to a wish: a draft from the best candidate, or words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from ...errors import Invalid, near
from ...messages import counted
from ...recipe.check import sound
from ...transform.script import check_script
from ..catalog import entries
from ..entry import Unmet
from ..facts import Facts, Looked
from . import looks
from . import vocabulary as known
from .candidates import Candidate, NoTests, candidates, counted_otherwise
from .choices import MOST_CYCLES, Chooses, NothingLeft, Raw, chosen, labels
from .columns import changes_what_is_drawn, is_of_another, other_columns, recipe_of, renamed, with_tests_of
from .forms import CYCLES, LIMIT, LOOKS, Form, asked, not_given, styled
from .looks import Look, dressed, in_words
from .matching import language_of
from .nearest import ranked, respelt, unknown_axis, unknown_subjects
from .recipes import look as look_script
from .sentences import sentence
from .vocabulary import Quantity
from .wish import Wish

Answer = dict[str, JsonValue]
"""``{"say": text, "draft": {"name", "config"} or null}``, as a language model answers."""
_MOST_NAMED = 8
_MOST_NEAR = 2
_INSTEAD = {"fade": "cycles", "degradation-modes": "results"}
"""What draws the same where a recipe of the gallery cannot: cycles of tests that it does not take, stored results."""
_CERTAIN = 28
"""With a draft at hand, a candidate this heavy is another plot, and not a change of the draft."""


class Knows(Looked, Chooses, Protocol):
    """A store, here or on a server, as the built-in author looks at it."""


def written(
    text: str, store: Knows, draft: Mapping[str, JsonValue] | None = None, *, apart: Collection[str] = ()
) -> Answer:
    """The answer to a wish, as a language model would give it.

    Parameters
    ----------
    text : the wish, in English, German, French or Chinese.
    draft : the draft or the saved plot that is shown, if the wish is about it.
    apart : parts of a look that the figure turned out not to have, as `not_drawn` names them.
    """
    wish = Wish(text, Facts(store), apart=apart)
    answer = _answered(wish, store, draft)
    if wish.says(known.EXPORTS):
        export = sentence("export", wish.language)
        return _words(export) if answer is None else {**answer, "say": f"{answer['say']} {export}"}
    if answer is not None:
        return answer
    for meant, words in respelt(wish):
        read = _answered(Wish(meant, wish.facts, apart=apart), store, draft)
        if read is not None and read["draft"] is not None:
            said = [sentence("read_as", wish.language, written=old, read=new) for old, new in words.items()]
            return {**read, "say": " ".join([*said, str(read["say"])])}
    return _words(_not_understood(wish) if draft is None else _nothing_to_change(wish, draft))


def not_drawn(text: str, axes: Collection[str]) -> list[str]:
    """The parts of the look of a wish that its figure does not have, since no axis measures that.

    Parameters
    ----------
    axes : the titles of the axes of the figure.
    """
    look = looks.of_wish(text)
    if {"x_title", "y_title"} & look.keys():
        return []  # the wish has put words of its own there
    units = [one.rpartition(" / ")[2].removesuffix(" (those above 0)") for one in axes]
    measures = {look_script.LOOK_UNITS[one][0] for one in units if one in look_script.LOOK_UNITS}
    of_part = [look_script.LOOK_UNITS[one][0] for one in look.get("of_unit", [])[:1]]
    lacking = ["units"] if set(look.get("units", [])) - set(units) else []
    lacking += ["of_unit"] if set(of_part) - measures else []
    return lacking + (
        ["cycles"] if "cycles" in look and not any(one.startswith("Cycle count") for one in axes) else []
    )


def nothing_drawn(text: str, said: Sequence[str]) -> Answer:
    """The answer to a wish whose figure turned out to be empty: what the figure says, or that there is nothing."""
    language = language_of(text)
    why = " ".join(said).strip()
    return _words(sentence("lacking", language, why=f"{why.rstrip('.')}.") if why else sentence("empty", language))


def _answered(wish: Wish, store: Knows, draft: Mapping[str, JsonValue] | None) -> Answer | None:
    """The answer to a wish; None if it is not understood."""
    if draft is not None and wish.says(known.UNDO):
        return _words(sentence("undo", wish.language))
    refused = _refused(wish)
    if refused:
        return _words(refused)
    styles = [] if draft is None else styled(wish.folded)
    if styles:
        return _words(sentence("unfit", wish.language, details=_names_of(styles, wish)))
    near_it = candidates(wish)
    forms = asked(wish.folded)
    found = [one for one in near_it if one.gives(forms)]
    lacking = [] if draft is None else [form for form in forms if recipe_of(draft) not in form.given_by]
    if (
        draft is not None
        and not lacking
        and (changes_what_is_drawn(wish, found, draft) or not _is_another(found, draft))
    ):
        changed = _changed(wish, store, draft, found)
        if changed is not None and not (found and _is_the_same(changed, draft)):
            return changed
    if draft is not None and wish.says(known.ADDS) and (near_it or wish.quantities):
        there = ", ".join(_labels(draft))
        return _words(sentence("cannot_add", wish.language, there=there or "–"))
    what = unknown_axis(wish) or next(iter(wish.makers), None)
    if found and what and draft is None:
        return _words(sentence("no_axis", wish.language, what=what, there=found[0].title))
    if near_it and not found:
        return _words(_other_form(wish, forms, near_it))
    if not found and lacking and draft is not None:
        names = ", ".join(form.names[wish.language] for form in lacking)
        return _words(sentence("other_form", wish.language, form=names, there=str(draft.get("name") or "–")))
    if not found:
        return None
    answer = _drawn(wish, store, found[0])
    instead = next((one for one in found[1:] if one.recipe == _INSTEAD.get(found[0].recipe)), None)
    if instead is not None and (answer["draft"] is None or _leaves_out(wish, found[0])):
        drawn = _drawn(wish, store, instead)
        answer = drawn if drawn["draft"] is not None else answer
    if draft is not None and answer["draft"] is not None:
        if _keep_cells(wish, draft, answer["draft"]):
            answer["say"] = f"{answer['say']} {sentence('same_cells', wish.language)}"
        another = sentence("another", wish.language, name=str(draft.get("name") or "–"))
        return {**answer, "say": f"{answer['say']} {another}"}
    return answer


def _keep_cells(wish: Wish, draft: Mapping[str, JsonValue], made: JsonValue) -> bool:
    """Shows another quantity of cycles for the cells that were shown; whether it does."""
    drawn = made if isinstance(made, dict) else {}
    if (
        {recipe_of(draft), recipe_of(drawn)} - {"cycles", "fade"}
        or wish.names_cells
        or wish.names_tests
        or wish.unwanted
    ):
        return False
    before, after = (_param(one, "cells") for one in (draft, drawn))
    old, new = before.get("default"), after.get("default")
    if not isinstance(old, list) or not isinstance(new, list) or not set(old) < set(new):
        return False
    after["default"] = old
    return True


def _param(draft: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = draft["config"].get("params", {}).get(name, {})
    return found


def _leaves_out(wish: Wish, best: Candidate) -> bool:
    """Whether a recipe of ageing tests does not take all the cells that the wish names."""
    return best.recipe == "fade" and bool(set(wish.named.cells) - {one.cell for one in wish.facts.tests("ageing")})


def _drawn(wish: Wish, store: Knows, best: Candidate) -> Answer:
    try:
        try:
            raw, choices = chosen(best.made(), wish, store)
        except NothingLeft:
            wish.of_its_cells_alone = True
            raw, choices = chosen(best.made(), wish, store)
    except Unmet as unmet:
        lacking = sentence("lacking", wish.language, why=str(unmet).rstrip(".") + ".")
        near_it = [one.title for one in candidates(wish) if one.recipe not in entries()]
        nearest = [one for one in dict.fromkeys([*near_it, *ranked(wish)]) if one != best.title]
        return _words(f"{lacking} {_near(wish, nearest[:_MOST_NEAR])}".strip())
    except (NoTests, NothingLeft):
        return _words(_no_tests(wish))
    if _cannot_leave_out(wish, raw):
        return _words(sentence("left_out", wish.language))
    if best.recipe == "bode":
        wish.look = {
            key: value for key, value in wish.look.items() if not key.endswith("_scale")
        }  # it has its own
    wish.look = _not_chosen(wish.look, raw, choices)
    if wish.look:
        raw["transform"] = dressed(raw["transform"], wish.look)
    said = [sentence("drawn", wish.language, title=best.title)]
    shown = [*choices, *in_words(wish.look)]
    said += [sentence("chosen", wish.language, choices="; ".join(shown))] if shown else []
    said += [sentence("counted", wish.language)] if any(one.startswith("cycles ") for one in choices) else []
    said += [sentence("not_known", wish.language, names=one) for one in unknown_subjects(wish)]
    said += [*_few(wish, best, raw), *_details(wish, best, raw, choices)]
    return {"say": " ".join(said), "draft": {"name": best.title, "config": raw}}


def _not_chosen(look: Look, raw: Raw, choices: Sequence[str]) -> Look:
    """A look without what controls of the recipe choose: else these would choose nothing any more."""
    drawn = raw.get("params", {}).get("lines", {}).get("default")
    by_controls = {"cycles"} if any(one.startswith("cycles ") for one in choices) else set()
    by_controls |= {"mode"} if look.get("mode") == drawn else set()
    return {name: value for name, value in look.items() if name not in by_controls}


def _few(wish: Wish, best: Candidate, raw: Raw) -> Iterator[str]:
    """That only some of the tests are drawn that the wish names: their samples would be too many."""
    params = raw.get("params", {})
    names, cells = (params.get(name, {}).get("default") for name in ("tests", "cells"))
    if best.recipe != "samples" or not isinstance(names, list):
        return
    # The controls have names, which tests of several cells may share.
    shown = [one for one in wish.chosen_tests if one.name in names and (cells is None or one.cell in cells)]
    if len(shown) < len(wish.chosen_tests):
        yield sentence("few", wish.language, shown=str(len(shown)), all=str(len(wish.chosen_tests)))


def _cannot_leave_out(wish: Wish, raw: Raw) -> bool:
    """Whether a wish does not want some tests, and the controls of the recipe cannot leave them out."""
    params = raw.get("params", {})
    return (wish.leaves_out_tests and "tests" not in params) or (
        bool(wish.unwanted_cells) and not {"cells", "tests"} & params.keys()
    )


def _near(wish: Wish, titles: Sequence[str]) -> str:
    return sentence("near", wish.language, there=", ".join(titles)) if titles else ""


def _details(wish: Wish, best: Candidate, raw: Raw, choices: Sequence[str]) -> Iterator[str]:
    if wish.kept:
        yield sentence("kept", wish.language, what=wish.kept)
    names = " ".join(one.name.casefold() for one in wish.chosen_tests)
    absent = sorted(word for word in wish.test_words if word not in names)
    params = raw.get("params", {})
    chosen_cells = params.get("cells", {}).get("default")
    chosen_tests = params.get("tests", {}).get("default")
    if isinstance(chosen_tests, list) and "cells" not in params:
        shown = {one.cell for one in wish.facts.tests() if one.name in chosen_tests or one.id in chosen_tests}
        without = [one for one in wish.named.cells if one not in shown]
        if without:
            yield sentence("not_shown", wish.language, names=", ".join(without))
    of_names = (params.get("cells", {}).get("control") or {}).get("optionsFrom", {}).get("value") != "id"
    if isinstance(chosen_cells, list) and of_names and (wish.names_cells or not wish.unwanted):
        left_out = [one for one in (wish.chosen_cells or wish.named.cells) if one not in chosen_cells]
        if left_out:
            yield sentence("not_shown", wish.language, names=", ".join(left_out))
    if absent and wish.chosen_tests:
        yield sentence("not_there", wish.language, words=", ".join(absent))
    lacking = [*best.lacks, *not_given(wish.folded, best.recipe)]
    if best.recipe == "counts":
        lacking += counted_otherwise(wish)
    names_cycles = wish.cycles or (CYCLES.is_asked(wish.folded) and not wish.says(known.FIRST_AND_LAST))
    lacking += [form for part, form in LOOKS.items() if part in wish.apart]
    if (
        names_cycles
        and not {"cycles"} & {*wish.look, *wish.apart}
        and best.recipe not in CYCLES.given_by
        and not any(one.startswith("cycles ") for one in choices)
    ):
        lacking.append(CYCLES)
    by_controls = best.recipe not in CYCLES.given_by and "cycles" not in wish.look
    if len(wish.cycles) > MOST_CYCLES and CYCLES not in lacking and by_controls:
        lacking.append(CYCLES)
    limit = raw.get("params", {}).get("threshold", {}).get("default")
    marked = [f"{limit:g}"] if isinstance(limit, int | float) else []
    chosen_words = " ".join([best.title, *choices, *in_words(wish.look), *marked])
    if wish.says(known.THRESHOLD) and any(f"{one:g}" not in chosen_words for one in wish.percents[:1]):
        lacking.append(LIMIT)
    if lacking:
        yield sentence("details", wish.language, details=", ".join(one.names[wish.language] for one in lacking))


def _is_another(found: list[Candidate], draft: Mapping[str, JsonValue]) -> bool:
    return bool(found) and found[0].weight >= _CERTAIN and found[0].title != draft.get("name")


def _is_the_same(changed: Answer, draft: Mapping[str, JsonValue]) -> bool:
    """Whether a change chooses what the draft chose before: then the wish is about something else."""
    made = changed["draft"]
    return isinstance(made, dict) and made["config"] == sound(draft.get("config")).dump()


def _changed(
    wish: Wish, store: Knows, draft: Mapping[str, JsonValue], found: Sequence[Candidate]
) -> Answer | None:
    """The draft with other choices; None if the wish names none that it has."""
    try:
        config = sound(draft.get("config"))
        widened = config if is_of_another(found) else sound(with_tests_of(wish, config.dump()))
        raw, choices = chosen(widened, wish, store, is_change=True)
        choices += other_columns(wish, raw)
    except Invalid:
        return None
    except Unmet as unmet:
        return _words(sentence("lacking", wish.language, why=str(unmet)))
    except NothingLeft:
        return _words(_no_tests(wish))
    if _cannot_leave_out(wish, raw):
        return _words(sentence("left_out", wish.language))
    if wish.says(known.ADDS) and _turns(config.dump(), raw):
        return _words(sentence("cannot_add", wish.language, there=", ".join(_labels(draft)) or "–"))
    if check_script(str(raw.get("transform") or "")):
        wish.look = {}  # a script that does not run cannot get another look
    wish.look = _not_chosen(wish.look, raw, choices)
    if not choices and not wish.look:
        return None
    if wish.look:
        raw["transform"] = dressed(raw["transform"], wish.look)
    said = [sentence("changed", wish.language, choices="; ".join([*choices, *in_words(wish.look)]))]
    of = Candidate(str(draft.get("name") or ""), 0, lambda: config, recipe_of(draft))
    name = renamed(of.title, config.dump(), raw)
    return {
        "say": " ".join([*said, *_details(wish, of, raw, choices)]),
        "draft": {"name": name, "config": raw},
    }


def _turns(before: Raw, after: Raw) -> bool:
    """Whether a change has the other direction of current in place of the one before, and not both."""
    old, new = (one.get("params", {}).get("direction", {}).get("default") for one in (before, after))
    return bool(old != new and new != "both")


def _words(say: str) -> Answer:
    return {"say": say, "draft": None}


# What is answered in words before anything is looked for


def _refused(wish: Wish) -> str | None:
    if wish.says(known.OUT_OF_REACH):
        return sentence("out_of_reach", wish.language)
    if wish.says(known.FORETELL):
        there = ", ".join(entries()[name].title for name in ("fade", "end-of-life"))
        return sentence("foretell", wish.language, there=there)
    if wish.says(known.DATES):
        return sentence("dates", wish.language)
    if wish.says(known.BY_BATCH) and wish.cells and not any(one.batch for one in wish.cells):
        return sentence("no_batches", wish.language)
    if wish.says(known.RECORDS["simulations"]) and wish.cells and not wish.facts.catalog["simulations"].records:
        return sentence("no_simulation", wish.language)
    return _unknown_name(wish) or _absent_quantity(wish) or _other_temperature(wish)


def _unknown_name(wish: Wish) -> str | None:
    for kind, names in wish.named.unknown.items():
        batches = list(dict.fromkeys(one.batch for one in wish.cells if one.batch))
        designs = list(
            dict.fromkeys(one.design for one in wish.cells if one.design and one.name not in one.design)
        )
        cells = [one.name for one in wish.cells]
        others = batches if kind == "batch" else cells if kind == "cell" else designs or cells
        listed = near(names[0], [*others, *(one.name for one in wish.cells)]) or others[:_MOST_NAMED]
        there = sentence("there", wish.language, names=", ".join(listed)) if listed else ""
        return sentence("unknown", wish.language, name=names[0], there=there).strip()
    return None


def _absent_quantity(wish: Wish) -> str | None:
    there = _all_columns(wish)
    for quantity in wish.quantities:
        pattern = re.compile(quantity.pattern, re.IGNORECASE)
        if not any(pattern.search(name) for name in there) and not set(quantity.cycles) & set(there):
            present = ", ".join(_present(wish, there))
            return sentence(
                "absent" if present else "nothing",
                wish.language,
                what=quantity.names[wish.language],
                **({"there": present} if present else {}),
            )
    return None


def _present(wish: Wish, there: list[str]) -> list[str]:
    """The quantities that the store has, in the language of the wish."""

    def has(quantity: Quantity) -> bool:
        return any(re.search(quantity.pattern, name, re.IGNORECASE) for name in there)

    return [one.names[wish.language] for one in known.QUANTITIES if has(one)]


def _all_columns(wish: Wish) -> list[str]:
    catalog = wish.facts.catalog
    found = [column.name for column in (*catalog.cycles, *catalog.steps) if column.records]
    for source in catalog.sources:
        found += [column.name for column in source.series if column.records]
        found += [column.name for column in source.names if column.filled]
    return found


def _other_temperature(wish: Wish) -> str | None:
    there = sorted({one.degrees for one in wish.cells if one.degrees is not None})
    if not wish.degrees or set(wish.degrees) & set(there):
        return None
    if not there:
        return sentence("no_temperatures", wish.language) if wish.cells else None
    return sentence(
        "no_temperature",
        wish.language,
        degrees=", ".join(f"{one:g}" for one in wish.degrees),
        there=", ".join(f"{one:g}" for one in there),
    )


def _no_tests(wish: Wish) -> str:
    named = wish.named
    what = [*named.tests, *named.cells, *named.groups, *named.batches, *wish.kinds, *sorted(wish.test_words)]
    counts = {kind: len(wish.facts.tests(kind)) for kind in known.KINDS}
    there = ", ".join(f"{kind} ({counted(count, 'test')})" for kind, count in counts.items() if count)
    return sentence("no_tests", wish.language, what=", ".join(what) or "–", there=there or "–")


def _other_form(wish: Wish, forms: Sequence[Form], found: Sequence[Candidate]) -> str:
    """What cannot be drawn in the form that was asked for: another form would not be what the person asked."""
    lacking = [form for form in forms if found[0].recipe not in form.given_by] or list(forms)
    names = ", ".join(form.names[wish.language] for form in lacking)
    return sentence("other_form", wish.language, form=names, there=found[0].title)


def _not_understood(wish: Wish) -> str:
    there = ", ".join(ranked(wish)[:_MOST_NAMED])
    return sentence("not_understood", wish.language, there=there) if there else sentence("no_data", wish.language)


def _labels(draft: Mapping[str, JsonValue]) -> list[str]:
    config = draft.get("config")
    return labels(config) if isinstance(config, dict) else []


def _nothing_to_change(wish: Wish, draft: Mapping[str, JsonValue]) -> str:
    said = [sentence("nothing_to_change", wish.language, there=", ".join(_labels(draft)) or "–")]
    lacking = [form for part, form in LOOKS.items() if part in wish.apart]
    lacking += not_given(wish.folded, recipe_of(draft))
    there = [form for form in asked(wish.folded) if recipe_of(draft) in form.given_by]
    if lacking:
        said.insert(0, sentence("unfit", wish.language, details=_names_of(lacking, wish)))
    elif there:
        said = [sentence("has_already", wish.language, details=_names_of(there, wish))]
    return " ".join(said)


def _names_of(forms: Sequence[Form], wish: Wish) -> str:
    return ", ".join(form.names[wish.language] for form in forms)
