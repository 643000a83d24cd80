"""The address of a store on PostgreSQL: ``postgresql://user@host/database``, as libpq takes it.

One database can hold several stores: each is in a schema of its own, ``workbench`` unless the address names another
with ``?schema=NAME``.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from ...errors import BadRequest

SCHEMA = "workbench"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    """Where a store is. Its text, for messages, has no password."""

    url: str = field(repr=False)
    schema: str

    @classmethod
    def of(cls, text: str) -> Address:
        """The address of a text.

        Raises
        ------
        BadRequest
            If it is not one, or its schema cannot be one.
        """
        parts = urlsplit(text)
        if parts.scheme not in ("postgresql", "postgres"):
            raise BadRequest(f"'{text}' is not an address of PostgreSQL. Write postgresql://user@host/database.")
        # For libpq a + is a +, and a blank is %20.
        given = parse_qsl(parts.query.replace("+", "%2B"), keep_blank_values=True)
        schema = dict(given).get("schema", SCHEMA)
        if not _NAME.fullmatch(schema) or schema.startswith("pg_"):
            raise BadRequest(
                f"'{schema}' cannot be the schema of a store: it has small letters, digits and _, and does not begin "
                "with a digit or with pg_."
            )
        rest = urlencode([(name, value) for name, value in given if name != "schema"], quote_via=quote)
        path = "postgresql" if parts.scheme == "postgres" else parts.scheme
        url = urlunsplit((path, parts.netloc, parts.path, rest, ""))
        return cls(
            url if parts.netloc else url.replace(f"{path}:/", f"{path}:///", 1).replace("////", "///"), schema
        )

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        user, at, host = parts.netloc.rpartition("@")
        shown = f"postgresql://{user.partition(':')[0]}{at}{host}{parts.path}"
        query = [(name, value) for name, value in parse_qsl(parts.query.replace("+", "%2B")) if name != "password"]
        if self.schema != SCHEMA:
            query.append(("schema", self.schema))
        return shown + (f"?{urlencode(query, quote_via=quote, safe='/')}" if query else "")

    @property
    def location(self) -> str:
        """What opens the store again, with the password if one was given."""
        return (
            self.url
            if self.schema == SCHEMA
            else f"{self.url}{'&' if '?' in self.url else '?'}schema={self.schema}"
        )

    @property
    def side_path(self) -> Path:
        """Where this machine keeps what may be lost: caches, and files that are being uploaded."""
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "battery-workbench" / "stores"
        name = re.sub(r"\W+", "-", urlsplit(self.url).path.strip("/")) or "store"
        digest = hashlib.sha256(str(self).encode()).hexdigest()[:12]
        return base / f"{name}-{digest}" / "store"
