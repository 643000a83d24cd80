"""Words that this project does not use in messages, help, docs, docstrings and comments, and what it uses instead.

Names of variables are code and no matter of this test; so is what stands between backticks. A single word in quotes
is a value, and a statement of SQL is code.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tools.docs import WRITTEN

pytestmark = pytest.mark.xdist_group("words")  # one worker reads the files, once
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Rule:
    """A word not to use: where it is found, what to write, and where the same letters are right."""

    found: str
    use: str
    right: str = r"(?!)"
    """Text around the word, from 30 characters before it, in which it is right."""


RULES = (
    Rule(r"mend(?:s|ed|ing)?", "fix"),
    Rule(r"near (?:and|or) (?:once )?far|far (?:and|or) near", "local and remote"),
    Rule(r"(?:near|far) (?:bench(?:es)?|workbench|side|store|call|capability)", "local, remote"),
    Rule(r"told|tells", "is reported, says, shows; `told apart`: distinguished"),
    Rule(
        r"odd(?:ly|ity|ities)?",
        "a warning; unusual",
        right=r"odd (?:number|multiple|length|and even)|even (?:and|or) odd",
    ),
    Rule(r"doors?", "on ingest; when it arrives"),
    Rule(r"house template|look of the house", "the default template"),
    Rule(
        r"(?:is|are|was|were|be) no",
        "is not an X",
        right=r"\bthere\b[^.;:]*$|\bno (?:longer|more|better|worse|later|earlier|other|different|one)\b",
    ),
    Rule(r"put(?:s|ting)? aside", "replaced"),
    Rule(r"st(?:ands?|ood) (?:in|with|at|on|beside|there)", "is in, is at"),
    Rule(r"foreign", "untrusted (a script); of another program", right=r"foreign[ _-]keys?"),
    Rule(
        r"pieces?",
        "blob, file, part",
        right=r"\bin(?:to)?(?: \w+)? pieces|in one piece|pieces? (?:of|by)|by piece|piece_",
    ),
    Rule(r"seals?", "checksum", right=r"F_SEAL|memory|memfd"),
    Rule(r"the account", "the audit log; what was done", right=r"the account (?:name|page)"),
    Rule(r"(?:the|which|that|other) way of", "direction"),
)

ANY_WORD = re.compile(
    rf"(?<![\w-])(?:{'|'.join(rule.found for rule in RULES)})(?![\w-])".replace(" ", r"\s+"), re.I
)

SQL = re.compile(
    r"\s*(?:select|insert|update|delete|create|drop|alter|pragma|with|from|where|and|or|order by|join|left join)\b"
    r"(?:[^.]|\.\S)*$",
    re.IGNORECASE,
)
SOURCES = ("workbench", "server", "tools", "benchmarks", "sample_data")
SKIPPED = {ROOT / "tests" / "transform" / "hostile", ROOT / "tests" / "reference"}
"""Scripts and programs as their authors wrote them."""


@dataclass(frozen=True)
class Hit:
    path: Path
    line: int
    word: str
    use: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT).as_posix()}:{self.line}: '{self.word}' -> {self.use}"


def hits_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Line from 0, the word and what to write instead, for each word of a prose text that is not to be used."""
    if not ANY_WORD.search(text):  # most texts: one look instead of one for each rule
        return
    code = re.compile(r"```.*?```|``[^`]+``|`[^`\n]+`|https?://\S+|\]\([^)]*\)", re.DOTALL)
    plain = code.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
    for rule in RULES:
        for match in re.finditer(rf"(?<![\w-]){rule.found}(?![\w-])".replace(" ", r"\s+"), plain, re.IGNORECASE):
            before = plain[max(0, match.start() - 30) : match.end()]
            around = plain[max(0, match.start() - 30) : match.end() + 30]
            if re.search(rule.right, " ".join(before.split()), re.I) or re.search(
                rule.right.replace("$", "(?!)"), " ".join(around.split()), re.IGNORECASE
            ):
                continue
            yield plain.count("\n", 0, match.start()), " ".join(match[0].split()), rule.use


JOINED = re.compile(r"""["']\s*\(?\s*[a-z]{0,2}["']""", re.IGNORECASE)
MARKS = re.compile(r"""(?:[\s#:"']|\\n)+""")


