"""The page of all commands, made from what ``--help`` says: ``python -m tests.first_hour.reference`` writes docs/commands.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from reviewbot.cli.group import reviewbot

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"

TOP = """\
# Commands

All commands and options, made from `reviewbot COMMAND --help` by `python -m tests.first_hour.reference`; a test keeps them equal.
`reviewbot help COMMAND` is the same as `reviewbot COMMAND --help`. [Configuration](configuration.md) tells what an option overrides.

"""
OF_EVERYBODY = "--help"

Named = tuple[tuple[str, ...], click.Command]


def commands(command: click.Command = reviewbot, names: tuple[str, ...] = ()) -> Iterator[Named]:
    """Every command that can be typed, with its words: groups before what is in them."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=names[-1] if names else "reviewbot")
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*names, name))


def context_of(names: tuple[str, ...]) -> click.Context:
    """What a command's help is asked with: the context of each word in that of the one before."""
    context = click.Context(reviewbot, info_name="reviewbot", **reviewbot.context_settings)
    for name in names:
        assert isinstance(context.command, click.Group)
        below = context.command.get_command(context, name)
        assert below is not None
        context = click.Context(below, parent=context, info_name=name)
    return context


def helped(names: tuple[str, ...], width: int) -> str:
    """What ``reviewbot … --help`` prints on a terminal of that width."""
    context = context_of(names)
    context.terminal_width = width - 2  # click's own margin
    return context.command.get_help(context)


def page() -> str:
    """The whole page."""
    return TOP + "\n".join(section(names, command) for names, command in commands() if names)


def section(names: tuple[str, ...], command: click.Command) -> str:
    """One command: usage, what it does, examples, options."""
    context = context_of(names)
    words = " ".join(names)
    usage = " ".join([f"reviewbot {words}", *command.collect_usage_pieces(context)])
    parts = [f"{'#' * (1 + len(names))} {words}", f"`{usage}`", *paragraphs(inspect.cleandoc(command.help or ""))]
    if options := list(records(command, context)):
        parts.append("\n".join(["| option | meaning |", "|---|---|", *options]))
    return "\n\n".join(parts) + "\n"


def paragraphs(text: str) -> Iterator[str]:
    """Prose as it is, without its line breaks; the lines of a block as a list."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if lines[0] != "\b":
            yield escaped(" ".join(line.strip() for line in lines))
            continue
        yield escaped(lines[1].strip())
        yield "\n".join(items(lines[2:], are_words=lines[1].strip() == "Examples:"))


def items(lines: list[str], *, are_words: bool) -> Iterator[str]:
    """Lines of a block, each with what is said of it behind two blanks or more."""
    for line in lines:
        first, _, remark = re.sub(r"  +", "\0", line.strip(), count=1).partition("\0")
        told = f": {escaped(remark)}" if remark else ""
        yield f"- `{first}`{told}" if are_words or remark else f"- {escaped(first)}"


def records(command: click.Command, context: click.Context) -> Iterator[str]:
    """A row for each option but that of everybody."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None and OF_EVERYBODY not in parameter.opts:
            name, about = (" ".join(word.split()).replace("|", "\\|") for word in record)
            yield f"| `{name}` | {escaped(about.replace('  [', ' ['))} |"


def escaped(text: str) -> str:
    """Text that Markdown would read as its own signs outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([<>*_])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
