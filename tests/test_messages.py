"""Options in messages are spelled as their reader types them."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np
import pytest
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from workbench import messages
from workbench.dataset import Dataset, Samples
from workbench.engine.zoom import Detail
from workbench.messages import (
    column_map,
    counted,
    option,
    option_name,
    place,
    quoted,
    refused,
    spaced,
    typed_in,
)
from workbench.notebook import status_text as words
from workbench.records.values import plain_name
from workbench.table import Table


def test_the_examples_hold() -> None:
    assert doctest.testmod(messages).failed == 0


def test_an_option_is_spelled_for_where_it_is_typed() -> None:
    assert (option("repair", "time"), option_name("column_map")) == ('repair="time"', "column_map")
    with typed_in("terminal"):
        assert (option("repair", "time"), option_name("column_map")) == ("--repair time", "--map")
        with typed_in("python"):
            assert option("sign", "charge") == 'sign="charge"'
        assert place() == "terminal"
    assert place() == "python"


def test_the_place_is_left_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="x"), typed_in("terminal"):
        raise ValueError("x")
    assert place() == "python"


@pytest.mark.parametrize("header", ["Volts", "Ecell / V", 'a "b"', "$U", "it's", "a`b", "back\\slash"])
def test_a_map_can_be_pasted(header: str) -> None:
    with typed_in("terminal"):
        assert shlex.split(column_map({header: "Voltage [V]"})) == ["--map", f"{header}=Voltage [V]"]
    assert eval(f"dict({column_map({header: 'Voltage [V]'})})") == {"column_map": {header: "Voltage [V]"}}


def test_counts_and_rows_of_names() -> None:
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert quoted(["a"]) == "'a'"
    assert quoted(["a", "b"], last="or") == "'a' or 'b'"
    assert quoted("abcd", most=2) == "'a', 'b' and 2 more"
    assert quoted([]) == ""


def test_a_sample_that_is_read_twice_or_drawn_twice_counts_once() -> None:
    """Voltage and current of 560 samples were "all 1 120 points"."""

    def read(first: int, n: int, total: int) -> Samples:
        return Samples(np.arange(first, first + n), Table({}, n), n == total, total)

    once = Dataset({"samples": {"a": read(0, 560, 560)}})
    twice = Dataset({"volts": {"a": read(0, 560, 560)}, "amps": {"a": read(0, 560, 560), "b": read(0, 40, 40)}})
    parts = Dataset({"early": {"a": read(0, 60, 60)}, "late": {"a": read(50, 50, 50)}})
    thinned = Dataset({"volts": {"a": read(0, 50, 560)}, "amps": {"a": read(0, 50, 560)}})
    texts = [words.samples(one).replace("\N{NO-BREAK SPACE}", " ") for one in (once, twice, parts, thinned)]
    assert texts == ["all 560 samples", "all 600 samples", "all 100 samples", "50 of 560 samples"]
    traces = {number: Detail([], [], 560, 560) for number in range(2)}
    assert words.closely({0: traces[0]}, [], []) == "in view: all 560 samples"
    said = words.closely(traces, [], []).replace("\N{NO-BREAK SPACE}", " ")
    assert said == "in view: all 1 120 points of 2 traces"


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_page_says_of_how_many_traces_points_are() -> None:
    path = Path(messages.__file__).parents[1] / "server" / "page" / "core" / "words.js"
    script = (
        f"import {{ points }} from {str(path)!r}; console.log([points(560, 560, 1), points(20, 1120, 2)].join())"
    )
    made = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, check=True, text=True
    )
    assert made.stdout.strip().replace("\u202f", " ") == "all 560 points,20 of 1 120 points of 2 traces"


def test_thousands_are_written_in_one_way_and_in_one_place() -> None:
    assert spaced(12000) == "12\N{NO-BREAK SPACE}000"
    assert words.count(2000) == spaced(2000) == counted(2000, "row").removesuffix(" rows")
    folder = Path(messages.__file__).parent
    own = re.compile(r"\{[^{}]*:[,_]\}")
    others = [path.name for path in folder.rglob("*.py") if own.search(path.read_text("utf-8"))]
    assert others == ["messages.py"]


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        (str, 5, "'x' must be a text."),
        (int, "a", "'x' must be a whole number."),
        (float, "a", "'x' must be a number."),
        (bool, "a", "'x' must be true or false."),
        (list[str], 5, "'x' must be a list."),
        (dict[str, str], 5, "'x' must be an object."),
        (tuple[int, int], 5, "'x' must be a list."),
        (UUID, "a", "'x' must be a UUID."),
        (UUID, [], "'x' must be a UUID."),
        (datetime, "a", "'x' must be an ISO 8601 time."),
        (None, 5, "'x' must be null."),
        (Literal["a", "b"], "c", "'x' must be one of 'a' or 'b'."),
        (Annotated[int, Field(gt=0)], 0, "'x' must be more than 0."),
        (Annotated[int, Field(ge=1)], 0, "'x' must be at least 1."),
        (Annotated[int, Field(lt=0)], 0, "'x' must be less than 0."),
        (Annotated[int, Field(le=-1)], 0, "'x' must be at most -1."),
        (Annotated[str, Field(max_length=1)], "ab", "'x' must have at most 1 character."),
        (Annotated[str, Field(min_length=2)], "a", "'x' must have at least 2 characters."),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "'x' must have at most 1 entry."),
        (Annotated[list[int], Field(min_length=2)], [1], "'x' must have at least 2 entries."),
        (Annotated[str, Field(pattern="b")], "a", "'x' has a value that is not allowed here."),
        (Annotated[str, AfterValidator(plain_name)], " ", "A name must not be blank."),
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", str(value)),
)
def test_a_value_of_a_wrong_kind_is_refused_in_our_words(hint: Any, value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(hint).validate_python(value)
    (found,) = caught.value.errors()
    assert refused("'x'", found["type"], found["msg"], found.get("ctx")) == said
