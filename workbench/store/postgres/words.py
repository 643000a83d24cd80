"""The words of texts, for the search: those that SQLite's index of words finds, as one text that LIKE looks into."""

from __future__ import annotations

import re
import sqlite3
import threading


class _Tokenizer(threading.local):
    """SQLite itself divides the texts, so that a search finds the same in both databases."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute("create virtual table t using fts5(x, tokenize = 'unicode61 remove_diacritics 2')")
        self._db.execute("create virtual table v using fts5vocab(t, 'instance')")

    def __del__(self) -> None:
        self._db.close()

    def tokens(self, text: str) -> list[str]:
        self._db.execute("delete from t")
        self._db.execute("insert into t values (?)", (text,))
        return [token for (token,) in self._db.execute("select term from v order by offset")]


_TOKENIZER = _Tokenizer()
_PLAIN = re.compile("[0-9a-z]+")
_LONGEST = 1 << 14
"""Letters of a text that is divided here: a word that is longer is cut by SQLite."""


def tokens(text: str) -> list[str]:
    """The words of a text in their order: runs of letters and digits, case and accents ignored."""
    if text.isascii() and len(text) <= _LONGEST and "\0" not in text:  # what most are, in a tenth of the time
        return _PLAIN.findall(text.lower())
    return _TOKENIZER.tokens(text)


def token_text(words: str) -> str:
    """What the index of words keeps of a text: its words, each with a blank before it."""
    return "".join(f" {token}" for token in tokens(words))


def phrases(text: str) -> list[str]:
    """The words that a search asks for as the index keeps them; what a sign divides must follow one another."""
    found = (" ".join(tokens(word)) for word in text.split() if any(letter.isalnum() for letter in word))
    return [phrase for phrase in found if phrase]
