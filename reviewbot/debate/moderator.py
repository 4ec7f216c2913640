"""The moderator rules on what panelists did not settle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief, brief_about
from reviewbot.debate import prompts
from reviewbot.debate.answers import Judgement
from reviewbot.debate.case import Case, Stance
from reviewbot.debate.panel import MODERATOR, Absence, Panel, Question
from reviewbot.debate.plan import Plan
from reviewbot.debate.reader import read_items
from reviewbot.severity import RANK


async def moderate(
    cases: Sequence[Case], briefs: Sequence[Brief], panel: Panel, plan: Plan
) -> tuple[tuple[Case, ...], tuple[Absence, ...]]:
    """Ask twice, with the cases in both orders. Only a ruling that is the same twice counts."""
    contested = [case for case in cases if is_contested(case)]
    if not contested or not panel.panelists or not plan.has_moderator:
        return tuple(cases), ()
    by_brief = []
    for brief in briefs:
        here = [case for case in contested if brief_about(case.location, briefs) is brief]
        # It is often of another vendor, whose cache does not know what the panelists read.
        paths = {claim.location.path for case in here for claim in case.claims}
        by_brief.append((brief.narrowed(paths), here))
    forwards, backwards = await run_all(
        *(
            panel.ask(
                [
                    Question(
                        MODERATOR,
                        "/".join(filter(None, (phase, brief.name))),
                        prompts.ruling(here[::step]),
                        brief,
                    )
                    for brief, here in by_brief
                    if here
                ],
                _read,
            )
            for phase, step in (("ruling", 1), ("ruling_reversed", -1))
        )
    )
    rulings = [
        {
            judgement.case: _stance(judgement, question.brief)
            for question, judgements in answers.given
            for judgement in judgements
        }
        for answers in (forwards, backwards)
    ]
    names = {case.id for case in contested}
    ruled = []
    for case in cases:
        first, second = (ruling.get(case.id, "unsure") for ruling in rulings)
        if case.id in names and (forwards.given or backwards.given):
            agreed = first if first == second and first != "unsure" else "undecided"
            case = replace(case, ruling=agreed)
        ruled.append(case)
    return tuple(ruled), forwards.absences + backwards.absences


def is_contested(case: Case) -> bool:
    """Nothing executed decides, it matters, and panelists neither agree nor reject it."""
    if case.result or (case.proof and case.proof.result in ("proven", "refuted")):
        return False
    support, oppose = len(case.holders("real")), len(case.holders("not_real"))
    is_rejected = (oppose >= 2 and oppose > support) or support == 0
    is_agreed = support >= 2 and oppose == 0
    return RANK[case.severity] >= RANK["medium"] and not is_rejected and not is_agreed


def _stance(judgement: Judgement, brief: Brief) -> Stance:
    return judgement.stance if any(map(brief.shows, judgement.citations)) else "unsure"


def _read(text: str) -> list[Judgement]:
    return read_items(text, "judgements", Judgement)[0]
