"""One finding for a terminal: its code, what happens when, proof, votes, dissent, evidence, a suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reviewbot.domain.evidence import Evidence, Severity
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain, regression, suggested
from reviewbot.publish.phrases import Mark

_SEVERITIES = {
    Severity.CRITICAL: "bold reverse red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "bold cyan",
}
_MARKS = {Mark.SUPPORT: "green", Mark.NEUTRAL: "yellow", Mark.OPPOSE: "red", Mark.SILENT: "dim"}
_EXCERPT_LINES = 6


def card(finding: Finding, review: Review, evidence: dict[str, Evidence]) -> Iterator[RenderableType]:
    """The finding, whole."""
    yield _title(finding)
    yield Padding(Text(plain.line(finding.title), style="bold"), (0, 0, 0, 2))
    if finding.code:
        yield Padding(_code(finding), (0, 0, 0, 2))
    elif finding.quote.strip():  # a review that was read back holds no code
        yield Padding(Text(plain.terminal(finding.quote).strip("\n"), style="bold"), (0, 0, 0, 4))
    yield Padding(facts(_details(finding, review, evidence)), (0, 0, 0, 2))


def _title(finding: Finding) -> Table:
    """Number, severity, place and the rest: a long path goes on below its beginning."""
    severity = f" {finding.severity.label.upper()} "
    parts = [finding.category.value, phrases.percent(finding.probability)]
    parts += [finding.lifecycle.value] if finding.lifecycle.value != "new" else []
    parts += ["there before"] if finding.pre_existing else []
    parts += [phrases.status(finding)] if finding.status is not FindingStatus.ACCEPTED else []
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(
        Text.assemble((plain.line(finding.id), "bold"), " ", (severity, _SEVERITIES[finding.severity])),
        Text.assemble((plain.line(phrases.place(finding)), "underline"), ("  " + " · ".join(parts), "dim")),
    )
    return table


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
    yield "test", _regression_test(finding)
    yield "votes", _votes(finding, review)
    yield "dissent", Text(plain.line(finding.dissent or ""))
    for name in finding.evidence:
        if item := evidence.get(name):
            yield "evidence", _evidence(item)
    yield "draft", _suggestion(finding)
    yield "settled", Text(f"by {finding.settled_by.value}: {plain.line(finding.stop_reason)}", style="dim")


def _proof(finding: Finding) -> Text:
    words = Text(phrases.proof(finding), style="bold" if finding.check else "dim")
    if finding.check:
        words.append(": ", style="not bold")
        words.append(plain.line(phrases.check(finding.check)), style="not bold cyan")
        words.append(f" ({phrases.outcome(finding.check)})", style="not bold")
        if not set(finding.check.evidence) & set(finding.evidence):  # else it stands there
            words.append_text(_excerpt(finding.check.output))
    return words


def _regression_test(finding: Finding) -> Text:
    if regression.test(finding) is None:
        return Text()
    return Text(f"the check can be kept as a regression test: reviewbot explain {plain.line(finding.id)} shows it", style="dim")


def _suggestion(finding: Finding) -> Text:
    """What goes and what comes, marked so that no colour is needed."""
    words, rows = Text(), suggested.lines(finding)
    if rows:
        words.append(f"a suggestion, {suggested.LABEL}, instead of {suggested.place(finding)}:", style="dim")
    for row in rows:
        style = "red" if row.mark == "-" else "green"
        words.append(f"\n{row.mark} {plain.terminal(row.text).replace(chr(10), ' ')}", style=style)
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
    return words.append_text(_excerpt(result.excerpt or result.message))


def _excerpt(output: str) -> Text:
    """The first lines of an output, each on a line of its own, and how many more there are."""
    shown = plain.terminal(output).strip("\n").split("\n") if output.strip() else []
    rows = Text("".join(f"\n{row}" for row in shown[:_EXCERPT_LINES]), style="dim not bold")
    if len(shown) > _EXCERPT_LINES:
        rows.append(f"\n… {len(shown) - _EXCERPT_LINES} more lines")
    return rows


def facts(rows: Iterable[tuple[str, Text]]) -> Table:
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
