"""What could be typed where only this place knows it. Asked for at a TAB."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Items = list[CompletionItem[str]]

_PLAIN = re.compile(r"[\w][\w./-]*", re.ASCII)
"""A revision that a shell takes for nothing but a word. git lets a branch be named ``$(rm -r .)``."""
MOST = 200
MOST_HELP = 60


def revisions(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Branches and tags; after ``..`` or ``...`` the other end of a range."""
    del parameter
    import subprocess

    before, dots, begun = incomplete.rpartition("..")
    place = context.params.get("repo") or Path()
    command = ("git", "for-each-ref", f"--count={MOST}", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    try:
        done = subprocess.run(command, cwd=place, env=_plain_environment(), capture_output=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    names = (name for name in done.stdout.decode("utf-8", "replace").split("\n") if _PLAIN.fullmatch(name))
    return fitting(((f"{before}{dots}{name}", "") for name in names), f"{before}{dots}{begun}")


def panels(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """The panels that are always there."""
    del context, parameter
    return fitting((("static", "no language model"), ("models", "language models, by the keys that are here")), incomplete)


def fitting(known: Iterable[tuple[str, str]], begin: str) -> Items:
    """Those that begin like this. What is told beside them is one legible line."""
    from click.shell_completion import CompletionItem

    from reviewbot.screen import hidden

    known_here = ((word, " ".join(about.split())) for word, about in known if word.startswith(begin))
    return [CompletionItem(word, help=hidden.visible(about)[:MOST_HELP] or None) for word, about in known_here]


def _plain_environment() -> dict[str, str]:
    """What git needs, and nothing that steers it."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/nonexistent"), "LC_ALL": "C"}
