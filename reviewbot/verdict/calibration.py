"""How often models were right where something settled it, so that some votes do not count."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from reviewbot.debate.case import latest_stances
from reviewbot.debate.panel import Panelist
from reviewbot.verdict.document import Finding, Review

MIN_SETTLED = 20  # judgements, before anything follows from them
SCORES = "scores"  # in the journal


class Score(Struct, frozen=True):
    """Judgements of a model that turned out right, and wrong. "Unsure" is neither."""

    right: int = 0
    wrong: int = 0

    @property
    def settled(self) -> int:
        return self.right + self.wrong


Scores = dict[str, Score]  # of each model, as `provider:model`


def score(reviews: Iterable[tuple[Review, Mapping[str, str]]], dismissed: Container[str]) -> Scores:
    """What became of claims and judgements in reviews, each given with the panelists' models.

    `dismissed` are keys of findings.
    """
    right, wrong = Counter[str](), Counter[str]()
    for review, models in reviews:
        for finding in review.findings:
            truth = "not_real" if finding.key in dismissed else truth_of(finding)
            for name, stance in latest_stances(finding.claims, finding.positions).items():
                if truth and stance != "unsure" and name in models:
                    (right if stance == truth else wrong)[models[name]] += 1
    return {n: Score(right[n], wrong[n]) for n in sorted({*right, *wrong})}


def truth_of(finding: Finding) -> Literal["real", "not_real"] | None:
    """What a test or the moderator settled; None if nothing did.

    One test alone settles neither a serious claim nor a difference that is intended.
    """
    if finding.status == "question":
        return None
    if finding.proof and finding.proof.result in ("proven", "refuted"):
        return "real" if finding.proof.result == "proven" else "not_real"
    return finding.ruling if finding.ruling in ("real", "not_real") else None


def uncounted(scores: Scores, panelists: Sequence[Panelist]) -> dict[str, str]:
    """The panelists whose votes do not count, with why. Never half of a panel or more."""
    found = {}
    for panelist in panelists:
        model = f"{panelist.provider}:{panelist.model}"
        known = scores.get(model, Score())
        if known.settled >= MIN_SETTLED and known.right < known.wrong:
            words = f"{model} was right in {known.right} of {known.settled} settled judgements"
            found[panelist.name] = f"The votes of {panelist.name} do not count: {words}."
    return found if 2 * len(found) < len(panelists) else {}
