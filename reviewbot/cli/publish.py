"""``reviewbot publish``: zone W. Reads a finished review strictly, holds its places against the change, and prints it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot import config
from reviewbot.changeset import diff
from reviewbot.cli import handover
from reviewbot.cli.github import place
from reviewbot.cli.options import ReviewArguments, publish_options
from reviewbot.cli.output import deliver, say
from reviewbot.cli.review import exit_code, report
from reviewbot.config.layers import VARIABLE
from reviewbot.domain.review import Review
from reviewbot.errors import UsageError
from reviewbot.publish import anchors, load, plain
from reviewbot.publish.document_change import Handed
from reviewbot.publish.load_change import CHANGE, load_change
from reviewbot.wiring.github.job import Place

KNOWN = ("TERM", "NO_COLOR", "COLUMNS")
"""Variables that this command looks at."""

_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("publish", short_help="Print a finished review, or post it on a pull request.")
@click.option("--review", "finished", type=_INPUT, required=True, help="The review, as `reviewbot debate` wrote it.")
@click.option("--changeset", type=_INPUT, help="Hold every place against this change, as `reviewbot collect` wrote it.")
@click.option(
    "--pull-request",
    type=click.IntRange(min=1),
    metavar="N",
    help="Post it on this pull request, with the token in GITHUB_TOKEN.",
)
@click.option(
    "--repository", metavar="OWNER/NAME", help="Post it in this repository; by default GITHUB_REPOSITORY, or the review's own."
)
@publish_options
def publish(
    arguments: ReviewArguments, *, finished: Path, changeset: Path | None, pull_request: int | None, repository: str | None
) -> int:
    """Print a finished review in any format, or post it on a pull request.

    Neither a key of a model nor code of the change is needed, and no repository is read. With --changeset, a finding that does
    not stand in the change is told without a line, and a suggestion that does not fit it is dropped; a note says so.

    With --pull-request it is posted: comments on lines, a check run and one summary that later reviews edit. Posting twice equals
    posting once, and nothing is posted where the head moved.

    \b
    Examples:
      reviewbot publish --review review.json --format sarif -o out.sarif
      reviewbot publish --review r.json --changeset c.json --pull-request 12

    Exit codes are those of `reviewbot review`.
    """
    made = load.load_review(handover.read(finished, load.REVIEW.max_bytes))
    handed = load_change(handover.read(changeset, CHANGE.max_bytes)) if changeset is not None else None
    if handed is not None:
        made = _held(made, handed)
    environment = _known(os.environ)
    configuration = config.load(flags=arguments.overrides(), environ=_settings(os.environ))
    code = exit_code(made, configuration.get("review.fail_on", str))
    if pull_request is None:
        deliver(report(made, arguments, configuration, environment=environment), arguments.output)
        return code
    if handed is None:
        hint = "a comment is posted only on lines that were held against the change"
        raise UsageError("--pull-request needs --changeset", hint=hint)
    name = repository or os.environ.get("GITHUB_REPOSITORY") or made.repository or ""
    return max(code, _posted(made, handed, configuration, place=place(os.environ, name), number=pull_request))


def _posted(review: Review, handed: Handed, configuration: config.Configuration, *, place: Place, number: int) -> int:
    """Post it, and say how that ended."""
    from reviewbot.wiring import github

    change = diff.read(handed.diff, review.revisions)
    outcome, words = github.publish(review, change, configuration, place=place, number=number)
    for line in words:
        say(f"reviewbot: {plain.line(line)}")
    if outcome.summary_url:
        deliver(outcome.summary_url)
    return 3 if outcome.fallback else outcome.exit_code


def _held(review: Review, handed: Handed) -> Review:
    """The review, its places looked up in the change. Raises UsageError where it is about another one."""
    about, revisions = review.revisions, handed.revisions
    if (about.kind, about.base, about.head) != (revisions.kind, revisions.base, revisions.head):
        raise UsageError("the review and the change document are about different changes", hint="give those of one run")
    change = diff.read(handed.diff, revisions)
    ids = {file.path: file.new_id for file in change.files if file.head_path is not None and file.new_id is not None}
    heads = {path: handed.blobs[name] for path, name in ids.items() if name in handed.blobs}
    return anchors.held(review, change, heads)


def _settings(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(VARIABLE)}


def _known(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name in KNOWN}
