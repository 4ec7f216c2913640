"""The code that was made, as Markdown: what became of each task, its proof, and the patch folded away."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.domain.repair import Repair
from reviewbot.domain.review import Review
from reviewbot.publish import phrases, repaired
from reviewbot.publish.markdown_finding import TITLE, details, fitting, joined, labelled
from reviewbot.publish.phrases import Tone
from reviewbot.publish.sanitise import code_block, code_span, inline, markdown

_SIGNS = {Tone.GOOD: "✓", Tone.WARN: "●", Tone.BAD: "✗"}
_PROSE, _PATCH, _TRIES = 1_500, 6_000, 3
_FOR_MORE = 200
"""Bytes for what is said of those that have no room."""


def section(review: Review, room: int) -> list[str]:
    """All of it in at most ``room`` bytes, or nothing where nothing was to be made. What does not fit is counted."""
    if not review.repairs:
        return []
    parts = fitting((_repair(repair, review) for repair in review.repairs), room - _FOR_MORE)
    shown = [f"## {repaired.heading(review)}: {repaired.counted(review.repairs)}", *parts]
    if left_out := len(review.repairs) - len(parts):
        shown.append(f"**Left out for length:** {left_out} of {len(review.repairs)}. The review document has all.")
    return shown


def _repair(repair: Repair, review: Review) -> str:
    sign = _SIGNS[repaired.TONES[repair.outcome]]
    title = f"{sign} **{inline(repair.id, limit=40)} {repair.outcome.value}:** {inline(repair.title, limit=TITLE)}"
    by = f"by {inline(repair.author, limit=80)}" if repair.author else ""
    facts = " · ".join(fact for fact in (code_span(repaired.place(repair, review), limit=TITLE), by) if fact)
    return joined((title, facts, *_said(repair)))


def _said(repair: Repair) -> Iterator[str]:
    if repair.is_made:
        yield labelled("How", markdown(repair.explanation, limit=_PROSE))
    yield labelled("Proof", _proof(repair))
    yield labelled("Why" if repair.is_made else "Why not", inline(repaired.why(repair), limit=_PROSE))
    if not repair.is_made:
        tries = [f"- {inline(words, limit=_PROSE)}" for words in repaired.tried(repair)][:_TRIES]
        yield labelled("Tried", "\n".join(tries))
    yield labelled("Dissent", inline(repair.dissent or "", limit=_PROSE))
    if repair.patch and repair.is_made:
        yield details("The patch", code_block(repaired.readable(repair.patch), "diff", limit=_PATCH))


def _proof(repair: Repair) -> str:
    words = inline(repaired.proof(repair), limit=_PROSE)
    check = repair.proof.check if repair.proof else None
    return f"{words}: {code_span(phrases.check(check), limit=400)} ({phrases.outcome(check)})" if check else words
