"""The bytes of a file, unpacked and decoded within limits: first its `Head`, then its lines as a `LineStream`."""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from .. import limits
from .archives import Packing, Scratch, broken, opened, packing_of, past_bounds
from .line_ends import PlainLineEnds, split_lines

_BLOCK = 1 << 18
_TAIL = 1 << 14
_OLD = {
    "gb18030": ("电压", "电流", "时间", "容量"),
    "cp932": ("電圧", "電流", "時間", "容量"),
    "cp949": ("전압", "전류", "시간", "용량"),
    "big5": ("電壓", "電流", "時間", "容量"),
    "cp1251": ("напряжение", "ток", "время", "ёмкость"),
}
"""Encodings older than Unicode, and the words by which they are known: those of tests in the language."""
_SURE = 2
"""So many of the words make an encoding certain: one may come about by chance in another."""
REPLACED = "\ufffd"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, eq=False)
class Head:
    """The beginning of a file.

    ``raw`` are the bytes on the disk, ``data`` the same unpacked. ``lines`` are its lines of text, without a last one
    that is incomplete; empty if the file is not text (``encoding`` None). ``whole``: the file has no more than this.
    ``kept`` keeps the temporary file at ``path`` alive, if there is one (the text of a sheet). ``beside`` are further
    tables of the same file, such as sheets of impedance. ``left`` names the sheet that is read, and then the sheets
    that could be read instead. ``read_sheets`` are the sheets whose text was joined, ``bare_sheets`` those left out
    that have rows like theirs and no header. ``said`` are notes about their cells. ``test`` names the test to be
    read, of a file that holds several.
    ``one_pass``: the file is read once, by what its first rows show; see ``readers.read``.
    """

    path: Path
    name: str
    raw: bytes
    data: bytes
    packed: Packing | None
    encoding: str | None
    lines: tuple[str, ...]
    whole: bool
    kept: Scratch | None = None
    beside: tuple[Head, ...] = ()
    left: tuple[str, ...] = ()
    read_sheets: tuple[str, ...] = ()
    bare_sheets: tuple[str, ...] = ()
    said: tuple[Finding, ...] = ()
    test: str | None = None
    one_pass: bool = False

    @property
    def first_line(self) -> str:
        return self.lines[0] if self.lines else ""


