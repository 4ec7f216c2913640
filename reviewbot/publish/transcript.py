"""A whole debate as the ledger holds it: every prompt, every reply, what each cost. As text, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.publish import document, plain, spending, transcript_repair
from reviewbot.publish.debate_record import DebateCall, DebateRecord, DebateSeat, Look, looks
from reviewbot.publish.transcript_repair import block
from reviewbot.screen import secrets

__all__ = ["DebateCall", "DebateRecord", "DebateSeat", "Look", "html", "json", "looks", "text"]

SCHEMA_VERSION = 1


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
    yield from transcript_repair.lines(record.repairs)


def _call(call: DebateCall, before: Mapping[str, int]) -> Iterator[str]:
    yield ""
    yield f"──── {call.number}  {plain.line(call.seat)} ({plain.line(call.model)})  {plain.line(call.title)}"
    yield f"     {plain.line(call.outcome)}: {call.bill}"
    for part, words in (("system", call.system), ("prefix", call.prefix), ("suffix", call.suffix)):
        if part in before:
            yield f"  {part}: as in {before[part]}"
        elif words:
            yield from block(part, words)
    for look in looks(call):
        yield from block(f"tool {look.name} {look.arguments}{' failed' if look.failed else ''}", look.result)
    yield from block("reply", call.reply)


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
        "repairs": transcript_repair.fields(record.repairs),
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
