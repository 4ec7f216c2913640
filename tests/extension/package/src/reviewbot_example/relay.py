"""A pattern: panelists answer one after the other, and each reads the answer before and makes it better."""

from __future__ import annotations

from reviewbot.debate import reply
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.patterns.consult import Consulting, ConsultOptions, Inquiry
from reviewbot.debate.rounds import hold
from reviewbot.domain.answer import Counsel, Opinion
from reviewbot.domain.debate import Table
from reviewbot.ports import Ask, Consultation

FURTHER = (
    "Somebody answered this: {answer}\nCheck it against the code. Correct what is wrong, add what is missing, keep what is right."
)


def relay(inquiry: Inquiry, table: Table, options: ConsultOptions) -> Consulting:
    """The last answer counts. Citations, costs and who took part are looked after by reviewbot."""
    minutes = Minutes(table.seats)
    words, opinions = inquiry.words, []
    for number, seat in enumerate(table.seats, start=1):
        question = Consultation(inquiry.papers.piles(seat)[0], words)
        ask = Ask(seat, question, subject="the question", round=number, timeout_seconds=options.seconds)
        held = yield from hold([ask], lambda _, text: reply.opinion(text), minutes)
        said = held.heard[0].value  # None where there is no valid answer
        if said is not None:
            opinions.append(Opinion(seat.name, str(number), said.answer, said.citations, said.confidence, said.caveats))
            words = f"{inquiry.words}\n\n{FURTHER.format(answer=said.answer)}"
    if not opinions:
        return Counsel(inquiry.words, unanswered="nobody in the relay gave a valid answer")
    last = opinions[-1]
    return Counsel(inquiry.words, last.answer, last.panelist, last.citations, caveats=last.caveats, opinions=tuple(opinions))
