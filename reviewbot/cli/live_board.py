"""What a live view knows of a review under way: who is asked what, who said what, how the votes stand, what it cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from reviewbot.domain.counted import counted
from reviewbot.ports import Progress

REMEMBERED = 6
"""Answers that stay in view."""

Fields: TypeAlias = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in flight, and when (seconds on the clock) it was put."""

    seat: str
    model: str
    phase: str
    subject: str
    round: int
    since: float


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: what was said in short, how long it took and what it cost. ``replayed`` ones were paid for earlier."""

    seat: str
    phase: str
    subject: str
    words: str
    good: bool
    seconds: float
    usd: float
    replayed: bool


@dataclass(slots=True)
class Board:
    """The state of the view. Not thread-safe: its owner guards it."""

    started: float = 0.0
    cap_usd: float | None = None
    asked: dict[tuple[str, ...], Asked] = field(default_factory=dict)
    said: deque[Said] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    votes: dict[str, dict[str, str]] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)
    spent_usd: float = 0.0
    calls: int = 0
    replayed: int = 0

    def see(self, progress: Progress, now: float) -> None:
        """Take one event in. Unknown ones are the last word of their stage."""
        event = progress.fields.get("event", "")
        if progress.stage == "debate" and event == "asked":
            self._ask(progress.fields, now)
        elif progress.stage == "debate" and event in ("answered", "lost"):
            self._answer(progress)
        elif progress.stage == "cost":
            self._pay(progress.fields)
        else:
            self.stages[progress.stage] = progress.text

    def _ask(self, fields: Fields, now: float) -> None:
        seat, model, phase, subject = (str(fields.get(name, "")) for name in ("seat", "model", "phase", "subject"))
        self.asked[_key(fields)] = Asked(seat, model, phase, subject, int(_number(fields, "round")), now)

    def _answer(self, progress: Progress) -> None:
        fields = progress.fields
        self.asked.pop(_key(fields), None)
        seat, subject = str(fields.get("seat", "")), str(fields.get("subject", ""))
        self.calls += int(_number(fields, "calls"))
        self.replayed += int(_number(fields, "replayed"))
        self.spent_usd += _number(fields, "usd")
        if stance := str(fields.get("stance", "")):
            self.votes.setdefault(subject, {})[seat] = stance
        self.said.append(
            Said(
                seat=seat,
                phase=str(fields.get("phase", "")),
                subject=subject,
                words=_words(progress),
                good=fields.get("status", "ok") == "ok" and fields.get("event") != "lost",
                seconds=_number(fields, "seconds"),
                usd=_number(fields, "usd"),
                replayed=bool(fields.get("replayed")),
            )
        )

    def _pay(self, fields: Fields) -> None:
        """The till's own sums are better than ours."""
        self.spent_usd = max(self.spent_usd, _number(fields, "usd"))
        self.calls = max(self.calls, int(_number(fields, "calls")))
        self.cap_usd = _number(fields, "cap_usd") or self.cap_usd


def _key(fields: Fields) -> tuple[str, ...]:
    """What makes an answer the answer to a question."""
    return tuple(str(fields.get(name, "")) for name in ("seat", "phase", "subject", "round", "attempt"))


def _number(fields: Fields, name: str) -> float:
    value = fields.get(name, 0)
    return 0.0 if isinstance(value, str) else float(value)


def _words(progress: Progress) -> str:
    """What was said, in the fewest words: a summary, a stance, a number of claims, or the line for people."""
    fields = progress.fields
    if summary := str(fields.get("summary", "")):
        return summary
    told = [str(fields["stance"])] if fields.get("stance") else []
    told += [counted(int(fields["claims"]), "claim")] if "claims" in fields else []
    return ", ".join(told) or progress.text
