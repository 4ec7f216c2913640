"""``reviewbot review``: read the order, make the review, print it, say how it ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli.options import LISTINGS, ReviewArguments, review_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, wants_color
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.watch import watching
from reviewbot.config import Configuration
from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Conclusion, Review
from reviewbot.domain.target import TargetKind
from reviewbot.errors import UsageError
from reviewbot.publish import formats

MOST_PATCH_BYTES = 256_000_000


@click.command("review", cls=Sectioned, short_help="Review a change and print the consensus.")
@review_options
def review(arguments: ReviewArguments) -> int:
    """Review a change and print the consensus.

    TARGET is A..B, A...B, or one commit (against its first parent). Without it: uncommitted work, or where there is none the
    last commit. With --all the whole tree of HEAD (or of the commit TARGET) is audited, and compared with the last audit.

    The report goes to standard output, everything else to standard error. With no key and no configuration the static panel
    reviews: no language model, nothing to pay. Configuration is read from the base of the change.

    \b
    Examples:
      reviewbot review                                uncommitted work
      reviewbot review main...topic                   a branch
      reviewbot review --staged --fail-on high
      git diff | reviewbot review --patch -
      reviewbot review --format json | jq .verdict

    \b
    Exit codes:
      0  done; nothing at or above --fail-on
      1  findings at or above --fail-on
      2  usage or configuration
      3  incomplete, or could not run; never shown as a pass
    """
    return run(arguments)


def run(arguments: ReviewArguments) -> int:
    """Make the review that was asked for, deliver the report, and return the exit code."""
    order = order_of(arguments, arguments.chosen_target(read_patch))
    if arguments.dry_run:
        return _foretell(order, arguments)
    with watching(arguments, order) as observer:
        is_audit = order.target.kind is TargetKind.ALL
        outcome = wiring.audit(order, observer).outcome if is_audit else wiring.review(order, observer)
    deliver(report(outcome.review, arguments, outcome.configuration, environment=order.environment), arguments.output)
    return exit_code(outcome.review, outcome.configuration.get("review.fail_on", str))


def _foretell(order: wiring.Order, arguments: ReviewArguments) -> int:
    """Say what would be asked. A dry run has no review to report: it prints text, or with ``--format json`` its own fields."""
    from reviewbot.cli.forecast import told
    from reviewbot.cli.tables import as_json

    if arguments.format not in LISTINGS:
        raise UsageError(f"--dry-run prints text or json, not {arguments.format}", hint="leave --format out")
    forecast = wiring.plan(order)
    deliver(as_json(forecast) if arguments.format == "json" else told(forecast), arguments.output)
    return 0


def exit_code(review: Review, fail_on: str) -> int:
    """1 where an accepted finding is as bad as ``fail_on``, also in a partial review; 3 for what is not whole; else 0."""
    worst = review.worst()
    if fail_on != "none" and worst is not None and worst >= Severity[fail_on.upper()]:
        return 1
    return 0 if review.conclusion is Conclusion.COMPLETE else 3


def report(review: Review, arguments: ReviewArguments, configuration: Configuration, *, environment: Mapping[str, str]) -> str:
    """The review in the format that was asked for, as wide as the terminal."""
    stream = None if arguments.output else sys.stdout
    color = wants_color(configuration.get("display.color", str), stream, environment)
    width = _width(environment) if stream is not None and stream.isatty() else 100
    return formats.render(arguments.format, review, formats.Rendering(width=width, color=color, verbose=arguments.verbose))


def _width(environment: Mapping[str, str]) -> int:
    columns = environment.get("COLUMNS", "")
    try:
        return int(columns) if columns.isdigit() and int(columns) > 0 else os.get_terminal_size().columns
    except OSError:
        return 100


def read_patch(name: str) -> bytes:
    """The bytes of a patch file, or of standard input for ``-``. Raises UsageError."""
    if name == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint="pipe a unified diff in, as from `git diff`")
        data = sys.stdin.buffer.read(MOST_PATCH_BYTES + 1)
    else:
        data = _read(Path(name), MOST_PATCH_BYTES + 1)
    if len(data) > MOST_PATCH_BYTES:
        raise UsageError(f"the patch has more than {MOST_PATCH_BYTES} bytes", hint="split it")
    return data


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as exc:
        raise UsageError(f"cannot read {path}: {exc.strerror}", hint="name a file that can be read") from exc
