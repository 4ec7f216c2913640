"""The panel negotiates what is to be done, and a person decides.

Everybody proposes without seeing the others, all ideas come to one table without names, everybody
attacks and votes, and on what is contested there is a second vote with all objections in view.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from itertools import combinations
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.context.brief import Brief, names_of
from reviewbot.debate import prompts
from reviewbot.debate.case import alike
from reviewbot.debate.panel import Absence
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.llm.client import Totals
from reviewbot.reports.words import redacted
from reviewbot.services import Host, open_services
from reviewbot.text.secrets import shown

MAX_IDEAS = 5  # of one panelist
SAME_TITLE = 0.6  # the share of words that titles of one idea have in common at least
Choice = Literal["adopt", "reject", "unsure"]
Standing = Literal["agreed", "contested", "rejected"]


class Proposal(Struct, frozen=True, kw_only=True):
    """What a panelist proposes: what to do and how, what it brings, and what may go wrong."""

    title: str
    proposal: str
    benefit: str
    risk: str


class Proposals(Struct, frozen=True, kw_only=True):
    """What a panelist proposes; `remark` says what the question takes for granted wrongly."""

    ideas: list[Proposal]
    remark: str = ""


class Ballot(Struct, frozen=True, kw_only=True):
    """What a panelist answers about one idea; `reason` is its strongest objection or argument.

    `same_as` is the id of another idea that is the same work.
    """

    idea: str
    reason: str
    choice: Choice
    same_as: str = ""


class Ballots(Struct, frozen=True, kw_only=True):
    ballots: list[Ballot]


class Vote(Struct, frozen=True, kw_only=True):
    panelist: str
    round: int
    choice: Choice
    reason: str


class Idea(Struct, frozen=True, kw_only=True):
    """An idea on the table. The votes of its authors are shown and do not count.

    `variants` are proposals of the same in other words.
    """

    id: str
    proposal: Proposal
    variants: tuple[Proposal, ...] = ()
    authors: tuple[str, ...]
    votes: tuple[Vote, ...] = ()
    standing: Standing = "contested"

    def cast(self, choice: Choice) -> tuple[Vote, ...]:
        """The last votes of those who did not propose it."""
        last = {vote.panelist: vote for vote in self.votes if vote.panelist not in self.authors}
        return tuple(vote for vote in last.values() if vote.choice == choice)


class Negotiation(Struct, frozen=True, kw_only=True):
    """What came of it. `decision` holds ids of ideas; None if nobody has decided yet.

    `remarks` say by panelist what the question takes for granted wrongly.
    """

    question: str
    panelists: tuple[str, ...]
    remarks: dict[str, str] = {}
    ideas: tuple[Idea, ...]
    decision: tuple[str, ...] | None = None
    absences: tuple[Absence, ...] = ()
    usage: Totals = Totals()


async def negotiate(
    question: str,
    paths: Sequence[str],
    host: Host,
    decide: Callable[[Negotiation], tuple[str, ...] | None],
) -> Negotiation:
    """Negotiate about a question and files of the repository. `decide` asks the person.

    Raises ReviewbotError, UsageError without two panelists.
    """
    assert host.repository
    if not (question := shown(question)).strip():
        raise UsageError("the question is empty", hint="ask, for example: How should we …?")
    change = await host.repository.load_change()
    change = replace(change, target="negotiation", title=question, description="")
    files = await host.repository.read_files(change.head_tree, paths)
    if missing := sorted(set(paths) - files.keys()):
        raise UsageError(f"{missing[0]} is no file of the repository that can be read")
    async with open_services(change, host, kind="negotiation") as services:
        panel = services.panel
        if len(panel.names) < 2:
            message = "a negotiation needs two panelists, and there are fewer"
            raise UsageError(message, hint="reviewbot models list")
        material = {path: shown(content) for path, content in sorted(files.items())}
        names = names_of(await host.repository.list_files(change.head_tree))
        brief = Brief(title="", description="", passages=(), material=material, names=names)
        text = prompts.render("brainstorm", question=question, most=MAX_IDEAS)
        answers = await panel.ask_for(panel.names, "brainstorm", text, brief, Proposals)
        if not answers:
            reasons = "; ".join(f"{a.panelist}: {a.reason}" for a in panel.absences)
            raise ReviewbotError(f"nobody proposed anything ({reasons})")
        remarks = {name: answer.remark for name, answer in answers if answer.remark.strip()}
        ideas = put_on_table((name, answer.ideas[:MAX_IDEAS]) for name, answer in answers)
        given = {"question": question, "remarks": remarks.values()}
        voters = set[str]()  # a model that gives no answer keeps nothing open
        for number in (1, 2):
            if contested := [idea for idea in ideas if idea.standing == "contested"]:
                settled = [idea for idea in ideas if idea.standing != "contested"]
                text = prompts.render("ballot", ideas=contested, settled=settled, **given)
                cast = await panel.ask_for(panel.names, f"vote_{number}", text, brief, Ballots)
                voters |= {name for name, _ in cast}
                joined = join_same(ideas, cast, panel.names)
                ideas = [with_votes(idea, number, cast, voters) for idea in joined]
        result = Negotiation(
            question=question,
            panelists=panel.names,
            remarks=remarks,
            ideas=tuple(ideas),
            absences=tuple(panel.absences),
            usage=services.client.totals,
        )
        try:
            result = replace(redacted(result), decision=decide(result))
        finally:  # also if the person leaves it open
            await services.finish(msgspec.json.encode(result).decode())
    return result


def put_on_table(answers: Iterable[tuple[str, Sequence[Proposal]]]) -> list[Idea]:
    """All ideas, those with like titles once, in an order that says nothing about who had them."""
    ideas: list[Idea] = []
    named = [(idea, name) for name, proposals in answers for idea in proposals]
    for proposal, name in sorted(named, key=lambda pair: (pair[0].title.lower(), pair[1])):
        idea = Idea(id=f"I{len(ideas) + 1}", proposal=proposal, authors=(name,))
        scores = [alike(known.proposal.title, proposal.title) for known in ideas]
        at = next((n for n, score in enumerate(scores) if score >= SAME_TITLE), len(ideas))
        ideas[at : at + 1] = [join(ideas[at], idea) if ideas[at:] else idea]
    return ideas


def join(idea: Idea, other: Idea) -> Idea:
    authors = tuple(dict.fromkeys((*idea.authors, *other.authors)))
    wordings = dict.fromkeys((*idea.variants, other.proposal, *other.variants))
    variants = tuple(each for each in wordings if each != idea.proposal)
    return replace(idea, authors=authors, variants=variants)


def join_same(
    ideas: Sequence[Idea], cast: Sequence[tuple[str, Ballots]], panelists: Sequence[str]
) -> list[Idea]:
    """Two ideas that most panelists call the same become the one that more of them refer to."""
    said = {(name, id_in(b.idea), id_in(b.same_as)) for name, a in cast for b in a.ballots}
    known = {idea.id: idea for idea in ideas}
    for one, other in combinations(list(known), 2):
        there = {name for name, *pair in said if pair == [one, other]}
        back = {name for name, *pair in said if pair == [other, one]}
        if one in known and other in known and 2 * len(there | back) > len(panelists):
            kept, gone = (one, other) if len(back) >= len(there) else (other, one)
            known[kept] = join(known[kept], known.pop(gone))
    return list(known.values())


def id_in(text: str) -> str:
    """The id of the idea that is meant by `i2`, `(I2)`, `Idea 2` or `I2: title`; else the text."""
    return re.sub(r"(?is)^\W*(?:idea\W*)?i?(\d+)\b.*", r"I\1", text)


def with_votes(
    idea: Idea, number: int, cast: Sequence[tuple[str, Ballots]], voters: Set[str]
) -> Idea:
    """What is settled stays so. Of several votes of a panelist in a round, the last one counts."""
    if idea.standing != "contested":
        return idea
    votes = [
        Vote(panelist=name, round=number, choice=ballot.choice, reason=ballot.reason)
        for name, answer in cast
        for ballot in [b for b in answer.ballots if id_in(b.idea) == idea.id][-1:]
    ]
    idea = replace(idea, votes=(*idea.votes, *votes))
    others = len(voters - set(idea.authors))
    return replace(idea, standing=standing_of(idea, others, is_last=number == 2))


def standing_of(idea: Idea, others: int, *, is_last: bool) -> Standing:
    """Whether an idea is agreed on by those who did not propose it.

    Until the last vote, one objection keeps it open. Then most of them decide; a tie does not. What
    all who vote proposed is agreed, and nothing is rejected by fewer than proposed it.
    """
    adopt, reject = len(idea.cast("adopt")), len(idea.cast("reject"))
    if (not others and len(idea.authors) > 1) or (2 * adopt > others and (not reject or is_last)):
        return "agreed"
    if 2 * reject > others and reject >= len(idea.authors) and (not adopt or is_last):
        return "rejected"
    return "contested"
