"""The panel's counsel on a question, for people and programs: Markdown, text for a terminal, a JSON document.

The question, the answers and the citations are other people's words and go through the sanitiser. No marker opens the Markdown:
whoever posts it knows which comment it becomes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reviewbot.domain.answer import Counsel, Opinion
from reviewbot.domain.debate import Attendance, SeatStatus
from reviewbot.domain.evidence import Evidence
from reviewbot.publish import phrases, plain, spending
from reviewbot.publish.document import dumps, storable, usage_fields
from reviewbot.publish.node import SCHEMA_VERSION
from reviewbot.publish.sanitise import code_span, inline, markdown

Words = Callable[[str], str]
"""Makes somebody's words fit for the place where they are shown."""

OPINION = "an opinion: nothing that exists is cited for it"
NOT_ANSWERED = "NOT ANSWERED"
BUDGET_BYTES = 60_000
"""Of a comment: GitHub refuses more than 65,536 characters."""

_QUESTION, _ANSWER, _VOICE, _NOTE = 400, 4_000, 1_500, 400
_WIDTH = 100


def markdown_of(counsel: Counsel) -> str:
    """One answer, its citations as code, dissent, and who said what. Ends in what it cost."""
    parts = [part for part in _parts(counsel) if part]
    tail = _cost(counsel)
    kept, left = [], BUDGET_BYTES - len(tail.encode())
    for part in parts:
        left -= len(part.encode()) + 2
        if left > 0:
            kept.append(part)
    if len(kept) < len(parts):
        kept.append("**Left out for length:** some of what panelists said.")
    return plain.defuse("\n\n".join((*kept, tail))) + "\n"


def text_of(counsel: Counsel) -> str:
    """The same for a terminal."""
    lines = [f"Question: {plain.line(counsel.question)}", ""]
    if counsel.answer:
        lines += [*_wrapped(counsel.answer), "", _grounds(counsel.citations, plain.line)]
    else:
        lines += _wrapped(f"{NOT_ANSWERED}: {counsel.unanswered}")
    lines += [f"Open: {plain.line(caveat)}" for caveat in counsel.caveats]
    lines += [f"Dissent, {_names(one.panelists, plain.line)}: {plain.line(one.about)}" for one in counsel.dissent]
    if counsel.evidence:
        lines += ["", "What checks said:", *(f"  {_item(item, plain.line)}" for item in counsel.evidence)]
    for opinion in _told(counsel):
        lines += ["", f"{_title(opinion, plain.line)}:", *(f"  {line}" for line in _wrapped(opinion.answer, _WIDTH - 2))]
        lines += [f"  {_grounds(opinion.citations, plain.line)}"]
        lines += [f"  Not found: {', '.join(map(plain.line, opinion.dropped))}"] if opinion.dropped else []
    lines += ["", *(f"Note: {plain.line(note)}" for note in _notes(counsel)), _bill(counsel)]
    return plain.defuse("\n".join(lines)) + "\n"


