"""How a dispute ended, for people and programs: Markdown, text for a terminal, a JSON document. No marker opens the Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewbot.domain.answer import DisputeEnd, Settlement, Voice
from reviewbot.publish import phrases, plain, spending
from reviewbot.publish.answer import Words, panelist, sat
from reviewbot.publish.document import dumps, storable, usage_fields
from reviewbot.publish.node import SCHEMA_VERSION
from reviewbot.publish.sanitise import code_span, inline

HEADLINES = {
    DisputeEnd.MAINTAINED: "maintained",
    DisputeEnd.AMENDED: "amended",
    DisputeEnd.WITHDRAWN: "withdrawn",
    DisputeEnd.UNHEARD: "NOT HEARD, it stands as it stood",
}
HELD = "What was executed outranks words. Who may dismiss findings can still dismiss it, with a reason."

_TITLE, _WORDS, _NOTE = 200, 800, 400
_SAID = {
    "defend": "defends it",
    "amend": "words it anew",
    "withdraw": "takes it back",
    "support": "supports it",
    "oppose": "opposes it",
    "neutral": "is undecided",
}


def markdown_of(settlement: Settlement) -> str:
    """What became of the finding, why, and who said what. Ends in what it cost."""
    cost = f"{inline(sat(settlement.attendance))} · {inline(spending.words(settlement.bill.total))}"
    parts = [part for part in (*_parts(settlement), cost) if part]
    return plain.defuse("\n\n".join(parts)) + "\n"


def text_of(settlement: Settlement) -> str:
    """The same for a terminal."""
    lines = [plain.line(_headline(settlement)), f"{plain.line(settlement.reason)}; {_standing(settlement)}", ""]
    lines += [f"Argument: {plain.line(plain.shortened(settlement.argument, _WORDS))}"]
    lines += [f"  {line}" for voice in settlement.voices for line in _voice(voice, plain.line, plain.line)]
    lines += [HELD] if settlement.held_by and settlement.end is DisputeEnd.MAINTAINED else []
    lines += [f"Note: {plain.line(note)}" for note in settlement.notes]
    lines += [f"{plain.line(sat(settlement.attendance))}; {spending.words(settlement.bill.total)}"]
    return plain.defuse("\n".join(lines)) + "\n"


def document_of(settlement: Settlement) -> dict[str, Any]:
    """The settlement as a document."""
    before = settlement.finding
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "finding": before.id,
            "fingerprint": before.fingerprint,
            "argument": settlement.argument,
            "outcome": settlement.end.value,
            "reason": settlement.reason,
            "held_by": settlement.held_by or None,
            "before": _state(before.probability, before.severity.label, before.title),
            "after": _state(settlement.probability, settlement.severity.label, settlement.title),
            "voices": [_spoken(voice) for voice in settlement.voices],
            "panel": [panelist(entry) for entry in settlement.attendance],
            "usage": {
                **usage_fields(settlement.bill.total),
                "by_panelist": {name: usage_fields(usage) for name, usage in settlement.bill.by_panelist.items()},
            },
            "notes": list(settlement.notes),
        }
    )
    return written


def json_of(settlement: Settlement) -> str:
    """The document as JSON text."""
    return dumps(document_of(settlement))


def _parts(settlement: Settlement) -> Iterator[str]:
    yield f"**{inline(_headline(settlement))}**"
    yield f"{inline(settlement.reason, limit=_NOTE)}; {_standing(settlement)}"
    yield f"**Argument:** {inline(settlement.argument, limit=_WORDS)}"
    yield "\n".join(f"- {line}" for voice in settlement.voices for line in _voice(voice, inline, _code))
    yield HELD if settlement.held_by and settlement.end is DisputeEnd.MAINTAINED else ""
    yield "\n".join(f"- {inline(note, limit=_NOTE)}" for note in settlement.notes)


def _headline(settlement: Settlement) -> str:
    title = plain.shortened(settlement.title, _TITLE)
    return f"{settlement.finding.id} {HEADLINES[settlement.end]}: {title}"


def _standing(settlement: Settlement) -> str:
    """How the finding stands, and how it stood where that differs."""
    before = settlement.finding
    is_gone = settlement.end is DisputeEnd.WITHDRAWN
    now = f"{settlement.severity.label}, {phrases.percent(settlement.probability)}"
    was = f"{before.severity.label}, {phrases.percent(before.probability)}"
    return f"it was {was}" if is_gone else now if now == was else f"{now} (before: {was})"


def _voice(voice: Voice, shown: Words, cited: Words) -> Iterator[str]:
    chance = "" if voice.probability is None or voice.raised else f", {phrases.percent(voice.probability)}"
    silent = "" if voice.counted else " (does not count: it cites nothing that is new and exists)"
    raised = ", who raised it," if voice.raised else ""
    first = voice.arguments[0] if voice.arguments else None
    why = f": {shown(plain.shortened(first.claim, _WORDS))}" if first and first.claim.strip() else ""
    cites = ", ".join(map(cited, dict.fromkeys(cite for argument in voice.arguments for cite in argument.evidence)))
    yield f"{shown(voice.panelist)}{raised} {_SAID[voice.said]}{chance}{silent}{why}{f' [{cites}]' if cites else ''}"


def _code(words: str) -> str:
    return code_span(words, limit=200)


def _state(probability: float, severity: str, title: str) -> dict[str, Any]:
    return {"probability": probability, "severity": severity, "title": title}


def _spoken(voice: Voice) -> dict[str, Any]:
    return {
        "panelist": voice.panelist,
        "said": voice.said,
        "raised": voice.raised,
        "probability": voice.probability,
        "counted": voice.counted,
        "arguments": [
            {"claim": argument.claim, "evidence": list(argument.evidence), "reasoning": argument.reasoning}
            for argument in voice.arguments
        ],
    }
