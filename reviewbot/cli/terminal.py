"""Options that every command has, before or after its name, and how commands print."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from inspect import iscoroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from reviewbot.errors import ReviewbotError

if TYPE_CHECKING:
    from reviewbot.reports.words import Style

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
COLORS = ("cyan", "green", "yellow", "magenta", "blue", "red")  # of models
# In the `meta` of a context: what reviewbot cannot do stops neither commit nor push.
PASSES = "reviewbot.passes"


class _Place(click.Path):
    """Where something is written. That it cannot be there is said before the work."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        place = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not value:
            self.fail("it is empty", param, ctx)
        if self.file_okay and not place.parent.is_dir():
            self.fail(f"there is no folder {place.parent}", param, ctx)
        return place


FOLDER = _Place(file_okay=False)
output_option = partial(click.option, type=_Place(dir_okay=False), metavar="FILE")
state_option = click.option("--state", type=FOLDER, metavar="DIR", help="Where reviews are kept.")
env_file_option = click.option("--env-file", type=FILE, metavar="FILE", help="Variables to add.")

# The bytes of a file, or of standard input for "-".
CONTENT: dict[str, Any] = {
    "type": click.File("rb"),
    "callback": lambda _ctx, _parameter, file: file and file.read(),
    "metavar": "FILE",
}


def panel_options(command: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
    """Add the options that all commands have that ask the panel."""
    option, role = click.option, "ROLE=PROVIDER:MODEL"
    for add in (
        state_option,
        env_file_option,
        option("--fresh", is_flag=True, help="Run checks and ask models again."),
        option("--timeout", type=click.IntRange(1), metavar="SECONDS", help="End after this time."),
        option("--max-cost-usd", type=click.FloatRange(0), metavar="N", help="Most to be spent."),
        option("--model", multiple=True, metavar=role, help="Ask it for a role, such as critic."),
    ):
        command = add(command)
    return command


class Command(click.Command):
    """A command with -C, -v, -q and --color, which returns its exit code or a coroutine of it."""

    def __init__(self, *, callback: Callable[..., Any], **given: Any) -> None:
        @wraps(callback)
        def run(*args: Any, **kwargs: Any) -> None:
            code = callback(*args, **kwargs)
            ctx = click.get_current_context()
            if isinstance(self, Group) and ctx.invoked_subcommand is None:
                ctx.invoke(next(iter(self.commands.values())))  # the first of its commands
            if iscoroutine(code):
                import asyncio  # --help needs none

                code = asyncio.run(code)
            if code:
                raise SystemExit(code)

        super().__init__(callback=run, **given)
        option = partial(click.Option, expose_value=False, callback=_remember)
        folder = click.Path(exists=True, file_okay=False)
        in_folder = partial(option, type=folder, is_eager=True, callback=_change_directory)
        colors = click.Choice(("auto", "always", "never"))
        self.params += (
            in_folder(["-C", "directory"], metavar="DIR", help="Run as if started in DIR."),
            option(["-v", "--verbose"], is_flag=True, help="Print more."),
            option(["-q", "--quiet"], is_flag=True, help="Print less."),
            option(["--color"], type=colors, help="Use colours."),
        )


class Group(Command, click.Group):
    command_class = Command


def is_given(name: str) -> bool:
    """Whether "quiet" or "verbose" was given, before or after the name of the command."""
    return bool(click.get_current_context().meta.get(f"reviewbot.{name}"))


def say(line: str, *, by: str = "") -> None:
    """Print a line for people, in the colour of the model whose words it has."""
    from reviewbot.text.secrets import safe

    text, is_colored = safe(line), bool(by) and uses_color()
    if is_colored:
        known: dict[str, int] = click.get_current_context().meta.setdefault("reviewbot.colors", {})
        text = click.style(text, fg=COLORS[known.setdefault(by, len(known)) % len(COLORS)])
    with suppress(OSError):  # nobody reads it, or the terminal has gone
        click.echo(text, err=True, color=is_colored)


def deliver(document: str, file: Path | None = None) -> None:
    """Print a document, or write it to a file, as UTF-8 in any locale. Raises ReviewbotError."""
    text = document if document.endswith("\n") or not document else f"{document}\n"
    # A surrogate stands for a byte of a file name that is not UTF-8.
    content = text.encode("utf-8", "backslashreplace")
    if file is None or str(file) == "-":  # as in other programs
        click.echo(content, nl=False)
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}"
        raise ReviewbotError(message, hint="name another file with -o") from error


def wait_for(answer: Callable[[], Answer]) -> Answer:
    """What a person answers, at a prompt that Ctrl-C ends: asyncio's handler would wait for it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return answer()
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, handler)


def uses_color() -> bool:
    """--color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that has colours."""
    choice = click.get_current_context().meta.get("reviewbot.color") or "auto"
    if choice != "auto" or os.environ.get("NO_COLOR"):
        return bool(choice == "always")
    is_forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return is_forced or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def style_for(file: Path | None = None) -> Style:
    """How to print a report, to standard output or into a file."""
    from reviewbot.reports.words import Style

    return Style(
        color=file is None and uses_color(),
        width=shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100,
        verbose=is_given("verbose"),
        quiet=is_given("quiet"),
    )


def _remember(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        ctx.meta[f"reviewbot.{parameter.name}"] = value


def _change_directory(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        os.chdir(value)
