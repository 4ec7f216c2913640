from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from reviewbot.cli.host import open_state
from reviewbot.cli.options import common, state_option
from reviewbot.cli.output import deliver, say, style_for
from reviewbot.errors import UsageError
from reviewbot.reports import FORMATS, render, words
from reviewbot.text.plain import plain


@click.group(invoke_without_command=True)
@state_option
@common
@click.pass_context
def command(ctx: click.Context, state: Path | None) -> None:
    """List, show or remove past reviews. Without a command, they are listed."""
    ctx.obj = open_state(state, os.environ)
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@command.command("list")
@common
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List past reviews, the newest first."""
    lines = []
    for id in ctx.obj.ids():
        if review := ctx.obj.load(id):
            time = datetime.strptime(id, "%Y%m%d-%H%M%S-%f").replace(tzinfo=UTC).astimezone()
            about = f"{review.target} {review.title}".strip()
            lines.append(plain(f"{id}  {time:%Y-%m-%d %H:%M}  {words.headline(review)}  {about}"))
    if not lines:
        say("reviewbot: there is no review yet")
    deliver("\n".join(lines), None)


@command.command
@click.argument("id", required=False)
@click.option("--format", default="text", metavar="NAME", help=f"One of {', '.join(FORMATS)}.")
@common
@click.pass_context
def show(ctx: click.Context, id: str | None, format: str) -> None:
    """Show a review again, by default the newest. The beginning of ID is enough."""
    ids = [known for known in ctx.obj.ids() if known.startswith(id or "")]
    if not ids or (id and len(ids) > 1):
        message = f"{len(ids) or 'no'} reviews have an id that begins with {id}"
        raise UsageError(message if id else "there is no review yet", hint="reviewbot sessions")
    review = ctx.obj.load(ids[0])
    if review is None:
        raise UsageError(f"{ids[0]} was written by another version of reviewbot")
    deliver(render(review, format, style_for()), None)


@command.command
@common
@click.pass_context
def prune(ctx: click.Context) -> None:
    """Remove all past reviews and recorded results. Dismissals stay."""
    count = len(ctx.obj.ids())
    ctx.obj.prune()
    say(f"reviewbot: {count} reviews and all recorded results are removed from {ctx.obj.folder}")
