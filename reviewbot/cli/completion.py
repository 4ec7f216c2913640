"""``reviewbot completion``: the script that teaches a shell reviewbot's words, and the answers that it asks for at every TAB."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from reviewbot.cli.output import deliver
from reviewbot.errors import ReviewbotError, UsageError

#: A shell: where a script is found without being named anywhere (below the home), the file that every shell reads, and the line
#: for it.
SHELLS = {
    "bash": (".local/share/bash-completion/completions/reviewbot", ".bashrc", 'eval "$(reviewbot completion bash)"'),
    "zsh": (".zfunc/_reviewbot", ".zshrc", 'eval "$(reviewbot completion zsh)"'),
    "fish": (".config/fish/completions/reviewbot.fish", ".config/fish/config.fish", "reviewbot completion fish | source"),
}
VARIABLE = "_REVIEWBOT_COMPLETE"
"""What a script sets to ask: the shell's name and ``_complete``. The words so far are in COMP_WORDS and COMP_CWORD."""

WORDS = """\
# Completion of reviewbot for {shell}. To have it in every shell, put this line into ~/{startup}:
#   {line}
# or, so that no shell starts slower for it, write it where {shell} looks when it is wanted{remark}:
#   mkdir -p ~/{folder} && reviewbot completion {shell} >~/{path}
"""
REMARKS = {
    "bash": " (with the package bash-completion)",
    "zsh": " (with 'fpath+=~/.zfunc' before 'compinit' in ~/.zshrc)",
    "fish": "",
}


@click.command("completion")
@click.argument("shell", required=False, metavar="[SHELL]", type=click.Choice(tuple(SHELLS)))
def completion(shell: str | None) -> int:
    """Print the completion script of a shell: bash, zsh or fish.

    Commands, options, their values, revisions and the findings of the last review are completed. Without SHELL, it is the shell
    that the variable $SHELL names. How to install the script stands at its top. bash must be 4.4 or newer.

    \b
    Examples:
      eval "$(reviewbot completion bash)"             in this shell
      reviewbot completion zsh >~/.zfunc/_reviewbot
    """
    root = click.get_current_context().find_root().command
    deliver(script(shell or guessed(os.environ), root))
    return 0


def guessed(environ: Mapping[str, str]) -> str:
    """The shell that ``$SHELL`` names. Raises UsageError for one that is not known."""
    name = Path(environ.get("SHELL", "")).name
    if name not in SHELLS:
        said = f"$SHELL is {name!r}" if name else "$SHELL does not say which shell this is"
        raise UsageError(said, hint=f"name one: reviewbot completion {'|'.join(SHELLS)}")
    return name


def script(shell: str, root: click.Command) -> str:
    """The script, click's own, with words on top about where it belongs. zsh wants its own first line to stay the first."""
    kind = get_completion_class(shell)
    assert kind is not None
    source = kind(root, {}, "reviewbot", VARIABLE).source()
    path, startup, line = SHELLS[shell]
    folder = path.rpartition("/")[0]
    words = WORDS.format(shell=shell, startup=startup, line=line, remark=REMARKS[shell], folder=folder, path=path)
    first, rest = source.split("\n", 1) if source.startswith("#compdef") else ("", source)
    return f"{first}\n{words}{rest}" if first else f"{words}{source}"


def answer(instruction: str, root: click.Command) -> int:
    """Print what could come next, as the script of this shell reads it. To what is wrong so far nothing fits."""
    kind = get_completion_class(instruction.partition("_")[0])
    if kind is None or sys.stdout is None or not {"COMP_WORDS", "COMP_CWORD"} <= set(os.environ):
        return 1
    try:
        found = kind(root, {}, "reviewbot", VARIABLE).complete()
    except (ReviewbotError, click.ClickException, ValueError):
        return 0
    deliver(found)
    return 0


def installed(shell: str, home: Path) -> bool:
    """Is completion set up for a shell, as far as its usual files tell?"""
    path, startup, _ = SHELLS[shell]
    try:
        return (home / path).is_file() or "reviewbot completion" in (home / startup).read_text("utf-8", "replace")
    except OSError:
        return False
