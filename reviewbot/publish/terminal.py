"""A review for a person at a terminal: at a glance first, then each finding with its code, proof and votes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from reviewbot.domain.evidence import CheckRun, Evidence, Severity
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain, terminal_debate
from reviewbot.publish.phrases import Mark, Tone

NARROWEST, WIDEST = 40, 140

_TONES = {Tone.GOOD: ("✓", "bold green"), Tone.WARN: ("●", "bold yellow"), Tone.BAD: ("✗", "bold red")}
_SEVERITIES = {
    Severity.CRITICAL: "bold reverse red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "bold cyan",
}
_MARKS = {Mark.SUPPORT: "green", Mark.NEUTRAL: "yellow", Mark.OPPOSE: "red", Mark.SILENT: "dim"}
_EXCERPT_LINES = 6
_RECORDED = 5


def render(review: Review, *, width: int, color: bool, verbose: bool = False) -> str:
    """The review as lines of at most ``width`` columns, with colours or without; ``verbose`` adds the whole debate."""
    console = Console(
        file=io.StringIO(),
        width=max(NARROWEST, min(width, WIDEST)),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(Group(*_review(review, verbose=verbose)))
    lines = (line.rstrip() for line in capture.get().splitlines())
    return plain.defuse("\n".join(lines)).strip("\n") + "\n"


def _review(review: Review, *, verbose: bool) -> Iterator[RenderableType]:
    yield from _head(review)
    evidence = {item.id: item for item in review.evidence}
    for finding in review.posted():
        yield Text()
        yield from _finding(finding, review, evidence)
    if verbose:
        for finding in phrases.recorded(review):
            yield Text()
            yield from _finding(finding, review, evidence)
        yield Text()
        yield from terminal_debate.lines(review)
    yield Text()
    yield Rule(style="dim", characters="─")
    yield _facts(_summary(review, verbose=verbose))


def _head(review: Review) -> Iterator[RenderableType]:
    headline = phrases.headline(review)
    sign, style = _TONES[headline.tone]
    rest = f"  {phrases.counts(review)}  {phrases.wholeness(review)}" if review.verdict else ""
    yield Text.assemble((f"{sign} {headline.words}", style), rest)
    facts = (plain.line(phrases.target(review)), plain.line(phrases.panel(review)), f"sandbox: {plain.line(review.sandbox)}")
    yield Padding(Text(" · ".join(facts), style="dim"), (0, 0, 0, 2))


def _finding(finding: Finding, review: Review, evidence: dict[str, Evidence]) -> Iterator[RenderableType]:
    yield _title(finding)
    yield Padding(Text(plain.line(finding.title), style="bold"), (0, 0, 0, 2))
    if finding.code:
        yield Padding(_code(finding), (0, 0, 0, 2))
    yield Padding(_facts(_details(finding, review, evidence)), (0, 0, 0, 2))


def _title(finding: Finding) -> Text:
    severity = f" {finding.severity.label.upper()} "
    parts = [finding.category.value, phrases.percent(finding.probability)]
    parts += [finding.lifecycle.value] if finding.lifecycle.value != "new" else []
    parts += ["there before"] if finding.pre_existing else []
    parts += [phrases.status(finding)] if finding.status is not FindingStatus.ACCEPTED else []
    return Text.assemble(
        (plain.line(finding.id), "bold"),
        " ",
        (severity, _SEVERITIES[finding.severity]),
        " ",
        (plain.line(phrases.place(finding)), "underline"),
        ("  " + " · ".join(parts), "dim"),
    )


def _code(finding: Finding) -> Text:
    """Numbered lines; the lines that the finding is about carry a mark that needs no colour."""
    digits = len(str(finding.code[-1].number))
    shown = Text(no_wrap=True, overflow="ellipsis")
    for index, line in enumerate(finding.code):
        meant = finding.start_line <= line.number <= finding.line
        shown.append("\n" if index else "")
        shown.append("▶ " if meant else "  ", style="bold red" if meant else "")
        shown.append(f"{line.number:>{digits}} │ {'+' if line.changed else ' '} ", style="dim")
        shown.append(plain.terminal(line.text).replace("\n", " "), style="bold" if meant else "")
    return shown


def _details(finding: Finding, review: Review, evidence: dict[str, Evidence]) -> Iterator[tuple[str, Text]]:
    yield "when", Text(plain.line(finding.failure_scenario))
    yield "then", Text(plain.line(finding.body))
    yield "proof", _proof(finding)
    yield "votes", _votes(finding, review)
    yield "dissent", Text(plain.line(finding.dissent or ""))
    for name in finding.evidence:
        if item := evidence.get(name):
            yield "evidence", _evidence(item)
    yield "settled", Text(f"by {finding.settled_by.value}: {plain.line(finding.stop_reason)}", style="dim")


def _proof(finding: Finding) -> Text:
    words = Text(phrases.proof(finding), style="bold" if finding.check else "dim")
    if finding.check:
        words.append(": ", style="not bold")
        words.append(plain.line(phrases.command(finding.check.command)), style="not bold cyan")
        words.append(f" ({phrases.outcome(finding.check)})", style="not bold")
    return words


def _votes(finding: Finding, review: Review) -> Text:
    words = Text()
    for vote in phrases.votes(finding, review):
        words.append("  " if words else "")
        words.append(f"{plain.line(vote.panelist)} ")
        words.append(vote.mark.value, style=_MARKS[vote.mark])
        said = "raised" if vote.raised else "" if vote.probability is None else phrases.percent(vote.probability)
        words.append(f" {said}" if said else "", style="dim")
    return words


def _evidence(item: Evidence) -> Text:
    result = item.result
    rule = f" {plain.line(result.rule)}" if result.rule else ""
    words = Text.assemble((plain.line(item.id), "bold"), f" {plain.line(result.tool)}", (rule, "cyan"))
    words.append(f" {plain.line(phrases.spot(item))} ({item.status.value})")
    shown = plain.terminal(result.excerpt or result.message).strip("\n").split("\n")
    for row in shown[:_EXCERPT_LINES]:
        words.append(f"\n{row}", style="dim")
    if len(shown) > _EXCERPT_LINES:
        words.append(f"\n… {len(shown) - _EXCERPT_LINES} more lines", style="dim")
    return words


def _summary(review: Review, *, verbose: bool) -> Iterator[tuple[str, Text]]:
    recorded = phrases.recorded(review)
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
    for entry in review.attendance:
        if entry.reason:
            yield "seat lost", Text(f"{plain.line(entry.seat.name)}: {plain.line(entry.reason)}", style="bold yellow")
    for note in review.notes:
        yield "note", Text(plain.line(note))
    yield "cost", Text(f"{phrases.cost(review)} · {review.timing.seconds:.1f} s")


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


def _facts(rows: Iterable[tuple[str, Text]]) -> Table:
    """Label and words, aligned; a label is said once, an empty row not at all."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(ratio=1, overflow="fold")
    last = ""
    for label, words in rows:
        if words.plain.strip():
            table.add_row("" if label == last else label, words)
            last = label
    return table
