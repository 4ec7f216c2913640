"""The table of commands, and the one place where errors end."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import click

from reviewbot import __version__
from reviewbot.cli.terminal import PASSES, common, say
from reviewbot.errors import ReviewbotError

# A command is a module of this package with a click command called `command`.
COMMANDS = {
    "review": "Review a change.",
    "explain": "Show everything about a finding.",
    "dismiss": "Do not report a finding again.",
    "hook": "Install, remove, show or run the git hooks.",
    "demo": "Review a small project with planted defects.",
    "init": "Write a configuration file.",
    "doctor": "Show what works here and what is missing.",
    "config": "Show or check the configuration.",
    "sessions": "List, show or remove past reviews.",
    "schema": "Print the JSON Schema of a document.",
    "completion": "Print the completion script of a shell.",
}
# The group of entry points in which other packages offer click commands.
ENTRY_POINTS = "reviewbot.commands"
BUG = 70
BROKEN_PIPE = 128 + signal.SIGPIPE  # as a shell reports any program whose reader has gone
FULL = (errno.ENOSPC, errno.EDQUOT)


class Commands(click.Group):
    """Imports a command when it is called, and turns errors into messages and exit codes."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [*COMMANDS, *sorted(_installed_commands() - COMMANDS.keys())]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: object = None
        if cmd_name in COMMANDS:
            command = importlib.import_module(f"reviewbot.cli.{cmd_name}").command
        elif cmd_name in _installed_commands():
            from importlib.metadata import entry_points

            (entry, *_) = entry_points(group=ENTRY_POINTS, name=cmd_name)
            command = entry.load()
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, COMMANDS.get(name, "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ReviewbotError as error:
            say(f"reviewbot: {error}")
            if error.hint:
                say(error.hint)
            code = error.exit_code
        except KeyboardInterrupt:
            say("reviewbot: interrupted")
            code = 128 + signal.SIGINT
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            # What is still buffered would fail once more when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = BROKEN_PIPE
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                name = f" ({error.filename})" if error.filename else ""
                say(f"reviewbot: {error.strerror}{name}")
                say("Free some space, or set TMPDIR to a folder that has some.")
                code = ReviewbotError.exit_code
            else:
                say(_report_bug(error))
                code = BUG
        if code in (BUG, ReviewbotError.exit_code) and ctx.meta.get(PASSES):
            say("NOT REVIEWED: see above; git goes on, because --strict was not given")
            code = 0
        raise SystemExit(code)


@click.command(cls=Commands)
@click.version_option(__version__)
@common
def reviewbot() -> None:
    """Review changes by a panel of language models over executed evidence."""


def _installed_commands() -> set[str]:
    from importlib.metadata import entry_points

    return {entry.name for entry in entry_points(group=ENTRY_POINTS)}


def _report_bug(error: Exception) -> str:
    """Write a report without secrets and environment; return the line that says where it is."""
    import platform
    import tempfile
    import traceback

    from reviewbot.text.secrets import redact

    trace = "".join(traceback.format_exception(error))
    about = f"reviewbot {__version__}, Python {platform.python_version()}, {platform.platform()}"
    report = redact(f"{about}\narguments: {sys.argv[1:]!r}\n\n{trace}")[0]
    line = f"reviewbot: this is a bug in reviewbot: {type(error).__name__}"
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    for folder in (Path(state, "reviewbot/bugs"), Path(tempfile.gettempdir())):
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix="reviewbot-bug-", suffix=".txt", dir=folder)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(report)
            return f"{line}; please attach {name} to an issue"
    return line
