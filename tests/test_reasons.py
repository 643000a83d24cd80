"""What turns a check off has its reason beside it: casts, ignored types, excepts that catch everything.

An except that raises again what it caught needs none. How often ``Any`` is used is bounded by a third of 0.1.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ANY_OF_0_1_0 = 1741
"""Uses of the name ``Any`` in ``workbench`` and ``server`` of 0.1.0, counted as below."""


@cache
def sources() -> dict[Path, str]:
    paths = [path for folder in ("workbench", "server") for path in (ROOT / folder).rglob("*.py")]
    return {path: path.read_text("utf-8") for path in sorted(paths)}


def nodes(text: str, *words: str) -> Iterator[ast.AST]:
    """All nodes of a source, if it has one of the words: to parse and walk those without takes seconds."""
    return ast.walk(ast.parse(text)) if any(word in text for word in words) else iter(())


def has_reason(lines: list[str], number: int) -> bool:
    """Whether a comment, other than one for a program, is in a line, within four lines above it, or below it.

    Several lines that follow each other share the reason above the first of them.
    """
    around = lines[max(0, number - 5) : number + 1]
    return any(
        part.strip() and not part.strip().startswith(("type:", "noqa", "pragma"))
        for line in around
        for part in line.split("#")[1:]
    )


def catches_all(node: ast.ExceptHandler) -> bool:
    names = (
        [one.id for one in ast.walk(node.type) if isinstance(one, ast.Name)] if node.type else ["BaseException"]
    )
    raises_again = any(isinstance(one, ast.Raise) and one.exc is None for one in node.body)
    return not raises_again and bool({"Exception", "BaseException"} & {*names})


def is_cast(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"


def checks_turned_off() -> Iterator[tuple[Path, int]]:
    for path, text in sources().items():
        for node in nodes(text, "cast(", "except:", "Exception"):
            if is_cast(node) or (isinstance(node, ast.ExceptHandler) and catches_all(node)):
                yield path, node.lineno
        yield from ((path, number) for number, line in enumerate(text.splitlines(), 1) if "# type: ignore" in line)


def test_what_turns_a_check_off_has_its_reason_beside_it() -> None:
    found = [*checks_turned_off()]
    assert len(found) > 50
    without = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, number in found
        if not has_reason(sources()[path].splitlines(), number)
    ]
    assert without == [], "write the reason in a comment in the line or above it"


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("x = cast(int, y)", False),
        ("# y is checked above.\nx = cast(int, y)", True),
        ("x = y  # type: ignore[misc]", False),
        ("x = y  # type: ignore[misc]  # plotly has no types", True),
        ("try:\n    x()\nexcept Exception:\n    # Any failure means no.\n    x = 1", True),
    ],
)
def test_a_reason_is_a_comment_for_people(text: str, has: bool) -> None:
    lines = text.splitlines()
    (number,) = (
        place for place, line in enumerate(lines, 1) if "cast" in line or "ignore" in line or "except" in line
    )
    assert has_reason(lines, number) is has


def test_any_is_used_at_most_a_third_as_often_as_in_0_1_0() -> None:
    used = [
        node
        for text in sources().values()
        for node in nodes(text, "Any")
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert len(used) <= ANY_OF_0_1_0 / 3
