"""What panelists say about cases, and what people ask them.

They judge what is open, say whether a proven difference is intended, and rule on what they did not
settle. Opinions on one case pull those on the next, so few stand in one question, each panelist
gets them in an order of its own, and critical ones stand alone.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.context.brief import INTENT, Brief, brief_about
from reviewbot.debate import prompts
from reviewbot.debate.case import NEAR_LINES, Case, Intention, Position, Stance
from reviewbot.debate.panel import MODERATOR, Absence, Briefs, Cases, Panel, Question
from reviewbot.debate.plan import Plan
from reviewbot.debate.reader import IntentAnswer, Judgement, TestAnswer, citation_of, reader_of
from reviewbot.llm.client import Totals
from reviewbot.severity import RANK
from reviewbot.text.files import classify

UNSTATED = "The change adds no line of a test, of documentation or of a comment."
MAX_CASES = 5
MAX_KNOWN = 10  # not to be judged in one question: what is certain, and its own claims
MAX_LENGTH = 20_000  # characters, about 6,000 tokens
Item = TypeVar("Item", bound=Judgement | IntentAnswer | TestAnswer)


class Consultation(Struct, frozen=True):
    """What those panelists say who were asked."""

    panelists: tuple[str, ...]
    opinions: tuple[Position, ...]
    absences: tuple[Absence, ...]
    usage: Totals = Totals()

    @property
    def withdraws(self) -> bool:
        """More than half of those who were asked find the claim not real, and nobody real."""
        stances = [opinion.stance for opinion in self.opinions]
        return "real" not in stances and 2 * stances.count("not_real") > len(self.panelists)


def cases_by_brief(cases: Cases, briefs: Briefs) -> Iterator[tuple[Brief, list[Case]]]:
    """The briefs that are about cases, with these."""
    for brief in briefs:
        if here := [case for case in cases if brief_about(case.location, briefs) is brief]:
            yield brief, here


def questions_about(
    cases: Cases, panelist: str, phase: str, template: str, plan: Plan, known: Cases
) -> list[Question]:
    """One question a batch. `template` is that of the prompt, which gets the cases.

    Those of the same brief that are `known` may be named as the same.
    """

    def order(case: Case) -> bytes:
        return hashlib.sha256(f"{phase} {panelist} {case.id}".encode()).digest()

    questions: list[Question] = []
    briefs = plan.briefs_of(panelist)
    for brief, here in cases_by_brief(cases, briefs):
        others = [c for c in known if brief_about(c.location, briefs) is brief][:MAX_KNOWN]
        for number, batch in enumerate(_batches(sorted(here, key=order), template), start=1):
            question = Question.about(brief, panelist, phase, template, batch, known=others)
            ending = f"/{number}" if number > 1 else ""
            questions.append(replace(question, phase=question.phase + ending))
    return questions


async def ask_about(
    questions: Sequence[Question], panel: Panel, field: str, type_: type[Item]
) -> list[tuple[Question, Item]]:
    """What is answered about each case in the list `field`: the first item, with its question."""
    wanted = {question.label: {case.id for case in question.cases} for question in questions}
    given = []
    for question, items in await panel.ask(questions, reader_of(field, type_)):
        for item in items:
            if item.case in wanted[question.label]:
                wanted[question.label].remove(item.case)
                given.append((question, item))
    return given


async def cross_examine(cases: Cases, panel: Panel, plan: Plan) -> tuple[Case, ...]:
    """In round 1 a panelist judges what others raised; in round 2 also its own, unmarked."""
    cases = list(cases)
    for number in range(1, plan.rounds + 1):
        asked: list[Question] = []
        phase = f"cross_examination_{number}"
        for name in panel.names:
            shown = [case for case in cases if plan.is_shown(case.location, name)]
            here = [case for case in shown if is_asked(case, name, number, plan)]
            known = [c for c in shown if c not in here and (c.result or c.tested != "refuted")]
            asked += questions_about(here, name, phase, "cross_examination", plan, known)
        given = await _ask(asked, panel)
        for place, case in enumerate(cases):
            said = [_position(*p, number, case.positions) for p in given if p[1].case == case.id]
            cases[place] = replace(case, positions=(*case.positions, *said))
        cases = join_same(cases, given)
    return tuple(cases)


def is_asked(case: Case, panelist: str, number: int, plan: Plan) -> bool:
    """Whether a panelist judges a case in a round.

    Nobody is asked about what was executed: results of checks, and claims that a test proved or
    refuted. The second round is for cases on which the first one did not agree.
    """
    if case.is_settled or (plan.only_serious and not case.is_grave):
        return False
    if number == 1:
        return panelist not in case.raisers
    return len(case.holders("real")) >= len(case.holders("not_real")) > 0


async def ask_intent(cases: Cases, panel: Panel, plan: Plan) -> tuple[Case, ...]:
    """Ask everybody but the authors of the tests; a panel of one is asked as moderator.

    A test written for a claim shows that the result differs. Whether that is wrong, only the change
    can say: in its tests and its documentation. What a check reports needs no such question, unless
    a claim about it is more serious. Two about lines near each other may be the same.
    """
    proven = [c for c in cases if c.is_proven and (not c.result or c.result.severity != c.severity)]
    is_stated = any(brief.statements for brief in plan.briefs)
    silence = () if is_stated else (Intention(panelist="", citation=None, reason=UNSTATED),)
    places = [case.location for case in proven if case.location]
    if silence and not any(a.is_near(b, NEAR_LINES) for a, b in combinations(places, 2)):
        return tuple(replace(c, intentions=silence) if c in proven else c for c in cases)
    witnesses = {}
    for case in proven:
        others = [name for name in panel.names if case.proof and name != case.proof.by]
        # Two are needed, so a moderator stands in where too few are there.
        witnesses[case.id] = others if len(others) > 1 else [*others, MODERATOR]
    asked: list[Question] = []
    for name in (name for name in (*panel.names, MODERATOR) if name not in plan.own):
        here = [case for case in proven if name in witnesses[case.id]]
        known = [c for c in cases if c not in here and (c.result or c.is_proven)]
        asked += questions_about(here, name, "intent", "intent", plan, known)
    given = await ask_about(asked, panel, "intentions", IntentAnswer)
    intentions = {case.id: [*silence] for case in proven}
    for question, answer in given:
        cited = citation_of(answer.intended or "")
        # What a part of a large change adds may be looked up by those who read another part.
        is_read = question.shows(cited) and any(brief.states(cited) for brief in plan.briefs)
        citation = cited if is_read else None
        intentions[answer.case].append(Intention(question.panelist, citation, answer.reason))
    cases = [replace(case, intentions=tuple(intentions.get(case.id, ()))) for case in cases]
    return tuple(join_same(cases, given))


def join_same(
    cases: Cases, given: Sequence[tuple[Question, Judgement | IntentAnswer]]
) -> list[Case]:
    """Cases are one if more than half of those asked about both say so, and none gets milder by it.

    No result of a check disappears in another one. Who raised one is not heard about the other, and
    need not say that they are two.
    """
    found = {case.id: case for case in cases}
    for pair in dict.fromkeys(frozenset({answer.case, answer.same_as}) for _, answer in given):
        asked = {q.panelist for q, _ in given if pair <= {c.id for c in (*q.cases, *q.known)}}
        agreed = {q.panelist for q, answer in given if {answer.case, answer.same_as} == pair}
        both = [found[id] for id in found if id in pair]
        asked -= {by for case in both if not case.is_settled for by in case.raisers} - agreed
        if len(both) == 2 and 2 * len(agreed & asked) > len(asked):
            one, other = both
            heard = (
                *(p for p in one.positions if p.panelist not in other.raisers - one.raisers),
                *(p for p in other.positions if p.panelist not in one.raisers - other.raisers),
            )
            worst = max(one.severity, other.severity, key=RANK.__getitem__)
            # What shows most, then what is worst, says what the case is.
            lead, rest = sorted(
                both,
                key=lambda c: (not c.is_settled, not c.is_proven, c.witnesses, -RANK[c.severity]),
            )
            least = worst if one.is_proven == other.is_proven else lead.least
            joined = replace(
                lead,
                **{"id": one.id, "result": one.result, "proof": lead.proof or rest.proof},
                **{"claims": lead.claims + rest.claims, "positions": heard, "least": least},
            )
            if one is not other and not other.result and joined.severity == worst:
                found = {id: joined if case in both else case for id, case in found.items()}
    return [*{case.id: case for case in found.values()}.values()]


async def moderate(cases: Cases, panel: Panel, plan: Plan) -> tuple[Case, ...]:
    """Ask with cases and arguments in both orders, if there are two. All rulings have to agree."""
    contested = [case for case in cases if is_contested(case, panel.needed, panel.uncounted)]
    if not contested or not panel.panelists or not plan.rounds:
        return tuple(cases)
    panel.appoint_moderator([case.raisers for case in contested], plan.own)
    known = [case for case in cases if case.result or case.is_proven][:MAX_KNOWN]
    asked: list[Question] = []
    for brief, here in cases_by_brief(contested, plan.briefs):
        # It is often of another vendor, whose cache does not know what the panelists read.
        paths = {claim.location.path for case in here for claim in case.claims}
        paths |= {p.path for p in brief.passages if classify(p.path) in INTENT}
        part = brief.narrowed(paths)
        back = [replace(case, positions=case.positions[::-1]) for case in here[::-1]]
        orders = (("ruling_reversed", back), ("ruling", here))
        both = [Question.about(part, MODERATOR, p, "ruling", order, known) for p, order in orders]
        asked += {question.text: question for question in both}.values()
    given = await ask_about(asked, panel, "judgements", Judgement)
    times = Counter(case.id for question in asked for case in question.cases)
    said = Counter((judgement.case, judgement.same_as) for _, judgement in given)

    def ruled(case: Case) -> Case:
        held = [_position(*pair) for pair in given if pair[1].case == case.id]
        stances = {position.stance for position in held}
        if len(held) == times[case.id] and len(stances) == 1 and stances != {"unsure"}:
            return replace(case, ruling=held[0].stance, ruling_reason=held[0].reason)
        return replace(case, ruling="undecided")

    cases = [ruled(case) if given and case in contested else case for case in cases]
    same = [p for p in given if said[p[1].case, p[1].same_as] == times[p[1].case]]
    return tuple(join_same(cases, same))


def is_contested(case: Case, needed: int, uncounted: frozenset[str]) -> bool:
    """Nothing executed decides, it matters, and not as many as needed agree or most reject it."""
    is_open = not case.is_settled and RANK[case.severity] >= RANK["medium"]
    in_favour, against = case.holders("real"), case.holders("not_real")
    support, oppose = len(in_favour - uncounted), len(against - uncounted)
    is_rejected = (oppose >= 2 and oppose > support) or not in_favour
    return is_open and not is_rejected and (support < needed or oppose > 0)


def questions_about_change(text: str, cases: Cases, briefs: Briefs, panel: Panel) -> list[Question]:
    """To every panelist, with the brief that shows most of the files that the text names.

    `cases` are the findings that it names.
    """
    brief = max(briefs, key=lambda brief: sum(p.path in text for p in brief.passages))
    question = prompts.render("question", question=text, cases=cases)
    return [Question(name, "question", question, brief) for name in panel.names]


def questions_about_claim(case: Case, words: str, briefs: Briefs, panel: Panel) -> list[Question]:
    brief = brief_about(case.location, briefs)
    question = prompts.render("dispute", case=case, argument=words)
    return [Question(name, "dispute", question, brief) for name in panel.names]


async def hear_panel(questions: Sequence[Question], panel: Panel) -> Consultation:
    def read(text: str) -> Judgement:
        if judgements := reader_of("judgements", Judgement)(text):
            return judgements[0]
        raise ValueError("it judges nothing")

    held = tuple(_position(*answer) for answer in await panel.ask(questions, read))
    return Consultation(tuple(q.panelist for q in questions), held, tuple(panel.absences))


def _batches(cases: Cases, template: str) -> Iterator[list[Case]]:
    batch: list[Case] = []
    for case in cases:
        if case.severity == "critical" and template != "intent":
            yield [case]
            continue
        with_it = prompts.render(template, cases=[*batch, case], known=())
        if batch and (len(batch) == MAX_CASES or len(with_it) > MAX_LENGTH):
            yield batch
            batch = []
        batch.append(case)
    if batch:
        yield batch


async def _ask(asked: Sequence[Question], panel: Panel) -> list[tuple[Question, Judgement]]:
    """Judgements with their questions. Cases that an answer leaves out are asked once more."""
    given = await ask_about(asked, panel, "judgements", Judgement)
    absent = {(absence.panelist, absence.question) for absence in panel.absences}
    left_out: list[Question] = []
    missing = _without_answer(asked, given)
    for question in (q for q in missing if (q.panelist, q.phase) not in absent):
        text = prompts.render("cross_examination", cases=question.cases, known=question.known)
        left_out.append(replace(question, phase=f"{question.phase}/rest", text=text))
    more = await ask_about(left_out, panel, "judgements", Judgement)
    for question in _without_answer(left_out, more):
        reasons = (f"no usable judgement of the claim at {c.location}" for c in question.cases)
        panel.absences += (Absence(question.panelist, question.phase, why) for why in reasons)
    return given + more


def _without_answer(
    asked: Sequence[Question], given: Sequence[tuple[Question, Judgement]]
) -> Iterator[Question]:
    """The questions that have cases without a judgement, with these cases."""
    judged = {(question.label, judgement.case) for question, judgement in given}
    for question in asked:
        if left := [case for case in question.cases if (question.label, case.id) not in judged]:
            yield replace(question, cases=left)


def _position(
    question: Question, judgement: Judgement, number: int = 0, earlier: Sequence[Position] = ()
) -> Position:
    """What an answer says in a round. A citation of something that was not shown does not count.

    Without one, the stance is "unsure". A changed mind needs a new one: models like to agree.
    """
    citations = tuple(filter(question.shows, judgement.citations))
    stance: Stance = judgement.stance if citations else "unsure"
    own = [position for position in earlier if position.panelist == question.panelist]
    known = {citation for position in own for citation in position.citations}
    stance = own[-1].stance if own and citations and known.issuperset(citations) else stance
    return Position(question.panelist, number, stance, judgement.reason, citations)
