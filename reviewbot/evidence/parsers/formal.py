"""What the probes ``reviewbot_behaviour``, ``reviewbot_contract`` and ``reviewbot_replay`` write: JSON lines, then ``finish``.

None of it is trusted: a counter-example says what to call, and counts when calls in fresh processes came to what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from reviewbot.evidence.parsers import typed
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.screen import strict_json

MAX_LINES = 100
MAX_ARGUMENTS = 100


class Ending(StrEnum):
    """How a call ended."""

    RETURNS = "returns"
    RAISES = "raises"
    EXITS = "exits"
    HANGS = "hangs"


@dataclass(frozen=True, slots=True)
class Called:
    """What came of calling a function. ``text`` is what the value holds, the exception's class, or the exit code; empty where it
    did not end. ``mutated`` pairs a parameter with what it holds afterwards; ``private`` names the private attributes that
    ``private_text`` tells. Message and seconds are for the reader: they do not make two calls different."""

    ending: Ending
    text: str
    message: str = field(default="", compare=False)
    mutated: tuple[tuple[str, str], ...] = ()
    printed: str = ""
    private: tuple[str, ...] = field(default=(), compare=False)
    private_text: str = field(default="", compare=False)

    def differs(self, other: Called) -> bool:
        """Whether a caller could tell. Private attributes count where both sides have the same ones."""
        return self != other or (self.private == other.private and self.private_text != other.private_text)

    @property
    def words(self) -> str:
        """The ending as one reads it."""
        said = f" ({self.message})" if self.message else ""
        ended = {
            Ending.RETURNS: f"returns {self.text}",
            Ending.RAISES: f"raises {self.text}{said}",
            Ending.EXITS: f"ends the process with code {self.text}",
            Ending.HANGS: "does not end",
        }
        return ended[self.ending]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a condition. ``holds`` is ``None`` where the call says nothing: the condition is in error itself, or the call
    did not end. ``skipped``: the condition does not speak of these arguments. ``asserted``: an assertion of the condition's own
    failed, not something below it; ``line`` is where, in the specification, 1-based, 0 where unknown."""

    holds: bool | None
    skipped: bool = False
    asserted: bool = False
    raises: str = ""
    message: str = field(default="", compare=False)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Arguments that speak against the claim, each as source text. ``base`` and ``head`` for a comparison, ``judged`` for a
    condition. ``condition`` is the name of what was claimed (empty for a contract or a comparison), ``calls`` the function of the
    specification that takes the arguments."""

    arguments: tuple[str, ...]
    by: str
    base: Called | None = None
    head: Called | None = None
    judged: Judged | None = None
    condition: str = ""
    calls: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """No counter-example was found. ``bound`` says in words how far was searched; ``exhausted``: all paths were followed;
    ``cut``: time ended the search, so that another run may find something."""

    by: tuple[str, ...]
    bound: str
    exhausted: bool
    cut: bool
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Unable:
    """Nothing can be said. ``code`` is ``import`` for code that cannot be loaded, else see ``reason``."""

    code: str
    reason: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One call in a fresh process."""

    outcome: Called | Judged


Result = Counterexample | Searched | Unable | Replayed


@dataclass(frozen=True, slots=True)
class FormalReport:
    """``finished`` is false where the probe was ended before its time: what it says until then holds."""

    results: tuple[Result, ...]
    finished: bool


def read(data: bytes) -> FormalReport:
    """The report. Raises Unreadable."""
    lines = data.split(b"\n")
    if len(lines) > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES} lines")
    try:
        records = [strict_json.loads(line) for line in lines if line.strip()]
        finished = bool(records) and records[-1] == {"type": "finish"}
        return FormalReport(tuple(_results(records[:-1] if finished else records)), finished)
    except strict_json.InvalidJson as exc:
        raise Unreadable(str(exc)) from exc
    except (KeyError, TypeError, AttributeError, ValueError) as exc:
        raise Unreadable("not a report of a search or a replay") from exc


def differ(base: tuple[Called, ...], head: tuple[Called, ...]) -> bool:
    """Whether replays prove that two trees do not do the same: at least two on each side, of which each came to the same."""
    stable = all(not side[0].differs(other) for side in (base, head) if side for other in side)
    return stable and len(base) >= 2 and len(head) >= 2 and base[0].differs(head[0])


def _results(records: list[Any]) -> Iterator[Result]:
    for record in records:
        yield _READERS[record["type"]](record)


def _counterexample(record: dict[str, Any]) -> Counterexample:
    arguments = record["arguments"]
    if not isinstance(arguments, list) or len(arguments) > MAX_ARGUMENTS:
        raise TypeError("arguments of another shape")
    texts = tuple(typed.text(argument) for argument in arguments)
    by, condition, calls = (typed.text(record.get(key, "")) for key in ("by", "condition", "calls"))
    if "outcome" in record:
        judged = _judged(record["outcome"])
        if judged.holds is not False:
            raise TypeError("a counter-example for which the condition holds")
        return Counterexample(texts, by, judged=judged, condition=condition, calls=calls)
    base, head = _called(record["base"]), _called(record["head"])
    if not base.differs(head):
        raise TypeError("a counter-example on which the sides do the same")
    return Counterexample(texts, by, base, head, condition=condition, calls=calls)


def _searched(record: dict[str, Any]) -> Searched:
    by = tuple(typed.text(name) for name in record["by"])
    bound, condition = typed.text(record["bound"]), typed.text(record.get("condition", ""))
    return Searched(by, bound, typed.flag(record["exhausted"]), typed.flag(record["cut"]), condition)


def _unable(record: dict[str, Any]) -> Unable:
    return Unable(typed.text(record["code"]), typed.text(record["reason"]), typed.text(record.get("condition", "")))


def _replayed(record: dict[str, Any]) -> Replayed:
    outcome = record["outcome"]
    return Replayed(_judged(outcome) if "holds" in outcome else _called(outcome))


def _called(outcome: dict[str, Any]) -> Called:
    endings = [ending for ending in Ending if ending in outcome]
    if len(endings) != 1:
        raise TypeError("a call that did not end in one way")
    ending = endings[0]
    private = outcome.get("private", {"names": [], "text": ""})
    return Called(
        ending,
        _ended(ending, outcome[ending]),
        typed.text(outcome.get("message", "")),
        tuple((typed.text(name), typed.text(text)) for name, text in sorted(outcome.get("mutated", {}).items())),
        typed.text(outcome.get("printed", "")),
        tuple(typed.text(name) for name in private["names"]),
        typed.text(private["text"]),
    )


def _ended(ending: Ending, value: Any) -> str:
    """The text of an ending; how long was waited for one that did not come is no part of it."""
    if ending is Ending.HANGS:
        return ""
    if ending is Ending.EXITS:
        if type(value) is not int:
            raise TypeError("an exit code that is no number")
        return str(value)
    return typed.text(value)


def _judged(outcome: dict[str, Any]) -> Judged:
    holds = outcome.get("holds")
    if holds is not None:
        typed.flag(holds)
    line = outcome.get("line", 0)
    if type(line) is not int or line < 0:
        raise TypeError("a line that is no number")
    skipped, asserted = typed.flag(outcome.get("skipped", False)), typed.flag(outcome.get("asserted", False))
    return Judged(holds, skipped, asserted, typed.text(outcome.get("raises", "")), typed.text(outcome.get("message", "")), line)


_READERS: dict[str, Callable[[dict[str, Any]], Result]] = {
    "counterexample": _counterexample,
    "none": _searched,
    "unable": _unable,
    "replayed": _replayed,
}
