"""A review for a person whose commit or push waits for it: each finding in a line or two, and what to do about it.

Nothing here needs a library: a hook is called often, and mostly has nothing to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviewbot.domain.debate import Proof
from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain, wrapped

NOT_REVIEWED = "NOT REVIEWED"
MOST_FINDINGS, MOST_UNSEEN = 20, 5
"""Lines of either kind that a hook prints: who has more reads the report."""

NARROWEST, WIDEST = 40, 140
"""Columns, as of every review that is shown on a terminal."""

_TITLE_ROWS, _INDENT = 2, 2
_COLOURS = {Severity.CRITICAL: "1;7;31", Severity.HIGH: "1;31", Severity.MEDIUM: "1;33", Severity.LOW: "1;36"}
_BOLD, _DIM, _ALARM, _STOPPED = "1", "2", "1;7;33", "1;31"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a hook speaks. ``subject``: what is reviewed, as ``this commit``. ``skip``: the word for ``SKIP``. ``blocks``: it ends
    with an error. ``fail_on``: the severity that does that, ``none`` where none does. ``columns``: of the terminal."""

    subject: str
    skip: str
    blocks: bool = False
    fail_on: str = "none"
    color: bool = False
    columns: int = 80

    @property
    def width(self) -> int:
        """Columns that are written to."""
        return _width(self.columns)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A finding in pieces that do nothing on a terminal; ``marks`` say what is special about it."""

    severity: Severity
    number: str
    place: str
    title: str
    marks: str
    dissent: str

    @property
    def title_and_marks(self) -> str:
        """In one row."""
        return " · ".join(filter(None, (self.title, self.marks)))

    @classmethod
    def of(cls, finding: Finding) -> _Entry:
        said = {
            phrases.proof(finding): finding.proof is Proof.PROVEN,
            "there before": finding.pre_existing,
            phrases.status(finding): finding.status is FindingStatus.CONTESTED,
        }
        marks = " · ".join(words for words, holds in said.items() if holds)
        pieces = (finding.id, phrases.place(finding), finding.title, marks, finding.dissent or "")
        return cls(finding.severity, *map(plain.line, pieces))


def render(review: Review, manner: Manner) -> str:
    """The review in short, each line ended."""
    return _ended(_lines(review, manner))


def blocks(review: Review, fail_on: str) -> bool:
    """An accepted finding is as bad as ``fail_on`` (the name of a severity, or ``none``)."""
    worst = review.worst()
    return fail_on != "none" and worst is not None and worst >= Severity[fail_on.upper()]


def quiet(subject: str, files: int) -> str:
    """The one line where nothing was found in so many files."""
    return f"reviewbot: nothing found in {subject} ({files} {'file' if files == 1 else 'files'})\n"


def not_reviewed(why: str, manner: Manner) -> str:
    """That there is no review, and the reason."""
    return _ended(_alarm(f"{manner.subject}: {plain.line(why)}", manner))


def told(words: str, rest: str, columns: int, *, joint: str = " ") -> str:
    """Two parts of a sentence in one row, or else the second part below the first; not ended."""
    width, whole = _width(columns), f"{words}{joint}{rest}"
    if rest and wrapped.columns(whole) <= width:
        return plain.defuse(whole)
    below = (f"{' ' * _INDENT}{row}" for row in wrapped.rows(rest, width - _INDENT))
    return plain.defuse("\n".join((*wrapped.rows(words, width, _INDENT), *below)))


def _width(columns: int) -> int:
    return max(NARROWEST, min(columns, WIDEST))


def _ended(lines: Iterable[str]) -> str:
    return plain.defuse("".join(f"{line}\n" for line in lines))


def _lines(review: Review, manner: Manner) -> Iterator[str]:
    found = review.posted()
    if found:
        opening = f"reviewbot: {phrases.counts(review)} in {manner.subject} ({plain.line(phrases.panel(review))})"
        yield from wrapped.rows(opening, manner.width, _INDENT)
        yield from _findings([_Entry.of(finding) for finding in found[:MOST_FINDINGS]], manner)
        if len(found) > MOST_FINDINGS:
            yield f"  and {len(found) - MOST_FINDINGS} more: reviewbot explain"
    elif review.conclusion is Conclusion.COMPLETE:
        yield quiet(manner.subject, len(review.coverage)).rstrip("\n")
    yield from _unseen(review, manner)
    if found:
        closing = wrapped.rows(f"reviewbot: {_standing(review, manner)}", manner.width, _INDENT)
        yield from (_painted(row, _STOPPED if manner.blocks else "", manner) for row in closing)
        yield from _hints(plain.line(found[0].id), manner)


def _findings(entries: list[_Entry], manner: Manner) -> Iterator[str]:
    """A row for each where all of them have room in one, else the title below its place."""
    numbers = _widest(one.number for one in entries)
    severities = _widest(one.severity.label for one in entries)
    places = _widest(one.place for one in entries)
    below = _INDENT + numbers + 2
    beside = below + severities + 2 + places + 2
    fits = beside + _widest(one.title_and_marks for one in entries) <= manner.width
    for one in entries:
        number = _painted(_padded(one.number, numbers), _BOLD, manner)
        severity = _painted(_padded(one.severity.label, severities), _COLOURS[one.severity], manner)
        head = f"{' ' * _INDENT}{number}  {severity}  "
        if fits:
            marks = _painted(one.title_and_marks[len(one.title) :], _DIM, manner)
            yield f"{head}{_padded(one.place, places)}  {one.title}{marks}"
        else:
            yield f"{head}{one.place}"
            yield from _below(one, below, manner)
        if one.dissent:
            yield from _dim(f"dissent: {one.dissent}", beside if fits else below, manner)


def _below(one: _Entry, start: int, manner: Manner) -> Iterator[str]:
    """The title in a row or two, and in its last row the marks where they have room there."""
    *rows, last = wrapped.short(one.title, manner.width - start, _TITLE_ROWS) or [""]
    yield from (f"{' ' * start}{row}" for row in rows)
    marks = f" · {one.marks}" if one.marks else ""
    if start + wrapped.columns(last + marks) <= manner.width:
        yield f"{' ' * start}{last}{_painted(marks, _DIM, manner)}"
    else:
        yield f"{' ' * start}{last}"
        yield from _dim(one.marks, start, manner)


def _dim(words: str, start: int, manner: Manner) -> Iterator[str]:
    """One row of what is told beside."""
    yield from (f"{' ' * start}{_painted(row, _DIM, manner)}" for row in wrapped.short(words, manner.width - start, 1))


def _widest(words: Iterable[str]) -> int:
    return max(map(wrapped.columns, words))


def _padded(words: str, size: int) -> str:
    return words + " " * (size - wrapped.columns(words))


def _unseen(review: Review, manner: Manner) -> Iterator[str]:
    """What nobody can rely on, and why."""
    if review.conclusion is Conclusion.COMPLETE:
        return
    unseen = phrases.unseen(review)
    for item in unseen[:MOST_UNSEEN]:
        yield from _alarm(plain.line(f"{item.path}: {item.status.value}: {item.reason or 'no reason given'}"), manner)
    if len(unseen) > MOST_UNSEEN:
        yield from _alarm(f"and {len(unseen) - MOST_UNSEEN} more files", manner)
    if not unseen:
        why = review.notes[-1] if review.notes else f"the review is {phrases.wholeness(review)}"
        yield from _alarm(f"{manner.subject}: {plain.line(why)}", manner)


def _alarm(words: str, manner: Manner) -> Iterator[str]:
    first, *others = wrapped.rows(f"{NOT_REVIEWED} {words}", manner.width, _INDENT, fold=False)
    yield first.replace(NOT_REVIEWED, _painted(NOT_REVIEWED, _ALARM, manner), 1)
    yield from others


def _hints(name: str, manner: Manner) -> Iterator[str]:
    """What to do now: a command a row."""
    hints = {f"reviewbot explain {name}": "tells more", f'reviewbot dismiss {name} --reason "…"': "silences it"}
    start = _INDENT + _widest(hints) + 2
    fits = start + _widest(hints.values()) <= manner.width
    for command, what in hints.items():
        row = f"{' ' * _INDENT}{command}"
        yield f"{_padded(row, start)}{_painted(what, _DIM, manner)}" if fits else row


def _standing(review: Review, manner: Manner) -> str:
    """What the findings mean for who waits, and how that is changed."""
    skip, worst = f"SKIP={manner.skip}", review.worst()
    if manner.blocks:
        return f"stopped, because fail_on is {manner.fail_on}; {skip} lets it pass"
    if manner.fail_on != "none":
        return f"a warning (fail_on is {manner.fail_on}, {skip} skips it)"
    stops = f"--fail-on {worst.label} stops it, " if worst is not None else ""
    return f"a warning ({stops}{skip} skips it)"


def _painted(words: str, colour: str, manner: Manner) -> str:
    return f"\x1b[{colour}m{words}\x1b[0m" if manner.color and colour and words else words
