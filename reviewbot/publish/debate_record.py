"""A debate as the ledger holds it, as values: the session, its seats, its calls, what was looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.domain.counted import counted
from reviewbot.domain.money import Usage
from reviewbot.domain.repair import Repair
from reviewbot.publish import spending
from reviewbot.screen import strict_json

MOST_EXCHANGE_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class DebateSeat:
    """Who sat at the table; ``state`` says how it fared."""

    name: str
    role: str
    model: str
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DebateCall:
    """One call as the session used it. The prompt is ``system``, ``prefix``, ``suffix``; ``exchanges`` are the steps of tool use
    before it, as JSON text; ``reply`` is what the model said, or why it said nothing where ``outcome`` is a failure's."""

    number: int
    seat: str
    model: str
    phase: str
    subject: str
    round: int
    attempt: int
    step: int
    system: str
    prefix: str
    suffix: str
    exchanges: str
    reply: str
    outcome: str
    usage: Usage
    seconds: float
    replayed: bool

    @property
    def title(self) -> str:
        """Which question this was."""
        about = f" on {self.subject}" if self.subject else ""
        again = f", attempt {self.attempt}" if self.attempt > 1 else ""
        step = f", after {counted(self.step, 'tool step')}" if self.step else ""
        return f"{self.phase}{about}, round {self.round}{again}{step}"

    @property
    def bill(self) -> str:
        """What it took, and whether this session paid for it."""
        told = f"{spending.dollars(self.usage.cost_usd)}, {spending.tokens(self.usage)}, {self.seconds:.1f} s"
        return ", ".join((told, *spending.reservations(self.charged)))

    @property
    def charged(self) -> Usage:
        """The usage as this session bears it: of a replayed call nothing was paid here."""
        return replace(self.usage, replayed_calls=self.usage.calls, paid_usd=0.0) if self.replayed else self.usage


@dataclass(frozen=True, slots=True)
class Look:
    """A tool that was used: its arguments as the model wrote them, and what it gave."""

    name: str
    arguments: str
    result: str
    failed: bool


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """A session: its own ``state``, and its review's ``conclusion`` and ``verdict``, empty where there is none. ``repairs`` is
    the code that it made."""

    id: str
    state: str
    project: str
    base: str
    head: str
    title: str
    conclusion: str
    verdict: str
    seats: tuple[DebateSeat, ...]
    usage: Usage
    calls: tuple[DebateCall, ...]
    repairs: tuple[Repair, ...] = ()

    def of(self, seat: str) -> Usage:
        """What one seat's calls took together, replayed ones included."""
        return sum((call.charged for call in self.calls if call.seat == seat), Usage())

    def seen_before(self) -> Mapping[int, Mapping[str, int]]:
        """For each call by number: which part of its prompt (``system``, ``prefix``) was said before, and in which call."""
        first: dict[tuple[str, str], int] = {}
        found: dict[int, dict[str, int]] = {}
        for call in self.calls:
            found[call.number] = {}
            for part, words in (("system", call.system), ("prefix", call.prefix)):
                number = first.setdefault((part, words), call.number)
                if number != call.number:
                    found[call.number][part] = number
        return found


def looks(call: DebateCall) -> tuple[Look, ...]:
    """What a model looked up before it answered. What cannot be read is shown as it is kept."""
    if not call.exchanges:
        return ()
    try:
        return tuple(_looks(strict_json.loads(call.exchanges, max_bytes=MOST_EXCHANGE_BYTES)))
    except (strict_json.InvalidJson, KeyError, TypeError, AttributeError):
        return (Look("unreadable", "", call.exchanges, failed=True),)


def _looks(steps: list[dict[str, Any]]) -> Iterator[Look]:
    for step in steps:
        results = {result["call_id"]: result for result in step["results"]}
        for call in step["calls"]:
            result = results.get(call["id"], {"text": "", "is_error": True})
            yield Look(str(call["name"]), str(call["arguments"]), str(result["text"]), failed=bool(result["is_error"]))
