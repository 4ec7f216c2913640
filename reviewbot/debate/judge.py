"""What panelists say about cases, and what people ask them.

They judge what is open, say whether a proven difference is intended, and rule on what they did not
settle. Opinions on one case pull those on the next, so few stand in one question, each panelist
gets them in an order of its own, and critical ones stand alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief, brief_about
from reviewbot.debate import prompts
from reviewbot.debate.case import Case, Intention, Position, Stance
from reviewbot.debate.merge import merge_duplicates
from reviewbot.debate.panel import MODERATOR, Absence, Panel, Question
from reviewbot.debate.plan import Plan
from reviewbot.debate.reader import (
    IntentAnswer,
    Judgement,
    TestAnswer,
    citation_of,
    read_items,
    reader_of,
)
from reviewbot.llm.client import Totals
from reviewbot.severity import RANK

MAX_CASES = 5
MAX_LENGTH = 20_000  # characters, about 6,000 tokens
Item = TypeVar("Item", bound=Judgement | IntentAnswer | TestAnswer)
Asked = tuple[Question, Sequence[Case]]  # a question, and the cases that it is about


class Debated(Struct, frozen=True):
    cases: tuple[Case, ...]
    absences: tuple[Absence, ...] = ()


class Consultation(Struct, frozen=True):
    """What the panel says. `panelists` are those who were asked.

    Attributes:
        judges_claim: whether they were asked to judge one.
    """

    panelists: tuple[str, ...]
    opinions: tuple[Position, ...]
    absences: tuple[Absence, ...]
    judges_claim: bool = False
    usage: Totals = Totals()

    @property
    def withdraws(self) -> bool:
        """More than half of those who were asked find the claim not real, and nobody real."""
        stances = [opinion.stance for opinion in self.opinions]
        return "real" not in stances and 2 * stances.count("not_real") > len(self.panelists)


def cases_by_brief(
    cases: Sequence[Case], briefs: Sequence[Brief]
) -> Iterator[tuple[Brief, list[Case]]]:
    """The briefs that are about cases, with these."""
    for brief in briefs:
        if here := [case for case in cases if brief_about(case.location, briefs) is brief]:
            yield brief, here


def questions_about(
    cases: Sequence[Case], panelist: str, phase: str, template: str, briefs: Sequence[Brief]
) -> list[Asked]:
    """One question a batch. `template` is that of the prompt, which gets the cases."""

    def order(case: Case) -> bytes:
        return hashlib.sha256(f"{phase} {panelist} {case.id}".encode()).digest()

    questions: list[Asked] = []
    for brief, here in cases_by_brief(cases, briefs):
        for number, batch in enumerate(_batches(sorted(here, key=order), template), start=1):
            names = filter(None, (phase, brief.name, str(number) if number > 1 else ""))
            text = prompts.render(template, cases=batch)
            questions.append((Question(panelist, "/".join(names), text, brief), batch))
    return questions


async def ask_about(
    asked: Sequence[Asked], panel: Panel, field: str, type_: type[Item]
) -> tuple[list[tuple[Question, Item]], tuple[Absence, ...]]:
    """What is answered about each case in the list `field`: the first item, with its question."""
    wanted = {question.label: {case.id for case in cases} for question, cases in asked}
    answers = await panel.ask([question for question, _ in asked], reader_of(field, type_))
    given = []
    for question, items in answers.given:
        for item in items:
            if item.case in wanted[question.label]:
                wanted[question.label].remove(item.case)
                given.append((question, item))
    return given, answers.absences


async def cross_examine(
    cases: Sequence[Case], briefs: Sequence[Brief], panel: Panel, plan: Plan
) -> Debated:
    """In round 1 a panelist judges what others raised; in round 2 also its own, unmarked."""
    absences: tuple[Absence, ...] = ()
    for number in range(1, plan.rounds + 1):
        asked = [
            pair
            for name in panel.names
            for pair in questions_about(
                [
                    case
                    for case in cases
                    if is_asked(case, name, number, plan)
                    and plan.is_shown(case.location, name, briefs)
                ],
                name,
                f"cross_examination_{number}",
                "cross_examination",
                plan.briefs_of(name, briefs),
            )
        ]
        if not asked:
            break
        given, missing = await _ask(asked, panel)
        absences += missing
        cases = [_with_positions(case, number, given) for case in cases]
        votes = [(j.case, j.same_as) for _, j in given if j.same_as and j.same_as != j.case]
        cases = merge_duplicates(cases, votes)
    return Debated(tuple(cases), absences)


def is_asked(case: Case, panelist: str, number: int, plan: Plan) -> bool:
    """Whether a panelist judges a case in a round.

    Nobody is asked about what was executed: results of checks, and claims that a test proved or
    refuted. The second round is for cases on which the first one did not agree.
    """
    if case.result or (case.proof and case.proof.result in ("proven", "refuted")):
        return False
    if plan.only_serious and not (case.is_serious or case.is_about_security):
        return False
    if number == 1:
        return panelist not in case.raisers
    against, in_favour = case.holders("not_real"), case.holders("real")
    return bool(against) and len(in_favour) >= len(against)


async def ask_intent(
    cases: Sequence[Case], briefs: Sequence[Brief], panel: Panel, plan: Plan
) -> tuple[tuple[Case, ...], tuple[Absence, ...]]:
    """Ask everybody but the authors of the tests; a panel of one is asked as moderator.

    What a check reports needs no such question: it stands by itself.

    A test written for a claim shows that the result differs. Whether that is wrong, only the change
    can say: in its tests and its documentation.
    """
    proven = [c for c in cases if c.result is None and c.proof and c.proof.result == "proven"]
    asked: list[Asked] = []
    for name in (*panel.names, MODERATOR):
        if name not in plan.limited:
            here = [case for case in proven if _is_witness(case, name, panel)]
            asked += questions_about(here, name, "intent", "intent", plan.briefs_of(name, briefs))
    if not asked:
        return tuple(cases), ()
    given, absences = await ask_about(asked, panel, "judgements", IntentAnswer)
    answered = []
    for case in cases:
        mine = [(question, item) for question, item in given if item.case == case.id]
        intentions = [_intention(question, item) for question, item in mine]
        answered.append(replace(case, intentions=tuple(intentions)))
    return tuple(answered), absences


async def moderate(
    cases: Sequence[Case], briefs: Sequence[Brief], panel: Panel, plan: Plan
) -> tuple[tuple[Case, ...], tuple[Absence, ...]]:
    """Ask twice, with the cases in both orders. Only a ruling that is the same twice counts."""
    contested = [case for case in cases if is_contested(case)]
    if not contested or not panel.panelists or not plan.has_moderator:
        return tuple(cases), ()
    by_brief = []
    for brief, here in cases_by_brief(contested, briefs):
        # It is often of another vendor, whose cache does not know what the panelists read.
        paths = {claim.location.path for case in here for claim in case.claims}
        by_brief.append((brief.narrowed(paths), here))

    def asked(phase: str, step: int) -> list[Asked]:
        return [
            (
                Question(
                    MODERATOR,
                    "/".join(filter(None, (phase, brief.name))),
                    prompts.render("ruling", cases=here[::step]),
                    brief,
                ),
                here,
            )
            for brief, here in by_brief
        ]

    (forwards, missing), (backwards, more_missing) = await run_all(
        ask_about(asked("ruling", 1), panel, "judgements", Judgement),
        ask_about(asked("ruling_reversed", -1), panel, "judgements", Judgement),
    )
    rulings = [
        {judgement.case: _cited_stance(judgement, question.brief) for question, judgement in given}
        for given in (forwards, backwards)
    ]
    names = {case.id for case in contested}
    ruled = []
    for case in cases:
        first, second = (ruling.get(case.id, "unsure") for ruling in rulings)
        if case.id in names and (forwards or backwards):
            agreed = first if first == second and first != "unsure" else "undecided"
            case = replace(case, ruling=agreed)
        ruled.append(case)
    return tuple(ruled), missing + more_missing


def is_contested(case: Case) -> bool:
    """Nothing executed decides, it matters, and panelists neither agree nor reject it."""
    if case.result or (case.proof and case.proof.result in ("proven", "refuted")):
        return False
    support, oppose = len(case.holders("real")), len(case.holders("not_real"))
    is_rejected = (oppose >= 2 and oppose > support) or support == 0
    is_agreed = support >= 2 and oppose == 0
    return RANK[case.severity] >= RANK["medium"] and not is_rejected and not is_agreed


def questions_about_change(text: str, briefs: Sequence[Brief], panel: Panel) -> list[Question]:
    """To every panelist, with the brief that shows most of the files that the text names."""

    def count(brief: Brief) -> int:
        return sum(passage.path in text for passage in brief.passages)

    brief = max(briefs, key=count)
    question = prompts.render("question", question=text)
    return [Question(name, "question", question, brief) for name in panel.names]


def questions_about_claim(
    case: Case, argument: str, briefs: Sequence[Brief], panel: Panel
) -> list[Question]:
    brief = brief_about(case.location, briefs)
    question = prompts.render("dispute", case=case, argument=argument)
    return [Question(name, "dispute", question, brief) for name in panel.names]


async def hear_panel(questions: Sequence[Question], panel: Panel) -> Consultation:
    answers = await panel.ask(questions, _read_judgement)
    opinions = []
    for question, judgement in answers.given:
        citations = tuple(filter(question.brief.shows, judgement.citations))
        opinions.append(
            Position(
                panelist=question.panelist,
                round=0,
                stance=judgement.stance if citations else "unsure",
                reason=judgement.reason,
                citations=citations,
            )
        )
    return Consultation(
        tuple(question.panelist for question in questions),
        tuple(opinions),
        answers.absences,
        judges_claim=any(question.phase == "dispute" for question in questions),
    )


def _batches(cases: Sequence[Case], template: str) -> list[list[Case]]:
    batches: list[list[Case]] = []
    open_: list[Case] = []
    for case in cases:
        if case.severity == "critical":
            batches.append([case])
            continue
        with_it = prompts.render(template, cases=[*open_, case])
        if open_ and (len(open_) == MAX_CASES or len(with_it) > MAX_LENGTH):
            batches.append(open_)
            open_ = []
        open_.append(case)
    return [*batches, open_] if open_ else batches


async def _ask(
    asked: Sequence[Asked], panel: Panel
) -> tuple[list[tuple[Question, Judgement]], tuple[Absence, ...]]:
    """Judgements with their questions. Cases that an answer leaves out are asked once more."""
    given, absences = await ask_about(asked, panel, "judgements", Judgement)
    silent = {(absence.panelist, absence.question) for absence in absences}
    judged = {(question.label, judgement.case) for question, judgement in given}
    left_out: list[Asked] = []
    for question, cases in asked:
        left = [case for case in cases if (question.label, case.id) not in judged]
        if left and (question.panelist, question.phase) not in silent:
            again = prompts.render("cross_examination", cases=left)
            rest = replace(question, phase=f"{question.phase}/rest", text=again)
            left_out.append((rest, left))
    if not left_out:
        return given, absences
    more, _ = await ask_about(left_out, panel, "judgements", Judgement)
    judged = {(question.label, judgement.case) for question, judgement in more}
    absences += tuple(
        Absence(
            question.panelist,
            question.phase,
            f"no usable judgement of the claim at {case.location}",
        )
        for question, left in left_out
        for case in left
        if (question.label, case.id) not in judged
    )
    return given + more, absences


def _with_positions(case: Case, number: int, given: Sequence[tuple[Question, Judgement]]) -> Case:
    """Add the judgements of a round. A citation of something that was not shown does not count."""
    positions = []
    for question, judgement in given:
        if judgement.case != case.id:
            continue
        panelist = question.panelist
        citations = tuple(filter(question.brief.shows, judgement.citations))
        positions.append(
            Position(
                panelist=panelist,
                round=number,
                stance=_stance(case, panelist, judgement.stance, citations),
                reason=judgement.reason,
                citations=citations,
            )
        )
    return replace(case, positions=(*case.positions, *positions))


def _stance(case: Case, panelist: str, stance: Stance, citations: tuple[str, ...]) -> Stance:
    """Without a citation it is "unsure". A changed mind needs a new one: models like to agree."""
    if not citations:
        return "unsure"
    earlier = [position for position in case.positions if position.panelist == panelist]
    known = {citation for position in earlier for citation in position.citations}
    if earlier and earlier[-1].stance != stance and known.issuperset(citations):
        return earlier[-1].stance
    return stance


def _intention(question: Question, answer: IntentAnswer) -> Intention:
    citation = citation_of(answer.intended or "")
    return Intention(
        panelist=question.panelist,
        citation=citation if question.brief.states(citation) else None,
        reason=answer.reason,
    )


def _is_witness(case: Case, panelist: str, panel: Panel) -> bool:
    """Two witnesses are needed, so a moderator stands in where too few others are there."""
    author = case.proof.by if case.proof else ""
    others = [name for name in panel.names if name != author]
    return len(others) < 2 if panelist == MODERATOR else panelist in others


def _cited_stance(judgement: Judgement, brief: Brief) -> Stance:
    return judgement.stance if any(map(brief.shows, judgement.citations)) else "unsure"


def _read_judgement(text: str) -> Judgement:
    judgements = read_items(text, "judgements", Judgement)[0]
    if not judgements:
        raise ValueError("no judgement follows the schema")
    return judgements[0]
