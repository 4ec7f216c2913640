"""``reviewbot hook run pre-push``: what is about to be pushed is reviewed, in the time that a hook has.

A push of nothing is answered here; what makes a review is imported where there is something to look at.
"""

from __future__ import annotations

import os
import sys

import click

from reviewbot.cli.alarm import TimeUp, alarm
from reviewbot.cli.hook_push_skipped import nothing_in, skipped
from reviewbot.cli.options import HookArguments, push_options
from reviewbot.cli.output import say
from reviewbot.errors import UsageError
from reviewbot.events import pushed
from reviewbot.events.pushed import Push

MOST_BYTES = 64_000_000
"""Of standard input: some hundred bytes for each ref of a push."""

READ_SECONDS = 30.0
"""For standard input: git writes at once."""

BY_HAND = "reviewbot: git says on standard input what is pushed; a terminal does not, so it is what is checked out here"


@click.command("pre-push", short_help="Review what is about to be pushed.")
@click.argument("remote", required=False, default="")
@click.argument("url", required=False, default="")
@click.option("--resume/--fresh", default=True, help="Tell again what an equal push was told; or review and pay for it again.")
@push_options
def pre_push(arguments: HookArguments, remote: str, url: str) -> int:
    """Review what is about to be pushed, in at most `hook.seconds`.

    git gives the name of the REMOTE, its URL, and on standard input a line for each ref. Findings are told and stop nothing,
    unless --fail-on or `review.fail_on` says so. What could not be reviewed is told as NOT REVIEWED.
    """
    if skipped(os.environ):
        say("reviewbot: this push is not reviewed, as SKIP asks")
        return 0
    named = Push((), remote, url)
    push = _said(named)
    if push is not None and all(ref.nothing for ref in push.refs) and arguments.format == "text":
        for line in () if arguments.quiet else nothing_in([(ref.name, ref.nothing) for ref in push.refs]):
            say(line)
        return 0
    from reviewbot.cli import hook_push_work

    return hook_push_work.run(arguments, named, push)


def _said(named: Push) -> Push | None:
    """What is pushed, as pre-commit or git says; ``None`` where nobody does. Raises UsageError."""
    # git gives its own hook the remote, also for a push that a hook of pre-commit makes: then the variables tell of another.
    if os.environ.get("PRE_COMMIT") == "1" and not named.remote:
        return pushed.told(os.environ)
    if sys.stdin is None:
        return named
    if sys.stdin.isatty():
        say(BY_HAND)
        return None
    try:
        with alarm(READ_SECONDS):
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
    except TimeUp as late:
        raise UsageError(f"standard input did not end within {READ_SECONDS:g} s", hint=pushed.HINT) from late
    if len(data) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES:,} bytes say what is pushed", hint=pushed.HINT)
    return Push(pushed.read(data), named.remote, named.url)
