"""Commands that fail in every way a command can fail."""

from __future__ import annotations

import sys
import time

import click

from reviewbot.errors import ConfigError, SandboxError

# Assembled, so that no scanner takes this file for a leak.
KEY = "AKIA" + "Z7QW3M5RT2XK6NLP"


@click.command("boom")
def boom() -> None:
    """A bug whose message holds a key."""
    raise ValueError(f"cannot use {KEY}")


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def hook(words: tuple[str, ...]) -> None:
    """A bug in a hook."""
    raise ValueError(f"cannot read {words}")


@click.command("refuse")
def refuse() -> None:
    """A configuration error whose message tries to steer a terminal."""
    raise ConfigError(f"\x1b[2J\n::error::{KEY} in debate.rounds", hint="write a number")


@click.command("unable")
def unable() -> None:
    """A review that could not run."""
    raise SandboxError("no sandbox starts here", hint="install bubblewrap")


@click.command("wait")
def wait() -> None:
    """Something that takes its time."""
    click.echo("waiting")
    time.sleep(30)


@click.command("fill")
def fill() -> None:
    """More output than any pipe holds."""
    click.echo("x" * 1_000_000)


@click.command("trickle")
def trickle() -> None:
    """A few words that stay in the buffer."""
    sys.stdout.write("few words")


@click.command("falter")
def falter() -> None:
    """A few words in the buffer, and then an error."""
    sys.stdout.write("few words")
    raise SandboxError("no sandbox starts here", hint="install bubblewrap")
