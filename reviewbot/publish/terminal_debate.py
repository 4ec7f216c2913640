"""The whole debate for a terminal: every turn, every argument, every ruling."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reviewbot.domain.debate import Position, Stance
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import phases, phrases, plain

_STANCES = {Stance.SUPPORT: "green", Stance.NEUTRAL: "yellow", Stance.OPPOSE: "red"}


def lines(review: Review) -> Iterator[RenderableType]:
    """Turns, then what was said about each finding, then the moderator."""
    yield Text("The debate", style="bold underline")
    yield _turns(review)
    for finding in review.findings:
        if finding.positions or finding.versions:
            yield Text()
            yield Text.assemble((plain.line(finding.id), "bold"), " ", plain.line(finding.title))
            yield from (Padding(line, (0, 0, 0, 2)) for line in said(finding))
    if review.rulings:
        yield Text()
        yield Text("The moderator", style="bold underline")
    for ruling in review.rulings:
        scores = ", ".join(f"{plain.line(name)} {phrases.percent(score)}" for name, score in ruling.scores)
        yield Text(f"round {ruling.round}: {plain.line(ruling.decision)}" + (f" ({scores})" if scores else ""))


def _turns(review: Review) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    for _ in range(4):
        table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for turn in review.turns:
        outcome = "" if turn.outcome == "ok" else f"[{plain.line(turn.outcome)}] "
        table.add_row(
            Text(str(turn.number), style="dim", justify="right"),
            Text(plain.shortened(plain.line(phases.named(turn.phase)), phases.WIDEST), style="cyan"),
            Text(plain.shortened(plain.line(turn.panelist), 16)),
            Text(plain.shortened(plain.line(turn.subject), 8), style="bold"),
            Text.assemble((outcome, "yellow"), plain.line(turn.summary)),
        )
    return table


def said(finding: Finding) -> Iterator[Text]:
    """How the claim changed, then every position with its arguments."""
    for version in finding.versions:
        yield Text.assemble(
            (f"{plain.line(version.change)} ", "dim"), plain.line(version.by), (f": {plain.line(version.text)}", "dim")
        )
    for position in finding.positions:
        yield from _position(position)


def _position(position: Position) -> Iterator[Text]:
    counted = "" if position.counted else " (not counted: it cites nothing new)"
    yield Text.assemble(
        f"round {position.round} ",
        (plain.line(position.panelist), "bold"),
        " ",
        (position.stance.value, _STANCES[position.stance]),
        f" at {phrases.percent(position.probability)}{counted}",
    )
    for argument in position.arguments:
        cites = ", ".join(plain.line(cite) for cite in argument.evidence)
        yield Text.assemble("  – ", plain.line(argument.claim), (f" [{cites}]" if cites else "", "cyan"))
        if argument.reasoning:
            yield Text(f"    {plain.line(argument.reasoning)}", style="dim")
        for counter in argument.counter_arguments:
            yield Text(f"    against it: {plain.line(counter)}", style="dim")
