"""Which labels a pull request bears for its review. Only names that were configured are ever put or taken away."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.review import Conclusion, Review, Verdict


@dataclass(frozen=True, slots=True)
class Labels:
    """The label for each outcome; an empty name: none. ``clean``: reviewed whole, nothing to tell. ``incomplete``: not, or not
    wholly, reviewed."""

    changes: str = ""
    comments: str = ""
    clean: str = ""
    incomplete: str = ""

    @property
    def managed(self) -> frozenset[str]:
        """All names that were configured."""
        return frozenset(name for name in (self.changes, self.comments, self.clean, self.incomplete) if name)


def labels(review: Review, names: Labels) -> frozenset[str]:
    """The labels that the pull request should bear, of those that are managed."""
    worn = {names.incomplete} if review.conclusion is not Conclusion.COMPLETE else set()
    if review.verdict is Verdict.REQUEST_CHANGES:
        worn.add(names.changes)
    elif review.posted():
        worn.add(names.comments)
    elif review.conclusion is Conclusion.COMPLETE:
        worn.add(names.clean)
    return frozenset(worn - {""})
