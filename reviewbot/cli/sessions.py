"""``reviewbot sessions``: past debates listed, shown whole, replayed at no cost, and exported for training."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli.options import Common, ReviewArguments, common_options, list_options, report_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, say
from reviewbot.cli.suggest_past import debates
from reviewbot.cli.tables import as_json, columns
from reviewbot.domain.money import Usage
from reviewbot.errors import OutputError

NO_SESSIONS = "no debate is remembered here: 'reviewbot review' with a panel of language models makes the first"
HEADINGS = ("id", "state", "project", "change", "verdict", "told", "calls", "cost", "begun")
SPLITS = ("train", "validation")


@click.group("sessions")
def sessions() -> None:
    """List past debates, show one, replay one at no cost, or export them.

    A debate is one of language models; every prompt and reply of it is kept in the ledger.
    """


@sessions.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=20, show_default=True, help="At most so many, newest first."
)
@list_options
def listing(arguments: Common, format: str, *, limit: int) -> int:  # noqa: A002 - the option's name
    """List past debates, newest first.

    Their ids are what `show` and `replay` take.
    """
    found = wiring.sessions(order_of(arguments), limit)
    deliver(as_json(found) if format == "json" else table(found))
    return 0


@sessions.command("show")
@click.argument("session", metavar="ID", shell_complete=debates)
@click.option("--format", type=click.Choice(("text", "json", "html")), default="text", show_default=True, help="What to print.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file instead of standard output."
)
@common_options
def show(arguments: Common, session: str, *, format: str, output: Path | None) -> int:  # noqa: A002 - the option's name
    """Show a whole debate: every prompt, every reply, what each cost.

    ID is one of `reviewbot sessions list`, and may be shortened.

    \b
    Examples:
      reviewbot sessions show 01J9
      reviewbot sessions show 01J9 --format html -o debate.html
    """
    record = wiring.session(order_of(arguments), session)
    from reviewbot.publish import transcript

    render = {"text": transcript.text, "json": transcript.json, "html": transcript.html}[format]
    deliver(render(record), output)
    return 0


@sessions.command("replay")
@click.argument("session", metavar="ID", shell_complete=debates)
@report_options
def replay(arguments: ReviewArguments, session: str) -> int:
    """Make the review of a past debate again from what was paid for: nobody is asked, nothing is paid.

    ID is one of `reviewbot sessions list`, and may be shortened. Exit codes are those of `reviewbot review`.
    """
    from reviewbot.cli.review import exit_code, report

    outcome = wiring.replay(order_of(arguments), session)
    deliver(report(outcome.review, arguments, outcome.configuration, environment=os.environ), arguments.output)
    return exit_code(outcome.review, outcome.configuration.get("review.fail_on", str))


@sessions.command("export")
@click.option(
    "-d",
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write train.jsonl and validation.jsonl there; without it, print both one after the other.",
)
@common_options
def export(arguments: Common, directory: Path | None) -> int:
    """Export calls and preference pairs as JSON lines, for training open models.

    Secrets are redacted. A repository is in one of both files, never in both.
    """
    lines = wiring.export(order_of(arguments))
    if directory is None:
        for _, line in lines:
            deliver(line)
        return 0
    counts = write(lines, directory)
    if not arguments.quiet:
        say("\n".join(f"{directory / split}.jsonl: {count} lines" for split, count in counts.items()))
    return 0


def table(found: Iterable[wiring.SessionSummary]) -> str:
    """Sessions in columns."""
    return columns(HEADINGS, map(_row, found), nothing=NO_SESSIONS)


def write(lines: Iterable[tuple[str, str]], directory: Path) -> dict[str, int]:
    """Write each line into the file of its split; whole files or none, readable for their owner only. Returns how many lines
    each has. Raises OutputError."""
    counts = dict.fromkeys(SPLITS, 0)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".reviewbot-", dir=directory) as made, ExitStack() as stack:
            files = {split: stack.enter_context((Path(made) / split).open("w", encoding="utf-8")) for split in SPLITS}
            for split, line in lines:
                files[split].write(line.rstrip("\n") + "\n")
                counts[split] += 1
            stack.close()
            for split in SPLITS:
                (Path(made) / split).chmod(0o600)
                (Path(made) / split).replace(directory / f"{split}.jsonl")
    except OSError as exc:
        raise OutputError(f"cannot write into {directory}: {exc.strerror}", hint="name another directory with -d") from exc
    return counts


def _row(session: wiring.SessionSummary) -> tuple[str, ...]:
    return (
        session.id,
        session.state,
        session.project,
        session.title or f"{session.base[:10]}..{session.head[:10]}",
        session.verdict or session.conclusion,
        f"{session.posted} of {session.findings}",
        str(session.usage.calls),
        _cost(session.usage),
        f"{datetime.fromtimestamp(session.begun_at, UTC):%Y-%m-%d %H:%MZ}",
    )


def _cost(usage: Usage) -> str:
    """What its answers cost, and where some were paid for by an earlier run, what this one paid."""
    return f"${usage.cost_usd:.2f}" + (f" (paid ${usage.paid_usd:.2f})" if usage.replayed_calls else "")
