"""One finding of a review, explained: who raised it, what everyone said, what was tested, how it was settled."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from reviewbot.domain.debate import Check, Ruling
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import phrases, plain, terminal_debate, terminal_finding
from reviewbot.publish.terminal_page import printed

_INDENT = (0, 0, 0, 2)


def text(review: Review, finding: Finding, *, color: bool, width: int = 100) -> str:
    """Everything that the review knows about its finding."""
    return printed(*_parts(review, finding), width=width, color=color)


def _parts(review: Review, finding: Finding) -> Iterator[RenderableType]:
    evidence = {item.id: item for item in review.evidence}
    yield from terminal_finding.card(finding, review, evidence)
    yield Padding(terminal_finding.facts(_outcome(finding)), _INDENT)
    if finding.versions or finding.positions:
        yield Text()
        yield Text("Who said what", style="bold underline")
        yield from (Padding(line, _INDENT) for line in terminal_debate.said(finding))
    for check in _checks(finding):
        yield Text()
        yield Text("A check", style="bold underline")
        yield Padding(terminal_finding.facts(_check(check)), _INDENT)
    if rulings := [ruling for ruling in review.rulings if _concerns(ruling, finding)]:
        yield Text()
        yield Text("The moderator", style="bold underline")
        yield from (Padding(_ruling(ruling, finding), _INDENT) for ruling in rulings)
    yield Text()
    yield Rule(style="dim", characters="─")
    yield Text(phrases.LEGEND, style="dim")


def _outcome(finding: Finding) -> Iterator[tuple[str, Text]]:
    yield "status", Text(f"{phrases.status(finding)}, {finding.confidence.value}, {finding.lifecycle.value}")
    yield "rule", Text(plain.line(finding.rule or ""))
    yield "raised by", Text(", ".join(plain.line(name) for name in finding.raised_by))
    yield "fingerprint", Text(plain.line(finding.fingerprint), style="dim")


def _checks(finding: Finding) -> Iterator[Check]:
    """The check that was made of it, and those that panelists offered."""
    offered = (position.check for position in finding.positions)
    yield from dict.fromkeys(check for check in (finding.check, *offered) if check is not None)


def _check(check: Check) -> Iterator[tuple[str, Text]]:
    yield "command", Text(plain.line(phrases.check(check)), style="cyan")
    yield "outcome", Text(phrases.outcome(check))
    yield "evidence", Text(", ".join(plain.line(name) for name in check.evidence))
    yield "source", Text(plain.terminal(check.source).strip("\n"), style="dim")
    yield "output", Text(plain.terminal(check.output).strip("\n"), style="dim")


def _concerns(ruling: Ruling, finding: Finding) -> bool:
    return finding.id in dict(ruling.scores) or finding.id in ruling.open


def _ruling(ruling: Ruling, finding: Finding) -> Text:
    score = dict(ruling.scores).get(finding.id)
    chance = "" if score is None else f" ({phrases.percent(score)})"
    return Text(f"round {ruling.round}: {plain.line(ruling.decision)}{chance}")
