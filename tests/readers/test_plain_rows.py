"""Plain text is parsed by compiled code to the frames that pandas gives, and all other text goes to pandas."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.readers import read
from workbench.readers.table import plain_rows
from workbench.readers.table.plain_rows import NOT_NUMBERS, NotPlain, PlainRows

needs_parser = pytest.mark.skipif(plain_rows.PARSER is None, reason="no C compiler was there at the installation")


class Blocks:
    """A text in blocks of some size, as a stream of lines gives it."""

    def __init__(self, text: bytes, size: int) -> None:
        self._file, self._size = io.BytesIO(text), size

    def read(self) -> bytes:
        return self._file.read(self._size)


def plain(
    text: bytes, names: Sequence[str], rows: int = 10**6, *, mark: str = ",", only: Sequence[str] | None = None
) -> Iterator[pd.DataFrame]:
    assert plain_rows.PARSER is not None
    parser = PlainRows(plain_rows.PARSER, Blocks(text, 64), names, mark, ".", only)
    while True:
        try:
            yield parser.batch(rows)
        except StopIteration:
            return


def by_pandas(
    text: bytes, names: Sequence[str], *, mark: str = ",", only: Sequence[str] | None = None
) -> pd.DataFrame:
    above = mark.join(map(str, range(len(names)))).encode() + b"\n"
    return pd.read_csv(
        io.BytesIO(above + text),
        sep=mark,
        header=0,
        names=[*names],
        usecols=[*(only or names)],
        index_col=False,
        na_values=[*NOT_NUMBERS],
        low_memory=False,
    )


def check(text: bytes, names: Sequence[str], *, mark: str = ",", only: Sequence[str] | None = None) -> bool:
    """Whether a text is plain; if it is, it gives the frame of pandas to the bit."""
    try:
        (made,) = plain(text, names, mark=mark, only=only)
    except NotPlain:
        return False
    wanted = by_pandas(text, names, mark=mark, only=only)
    pd.testing.assert_frame_equal(made, wanted, check_exact=True)
    for name in made:
        if made[name].dtype == np.float64:
            assert made[name].to_numpy().tobytes() == wanted[name].to_numpy().tobytes(), name
    return True


def is_plain(text: bytes) -> bool:
    try:
        return len([*plain(text, ["a", "b"])]) == 1
    except NotPlain:
        return False


def number(rng: random.Random) -> str:
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 2, 5, 9, 15, 16, 17, 18, 19, 20, 24])))
    if rng.random() < 0.3:
        digits = "0" * rng.randrange(6) + digits
    if rng.random() < 0.3:
        digits += "0" * rng.randrange(9)
    place = rng.randrange(len(digits) + 1)
    made = digits[:place] + rng.choice([".", ".", ""]) + digits[place:]
    if rng.random() < 0.4:
        made += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.choice([0, 3, 22, 23, 60, 64, 65, 300]))
    return rng.choice(["", "", "-"]) + made


@needs_parser
@pytest.mark.parametrize("seed", range(6))
def test_numbers_have_the_bits_of_pandas(seed: int) -> None:
    rng = random.Random(seed)
    cells = [cell for cell in (number(rng) for _ in range(3000)) if is_plain(f"{cell},1.5\n".encode())]
    assert 1500 < len(cells) < 3000
    assert check("".join(f"{cell},0.5\n" for cell in cells).encode(), ["a", "b"])
    for cell in cells[:20]:
        assert check(f"{cell},0.5\n".encode(), ["a", "b"])


@needs_parser
def test_numbers_half_between_two_doubles_go_to_the_even_one() -> None:
    rng = random.Random(0)
    cells = [f"{(2**53 + 2 * rng.randrange(2**50) + 1) * 2**shift}." for shift in range(4) for _ in range(300)]
    cells += [f"{whole}.{part}" for whole in range(2**51, 2**51 + 40) for part in (125, 25, 375, 5, 625, 75, 875)]
    cells += [repr(value) for value in np.ldexp(1 + np.arange(40) * 2.0**-52, np.arange(-60, 60, 3)).tolist()]
    cells += ["9007199254740993.0", "-9007199254740993e0", "0.000", "-0.0", "-0e5", "0e99"]
    made = next(plain("".join(f"{cell},1.5\n" for cell in cells).encode(), ["a", "b"]))
    assert [value.hex() for value in made["a"]] == [float(cell).hex() for cell in cells]


CELLS = (
    *("1", "-2", "3.25", "4e3", "-0", "0", "007", "", "", "nan", "N/A", "-", "--", "NULL", "-nan"),
    *("Rest", "2023-05-01 10:00:00", "00:13:00", "1 2", "CC DChg", "x", "1.2.3", "1,5", "5e", "-.", ".", "1-2"),
)
ODD = (
    "True",
    "false",
    " 1",
    "1 ",
    "+5",
    "inf",
    "-Infinity",
    '"a"',
    "a\rb",
    "caf\u00e9",
    "12345678901234567",
    "1e400",
)


@needs_parser
@pytest.mark.parametrize("seed", range(8))
def test_any_plain_text_gives_the_frame_of_pandas(seed: int) -> None:
    """Columns of one kind of cells and of many, rows that are too short and too long, empty lines, both line ends."""
    rng, plain_ones = random.Random(seed), 0
    for _ in range(60):
        mark, end = rng.choice(",;\t"), rng.choice(["\n", "\r\n"])
        names = [f"c{place}" for place in range(rng.randint(1, 5))]
        kinds = [rng.choice([CELLS[:3], CELLS[:5], CELLS[:15], CELLS]) for _ in names]
        odd = rng.random() < 0.2
        lines = []
        for _ in range(rng.randint(1, 12)):
            cells = [rng.choice(ODD if odd and rng.random() < 0.1 else kind) for kind in kinds]
            if rng.random() < 0.1:
                cells = cells[: rng.randint(1, len(cells))] if rng.random() < 0.5 else [*cells, "9", "z"]
            lines.append(mark.join(cells))
            if rng.random() < 0.05:
                lines.append("")
        text = end.join(lines) + (end if rng.random() < 0.7 else "")
        only = [name for name in names if rng.random() < 0.7] or None
        if text.strip("\r\n"):
            plain_ones += check(text.encode(), names, mark=mark, only=only)
    assert plain_ones > 24


@needs_parser
@pytest.mark.parametrize("cell", ODD)
def test_what_is_not_plain_goes_to_pandas(cell: str) -> None:
    text = f"1,2.5\n{cell},3\n".encode()
    with pytest.raises(NotPlain) as raised:
        next(plain(text, ["a", "b"]))
    assert raised.value.text == text


@needs_parser
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 50])
def test_batches_hold_all_rows_one_after_the_other(rows: int) -> None:
    lines = [f"{n},{n / 7!r},{'' if n % 3 else 'word'},{n if n < 30 else 'late'}" for n in range(60)]
    names = ["whole", "broken", "seldom", "later"]
    made = [*plain("\n".join(lines).encode(), names, rows)]
    assert [len(frame) for frame in made] == [rows] * (60 // rows) + [60 % rows] * (60 % rows > 0)
    at = 0
    for frame in made:
        wanted = by_pandas("\n".join(lines[at : at + len(frame)]).encode(), names)
        pd.testing.assert_frame_equal(frame, wanted, check_exact=True)
        at += len(frame)


@needs_parser
def test_what_was_read_ahead_is_given_to_pandas_in_its_order() -> None:
    lines = [f"{n},{n / 8}" for n in range(100)]
    lines[70] = '70,"8"'
    parser = plain(("\n".join(lines) + "\n").encode(), ["a", "b"], 20)
    for _ in range(3):
        next(parser)
    with pytest.raises(NotPlain) as raised:
        next(parser)
    text = raised.value.text.decode()
    assert "\n".join(lines[60:]).startswith(text.rstrip("\n"))
    assert text.startswith(lines[60])


@needs_parser
def test_what_does_not_fit_is_refused() -> None:
    assert plain_rows.PARSER is not None
    powers = plain_rows._powers_of_five()
    row_of, seen = np.array([0, -1], np.int32), np.zeros(2, np.uint8)
    numbers, starts, lengths = np.empty((1, 4)), np.empty((1, 4), np.int64), np.empty((1, 4), np.int32)
    form = b",.\0"
    right = (b"1,a\n2,b\n", True, 0, 4, form, powers, row_of, seen, numbers, starts, lengths)
    assert plain_rows.PARSER.rows(*right) == (2, 8)
    wrong: dict[int, object] = {2: 5, 3: 5, 4: b",.", 5: powers[:-1], 7: seen[:1], 8: numbers[:, :3].copy()}
    wrong |= {6: np.array([1, -1], np.int32), 9: starts[:, :2].copy(), 10: lengths[:0]}
    for place, value in wrong.items():
        with pytest.raises(ValueError, match="no room"):
            plain_rows.PARSER.rows(*right[:place], value, *right[place + 1 :])
    for place in (0, 4, 5, 6, 7, 8, 9, 10):
        with pytest.raises(TypeError):
            plain_rows.PARSER.rows(*right[:place], None, *right[place + 1 :])
    texts, offsets = np.empty(2, np.uint8), np.empty(3, np.int64)
    here, many = np.array([2, 6]), np.array([1, 1], np.int32)
    plain_rows.PARSER.joined(right[0], here, many, offsets, texts)
    assert (texts.tobytes(), offsets.tolist()) == (b"ab", [0, 1, 2])
    for given in (
        (here + 7, many, offsets, texts),
        (here, many + 9, offsets, texts),
        (-here, many, offsets, texts),
    ):
        with pytest.raises(ValueError, match="no room"):
            plain_rows.PARSER.joined(right[0], *given)
    for given in (
        (here[:1], many, offsets, texts),
        (here, many, offsets[:2], texts),
        (here, many, offsets, texts[:1]),
    ):
        with pytest.raises(ValueError, match="no room"):
            plain_rows.PARSER.joined(right[0], *given)


def test_a_file_gives_the_same_samples_without_the_compiled_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"{n},{n * 0.1 + 1 / 3!r},{(-1) ** (n // 50)}.0,{3.5 + n / 1000!r},CC {'Chg' if n // 50 % 2 else 'DChg'}"
        for n in range(400)
    ]
    rows[350] = rows[350].replace("CC", '"CC"').replace(",CC Chg", ',"CC Chg"')
    path = tmp_path / "test.csv"
    path.write_text("Record,Time [s],Current [A],Voltage [V],Step name\n" + "\n".join(rows))
    fast = [*read(path).batches]
    monkeypatch.setattr(plain_rows, "PARSER", None)
    slow = [*read(path).batches]
    assert [table.n for table in fast] == [table.n for table in slow]
    for one, other in zip(fast, slow, strict=True):
        assert [*one] == [*other]
        for name in one:
            assert one[name].kind == other[name].kind
            assert one[name].tolist() == other[name].tolist()
