"""What people ask the panel: a question about the change, or to judge a claim again."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewbot.context.brief import Brief, brief_about
from reviewbot.debate import prompts
from reviewbot.debate.answers import Judgement
from reviewbot.debate.case import Case, Stance
from reviewbot.debate.panel import Absence, Panel, Question
from reviewbot.debate.reader import read_items
from reviewbot.llm.client import Totals


class Opinion(Struct, frozen=True, kw_only=True):
    """What one panelist answers. Citations are lines or results that it was shown.

    Attributes:
        stance: "unsure" without a citation.
        is_judgement: whether it was asked to judge a claim.
    """

    panelist: str
    text: str
    citations: tuple[str, ...]
    stance: Stance
    is_judgement: bool = False


class Consultation(Struct, frozen=True):
    """What the panel says. `panelists` are those who were asked."""

    panelists: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    absences: tuple[Absence, ...]
    usage: Totals = Totals()

    @property
    def withdraws(self) -> bool:
        """More than half of those who were asked find the claim not real, and nobody real."""
        stances = [opinion.stance for opinion in self.opinions]
        return "real" not in stances and 2 * stances.count("not_real") > len(self.panelists)


def questions_about_change(text: str, briefs: Sequence[Brief], panel: Panel) -> list[Question]:
    """To every panelist, with the brief that shows most of the files that the text names."""

    def count(brief: Brief) -> int:
        return sum(passage.path in text for passage in brief.passages)

    brief = max(briefs, key=count)
    question = prompts.question(text)
    return [Question(name, "question", question, brief) for name in panel.names]


def questions_about_claim(
    case: Case, argument: str, briefs: Sequence[Brief], panel: Panel
) -> list[Question]:
    brief = brief_about(case.location, briefs)
    question = prompts.dispute(case, argument)
    return [Question(name, "dispute", question, brief) for name in panel.names]


async def hear_panel(questions: Sequence[Question], panel: Panel) -> Consultation:
    answers = await panel.ask(questions, _read)
    opinions = []
    for question, judgement in answers.given:
        citations = tuple(filter(question.brief.shows, judgement.citations))
        opinions.append(
            Opinion(
                panelist=question.panelist,
                text=judgement.reason,
                citations=citations,
                stance=judgement.stance if citations else "unsure",
                is_judgement=question.phase == "dispute",
            )
        )
    return Consultation(
        tuple(question.panelist for question in questions), tuple(opinions), answers.absences
    )


def _read(text: str) -> Judgement:
    judgements = read_items(text, "judgements", Judgement)[0]
    if not judgements:
        raise ValueError("no judgement follows the schema")
    return judgements[0]
