"""Long words, kept once: a prompt's prefix stands in every call of a debate."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from reviewbot.adapters.store.database import insert_new
from reviewbot.adapters.store.tables import texts

_LEVEL = 1
# What PostgreSQL's text, or UTF-8, cannot hold.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(words: str) -> str:
    """``words`` for a column of plain text: NUL and lone surrogates as ``\\uNNNN``."""
    return _UNSTORABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", words)


def hash_of(words: str) -> str:
    """The name under which a text is kept: SHA-256 in hex. Any text at all has one."""
    return hashlib.sha256(_bytes(words)).hexdigest()


class Texts:
    """Writing texts. Remembers which ones are there, so that a long one is pressed once a run."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def keep(self, connection: Connection, bodies: Iterable[str]) -> dict[str, str]:
        """Insert what is new. Returns each body's hash. In the order of the hashes: whoever inserts the same texts at the same
        time waits, and never in a circle."""
        hashes = {body: hash_of(body) for body in bodies}
        new = sorted((sha, body) for body, sha in hashes.items() if sha not in self._known)
        insert_new(connection, texts, [_row(sha, body) for sha, body in new])
        return hashes

    def remember(self, hashes: Iterable[str]) -> None:
        """These were committed."""
        self._known.update(hashes)


class Reader:
    """Reading texts within one transaction: equal ones are one string. ``most`` bounds what is held of earlier ones."""

    def __init__(self, connection: Connection, most: int = 64) -> None:
        self._connection = connection
        self._most = most
        self._held: dict[str, str] = {}

    def text(self, sha: str | None) -> str:
        """The text of that hash; empty for ``None``."""
        if sha is None:
            return ""
        if sha not in self._held:
            body = self._connection.scalar(select(texts.c.body).where(texts.c.sha256 == sha))
            if len(self._held) >= self._most:
                self._held.pop(next(iter(self._held)))
            self._held[sha] = zlib.decompress(body or zlib.compress(b"")).decode("utf-8", "surrogatepass")
        else:
            self._held[sha] = self._held.pop(sha)  # newest last
        return self._held[sha]


def _row(sha: str, body: str) -> dict[str, Any]:
    plain = _bytes(body)
    return {"sha256": sha, "size": len(plain), "body": zlib.compress(plain, _LEVEL)}


def _bytes(words: str) -> bytes:
    return words.encode("utf-8", "surrogatepass")
