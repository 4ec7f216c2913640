"""A review for a person at a terminal: at a glance first, then each finding with its code, proof and votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from reviewbot.domain.debate import Attendance, SeatStatus
from reviewbot.domain.evidence import CheckRun
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import phrases, plain, spending, terminal_debate, terminal_repair
from reviewbot.publish.phrases import Tone
from reviewbot.publish.terminal_finding import card, facts
from reviewbot.publish.terminal_page import printed

_TONES = {Tone.GOOD: ("✓", "bold green"), Tone.WARN: ("●", "bold yellow"), Tone.BAD: ("✗", "bold red")}
_RECORDED, _RULINGS = 5, 8
_MANY = 3
"""Findings that fill a screen."""


def render(review: Review, *, width: int, color: bool, verbose: bool = False) -> str:
    """The review as lines of at most ``width`` columns, with colours or without; ``verbose`` adds the whole debate."""
    return printed(*_review(review, verbose=verbose), width=width, color=color)


def _review(review: Review, *, verbose: bool) -> Iterator[RenderableType]:
    yield from _head(review)
    evidence = {item.id: item for item in review.evidence}
    for finding in review.posted():
        yield Text()
        yield from card(finding, review, evidence)
    if verbose:
        for finding in phrases.recorded(review):
            yield Text()
            yield from card(finding, review, evidence)
        yield Text()
        yield from terminal_debate.lines(review)
    yield from terminal_repair.section(review, verbose=verbose)
    yield Text()
    yield Rule(style="dim", characters="─")
    yield facts(_summary(review, verbose=verbose))


def _head(review: Review) -> Iterator[RenderableType]:
    yield _verdict(review)
    told = (plain.line(phrases.target(review)), plain.line(phrases.panel(review)), f"sandbox: {plain.line(review.sandbox)}")
    yield Padding(Text(" · ".join(told), style="dim"), (0, 0, 0, 2))


def _verdict(review: Review) -> Text:
    headline = phrases.headline(review)
    sign, style = _TONES[headline.tone]
    rest = f"  {phrases.counts(review)}  {phrases.wholeness(review)}" if review.verdict else ""
    return Text.assemble((f"{sign} {headline.words}", style), rest)


def _summary(review: Review, *, verbose: bool) -> Iterator[tuple[str, Text]]:
    recorded = phrases.recorded(review)
    if len(review.posted()) >= _MANY:  # the first lines are out of sight by now
        yield "verdict", _verdict(review)
    if review.posted():
        yield "legend", Text(phrases.LEGEND, style="dim")
    if recorded and not verbose:
        yield from (("not told", _recorded(finding)) for finding in recorded[:_RECORDED])
        if len(recorded) > _RECORDED:
            yield "not told", Text(f"{len(recorded) - _RECORDED} more; -v shows all", style="dim")
    yield "coverage", Text(phrases.coverage(review))
    for item in phrases.unseen(review):
        reason = plain.line(item.reason or "no reason given")
        yield "NOT REVIEWED", Text(f"{plain.line(item.path)}: {item.status.value}: {reason}", style="bold yellow")
    if review.checks:
        yield "checks", _checks(review.checks)
    yield from _seats(review)
    for note in review.notes:
        yield "note", Text(plain.line(note))
    yield "cost", Text(f"{spending.total(review)} · {review.timing.seconds:.1f} s")
    for share in spending.shares(review):
        yield "cost", Text(f"{plain.line(share.title)}: {spending.words(share.usage)}", style="dim")


def _seats(review: Review) -> Iterator[tuple[str, Text]]:
    """Who sat where, where that were language models; a lost seat and a stand-in always; what the moderator decided."""
    of_models = phrases.is_of_models(review)
    for entry in review.attendance:
        if entry.status is SeatStatus.LOST:
            yield "seat lost", Text(_seat(entry, entry.reason or "no reason given"), style="bold yellow")
        elif of_models or entry.reason:
            words = f"{_seat(entry, entry.seat.model)} {plain.line(phrases.fate(entry))}"
            yield "panel", Text(words, style="yellow" if entry.reason else "")
    if of_models:
        yield from (("moderator", Text(plain.line(decision))) for decision in phrases.decisions(review)[-_RULINGS:])


def _seat(entry: Attendance, words: str) -> str:
    return f"{plain.line(entry.seat.name)}: {plain.line(words)}"


def _recorded(finding: Finding) -> Text:
    """One line of a finding that stays in the record: what it was and why nobody is bothered with it."""
    why = plain.line(finding.dissent or finding.stop_reason)
    place, chance = plain.line(phrases.place(finding)), phrases.percent(finding.probability)
    return Text(f"{plain.line(finding.id)} {place} {plain.line(finding.title)} · {chance} · {why}", style="dim")


def _checks(checks: Iterable[CheckRun]) -> Text:
    words = Text()
    for run in checks:
        words.append(" · " if words else "")
        words.append(plain.line(run.name))
        if run.ran:
            words.append(" ✗" if run.failed else " ✓", style="red" if run.failed else "green")
            words.append(f" {run.seconds:.1f} s", style="dim")
        else:
            words.append(" not run", style="yellow")
    return words
