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
    def words(self) -> str:
        return f"right in {self.right} of {self.right + self.wrong} settled judgements"


Scores = dict[str, Score]  # of each model, as `provider:model`


def score(reviews: Iterable[tuple[Review, Mapping[str, str]]], dismissed: Container[str]) -> Scores:
    """What became of claims and judgements in reviews, each given with the panelists' models.

    Of several reviews that have a finding the first counts. `dismissed` are keys of findings.
    """
    known: dict[tuple[str, str, str], bool] = {}
    for review, models in reviews:
        for finding in review.findings:
            truth = truth_of(finding, dismissed)
            for name, stance in latest_stances(finding.claims, finding.positions).items():
                if truth and stance != "unsure" and name in models:
                    known.setdefault((models[name], name, finding.key), stance == truth)
    counts = Counter((model, is_right) for (model, *_), is_right in known.items())
    return {m: Score(counts[m, True], counts[m, False]) for m in sorted({m for m, _ in counts})}


def truth_of(finding: Finding, dismissed: Container[str]) -> Literal["real", "not_real"] | None:
    """What a person, a test or the moderator settled; None if nobody did.

    One test alone settles neither a serious claim nor a difference that is intended.
    """
    if finding.key in dismissed:
        return "not_real"
    if finding.status == "question":
        return None
    if finding.proof and finding.proof.result in ("proven", "refuted"):
        return "real" if finding.proof.result == "proven" else "not_real"
    return finding.ruling if finding.ruling in ("real", "not_real") else None


def uncounted(scores: Scores, panelists: Sequence[Panelist]) -> dict[str, str]:
    """The panelists whose votes do not count, with why. Never half of a panel or more."""
    found = {}
    for p in panelists:
        model = f"{p.provider}:{p.model}"
        known = scores.get(model, Score())
        if known.right + known.wrong >= MIN_SETTLED and known.right < known.wrong:
            found[p.name] = f"The votes of {p.name} do not count: {model} was {known.words}."
    return found if 2 * len(found) < len(panelists) else {}
