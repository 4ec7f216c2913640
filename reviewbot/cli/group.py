"""The click group: a command's module is imported when the command is called, and not before."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from reviewbot import __version__
from reviewbot.cli import COMMANDS
from reviewbot.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EPILOG = (
    "Exit codes: 0 done, 1 findings at or above --fail-on, 2 usage or configuration, 3 incomplete or could not run, "
    "70 a bug in reviewbot, 130 interrupted."
)


class Commands(click.Group):
    """The commands of a table like :data:`reviewbot.cli.COMMANDS`."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]] = COMMANDS, **more: Any) -> None:
        super().__init__(*args, **more)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        del ctx
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that is called."""
        del ctx
        if cmd_name not in self.table:
            return None
        module, _ = self.table[cmd_name]
        command = getattr(import_module(module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown name with the nearest known one."""
        name = args[0]
        if name not in self.table and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.table, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(self.table)}"
            raise UsageError(f"no such command {name!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete a name from the table without importing what it names."""
        from click.shell_completion import CompletionItem

        fitting = [CompletionItem(name, help=line) for name, (_, line) in self.table.items() if name.startswith(incomplete)]
        return [*fitting, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the table without importing what it names."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])


@click.group(
    cls=Commands,
    name="reviewbot",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def reviewbot() -> None:
    """Review a change by debate over executed evidence.

    Without arguments, `reviewbot review` looks at uncommitted work, or else at the last commit. A first look: `reviewbot demo`.
    To set a repository up: `reviewbot init`. What is missing: `reviewbot doctor`. More about a command: `reviewbot help COMMAND`.
    """


def invoke(arguments: list[str]) -> int:
    """Run one command line; every usage error leaves as :class:`UsageError`. ``help COMMAND`` is ``COMMAND --help``."""
    if (asked := os.environ.get("_REVIEWBOT_COMPLETE")) and not arguments:
        from reviewbot.cli.completion import answer

        return answer(asked, reviewbot)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with reviewbot.make_context("reviewbot", arguments) as context:
            code = reviewbot.invoke(context)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        raise UsageError(_sentence(error), hint=_hint(error)) from error
    return code if isinstance(code, int) else 0


def _sentence(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    return message[:1].lower() + message[1:]


def _hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"try '{context.command_path} --help'" if context and "did you mean" not in _sentence(error) else ""
