"""What an answer says in a word, for those who watch while the debate goes on. Nothing is decided by it."""

from __future__ import annotations

from reviewbot.debate import reply
from reviewbot.debate.reply import InvalidReply
from reviewbot.ports import Ask, CrossExamination, FirstPass, Judgement, Rebuttal


def gist(ask: Ask, text: str) -> dict[str, str | int | float]:
    """``claims`` (their number), ``stance`` with ``probability``, or ``decision``, with a ``summary``; empty for what cannot be
    read."""
    try:
        return _read(ask, text)
    except InvalidReply:
        return {}


def _read(ask: Ask, text: str) -> dict[str, str | int | float]:
    match ask.question:
        case FirstPass():
            claims = reply.claims(text, ask.seat)
            return {"claims": len(claims), "summary": "; ".join(claim.title for claim in claims[:3])}
        case CrossExamination():
            said = reply.position(text, ask.seat, round_number=ask.round)
            words = said.arguments[0].claim if said.arguments else ""
            return {"stance": said.stance.value, "probability": said.probability, "summary": words}
        case Rebuttal():
            answer = reply.rebuttal(text)
            words = answer.arguments[0].claim if answer.arguments else ""
            return {"decision": answer.decision, "summary": words}
        case Judgement():
            judged = reply.judgement(text)
            words = judged.arguments[0].claim if judged.arguments else ""
            return {"decision": judged.decision.value, "summary": words}
        case _:
            return {}
