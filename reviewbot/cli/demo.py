"""``reviewbot demo``: the first minute."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from reviewbot.cli.options import ReviewArguments, demo_options
from reviewbot.cli.output import say
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.specimen import SUBJECT, build, planted_lines

Review = Callable[[ReviewArguments], int]


@click.command("demo", cls=Sectioned)
@demo_options
def demo(arguments: ReviewArguments) -> int:
    """Build a small repository with planted defects in a temporary folder and review it.

    The static panel reviews, whatever keys are here, so that a first look costs nothing; --panel models asks language models.
    The folder is removed again.

    \b
    Examples:
      reviewbot demo
      reviewbot demo -v                               the whole debate
      reviewbot demo --format html -o demo.html       a page for a browser

    Exit codes are those of `reviewbot review`.
    """
    from reviewbot.cli.review import run

    panel = arguments.panel if arguments.panel or arguments.model else "static"
    return show(replace(arguments, target="HEAD", panel=panel), review=run)


def show(arguments: ReviewArguments, *, review: Review) -> int:
    """Build the specimen, have it reviewed, and say what there was to find."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-demo-") as folder:
        shop = Path(folder) / "shop"
        build(shop, os.environ.get("PATH", os.defpath))
        if not arguments.quiet:
            say(f'A small shop. Its last commit, "{SUBJECT}",\nhas {len(planted_lines())} planted defects.\n')
        code = review(replace(arguments, repo=shop))
    if not arguments.quiet:
        planted = "\n".join(f"  {line}" for line in planted_lines())
        say(f"\nPlanted in that commit:\n{planted}\n\nNext, in a repository of your own: reviewbot review")
    return code
