"""What a conversation apart from a review brings along: somebody's question, answers without their authors, a disputed claim."""

from __future__ import annotations

from reviewbot.debate import prompt_case
from reviewbot.debate.prompt_fence import block, cut, indented, one_line
from reviewbot.ports import Consultation, Dispute, Given, Synthesis

MOST_QUESTION = 10_000
"""Characters of what somebody asks: as many as a command takes."""


def values(question: Consultation | Synthesis | Dispute) -> dict[str, object]:
    """What the question's template is given."""
    if isinstance(question, Dispute):
        return {
            "claim": block("claim", prompt_case.packet(question.packet)),
            "words": block("arguments", prompt_case.words(question.words)),
            "late": block("outcomes", prompt_case.late(question.late)) if question.late else "",
        }
    asked = block("question", cut(indented(question.words), MOST_QUESTION))
    if isinstance(question, Consultation):
        return {"asked": asked}
    return {"asked": asked, "answers": [(one_line(given.letter), block("answer", _given(given))) for given in question.answers]}


def _given(given: Given) -> str:
    """An answer as fields. How sure its author was is not in it."""
    cites = ", ".join(cut(one_line(cite), prompt_case.MOST_CITE) for cite in given.citations[: prompt_case.MOST_CITES])
    lines = [f"cites: {cites or 'nothing that exists'}", f"answer: {cut(indented(given.answer), prompt_case.MOST_FIELD)}"]
    caveats = given.caveats[: prompt_case.MOST_CITES]
    return "\n".join((*lines, *(f"caveat: {cut(indented(caveat), prompt_case.MOST_CITE)}" for caveat in caveats)))
