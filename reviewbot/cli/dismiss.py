"""``reviewbot dismiss FINDING…``: remember in the repository that findings are not to be raised again, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime

import click

from reviewbot import wiring
from reviewbot.cli.explain import named
from reviewbot.cli.options import Common, list_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, say
from reviewbot.cli.suggest_past import findings
from reviewbot.cli.tables import as_json, columns
from reviewbot.config.dismissed import MOST_REASON
from reviewbot.domain.debate import Proof
from reviewbot.domain.dismissal import FILE, Dismissal
from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Finding, Lifecycle, Review
from reviewbot.errors import UsageError
from reviewbot.publish import phrases, plain
from reviewbot.wiring.dismissing import Shelf, alone, shelf

NEXT = f"next: git add {FILE} (others, and pull requests, heed it from the commit that they are based on)"
_HEADINGS = ("fingerprint", "date", "path", "rule", "reason", "stale")
_SHORT = 15
"""Characters of a fingerprint that a person is shown: its kind and eight digits."""


@click.command("dismiss", short_help="Remember that a finding is not to be raised again, and why.")
@click.argument("finding", nargs=-1, shell_complete=findings)
@click.option("--reason", metavar="TEXT", help="Why; it is kept beside the finding for everybody to read.")
@click.option("--undo", is_flag=True, help="Take back the dismissal of FINDING.")
@click.option("--list", "listing", is_flag=True, help="Show what is dismissed, and what of it is about nothing any more.")
@list_options
def dismiss(
    arguments: Common,
    finding: tuple[str, ...],
    *,
    reason: str | None,
    undo: bool,
    listing: bool,
    format: str,  # noqa: A002
) -> int:
    """Write down in .reviewbot/dismissed.yml that each FINDING is not to be raised again, and why.

    FINDING is one of the last review here, by its id as F3 or the begin of its fingerprint. It is known again where lines move,
    and is raised anew where its own line changes. What is dismissed stays in the report as such: it is not posted, and counts
    neither for --fail-on nor for the verdict.

    Reviews of uncommitted work heed the file in the work tree; all others heed that of the commit they are based on. Nothing is
    added to the index. With --undo, FINDING may also be the begin of a fingerprint as --list shows it.

    \b
    Examples:
      reviewbot dismiss F3 --reason "the list is never changed"
      reviewbot dismiss --list
      reviewbot dismiss F3 --undo
    """
    _expect(finding, reason, undo=undo, listing=listing)
    order = order_of(arguments)
    if listing:
        held = shelf(order)
        deliver(as_json([_fields(one, held) for one in held.held]) if format == "json" else _table(held))
        return 0
    with alone(order) as held:
        chosen = () if undo else _dismissed(finding, held, order, reason=_reason(reason or ""))
        told = [_taken_back(finding, held, order)] if undo else map(_told, chosen)
    _tell(arguments, *told, NEXT)
    for words in _loud(chosen):
        say(words)
    return 0


def _taken_back(names: tuple[str, ...], held: Shelf, order: wiring.Order) -> str:
    gone = dict.fromkeys(_meant(name, held, order).fingerprint for name in names)
    deliver(held.without(gone).decode(), held.path)
    return f"Taken back: {_counted(len(gone))}"


def _dismissed(names: tuple[str, ...], held: Shelf, order: wiring.Order, *, reason: str) -> tuple[Finding, ...]:
    review = wiring.last_review(order)
    chosen = tuple({one.id: one for one in (_dismissible(name, review, held) for name in names)}.values())
    text = held.with_findings(chosen, reason, datetime.now(UTC).date().isoformat()).decode()
    held.path.parent.mkdir(exist_ok=True)
    deliver(text, held.path)
    return chosen


def _expect(finding: tuple[str, ...], reason: str | None, *, undo: bool, listing: bool) -> None:
    """Raises UsageError for options that exclude each other, and for what is missing."""
    if listing:
        if finding or undo or reason is not None:
            raise UsageError("--list takes no finding and no other option", hint="leave them out")
        return
    if not finding:
        raise UsageError("no finding is named", hint="name it as the report does, such as F1")
    if undo and reason is not None:
        raise UsageError("--undo and --reason exclude each other", hint="leave out --reason")
    if not undo:
        _reason(reason or "")


def _reason(said: str) -> str:
    """The reason in one line. Raises UsageError."""
    words = " ".join(said.split())
    if not words:
        raise UsageError("a dismissal needs a reason", hint="say why with --reason: whoever meets the line next will ask")
    if len(words) > MOST_REASON:
        raise UsageError(f"the reason has {len(words)} characters", hint=f"at most {MOST_REASON} are kept")
    return words


def _dismissible(name: str, review: Review, held: Shelf) -> Finding:
    """The finding of the last review that is meant. Raises UsageError."""
    found = named(review, name)
    if found.lifecycle is Lifecycle.FIXED:
        raise UsageError(f"{found.id} is fixed: there is nothing to dismiss")
    if (known := held.of(found)) is not None:
        again = f"'reviewbot dismiss --undo {found.id}' takes it back"
        raise UsageError(f"{found.id} is dismissed already: {known.reason}", hint=again)
    return found


def _meant(name: str, held: Shelf, order: wiring.Order) -> Dismissal:
    """The dismissal that is meant: by its fingerprint, or by a finding of the last review. Raises UsageError."""
    sign = name if name.startswith("sha256:") else f"sha256:{name}"
    by_print = [one for one in held.held if len(name) >= 6 and one.fingerprint.startswith(sign)]
    if len(by_print) == 1:
        return by_print[0]
    hint = "'reviewbot dismiss --list' shows what is dismissed"
    if len(by_print) > 1:
        raise UsageError(f"{len(by_print)} dismissals begin with {name[:40]!r}", hint="give more of the fingerprint")
    if not held.held:
        raise UsageError(f"nothing is dismissed in {FILE}", hint="'reviewbot dismiss F1 --reason ...' does that")
    found = held.of(named(wiring.last_review(order), name))
    if found is None:
        raise UsageError(f"{name[:40]} is not dismissed in {FILE}", hint=hint)
    return found


def _told(finding: Finding) -> str:
    return f"Dismissed {plain.line(finding.id)} {plain.line(phrases.place(finding))}: {plain.line(finding.title)}"


def _loud(findings: tuple[Finding, ...]) -> Iterator[str]:
    """What is said even to who wants to hear nothing: something grave goes."""
    for finding in findings:
        proven = ", and what was executed proves it" if finding.proof is Proof.PROVEN else ""
        if finding.severity >= Severity.CRITICAL or proven:
            yield f"warning: {plain.line(finding.id)} is {finding.severity.label}{proven}: it will not be raised again"


def _table(held: Shelf) -> str:
    rows = [(one.fingerprint[:_SHORT], one.date, one.path, one.rule or "", one.reason, held.stale(one)) for one in held.held]
    return columns(_HEADINGS, rows, nothing=f"nothing is dismissed in {FILE}")


def _fields(one: Dismissal, held: Shelf) -> dict[str, object]:
    severity = one.severity.label if one.severity else None
    own = {field.name: getattr(one, field.name) for field in fields(one)}
    return {**own, "severity": severity, "stale": held.stale(one) or None}


def _counted(number: int) -> str:
    return f"{number} dismissal" if number == 1 else f"{number} dismissals"


def _tell(arguments: Common, *words: str) -> None:
    if not arguments.quiet:
        for line in words:
            say(line)
