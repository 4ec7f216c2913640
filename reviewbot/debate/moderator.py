"""The moderator rules on what panelists did not settle."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief
from reviewbot.debate import prompts
from reviewbot.debate.case import Case, Stance
from reviewbot.debate.cross_examination import CrossExaminationAnswer, Judgement
from reviewbot.debate.panel import MODERATOR, Absence, AnswerFormat, Panel, Question
from reviewbot.debate.reader import read_items
from reviewbot.severity import RANK


async def moderate(
    cases: Sequence[Case], brief: Brief, panel: Panel
) -> tuple[tuple[Case, ...], tuple[Absence, ...]]:
    """Ask twice, with the cases in both orders. Only a ruling that is the same twice counts."""
    contested = [case for case in cases if is_contested(case)]
    if not contested or not panel.panelists:
        return tuple(cases), ()
    format_ = AnswerFormat(msgspec.json.schema(CrossExaminationAnswer), _read)
    prefix = prompts.shared_prefix(brief)
    forwards, backwards = await run_all(
        *(
            panel.ask(prefix, [Question(MODERATOR, phase, prompts.ruling(ordered))], format_)
            for phase, ordered in (("ruling", contested), ("ruling_reversed", contested[::-1]))
        )
    )
    rulings = [
        {
            judgement.case: _stance(judgement, brief)
            for _, judgements in answers.given
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
