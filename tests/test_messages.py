"""Options in messages are spelled as their reader types them."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from workbench import messages
from workbench.messages import column_map, counted, option, option_name, place, quoted, spaced, typed_in
from workbench.notebook import status_text as words


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


def test_thousands_are_written_in_one_way_and_in_one_place() -> None:
    assert spaced(12000) == "12\N{NO-BREAK SPACE}000"
    assert words.count(2000) == spaced(2000) == counted(2000, "row").removesuffix(" rows")
    folder = Path(messages.__file__).parent
    own = re.compile(r"\{[^{}]*:[,_]\}")
    others = [path.name for path in folder.rglob("*.py") if own.search(path.read_text("utf-8"))]
    assert others == ["messages.py"]
