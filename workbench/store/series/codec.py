"""Codec: encodes arrays in few bytes and decodes them, bit for bit.

A payload is 8 bytes of head (codec, dtype, flags, digits, number of values) and a body. Nulls, and NaN
and -0.0 among decimal values, are bit masks in front of the body; other values fill their places.

| codec | body | for |
|---|---|---|
| 0 raw | the values | short series, which are read without unpacking |
| 1 deltas | first value, differences in a narrow integer, zstd; the few that are wider | decimals, integers, times |
| 2 shuffled | bytes of equal weight side by side, zstd | floats without order |
| 3 constant | one value | columns that do not change |
| 4 plain | the narrowest unsigned integer, zstd | small numbers without order |
| 5 text | the distinct words (JSON, zstd), then the payload of their codes | text |
| 6 stepped | as shuffled, of the differences of the bit patterns | floats that change little |

Decimal values v are kept as the integers ``rint(v * 10**k)`` for the least k that gives back every bit.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray

from ...errors import BadRequest, Damaged, TooLarge
from ...table import Array, Column, DType, Kind
from . import compiled

Mask = NDArray[np.bool_]

RAW, DELTAS, SHUFFLED, CONSTANT, PLAIN, TEXT, STEPPED = range(7)
NULLS, NANS, NEGATIVE_ZEROS, NARROWED, DECIMALS = 1, 2, 4, 8, 16
_MASKED = NULLS | NANS | NEGATIVE_ZEROS
LEVEL = 1
DIGITS = 12
_HEAD = struct.Struct("<BBBBI")
_DELTAS = struct.Struct("<BIq")
# A flag beside the width of deltas: their values fit 32 bits, which halves the memory to move on reading.
_HALVED = 8
_DTYPES = tuple(
    np.dtype(name) for name in ("<f8", "<f4", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "?")
)
_PLACES = {dtype: place for place, dtype in enumerate(_DTYPES)}
_PLAINEST = {dtype: bytes([RAW, place, 0, 0]) for dtype, place in _PLACES.items()}
MOST_VALUES = 1 << 20
"""More values than a payload ever has: one is made for each chunk, or for its part of a level."""
MOST_WORD_BYTES = 256 << 20
"""The texts of one payload, written out."""
_LIMITS = (1 << 7, 1 << 15, 1 << 31)
_SIGNED = tuple(np.dtype(name) for name in ("i1", "<i2", "<i4", "<i8"))
POWERS = 10.0 ** np.arange(DIGITS + 1)
_NAN = int(np.array(np.nan).view(np.int64))
_NEGATIVE_ZERO = int(np.array(-0.0).view(np.int64))


class _Zstd(threading.local):
    def __init__(self) -> None:
        self.pack = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False).compress
        self.unpack = zstandard.ZstdDecompressor().decompress
        self.length = zstandard.frame_content_size
        # Memory that is used again causes no page faults.
        self.scratch: dict[DType, Array] = {
            np.dtype(kind): np.empty(1 << 14, kind) for kind in (np.int32, np.int64)
        }


_zstd = _Zstd()


def pack(raw: bytes | memoryview) -> bytes:
    return _zstd.pack(raw)


def unpack(packed: bytes) -> bytes:
    """What `pack` was given; for what this process packed."""
    return _zstd.unpack(packed)


def _unpacked(packed: memoryview, most: int) -> bytes:
    """The bytes of a packed part. One that would unpack to more than its rows can have is refused before that."""
    length = _zstd.length(packed)
    if not 0 <= length <= most:
        raise ValueError(f"a part says that it has {length} bytes, and its rows have at most {most}")
    return _zstd.unpack(packed)


def encode(values: Array, valid: Mask | None = None, *, small: bool = False, ordered: bool = True) -> bytes:
    """The payload of (n,) values of a fixed-width dtype.

    Parameters
    ----------
    valid : (n,) bool, false where null; the value there is not kept.
    small : keep the values as they are, so that many short arrays are read fast.
    ordered : False for integers whose neighbours say nothing about each other.
    """
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    flags, masks = 0, b""
    if valid is not None and not valid.all():
        flags |= NULLS
        masks += _packed_mask(~valid)
        values = _filled(values, valid)
    if small:
        return payload_of(RAW, values, flags, 0, masks, values.tobytes())
    if not len(values) or _is_constant(values):
        return payload_of(CONSTANT, values, flags, 0, masks, values[:1].tobytes())
    if values.dtype.kind == "f":
        return _encode_floats(values, flags, masks)
    if not ordered:
        narrow = values.astype(np.min_scalar_type(int(values.max())), copy=False)
        width = narrow.dtype.itemsize
        return payload_of(PLAIN, values, flags, width, masks, pack(narrow.data))
    whole = values.view(np.uint8) if values.dtype.kind == "b" else values
    return payload_of(DELTAS, values, flags, 0, masks, _deltas(whole.astype(np.int64)))


def _encode_floats(values: Array, flags: int, masks: bytes) -> bytes:
    found = _decimals(values)
    special = [] if found is not None else _special(values)
    if special:
        usual = ~np.logical_or.reduce([mask for _, mask in special])
        found = _decimals(_filled(values, usual)) if usual.any() else None
    if found is not None:
        for flag, mask in special:
            flags, masks = flags | flag, masks + _packed_mask(mask)
        digits, whole = found
        return payload_of(DELTAS, values, flags | DECIMALS, digits, masks, _deltas(whole))
    kept = values
    if values.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = values.astype(np.float32)
            if _same_bits(narrow.astype(np.float64), values):
                kept, flags = narrow, flags | NARROWED
    pattern = kept.view(f"<i{kept.itemsize}")
    stepped = zigzag(np.diff(pattern, prepend=pattern[:1] * 0))
    codec, shown = (SHUFFLED, pattern) if _shuffled_wins(pattern, stepped) else (STEPPED, stepped)
    return payload_of(codec, values, flags, 0, masks, _shuffled(shown))


def _shuffled_wins(pattern: Array, stepped: Array) -> bool:
    """Whether the values pack better than their differences, judged by an eighth of them from the middle."""
    cut = trial_cut(len(pattern))
    return len(_shuffled(pattern[cut])) <= len(_shuffled(stepped[cut]))


def trial_cut(n: int) -> slice:
    start = n * 7 // 16
    return slice(start, start + max(n // 8, 64))


def _shuffled(values: Array) -> bytes:
    return pack(np.ascontiguousarray(values.view(np.uint8).reshape(len(values), -1).T).data)


def zigzag(steps: Array) -> Array:
    return (steps << 1) ^ (steps >> (8 * steps.itemsize - 1))


def _special(values: Array) -> list[tuple[int, Mask]]:
    """Masks of the plain NaNs and of the negative zeros: no integer can represent them."""
    raw = values.view(np.int64 if values.dtype == np.float64 else np.int32)
    found = []
    for flag, bits in ((NANS, _NAN), (NEGATIVE_ZEROS, _NEGATIVE_ZERO)):
        pattern = np.array(bits, np.int64).view(np.float64).astype(values.dtype)
        mask = raw == pattern.view(raw.dtype)
        if mask.any():
            found.append((flag, mask))
    return found


def _decimals(values: Array) -> tuple[int, NDArray[np.int64]] | None:
    """The fewest digits k (at most 12) and the integers q for which ``q / 10**k`` is every value, bit for bit."""
    sample = values[:: max(1, len(values) // 64)]
    with np.errstate(over="ignore", invalid="ignore"):
        trial = np.rint(sample.astype(np.float64) * POWERS[:, None]) / POWERS[:, None]
        fits = (trial.astype(values.dtype) == sample).all(axis=1)
        for digits in np.flatnonzero(fits).tolist():
            scaled = np.multiply(values, POWERS[digits], dtype=np.float64)
            np.rint(scaled, out=scaled)
            if max(-scaled.min(), scaled.max()) >= 2.0**53:
                return None
            whole = scaled.astype(np.int64)
            if _same_bits(_scaled(whole, digits, values.dtype), values):
                return digits, whole
    return None


def _scaled(whole: Array, digits: int, dtype: DType, out: Array | None = None) -> Array:
    # A float32 value is the nearest to a decimal, found by dividing in float64 and rounding once more. Encoding
    # and decoding do the same, and encode() compares the bits.
    exact: Array
    if digits == 0 and out is not None:
        out[:] = whole
        return out
    exact = np.divide(whole, POWERS[digits], out=out if dtype == np.float64 else None)
    return exact if dtype == np.float64 else exact.astype(dtype)


def _same_bits(left: Array, right: Array) -> bool:
    raw = np.int64 if right.dtype == np.float64 else np.int32
    return bool((left.view(raw) == right.view(raw)).all())


def _deltas(whole: NDArray[np.int64]) -> bytes:
    steps = whole[1:] - whole[:-1]
    bounds = (int(steps.min()), int(steps.max()), int(whole.min()), int(whole.max()))
    head, narrow = deltas_parts(int(whole[0]), steps, *bounds)
    return head + pack(narrow.data)


def deltas_parts(first: int, steps: Array, low: int, high: int, least: int, most: int) -> tuple[bytes, Array]:
    """The bytes before the packed differences, and the differences to pack. The bytes hold the first value and the few
    differences that are too wide, so that one large step does not widen all others.

    ``low`` and ``high`` bound the differences, ``least`` and ``most`` the values. ``steps`` is changed.
    """
    width, wide = 3, np.zeros(0, np.int64)
    for trial, limit in enumerate(_LIMITS):
        if -limit <= low and high < limit:
            width = trial
            break
        beyond = np.flatnonzero((steps < -limit) | (steps >= limit))
        if len(beyond) <= len(steps) // 64:
            width, wide = trial, beyond
            break
    halved = _HALVED if least >= -(1 << 31) and most < 1 << 31 else 0
    head = _DELTAS.pack(width | halved, len(wide), first)
    if not len(wide):
        return head, steps.astype(_SIGNED[width])
    beside = wide.astype("<u4").tobytes() + steps[wide].astype("<i8").tobytes()
    packed = pack(beside)
    steps[wide] = 0
    return head + len(packed).to_bytes(4, "little") + packed, steps.astype(_SIGNED[width])


def _is_constant(values: Array) -> bool:
    if values[0] != values[-1] and values[0] == values[0]:
        return False
    raw = values.view(f"V{values.itemsize}") if values.dtype.kind == "f" else values
    if values.dtype.kind == "f":
        raw = values.view(np.int64 if values.itemsize == 8 else np.int32)
    return bool((raw == raw[0]).all())


def _filled(values: Array, valid: Mask) -> Array:
    """Values with each null replaced by the last value before it (the first after it at the start)."""
    if not valid.any():
        return np.zeros_like(values)
    places = np.where(valid, np.arange(len(values)), 0)
    np.maximum.accumulate(places, out=places)
    places[: int(np.argmax(valid))] = int(np.argmax(valid))
    return values[places]


def _packed_mask(mask: Mask) -> bytes:
    packed = pack(np.packbits(mask).data)
    return len(packed).to_bytes(4, "little") + packed


def payload_of(codec: int, values: Array, flags: int, digits: int, masks: bytes, body: bytes) -> bytes:
    place = _PLACES[values.dtype.newbyteorder("<") if values.itemsize > 1 else values.dtype]
    return _HEAD.pack(codec, place, flags, digits, len(values)) + masks + body


def decode(payload: bytes | memoryview, out: Array | None = None) -> tuple[Array, Mask | None]:
    """The values and ``valid`` (None where nothing is null) of a payload whose checksum was verified.

    ``out``, (n,) of the values' dtype, takes the values where given; raw values are otherwise a read-only view.

    Raises
    ------
    Damaged
        If the bytes are not a payload.
    """
    return _decoded(memoryview(payload), out, None)


def _decoded(view: memoryview, out: Array | None, part: slice | None) -> tuple[Array, Mask | None]:
    try:
        return _decode(view, out, part)
    except (struct.error, IndexError, ValueError, TypeError, zstandard.ZstdError) as error:
        raise Damaged(f"An encoded column cannot be read ({error}).") from error


def decode_into(payload: bytes | memoryview, out: Array, start: int = 0, of: int | None = None) -> Mask | None:
    """Put values of a payload into ``out``, (n,) of its dtype or a wider one; returns ``valid``, None or (n,).

    A payload has ``of`` values, by default n. Those before ``start`` and those after it and n more are not made.

    Raises
    ------
    Damaged
        If the bytes are not a payload, or have another number of values.
    """
    view = memoryview(payload)
    if len(view) < _HEAD.size or _count(view) != (len(out) if of is None else of):
        raise Damaged("An encoded column has another number of values than its series.")
    same = view[1] == _PLACES.get(out.dtype)
    values, valid = _decoded(view, out if same else None, slice(start, start + len(out)))
    if not same:
        out[:] = values
    return valid


def decode_raw(payloads: Sequence[bytes], counts: Sequence[int], out: Array) -> bool:
    """Put the values of many payloads one after the other into ``out``, if each is raw: no nulls, of its dtype, as many
    as its count. False if any is not; `decode_column` says then what it is. Short columns come by the hundreds.
    """
    place = _PLACES.get(out.dtype)
    if place is None or not payloads:
        return False
    heads = {count: _HEAD.pack(RAW, place, 0, 0, count) for count in set(counts)}
    sizes = {count: _HEAD.size + out.itemsize * count for count in heads}
    for payload, count in zip(payloads, counts, strict=True):
        if payload[: _HEAD.size] != heads[count] or len(payload) != sizes[count]:
            return False
    np.concatenate([np.frombuffer(payload, out.dtype, -1, _HEAD.size) for payload in payloads], out=out)
    return True


def _decode(view: memoryview, out: Array | None, part: slice | None) -> tuple[Array, Mask | None]:
    codec, place, flags, digits, n = _HEAD.unpack_from(view)
    if n > MOST_VALUES:
        raise ValueError(f"it says that it has {n} values")
    if part is None:
        part = slice(0, n)
    dtype = _DTYPES[place]
    at = _HEAD.size
    if not flags & _MASKED:  # most payloads have none
        values = _decode_body(view[at:], codec, dtype, flags, digits, n, out, part)
        if out is None or values is out:
            return values, None
        out[:] = values
        return out, None
    valid = nans = zeros = None
    if flags & NULLS:
        at, nulls = _read_mask(view, at, n)
        valid = ~nulls
    if flags & NANS:
        at, nans = _read_mask(view, at, n)
    if flags & NEGATIVE_ZEROS:
        at, zeros = _read_mask(view, at, n)
    values = _decode_body(view[at:], codec, dtype, flags, digits, n, out, part)
    if nans is not None:
        values[nans[part]] = np.nan
    if zeros is not None:
        values[zeros[part]] = -0.0
    if out is not None and values is not out:
        out[:] = values
        values = out
    return values, None if valid is None else valid[part]


def _count(payload: bytes | memoryview) -> int:
    return int.from_bytes(payload[4:8], "little")


def _read_mask(view: memoryview, at: int, n: int) -> tuple[int, Mask]:
    size = int.from_bytes(view[at : at + 4], "little")
    packed = _unpacked(view[at + 4 : at + 4 + size], (n + 7) // 8)
    return at + 4 + size, np.unpackbits(np.frombuffer(packed, np.uint8), count=n).view(np.bool_)


def _decode_body(
    body: memoryview, codec: int, dtype: DType, flags: int, digits: int, n: int, out: Array | None, part: slice
) -> Array:
    if codec == RAW:
        return np.frombuffer(body, dtype, n)[part]
    if codec == CONSTANT:
        return np.full(n, np.frombuffer(body, dtype, 1)[0])[part] if n else np.zeros(0, dtype)
    if codec == DELTAS:
        return _decode_deltas(body, dtype, digits if flags & DECIMALS else None, n, out, part)
    if codec == PLAIN:
        return np.frombuffer(_unpacked(body, n * digits), f"<u{digits}", n)[part].astype(dtype)
    if codec in (SHUFFLED, STEPPED):
        return _decode_planes(body, dtype, codec == STEPPED, bool(flags & NARROWED), n, out, part)
    raise ValueError(f"codec {codec} is unknown")


def _decode_planes(
    body: memoryview, dtype: DType, stepped: bool, narrowed: bool, n: int, out: Array | None, part: slice
) -> Array:
    kept = np.dtype("<f4") if narrowed else dtype
    packed = _unpacked(body, n * kept.itemsize)
    if compiled.LOOPS and kept.itemsize > 2:
        fits = out is not None and out.dtype == kept and out.flags.c_contiguous
        made = out if out is not None and fits else np.empty(part.stop - part.start, kept)
        compiled.LOOPS.joined(packed, stepped, made, part.start)
        return made if kept == dtype else made.astype(dtype)
    planes = np.frombuffer(packed, np.uint8, n * kept.itemsize).reshape(kept.itemsize, n)
    joined = np.ascontiguousarray(planes.T).view(f"<u{kept.itemsize}")[:, 0]
    if stepped:
        steps = (joined >> 1) ^ (~(joined & 1) + 1)
        joined = np.cumsum(steps, dtype=joined.dtype)
    exact = joined[part].view(kept)
    return exact if kept == dtype else exact.astype(dtype)


def _decode_deltas(
    body: memoryview, dtype: DType, digits: int | None, n: int, out: Array | None, part: slice
) -> Array:
    width, count, first = _DELTAS.unpack_from(body)
    at = _DELTAS.size
    beside = b""
    if count:
        size = int.from_bytes(body[at : at + 4], "little")
        beside = _unpacked(body[at + 4 : at + 4 + size], 12 * n)
        at += 4 + size
        if len(beside) != 12 * count:
            raise ValueError(f"it says that {count} differences are apart")
    narrow = _SIGNED[width & ~_HALVED]
    steps = np.frombuffer(_unpacked(body[at:], narrow.itemsize * (n - 1)), narrow, n - 1)
    if compiled.LOOPS and digits is not None and dtype == np.float64 and narrow.itemsize < 8:
        made = np.empty(part.stop - part.start) if out is None or not out.flags.c_contiguous else out
        compiled.LOOPS.running(first, steps, beside, float(POWERS[digits]), made, part.start)
        return made
    sums = np.dtype(np.int32 if width & _HALVED else np.int64)
    reused = out is not None and digits is not None and n <= len(_zstd.scratch[sums])
    whole = _zstd.scratch[sums][:n] if reused else np.empty(n, sums)
    whole[0] = first
    whole[1:] = steps
    if count:
        # Wrapping is right: the difference of two 32-bit values may need 33 bits, but the sums do not.
        wide = np.frombuffer(beside, np.int64, count, 4 * count)
        whole[np.frombuffer(beside, "<u4", count) + 1] = wide.astype(sums)
    np.add.accumulate(whole, out=whole)
    if digits is not None:
        return _scaled(whole[part], digits, dtype, out)
    return whole[part] if dtype == sums else whole[part].astype(dtype)


def encode_column(column: Column, *, small: bool = False) -> bytes:
    """The payload of a column of any kind but mixed."""
    if column.kind != "text":
        return encode(column.values, column.valid, small=small)
    codes = column.values if column.valid is None else column.values[column.valid]
    used, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    # In the order in which they come, whatever was written before them: the same rows have the same bytes, also where
    # they came in several appends.
    order = np.argsort(firsts)
    used = used[order]
    full = np.zeros(len(column), np.int32)
    full[slice(None) if column.valid is None else column.valid] = np.argsort(order)[inverse]
    try:
        written = orjson.dumps([column.words[code] for code in used.tolist()])
    except TypeError as error:
        raise BadRequest(f"A text that is not valid Unicode cannot be kept ({error}).") from error
    if len(written) > MOST_WORD_BYTES:
        raise TooLarge(
            f"{len(column)} rows of a text column have more than {MOST_WORD_BYTES >> 20} MB of text. Shorten its texts."
        )
    words = pack(written)
    head = _HEAD.pack(TEXT, 0, 0, 0, len(words))
    return head + words + encode(full, column.valid, small=small)


def decode_column(payload: bytes | memoryview, kind: Kind, dtype: DType) -> Column:
    """The column of a payload, of the given kind and dtype: those that all parts of a column have together.

    Raises
    ------
    Damaged
        If the bytes are not a payload.
    """
    # Short columns come by the hundreds, so raw payloads are read without the steps below.
    if payload[:4] == _PLAINEST.get(dtype) and len(payload) == _HEAD.size + dtype.itemsize * _count(payload):
        return Column(kind, np.frombuffer(payload, dtype, -1, _HEAD.size))
    view = memoryview(payload)
    words: tuple[str, ...] = ()
    if len(view) and view[0] == TEXT:
        try:
            size = _HEAD.unpack_from(view)[4]
            words = tuple(orjson.loads(_unpacked(view[_HEAD.size : _HEAD.size + size], MOST_WORD_BYTES)))
        except (struct.error, ValueError, zstandard.ZstdError) as error:
            raise Damaged(f"The words of a text column cannot be read ({error}).") from error
        view = view[_HEAD.size + size :]
    values, valid = decode(view)
    if values.dtype != dtype:
        values = values.astype(dtype)
    return Column(kind, values, valid, words)
