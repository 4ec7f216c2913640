"""The code that was made, for a terminal: what became of each task, its proof, and the patch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from reviewbot.domain.repair import Repair
from reviewbot.domain.review import Review
from reviewbot.publish import phrases, plain, repaired
from reviewbot.publish.phrases import Tone
from reviewbot.publish.repaired import Mark
from reviewbot.publish.terminal_finding import facts

_SIGNS = {Tone.GOOD: ("✓", "bold green"), Tone.WARN: ("●", "bold yellow"), Tone.BAD: ("✗", "bold red")}
_STYLES = {Mark.FILE: "bold", Mark.PLACE: "cyan", Mark.GONE: "red", Mark.COME: "green", Mark.SAME: ""}
_ROWS, _TRIES = 60, 3
"""Lines of a patch, and tries of a task that has none, where not everything is asked for."""


def section(review: Review, *, verbose: bool) -> Iterator[RenderableType]:
    """All of it, or nothing where nothing was to be made."""
    if not review.repairs:
        return
    yield Text()
    yield Text.assemble((repaired.heading(review), "bold underline"), f"  {repaired.counted(review.repairs)}")
    for repair in review.repairs:
        yield Text()
        yield _title(repair, review)
        yield Padding(Text(plain.line(repair.title), style="bold"), (0, 0, 0, 2))
        if repair.patch and repair.is_made:
            yield Padding(_patch(repair, verbose=verbose), (0, 0, 0, 4))
        yield Padding(facts(_details(repair, verbose=verbose)), (0, 0, 0, 2))


def _title(repair: Repair, review: Review) -> Text:
    sign, style = _SIGNS[repaired.TONES[repair.outcome]]
    by = f"  by {plain.line(repair.author)}" if repair.author else ""
    place = plain.line(repaired.place(repair, review))
    return Text.assemble(
        (plain.line(repair.id), "bold"),
        " ",
        (f"{sign} {repair.outcome.value}", style),
        "  " if place else "",
        (place, "underline"),
        (by, "dim"),
    )


def _details(repair: Repair, *, verbose: bool) -> Iterator[tuple[str, Text]]:
    yield "how", Text(plain.line(repair.explanation) if repair.is_made else "")
    yield "proof", Text(plain.line(repaired.proof(repair)), style="bold" if repair.proof else "dim")
    if repair.proof and repair.proof.check:
        check = repair.proof.check
        yield "check", Text.assemble((plain.line(phrases.check(check)), "cyan"), f" ({phrases.outcome(check)})")
    yield "why" if repair.is_made else "why not", Text(plain.line(repaired.why(repair)))
    told = None if verbose else 0 if repair.is_made else _TRIES
    for words in islice(repaired.tried(repair), told):
        yield "tried", Text(plain.line(words), style="dim")
    yield "dissent", Text(plain.line(repair.dissent or ""))


def _patch(repair: Repair, *, verbose: bool) -> Text:
    """Its lines, marked by themselves; colours say it again. Long ones are folded: who says yes to a patch has seen it."""
    shown = Text(overflow="fold")
    every = list(repaired.rows(repair))
    told = every if verbose else every[:_ROWS]
    for row in told:
        shown.append("\n" if shown else "")
        shown.append(plain.terminal(row.text).replace("\n", " "), style=_STYLES[row.mark])
    if missing := len(every) - len(told):
        shown.append(f"\n… {missing} more lines; -v shows all", style="dim")
    return shown
