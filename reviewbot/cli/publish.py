"""``reviewbot publish``: zone W. Reads a finished review strictly, holds its places against the change, and prints it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot import config
from reviewbot.changeset import diff
from reviewbot.cli import handover
from reviewbot.cli.options import ReviewArguments, publish_options
from reviewbot.cli.output import deliver
from reviewbot.cli.review import exit_code, report
from reviewbot.domain.review import Review
from reviewbot.errors import UsageError
from reviewbot.publish import anchors, load
from reviewbot.publish.load_change import CHANGE, load_change

KNOWN = ("TERM", "NO_COLOR", "COLUMNS")
"""Variables that this command looks at."""

_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("publish", short_help="Print a finished review, every place held against the change.")
@click.option("--review", "finished", type=_INPUT, required=True, help="The review, as `reviewbot debate` wrote it.")
@click.option("--changeset", type=_INPUT, help="Hold every place against this change, as `reviewbot collect` wrote it.")
@publish_options
def publish(arguments: ReviewArguments, *, finished: Path, changeset: Path | None) -> int:
    """Print a finished review in any format.

    Neither a key nor a model nor code of the change is needed, and no repository is read. With --changeset, a finding that does
    not stand in the change is told without a line, and a suggestion that does not fit it is dropped; a note says so.

    To post it on a pull request comes with a later version: this one prints. Exit codes are those of `reviewbot review`.
    """
    made = load.load_review(handover.read(finished, load.REVIEW.max_bytes))
    if changeset is not None:
        made = _held(made, handover.read(changeset, CHANGE.max_bytes))
    environment = _known(os.environ)
    configuration = config.load(flags=arguments.overrides())
    deliver(report(made, arguments, configuration, environment=environment), arguments.output)
    return exit_code(made, configuration.get("review.fail_on", str))


def _held(review: Review, text: bytes) -> Review:
    """The review, its places looked up in the change. Raises UsageError where it is about another one."""
    handed = load_change(text)
    about, revisions = review.revisions, handed.revisions
    if (about.kind, about.base, about.head) != (revisions.kind, revisions.base, revisions.head):
        raise UsageError("the review and the change document are about different changes", hint="give those of one run")
    change = diff.read(handed.diff, revisions)
    ids = {file.path: file.new_id for file in change.files if file.head_path is not None and file.new_id is not None}
    heads = {path: handed.blobs[name] for path, name in ids.items() if name in handed.blobs}
    return anchors.held(review, change, heads)


def _known(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name in KNOWN}