def may_hold_a_word(source: str) -> bool:
    """Whether a word of the list may be in the texts of a module, by its source alone: most modules are read no
    further. Texts and comments that go on in a next line are joined."""
    return bool(ANY_WORD.search(MARKS.sub(" ", JOINED.sub("", source))))


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """First line and text of everything in a file that a person reads as language."""
    text = path.read_text("utf-8")
    if path.suffix == ".py" and not may_hold_a_word(text):
        return
    if path.suffix == ".py":
        if ANY_WORD.search(MARKS.sub(" ", "\n".join(line.partition("#")[2] or "." for line in text.splitlines()))):
            yield from _comments(path)
        yield from _strings(ast.parse(text), messages=path.relative_to(ROOT).parts[0] != "tests")
    elif path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "markdown":
                yield 1, "".join(cell["source"])
    else:
        yield 1, text


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    """Comments; those of lines that follow each other are one text."""
    lines: list[str] = []
    first = last = 0
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type != tokenize.COMMENT:
                continue
            if token.start[0] != last + 1:
                yield first, "\n".join(lines)
                lines, first = [], token.start[0]
            lines.append(token.string.lstrip("#: "))
            last = token.start[0]
    yield first, "\n".join(lines)


def _strings(tree: ast.Module, *, messages: bool) -> Iterator[tuple[int, str]]:
    """Docstrings, and with ``messages`` every other text of at least three words that is not SQL."""
    nodes = list(ast.walk(tree))
    documented = {node.value for node in nodes if isinstance(node, ast.Expr)}
    inner = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) if node not in inner:
                pass
            case ast.JoinedStr(values=parts):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            case _:
                continue
        if not ANY_WORD.search(text):
            continue
        if node in documented or (messages and len(text.split()) >= 3 and not _is_code(text)):
            yield node.lineno, text


def _is_code(text: str) -> bool:
    """Whether a text is SQL, JavaScript or Python."""
    if SQL.match(text) or "=>" in text:
        return True
    try:
        return bool(ast.parse(textwrap.dedent(text)).body)
    except SyntaxError:
        return False


@cache
def hits() -> tuple[Hit, ...]:
    paths = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    paths += [path for suffix in ("*.py", "*.md") for folder in SOURCES for path in (ROOT / folder).rglob(suffix)]
    paths += [path for suffix in ("*.py", "*.md") for path in (ROOT / "docs").rglob(suffix) if path not in WRITTEN]
    paths += [*(ROOT / "tests").rglob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")]
    paths = [path for path in paths if "node_modules" not in path.parts]
    ours = (path for path in paths if path != Path(__file__) and not SKIPPED & set(path.parents))
    return tuple(
        Hit(path, first + line, word, use)
        for path in sorted(ours)
        for first, text in prose_of(path)
        for line, word, use in hits_in(text)
    )


def test_no_text_uses_a_word_of_the_list() -> None:
    found = [str(hit) for hit in hits()]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        '"""It was\n    no longer than that. Who tells?"""',
        "# near and\n# far",
        "x = 'it is ' f'no {name}'",
        "x = (\n    'it is '\n    'no name'\n)",
        "x = 'it is\\nno name'",
    ],
)
def test_a_word_is_found_where_a_text_goes_on_in_a_next_line(source: str) -> None:
    assert may_hold_a_word(source)


@pytest.mark.parametrize(
    "text",
    [
        "The nearest name and the mend.",
        "Near and far give the same answer.",
        "The problem is told\nin the log; it tells why.",
        "What was odd about the file.",
        "Checked at the door.",
        "The file is no workbench store.",
        "What stands in the report.",
        "A foreign script.",
        "The hash of a piece.",
        "# a seal for each row",
        "One line in the account.",
    ],
)
def test_a_word_of_the_list_is_found(text: str) -> None:
    assert list(hits_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "The near names are 'a' and 'b', as far as they are known.",
        "``told`` is a list; `odd.csv` lies beside it.",
        "There is no file. There may be no rows, and it is no longer here.",
        "An odd number of rows; even or odd.",
        "The foreign key of a link.",
        "It is read in bounded pieces, a piece of 64 KiB each.",
        "Recommended: amend the endings. The clock stands still.",
        "[why](odd.md) it is so",
    ],
)
def test_other_uses_are_right(text: str) -> None:
    assert not list(hits_in(text))


def test_code_is_not_prose(tmp_path: Path) -> None:
    source = """
        told = {"odd": 1, "near": 2}
        query = "select piece from pieces where odd = 1"
        message = f"The {told} is told"
        # Why it is odd.
    """
    path = tmp_path / "sample.py"
    path.write_text(textwrap.dedent(source), "utf-8")
    strings = list(_strings(ast.parse(path.read_text("utf-8")), messages=True))
    assert [(line, word) for first, text in strings for line, word, _ in hits_in(text)] == [(0, "told")]
    assert [word for _, text in _comments(path) for _, word, _ in hits_in(text)] == ["odd"]
