"""Ask whether a proven difference is what the change wants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from reviewbot.context.brief import Brief
from reviewbot.debate import prompts
from reviewbot.debate.answers import IntentAnswer
from reviewbot.debate.batches import questions_about
from reviewbot.debate.case import Case, Intention
from reviewbot.debate.panel import MODERATOR, Absence, Panel, Question
from reviewbot.debate.plan import Plan
from reviewbot.debate.reader import citation_of, read_items


async def ask_intent(
    cases: Sequence[Case], briefs: Sequence[Brief], panel: Panel, plan: Plan
) -> tuple[tuple[Case, ...], tuple[Absence, ...]]:
    """Ask everybody but the authors of the tests; a panel of one is asked as moderator.

    What a check reports needs no such question: it stands by itself.

    A test written for a claim shows that the result differs. Whether that is wrong, only the change
    can say: in its tests and its documentation.
    """
    proven = [
        case
        for case in cases
        if case.result is None and case.proof and case.proof.result == "proven"
    ]
    questions: list[Question] = []
    for name in (*panel.names, MODERATOR):
        if name in plan.limited:
            continue
        asked = [case for case in proven if _is_asked(case, name, panel)]
        pairs = questions_about(asked, name, "intent", prompts.intent, plan.briefs_of(name, briefs))
        questions += [question for question, _ in pairs]
    if not questions:
        return tuple(cases), ()
    answers = await panel.ask(questions, _read)
    given: defaultdict[str, list[Intention]] = defaultdict(list)
    for question, judgements in answers.given:
        for judgement in judgements:
            citation = citation_of(judgement.intended or "")
            intention = Intention(
                panelist=question.panelist,
                citation=citation if question.brief.states(citation) else None,
                reason=judgement.reason,
            )
            given[judgement.case].append(intention)
    return (
        tuple(
            replace(
                case,
                intentions=tuple(
                    intention
                    for intention in given[case.id]
                    if case in proven and _is_asked(case, intention.panelist, panel)
                ),
            )
            for case in cases
        ),
        answers.absences,
    )


def _is_asked(case: Case, panelist: str, panel: Panel) -> bool:
    """Two witnesses are needed, so a moderator stands in where too few others are there."""
    author = case.proof.by if case.proof else ""
    others = [name for name in panel.names if name != author]
    return len(others) < 2 if panelist == MODERATOR else panelist in others


def _read(text: str) -> list[IntentAnswer]:
    return read_items(text, "judgements", IntentAnswer)[0]