def look(path: Path, name: str | None = None) -> Head:
    """The head of a file; ``name`` is its name in messages.

    Raises
    ------
    FileRefused
        If there is no such file, it is a folder, is empty, or cannot be opened or unpacked.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        # Opening a pipe could wait for ever.
        raise FileRefused(f"'{path}' is not an ordinary file. Copy its content into one.")
    try:
        with open(path, "rb") as file:
            raw = file.read(limits.HEAD_BYTES)
        if not raw:
            raise FileRefused(
                f"'{path.name}' is empty. A cycler file has at least a header and one row. Export or copy it again."
            )
        packed = packing_of(path, raw)
        data = _unpacked(path, packed)
    except FileNotFoundError:
        raise FileRefused(_absent(path), unopened=True) from None
    except IsADirectoryError:
        raise FileRefused(f"'{path.name}' is a folder. Name a file in it.") from None
    except OSError as error:
        why = f"'{path.name}' cannot be opened: {error.strerror or error}."
        raise FileRefused(why, unopened=True) from None
    whole = len(data) <= limits.HEAD_BYTES
    data = data[: limits.HEAD_BYTES]
    encoding = _encoding(data)
    lines = _lines(data, encoding, whole) if encoding else ()
    return Head(path, name or path.name, raw, data, packed, encoding, lines, whole)


def _absent(path: Path) -> str:
    """Why there is nothing at a path: a link whose target went has a name in its folder."""
    if os.path.islink(path):
        return f"'{path.name}' is a link to '{os.readlink(path)}', which is not there."
    return f"There is no file '{path.name}' in the folder '{path.parent.name or '.'}'."


def _unpacked(path: Path, packed: Packing | None) -> bytes:
    with open(path, "rb") as file:
        if packed is None:
            return file.read(limits.HEAD_BYTES + 1)
        try:
            with opened(file, packed) as inner:
                return inner.read(limits.HEAD_BYTES + 1)
        except Exception as error:
            # The class of the error for damaged data depends on the zlib that Python uses.
            raise FileRefused(broken(path.name, packed)) from error


_PADDING = re.compile(rb"\0{8,}")
"""What a file system leaves where the power failed before the text was written."""
_LEAST_TEXT = 16


def _encoding(data: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        wide = _wide_encoding(data)
        data = _PADDING.sub(b"", data)
        if wide is not None or b"\0" in data or len(data) < _LEAST_TEXT:
            return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return _old_encoding(data) if _is_texty(data) else None
    return "utf-8"


def _wide_encoding(data: bytes) -> str | None:
    """utf-16 without a byte order mark: every second byte is 0 and no other is. None for binary data."""
    even, odd = data[0:4096:2], data[1:4096:2]
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if len(zeros) > 16 and not others.count(0) and zeros.count(0) > 0.9 * len(zeros):
            return encoding
    return None


def _old_encoding(data: bytes) -> str:
    """The encoding in which the text has two words that cyclers of its language write, else latin-1."""
    for encoding, words in _OLD.items():
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(data).casefold()
        except UnicodeDecodeError:
            continue
        if sum(word in text for word in words) >= _SURE:
            return encoding
    return "latin-1"


def _is_texty(data: bytes) -> bool:
    """Whether bytes that are not utf-8 may be text of one byte per character: few are control characters."""
    control = sum(data.count(bytes([code])) for code in range(32) if code not in (9, 10, 12, 13, 26, 27))
    return control <= len(data) // 1000


def _lines(data: bytes, encoding: str, whole: bool) -> tuple[str, ...]:
    text = data.decode(encoding, "replace").replace("\0", "").lstrip("\ufeff")
    # Where the head is cut, a "\r" at its end may be only a part of a line end.
    lines = split_lines(text if whole else text.rstrip("\r"))
    if not whole or not lines[-1]:
        lines = lines[:-1]
    return tuple(lines[: limits.HEAD_LINES])


class LineStream:
    """The lines of a text file from line ``skip`` on, as valid utf-8.

    Each line ends with ``\\n`` or ``\\r\\n``, whatever ends it in the file; see `line_ends`.
    It has what pandas needs of a file: ``read``. It checks limits while it reads: unpacked size and ratio, length of
    a line, and bytes since the last ``batch_begins()``. ``failure`` is the error that ``read`` raised: a parser may
    turn it into another one. ``tail`` holds the last lines. ``nuls`` is the number of NUL bytes, which are left out,
    ``unread`` that of marks `REPLACED` which were put in for bytes that are not of the encoding.
    ``closing`` is put in at the end.
    """

    mode = "r"

    def __init__(
        self,
        head: Head,
        skip: int,
        *,
        unquote: bool = False,
        rewrite: Callable[[bytes], bytes] | None = None,
        closing: bytes = b"",
    ) -> None:
        self.name = head.name
        self.failure: Exception | None = None
        self.tail = b""
        self.nuls = 0
        self.unread = 0
        self._closing = closing
        self._file = open(head.path, "rb")  # noqa: SIM115
        self._data = opened(self._file, head.packed) if head.packed else self._file
        encoding = head.encoding or "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._is_utf8 = encoding == "utf-8"
        self._line_ends = PlainLineEnds()
        self._skip = skip
        self._unquote = unquote
        self._rewrite = rewrite
        self._packed = head.packed
        self._pending = b""
        self._open_line = 0
        self._unpacked = 0
        self._since = 0
        self._begun = False
        self._ended = False

    def batch_begins(self) -> None:
        self._since = 0

    def close(self) -> None:
        self._data.close()
        self._file.close()

    def blocks(self) -> Iterator[bytes]:
        """All bytes that are left, however long the rows are."""
        while block := self.read():
            self.batch_begins()
            yield block

    def __iter__(self) -> LineStream:
        return self

    def __next__(self) -> bytes:
        block = self.read()
        if not block:
            raise StopIteration
        return block

    def give_back(self, read: bytes) -> None:
        """Put what was read last, or a line of the caller, before what is left."""
        self.tail = self.tail.removesuffix(read) if len(read) < len(self.tail) else b""
        self._pending = read + self._pending
        self._since = 0

    def read(self, size: int = -1) -> bytes:
        """Some of the next bytes (at most ``size`` if it is given); empty at the end."""
        try:
            while not self._pending and not self._ended:
                self._pending = self._next_block()
                self._pending += self._closing if self._ended else b""
        except (FileRefused, TooLarge) as error:
            self.failure = error
            raise
        except Exception as error:  # damaged packed data give errors of many classes
            if self._packed is None:
                raise
            self.failure = FileRefused(broken(self.name, self._packed))
            raise self.failure from error
        take = len(self._pending) if size is None or size < 0 else size
        given, self._pending = self._pending[:take], self._pending[take:]
        self.tail = given[-_TAIL:] if len(given) >= _TAIL else (self.tail + given)[-_TAIL:]
        self._since += len(given)
        if self._since > 2 * limits.CHUNK_BYTES:
            self.failure = TooLarge(
                f"'{self.name}' has rows that do not end within {limits.CHUNK_BYTES >> 20} MiB. "
                "A quote is probably not closed."
            )
            raise self.failure
        return given

    def _next_block(self) -> bytes:
        raw = self._data.read(_BLOCK)
        self._check_size(len(raw))
        self._ended = not raw
        if self._is_utf8:  # before letters are read: a NUL may stand between the bytes of one
            raw = self._without_nuls(raw)
        if not (self._is_utf8 and raw.isascii() and not self._decoder.getstate()[0]):
            raw = self._decoded(raw)
        if not self._begun and raw:
            raw = raw.removeprefix(codecs.BOM_UTF8)
            self._begun = True
        if not self._is_utf8:  # in utf-16 NULs are a part of letters
            raw = self._without_nuls(raw)
        raw = self._line_ends.feed(raw, ended=self._ended)
        self._check_lines(raw)
        if self._unquote:
            raw = raw.replace(b'"', b"")
        raw = self._skipped(raw)
        if self._rewrite is None:
            return raw
        made = self._rewrite(raw) if raw else b""
        # The last block may still hold the mark of a letter that was cut off, and an empty one says that all is read.
        return made + self._rewrite(b"") if self._ended else made

    def _decoded(self, raw: bytes) -> bytes:
        held = self._decoder.getstate()[0]
        text = self._decoder.decode(raw, self._ended)
        marks = text.count(REPLACED)
        if marks and self._is_utf8:  # those that are in the file were put in by another program
            marks -= (held + raw).count(REPLACED.encode())
        self.unread += marks
        return text.encode("utf-8")

    def _without_nuls(self, raw: bytes) -> bytes:
        if b"\0" not in raw:
            return raw
        self.nuls += raw.count(b"\0")
        return raw.replace(b"\0", b"")

    def _skipped(self, raw: bytes) -> bytes:
        if not self._skip:
            return raw
        lines = raw.count(b"\n")
        if lines < self._skip:
            self._skip -= lines
            return b""
        rest = io.BytesIO(raw)
        for _ in range(self._skip):
            rest.readline()
        self._skip = 0
        return rest.read()

    def _check_size(self, read: int) -> None:
        self._unpacked += read
        refused = past_bounds(self.name, self._unpacked, self._file.tell()) if self._packed else None
        if refused is not None:
            raise refused

    def _check_lines(self, raw: bytes) -> None:
        last = raw.rfind(b"\n")
        longest = raw.find(b"\n") + self._open_line if last >= 0 else self._open_line + len(raw)
        self._open_line = len(raw) - last - 1 if last >= 0 else longest
        if longest > limits.LONGEST_LINE:
            raise TooLarge(
                f"'{self.name}' has a line of more than {limits.LONGEST_LINE >> 10} KiB. This is not a cycler "
                "export. Export it again as text with one line per row."
            )
