from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from reviewbot.cli.host import open_state
from reviewbot.cli.terminal import common, deliver, say, state_option, style_for
from reviewbot.errors import UsageError
from reviewbot.reports import FORMATS, render, words
from reviewbot.state import State
from reviewbot.text.plain import plain


@click.group(invoke_without_command=True)
@state_option
@common
@click.pass_context
def command(ctx: click.Context, state: Path | None) -> None:
    """List, show or remove past reviews. Without a command, they are listed."""
    ctx.obj = open_state(state)
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@command.command("list")
@common
@click.pass_obj
def list_(state: State) -> None:
    """List past reviews, the newest first."""
    lines = []
    for id in state.ids():
        if review := state.load(id):
            time = datetime.strptime(id, "%Y%m%d-%H%M%S-%f").replace(tzinfo=UTC).astimezone()
            about = f"{review.target} {review.title}".strip()
            lines.append(plain(f"{id}  {time:%Y-%m-%d %H:%M}  {words.headline(review)}  {about}"))
    if not lines:
        say("reviewbot: there is no review yet")
    deliver("\n".join(lines))


@command.command
@click.argument("id", default="")
@click.option("--format", default="text", metavar="NAME", help=f"One of {', '.join(FORMATS)}.")
@common
@click.pass_obj
def show(state: State, id: str, format: str) -> None:
    """Show a review again, by default the newest."""
    review = state.load(id) if id else state.newest()
    if review is None:
        raise UsageError(f"there is no review {id} that can be read", hint="reviewbot sessions")
    deliver(render(review, format, style_for()))


@command.command
@common
@click.pass_obj
def prune(state: State) -> None:
    """Remove all past reviews and recorded results. Dismissals stay."""
    count = len(state.ids())
    state.prune()
    say(f"reviewbot: {count} reviews and all recorded results are removed from {state.folder}")
