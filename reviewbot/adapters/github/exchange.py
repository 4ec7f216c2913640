"""One request to GitHub and what came back, as values. Nothing here knows how it travels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reviewbot.errors import ForgeError, GoneError

JSON = "application/vnd.github+json"

_LINK = re.compile(r"<([^<>]*)>\s*((?:;[^,<]*)*)")
_NEXT = re.compile(r';\s*rel="?(?:[^";]*\s)?next(?:\s[^";]*)?"?\s*(?:;|$)')


@dataclass(frozen=True, slots=True)
class Call:
    """One request.

    ``path`` begins with ``/`` below the address of the API, or is a whole address of the same origin. ``doing`` are the words
    for it in a message (``post a review``). ``is_read``: it changes nothing, or nothing that a second time would change again;
    such a call is repeated after a fault. ``missing`` is what a 404 means here. ``passing`` are statuses that the caller
    handles itself.
    """

    verb: str
    path: str
    doing: str
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, Any] | None = None
    accept: str = JSON
    is_read: bool = False
    missing: type[ForgeError] = GoneError
    passing: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the names of ``headers`` are in lower case, ``body`` is whole."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_fine(self) -> bool:
        """It was done."""
        return 200 <= self.status < 300

    @property
    def is_page(self) -> bool:
        """A page for browsers: GitHub's unicorn, or something between it and us."""
        return self.headers.get("content-type", "").lower().startswith("text/html")

    @property
    def next_page(self) -> str | None:
        """The address of the page after this one, by the ``Link`` header (RFC 8288)."""
        for address, parameters in _LINK.findall(self.headers.get("link", "")):
            if _NEXT.search(parameters):
                return str(address)
        return None


class LostError(Exception):
    """No whole answer came. ``is_sent``: the request may have arrived; ``again``: another attempt may do better."""

    def __init__(self, message: str, *, is_sent: bool, again: bool = True) -> None:
        super().__init__(message)
        self.is_sent = is_sent
        self.again = again


class Wire(Protocol):
    """How requests travel. ``graphql_url``: beside the REST API, ``/api/graphql`` on GitHub Enterprise Server."""

    graphql_url: str

    def exchange(self, call: Call, bearer: str) -> Answer:
        """Send one request with that token, once. Raises LostError; ForgeError for what must not be sent or followed."""
        ...

    def fetch(self, url: str, most: int) -> bytes:
        """What lies at an address on any host, at most ``most`` bytes; no token goes there. Raises LostError, ForgeError."""
        ...

    def close(self) -> None:
        """End the connections."""
        ...
