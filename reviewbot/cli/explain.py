"""``reviewbot explain FINDING``: who said what about one finding of the last review."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli.options import Common, list_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.suggest_past import findings
from reviewbot.cli.tables import as_json
from reviewbot.domain.review import Finding, Review
from reviewbot.errors import UsageError
from reviewbot.publish.document import document


@click.command("explain")
@click.argument("finding", shell_complete=findings)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file instead of standard output."
)
@list_options
def explain(arguments: Common, finding: str, *, output: Path | None, format: str) -> int:  # noqa: A002 - the option's name
    """Tell everything about FINDING of the last review here: every position, evidence, vote and dissent.

    FINDING is its id as in the report, or the begin of its fingerprint (6 characters or more).

    \b
    Examples:
      reviewbot explain F3
      reviewbot explain F3 --format json
    """
    order = order_of(arguments)
    review = wiring.last_review(order)
    one = named(review, finding)
    if format == "json":
        deliver(as_json(next(told for told in document(review)["findings"] if told["id"] == one.id)), output)
    else:
        from reviewbot.publish import explain as explanation

        color = wants_color(arguments.color or "auto", None if output else sys.stdout, order.environment)
        deliver(explanation.text(review, one, color=color), output)
    return 0


def named(review: Review, name: str) -> Finding:
    """The finding with this id, or the only one whose fingerprint begins like this. Raises UsageError."""
    by_id = [one for one in review.findings if one.id.lower() == name.lower()]
    found = by_id or [one for one in review.findings if len(name) >= 6 and one.fingerprint.startswith(name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.id for one in review.findings) or "none"
    raise UsageError(f"the last review has no single finding {name[:40]!r}", hint=f"it has {known}")
