"""A whole debate as the ledger holds it: every prompt, every reply, what each cost. As text, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.domain.money import Usage
from reviewbot.publish import document, plain, spending
from reviewbot.screen import secrets, strict_json

SCHEMA_VERSION = 1
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
        step = f", after {spending.counted(self.step, 'tool step')}" if self.step else ""
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
    """A session: its own ``state``, and its review's ``conclusion`` and ``verdict``, empty where there is none."""

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


def text(record: DebateRecord) -> str:
    """For a terminal or a file: plain lines, long ones left long. A part of a prompt that was said before is not said again."""
    return plain.defuse("\n".join(_lines(record))) + "\n"


def json(record: DebateRecord) -> str:
    """For a program (``schema/session.schema.json``). Nothing is left out; known secrets are redacted."""
    return document.dumps(_written(_document(record)))


def html(record: DebateRecord) -> str:
    """For a browser: one self-contained page."""
    from reviewbot.publish import transcript_page

    return transcript_page.render(record)


def _lines(record: DebateRecord) -> Iterator[str]:
    yield f"{plain.line(record.id)}  {plain.line(record.state)}  {plain.line(record.project)}"
    yield plain.line(f"{record.base[:12]}..{record.head[:12]}  {record.title}")
    yield f"conclusion: {plain.line(record.conclusion) or 'none'}, verdict: {plain.line(record.verdict) or 'none'}"
    yield f"cost: {spending.words(record.usage)}"
    for seat in record.seats:
        why = f": {plain.line(seat.reason)}" if seat.reason else ""
        yield f"  {plain.line(seat.name)} ({plain.line(seat.role)}) {plain.line(seat.model)} {plain.line(seat.state)}{why}"
        yield f"    {spending.words(record.of(seat.name))}"
    before = record.seen_before()
    for call in record.calls:
        yield from _call(call, before[call.number])


def _call(call: DebateCall, before: Mapping[str, int]) -> Iterator[str]:
    yield ""
    yield f"──── {call.number}  {plain.line(call.seat)} ({plain.line(call.model)})  {plain.line(call.title)}"
    yield f"     {plain.line(call.outcome)}: {call.bill}"
    for part, words in (("system", call.system), ("prefix", call.prefix), ("suffix", call.suffix)):
        if part in before:
            yield f"  {part}: as in {before[part]}"
        elif words:
            yield from _block(part, words)
    for look in looks(call):
        yield from _block(f"tool {look.name} {look.arguments}{' failed' if look.failed else ''}", look.result)
    yield from _block("reply", call.reply)


def _block(label: str, words: str) -> Iterator[str]:
    yield f"  {plain.line(label)}:"
    yield from (f"    │ {row}" for row in plain.terminal(words).strip("\n").split("\n"))


def _document(record: DebateRecord) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "id": record.id,
        "state": record.state,
        "project": record.project,
        "target": {"base": record.base, "head": record.head, "title": record.title},
        "conclusion": record.conclusion or None,
        "verdict": record.verdict or None,
        "usage": document.usage_fields(record.usage),
        "seats": [
            {
                "name": seat.name,
                "role": seat.role,
                "model": seat.model,
                "state": seat.state,
                "reason": seat.reason or None,
                "usage": document.usage_fields(record.of(seat.name)),
            }
            for seat in record.seats
        ],
        "calls": [_call_document(call) for call in record.calls],
    }


def _call_document(call: DebateCall) -> dict[str, Any]:
    return {
        "number": call.number,
        "seat": call.seat,
        "model": call.model,
        "phase": call.phase,
        "subject": call.subject,
        "round": call.round,
        "attempt": call.attempt,
        "step": call.step,
        "prompt": {"system": call.system, "prefix": call.prefix, "suffix": call.suffix},
        "tools": [
            {"name": look.name, "arguments": look.arguments, "result": look.result, "failed": look.failed} for look in looks(call)
        ],
        "reply": call.reply,
        "outcome": call.outcome,
        "usage": document.usage_fields(call.charged),
        "seconds": call.seconds,
        "replayed": call.replayed,
    }


def _written(value: Any) -> Any:
    """The value with every text storable and without known secrets."""
    if isinstance(value, str):
        return plain.storable(secrets.redact(value)[0])
    if isinstance(value, dict):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_written(item) for item in value]
    return value
