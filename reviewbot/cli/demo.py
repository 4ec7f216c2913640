"""``reviewbot demo``: the first minute."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from reviewbot.cli.options import COLORS, FORMATS, ReviewArguments
from reviewbot.cli.output import say
from reviewbot.cli.specimen import SUBJECT, build, planted_lines

Review = Callable[[ReviewArguments], int]


@click.command("demo")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to this file.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what was asked for.")
@click.option("-v", "--verbose", is_flag=True, help="Show the whole debate.")
@click.option("--color", type=click.Choice(COLORS), help="Colour; by default on a terminal without NO_COLOR.")
def demo(format: str, output: Path | None, *, quiet: bool, verbose: bool, color: str | None) -> int:  # noqa: A002
    """Build a small repository with planted defects in a temporary folder and review it."""
    from reviewbot.cli.review import run

    arguments = ReviewArguments(target="HEAD", format=format, output=output, quiet=quiet, verbose=verbose, color=color)
    return show(arguments, review=run)


def show(arguments: ReviewArguments, *, review: Review) -> int:
    """Build the specimen, have it reviewed, and say what there was to find."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-demo-") as folder:
        shop = Path(folder) / "shop"
        build(shop, os.environ.get("PATH", os.defpath))
        if not arguments.quiet:
            say(f'A small shop, and a commit "{SUBJECT}" with {len(planted_lines())} planted defects.\n')
        code = review(replace(arguments, repo=shop))
    if not arguments.quiet:
        planted = "\n".join(f"  {line}" for line in planted_lines())
        say(f"\nPlanted in that commit:\n{planted}\n\nNext, in a repository of your own: reviewbot review")
    return code
