"""A review for a person whose commit or push waits for it: one line for each finding, and one for what to do.

Nothing here needs a library: a hook is called often, and mostly has nothing to tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain

NOT_REVIEWED = "NOT REVIEWED"
MOST_FINDINGS, MOST_UNSEEN = 20, 5
"""Lines of either kind that a hook prints: who has more reads the report."""

_COLOURS = {Severity.CRITICAL: "1;31", Severity.HIGH: "31", Severity.MEDIUM: "33", Severity.LOW: "36"}


@dataclass(frozen=True, slots=True)
class Manner:
    """How a hook speaks. ``subject``: what is reviewed, as ``this commit``. ``skip``: the word for ``SKIP``. ``blocks``: it ends
    with an error. ``fail_on``: the severity that does that, ``none`` where none does."""

    subject: str
    skip: str
    blocks: bool = False
    fail_on: str = "none"
    color: bool = False


def render(review: Review, manner: Manner) -> str:
    """The review in short, each line ended."""
    return "".join(f"{line}\n" for line in _lines(review, manner))


def blocks(review: Review, fail_on: str) -> bool:
    """An accepted finding is as bad as ``fail_on`` (the name of a severity, or ``none``)."""
    worst = review.worst()
    return fail_on != "none" and worst is not None and worst >= Severity[fail_on.upper()]


def quiet(subject: str, files: int) -> str:
    """The one line where nothing was found in so many files."""
    return f"reviewbot: nothing found in {subject} ({files} {'file' if files == 1 else 'files'})\n"


def not_reviewed(why: str, manner: Manner) -> str:
    """The one line where there is no review, with the reason."""
    return f"{_painted(NOT_REVIEWED, '1;33', manner)} {manner.subject}: {plain.line(why)}\n"


def _lines(review: Review, manner: Manner) -> Iterator[str]:
    told = review.posted()
    if told:
        yield f"reviewbot: {phrases.counts(review)} in {manner.subject} ({plain.line(phrases.panel(review))})"
        yield from (_finding(finding, manner) for finding in told[:MOST_FINDINGS])
        if len(told) > MOST_FINDINGS:
            yield f"  and {len(told) - MOST_FINDINGS} more: reviewbot explain"
    elif review.conclusion is Conclusion.COMPLETE:
        yield quiet(manner.subject, len(review.coverage)).rstrip("\n")
    yield from _unseen(review, manner)
    if told:
        yield _closing(told[0], manner)


def _finding(finding: Finding, manner: Manner) -> str:
    severity = _painted(finding.severity.label, _COLOURS[finding.severity], manner)
    question = "question: " if finding.status is FindingStatus.CONTESTED else ""
    place, title = plain.line(phrases.place(finding)), plain.line(finding.title)
    return f"  {place} {severity} {question}{title} ({plain.line(finding.id)})"


def _unseen(review: Review, manner: Manner) -> Iterator[str]:
    """What nobody can rely on, and why."""
    if review.conclusion is Conclusion.COMPLETE:
        return
    unseen = phrases.unseen(review)
    for item in unseen[:MOST_UNSEEN]:
        words = plain.line(f"{item.path}: {item.status.value}: {item.reason or 'no reason given'}")
        yield f"{_painted(NOT_REVIEWED, '1;33', manner)} {words}"
    if len(unseen) > MOST_UNSEEN:
        yield f"{_painted(NOT_REVIEWED, '1;33', manner)} and {len(unseen) - MOST_UNSEEN} more files"
    if not unseen:
        why = review.notes[-1] if review.notes else f"the review is {phrases.wholeness(review)}"
        yield not_reviewed(why, manner).rstrip("\n")


def _closing(first: Finding, manner: Manner) -> str:
    """What to do now."""
    name = plain.line(first.id)
    more = f"reviewbot explain {name} tells more; reviewbot dismiss {name} --reason '...' silences it"
    if manner.blocks:
        return f"reviewbot: stopped, because fail_on is {manner.fail_on}; {more}; SKIP={manner.skip} lets it pass"
    stops = "--fail-on high would stop it" if manner.fail_on == "none" else f"fail_on is {manner.fail_on}"
    return f"reviewbot: a warning ({stops}); {more}; SKIP={manner.skip} skips the review"


def _painted(words: str, colour: str, manner: Manner) -> str:
    return f"\x1b[{colour}m{words}\x1b[0m" if manner.color else words
