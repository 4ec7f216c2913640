"""What the servers remember: calls, requests, keys, what was refused."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.http import Request
from tests.fakes.meter import share_of_shared_bytes
from tests.fakes.seen import Asked, Seen

WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request of any kind: which way, to which origin, with which keys."""

    method: str
    path: str
    host: str
    keys: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Journal:
    """The record of one server. Filled by its thread; others read copies."""

    file: Path | None = None
    calls: list[Seen] = field(default_factory=list)
    requests: list[Arrived] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def arrived(self, request: Request) -> None:
        """A request is read."""
        self.requests.append(Arrived(request.method, request.path, request.host, request.keys))

    def began(self, asked: Asked, request: Request, body: Mapping[str, Any]) -> Seen:
        """A call begins."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        number, now = len(self.calls) + 1, time.monotonic()
        seen = Seen(number, asked, request.headers, request.path, body, request.body, now, self.in_flight, request.keys)
        self.calls.append(seen)
        return seen

    def replied(self, seen: Seen) -> None:
        """The first byte of a reply goes out."""
        seen.replied = seen.replied or time.monotonic()

    def ended(self, seen: Seen, outcome: str) -> None:
        """A call ends; only the first word about it counts."""
        if seen.ended is None:
            seen.outcome, seen.ended = outcome, time.monotonic()
            self.in_flight -= 1
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(seen.document()) + "\n")

    def earlier(self, seen: Seen) -> list[Seen]:
        """Calls of the same model whose prompts are in the cache by now."""
        return [
            one
            for one in self.calls
            if one.replied and one is not seen and (one.protocol, one.model) == (seen.protocol, seen.model)
        ]

    def bytes_shared(self) -> float:
        """See ``README.md``."""
        return share_of_shared_bytes(self.calls)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Every key that arrived."""
        return [key for request in list(self.requests) for key in request.keys]

    def wait_for(self, calls: int, seconds: float = WAIT_SECONDS) -> None:
        """Wait until so many calls have arrived. Raises TimeoutError."""
        _wait(lambda: len(self.calls) >= calls, seconds, f"{len(self.calls)} of {calls} calls arrived")

    def wait_idle(self, seconds: float = WAIT_SECONDS) -> None:
        """Wait until no call is under way. Raises TimeoutError."""
        _wait(lambda: self.in_flight == 0, seconds, f"{self.in_flight} calls are under way")

    def forget(self) -> None:
        """Begin anew."""
        for kept in (self.calls, self.requests, self.refused, self.errors):
            kept.clear()
        self.most_in_flight = self.in_flight


def _wait(done: Any, seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.002)