def document_of(counsel: Counsel) -> dict[str, Any]:
    """The answer as a document."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "question": counsel.question,
            "answer": counsel.answer or None,
            "unanswered": counsel.unanswered or None,
            "by": counsel.by or None,
            "citations": list(counsel.citations),
            "dropped_citations": list(counsel.dropped),
            "is_opinion": bool(counsel.answer) and not counsel.rests_on_citations,
            "caveats": list(counsel.caveats),
            "dissent": [{"panelists": list(one.panelists), "about": one.about} for one in counsel.dissent],
            "opinions": [_opinion(opinion) for opinion in counsel.opinions],
            "evidence": [_evidence(item) for item in counsel.evidence],
            "panel": [panelist(entry) for entry in counsel.attendance],
            "usage": {
                **usage_fields(counsel.bill.total),
                "by_panelist": {name: usage_fields(usage) for name, usage in counsel.bill.by_panelist.items()},
            },
            "notes": list(counsel.notes),
        }
    )
    return written


def json_of(counsel: Counsel) -> str:
    """The document as JSON text."""
    return dumps(document_of(counsel))


def panelist(entry: Attendance) -> dict[str, Any]:
    """A seat as documents tell of it."""
    seat = entry.seat
    return {"name": seat.name, "role": seat.role, "model": seat.model, "status": entry.status.value, "reason": entry.reason}


def sat(attendance: Iterable[Attendance]) -> str:
    """Who took part, and who did not."""
    listed = tuple(attendance)
    here = [f"{entry.seat.name} ({entry.seat.model})" for entry in listed if entry.status is SeatStatus.OK]
    lost = [entry.seat.name for entry in listed if entry.status is SeatStatus.LOST]
    parts = [f"panel: {', '.join(here)}"] if here else ["no language model took part"]
    return "; ".join((*parts, *([f"without {', '.join(lost)}"] if lost else [])))


def _parts(counsel: Counsel) -> Iterator[str]:
    yield f"**Question:** {inline(counsel.question, limit=_QUESTION)}"
    if counsel.answer:
        yield markdown(counsel.answer, limit=_ANSWER)
        yield _grounds(counsel.citations, _code)
    else:
        yield f"**{NOT_ANSWERED}:** {inline(counsel.unanswered, limit=_NOTE)}"
    yield "\n".join(f"- Open: {inline(caveat, limit=_NOTE)}" for caveat in counsel.caveats)
    dissent = (f"- {_names(one.panelists, inline)}: {inline(one.about, limit=_NOTE)}" for one in counsel.dissent)
    yield _headed("**Dissent**", dissent)
    yield _headed("**What checks said**", (f"- {_item(item, inline)}" for item in counsel.evidence))
    voices = "\n\n".join(_voice(opinion) for opinion in _told(counsel))
    yield f"<details><summary>What each panelist answered</summary>\n\n{voices}\n\n</details>" if voices else ""
    yield "\n".join(f"- {inline(note, limit=_NOTE)}" for note in _notes(counsel))


def _voice(opinion: Opinion) -> str:
    parts = [f"**{_title(opinion, inline)}**", markdown(opinion.answer, limit=_VOICE), _grounds(opinion.citations, _code)]
    parts += ["\n".join(f"- Open: {inline(caveat, limit=_NOTE)}" for caveat in opinion.caveats)] if opinion.caveats else []
    parts += [f"Cited and not found: {', '.join(map(_code, opinion.dropped))}"] if opinion.dropped else []
    return "\n\n".join(parts)


def _told(counsel: Counsel) -> tuple[Opinion, ...]:
    """The single answers, where they say more than the common one."""
    return counsel.opinions if len(counsel.opinions) > 1 or not counsel.answer else ()


def _notes(counsel: Counsel) -> Iterator[str]:
    if counsel.answer and counsel.dropped:
        yield f"cited and not found: {', '.join(counsel.dropped)}"
    yield from counsel.notes


def _title(opinion: Opinion, shown: Words) -> str:
    letter = f", answer {opinion.letter}" if opinion.letter else ""
    portion = f", portion {opinion.portion}" if opinion.portion else ""
    return shown(f"{opinion.panelist} ({phrases.percent(opinion.confidence)} sure{letter}{portion})")


def _grounds(citations: tuple[str, ...], shown: Words) -> str:
    return f"Rests on {', '.join(map(shown, citations))}" if citations else f"This is {OPINION}."


def _names(panelists: tuple[str, ...], shown: Words) -> str:
    return shown(", ".join(panelists))


def _item(item: Evidence, shown: Words) -> str:
    result = item.result
    name = " ".join(part for part in (result.tool, result.rule or result.subject) if part)
    return f"{shown(item.id)} {shown(phrases.spot(item))}: {shown(name)}: {shown(result.message)}"


def _code(words: str) -> str:
    return code_span(words, limit=200)


def _headed(heading: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    return "\n".join((f"{heading}\n", *listed)) if listed else ""


def _cost(counsel: Counsel) -> str:
    return f"{inline(sat(counsel.attendance))} · {inline(spending.words(counsel.bill.total))}"


def _bill(counsel: Counsel) -> str:
    return f"{plain.line(sat(counsel.attendance))}; {spending.words(counsel.bill.total)}"


def _wrapped(words: str, width: int = _WIDTH) -> list[str]:
    lines = plain.terminal(words).strip().split("\n")
    return [row for line in lines for row in (textwrap.wrap(line, width, break_long_words=False) or [""])]


def _opinion(opinion: Opinion) -> dict[str, Any]:
    return {
        "panelist": opinion.panelist,
        "letter": opinion.letter,
        "answer": opinion.answer,
        "citations": list(opinion.citations),
        "dropped_citations": list(opinion.dropped),
        "is_opinion": not opinion.citations,
        "confidence": opinion.confidence,
        "caveats": list(opinion.caveats),
        "portion": opinion.portion or None,
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    result = item.result
    return {
        "id": item.id,
        "tool": result.tool,
        "rule": result.rule,
        "path": result.path,
        "line": result.line,
        "message": result.message,
        "status": item.status.value,
    }
