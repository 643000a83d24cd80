"""Every array comes back bit for bit, whatever codec was chosen for it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workbench.errors import BadRequest, Damaged, TooLarge
from workbench.store.series import codec
from workbench.table import Column

DTYPES = ["<f8", "<f4", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "?"]


def same(values: np.ndarray, valid: np.ndarray | None = None, **options: bool) -> bytes:
    payload = codec.encode(values, valid, **options)
    back, known = codec.decode(payload)
    assert back.dtype == values.dtype
    present = np.ones(len(values), bool) if valid is None else valid
    assert (known is None) == bool(present.all())
    if known is not None:
        assert np.array_equal(known, present)
    assert back[present].tobytes() == values[present].tobytes()
    out = np.empty(len(values), values.dtype)
    codec.decode_into(payload, out)
    assert out[present].tobytes() == values[present].tobytes()
    return payload


@st.composite
def columns(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None]:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    size = draw(st.integers(0, 200))
    if dtype.kind == "f" and draw(st.booleans()):
        digits = draw(st.integers(0, 6))
        whole = draw(arrays.arrays(np.int32, size))
        values = (whole / 10.0**digits).astype(dtype)
        odd = draw(st.sampled_from([np.nan, -0.0, np.inf, 1e300, 0.1 + 0.2]))
        with np.errstate(over="ignore"):
            values[draw(arrays.arrays(np.bool_, size))] = odd
    else:
        values = draw(arrays.arrays(dtype, size))
    valid = draw(st.none() | arrays.arrays(np.bool_, size))
    return values, valid


@given(columns(), st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_array_comes_back_bit_for_bit(case: tuple[np.ndarray, np.ndarray | None], small: bool) -> None:
    same(*case, small=small)


def test_nan_payloads_and_signs_are_kept() -> None:
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001], np.uint64).view(np.float64)
    same(np.concatenate([np.arange(50) / 10, odd, [np.nan, -0.0, 0.0, np.inf, -np.inf, 5e-324]]))
    same(np.array([0x7FC00001, 0xFFC00000, 0x80000000], np.uint32).view(np.float32))


@pytest.mark.parametrize("odd", [None, np.nan, -0.0])
def test_decimals_with_gaps_stay_small(odd: float | None) -> None:
    rng = np.random.default_rng(0)
    values = np.round(3.7 + rng.normal(0, 3e-4, 16384), 4)
    if odd is not None:
        values[rng.random(len(values)) < 0.1] = odd
    assert len(same(values)) < 0.7 * len(values)


def test_integers_wrap_without_loss() -> None:
    limits = np.iinfo(np.int64)
    same(np.array([limits.min, limits.max, 0, limits.max, limits.min, -1], np.int64))
    same(np.array([0, 2**64 - 1, 2**63, 1], np.uint64))


def test_the_payload_depends_on_the_values_alone() -> None:
    values = np.round(np.linspace(0, 5, 5000), 3)
    assert codec.encode(values) == codec.encode(values.copy()[::1])
    shadow = values.copy()
    valid = np.ones(len(values), bool)
    valid[::7] = False
    shadow[::7] = np.nan
    assert codec.encode(values, valid) == codec.encode(shadow, valid), "what lies under a null must not matter"


def test_plain_integers_come_back() -> None:
    payload = codec.encode(np.array([3, 0, 127, 5], np.int64), ordered=False)
    assert codec.decode(payload)[0].tolist() == [3, 0, 127, 5]


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=50))
@settings(max_examples=100, deadline=None)
def test_texts_come_back(words: list[str | None]) -> None:
    column = Column.text(words)
    back = codec.decode_column(codec.encode_column(column), "text", np.dtype(np.int32))
    assert back.tolist() == words


def test_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(BadRequest, match="Unicode"):
        codec.encode_column(Column.text(["\ud800"]))


@pytest.mark.parametrize(
    "payload", [b"", b"\x09" * 8, b"\x01\x00\x10\x04\x05\x00\x00\x00", b"\x05\x00\x00\x00\xff\x00\x00\x00"]
)
def test_other_bytes_are_a_named_error(payload: bytes) -> None:
    with pytest.raises(Damaged):
        codec.decode_column(payload, "number", np.dtype(np.float64))


def test_the_payload_does_not_depend_on_the_byte_order_of_the_array() -> None:
    for n in (5, 5000):
        values = np.arange(n) * 70_000
        for small in (True, False):
            payload = codec.encode(values.astype(">i4"), small=small)
            assert payload == codec.encode(values.astype("<i4"), small=small)
            assert codec.decode(payload)[0].tolist() == values.tolist()


def bombs() -> list[bytes]:
    """Payloads of a few rows, or of a few bytes, that would unpack to much more."""
    zeros = codec.pack(bytes(64 << 20))
    masked = codec._HEAD.pack(codec.CONSTANT, 0, codec.NULLS, 0, 3) + len(zeros).to_bytes(4, "little") + zeros
    deltas = codec._DELTAS.pack(0, 0, 0)
    beside = codec._DELTAS.pack(0, 3, 0) + len(zeros).to_bytes(4, "little")
    return [
        masked,
        codec._HEAD.pack(codec.DELTAS, 5, 0, 0, 3) + deltas + zeros,
        codec._HEAD.pack(codec.DELTAS, 5, 0, 0, 3) + beside + zeros,
        codec._HEAD.pack(codec.SHUFFLED, 0, 0, 0, 3) + zeros,
        codec._HEAD.pack(codec.STEPPED, 0, 0, 0, 3) + zeros,
        codec._HEAD.pack(codec.PLAIN, 5, 0, 4, 3) + zeros,
        codec._HEAD.pack(codec.CONSTANT, 0, 0, 0, (1 << 32) - 1) + bytes(8),
        codec._HEAD.pack(codec.TEXT, 0, 0, 0, len(zeros)) + zeros,
    ]


@pytest.mark.parametrize("place", range(8))
def test_a_payload_does_not_unpack_to_more_than_its_rows_have(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MOST_WORD_BYTES", 1 << 20)
    payload = bombs()[place]
    tracemalloc.start()
    try:
        with pytest.raises(Damaged):
            codec.decode_column(payload, "number", np.dtype(np.float64))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_texts_that_are_too_long_to_read_back_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MOST_WORD_BYTES", 100)
    with pytest.raises(TooLarge, match="Shorten"):
        codec.encode_column(Column.from_python(["a" * 99], "text"))
