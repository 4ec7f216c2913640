"""What an answer says in a word, for those who watch while the debate goes on. Nothing is decided by it."""

from __future__ import annotations

from reviewbot.debate import reply
from reviewbot.debate.making import reply as making
from reviewbot.debate.strict import InvalidReply
from reviewbot.ports import Appraisal, Arbitration, Ask, CrossExamination, Drafting, FirstPass, Judgement, Rebuttal, Refinement


def gist(ask: Ask, text: str) -> dict[str, str | int | float]:
    """``claims`` or ``edits`` (their number), ``stance`` with ``probability``, or ``decision``, with a ``summary``; empty for
    what cannot be read."""
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
        case Judgement() | Arbitration():
            judged = reply.judgement(text)
            words = judged.arguments[0].claim if judged.arguments else ""
            return {"decision": judged.decision.value, "summary": words}
        case Drafting() | Refinement() | Appraisal():
            return _making(ask.question, text)
        case _:
            return {}


def _making(question: Drafting | Refinement | Appraisal, text: str) -> dict[str, str | int | float]:
    if not isinstance(question, Appraisal):
        written = making.writing(text)
        paths = ", ".join(dict.fromkeys(swap.path for swap in written.swaps))
        decision = f"edits {paths}" if paths else "no edits in the answer"
        return {"edits": len(written.swaps), "decision": decision, "summary": written.explanation}
    found = making.verdicts(text, letters=[candidate.letter for candidate in question.candidates])
    decision = "; ".join(f"{one.letter} {'' if one.acceptable else 'not '}acceptable ({one.score:g})" for one in found)
    return {"decision": decision, "summary": "; ".join(point.text for one in found for point in one.points[:1])}
