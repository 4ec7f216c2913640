"""The table of commands, and the one place where errors end."""

import errno
import importlib
import os
import signal
import sys
from contextlib import suppress

import click

from reviewbot.cli.terminal import PASSES, Group, say
from reviewbot.errors import ReviewbotError
from reviewbot.plugins import plugins
from reviewbot.version import __version__

# A command is a module of this package with a click command called `command`. Other packages offer
# click commands as entry points of the group `reviewbot.commands`.
COMMANDS = {
    "review": "Review a change.",
    "fix": "Fix what a review finds.",
    "develop": "Build what a description asks for.",
    "negotiate": "Let the panel negotiate what is to be done.",
    "chat": "Talk with the models of the panel.",
    "explain": "Show everything about a finding.",
    "dismiss": "Do not report a finding again.",
    "hook": "Install, remove, show or run the git hooks.",
    "demo": "Review a small project with planted defects.",
    "init": "Write a configuration file.",
    "doctor": "Show what works here and what is missing.",
    "config": "Show or check the configuration.",
    "models": "Show or test the models of the panel.",
    "sessions": "List, show, replay, export or remove past reviews.",
    "serve": "Serve the REST API.",
    "github": "Review a pull request in a GitHub workflow.",
    "schema": "Print the JSON Schema of a document.",
}
BUG = 70
BROKEN_PIPE = 128 + signal.SIGPIPE  # as a shell reports any program whose reader has gone
# What the machine refuses is no bug.
FULL = "Free some space, or set TMPDIR to a folder that has some."
OPEN = "Allow more open files: ulimit -n 1024"
HINTS = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EMFILE: OPEN}
HINTS |= dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Check who may read and write it.")
HINTS[errno.EISDIR] = "Name a file. Variables of git count too, such as GIT_INDEX_FILE."


class Commands(Group):
    """Imports a command when it is called, and turns errors into messages and exit codes."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [*COMMANDS, *sorted(plugins("reviewbot.commands"))]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = importlib.import_module(f"reviewbot.cli.{cmd_name}").command
            return command
        entry = plugins("reviewbot.commands").get(cmd_name)
        return entry.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = dict.fromkeys(self.list_commands(ctx), "")
        for name, entry in plugins("reviewbot.commands").items():
            with suppress(ImportError, AttributeError):  # a broken one is listed as well
                rows[name] = entry.load().get_short_help_str(formatter.width)
        with formatter.section("Commands"):
            formatter.write_dl([*(rows | COMMANDS).items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            say("reviewbot: interrupted")
            code = 128 + signal.SIGINT
        except BrokenPipeError:
            code = BROKEN_PIPE
        except Exception as error:
            passes = bool(ctx.meta.get(PASSES))
            code = _explain(error, "NOT REVIEWED" if passes else "reviewbot")
            code = 0 if passes else code
        raise SystemExit(code)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def reviewbot() -> None:
    """Review changes by a panel of language models over executed evidence."""


def _explain(error: Exception, prefix: str) -> int:
    """Say what is wrong and what to do; return the exit code.

    A bug is written into a file, without secrets and without the environment.
    """
    if isinstance(error, FileNotFoundError) and not error.filename:  # of the program's own folder
        error = ReviewbotError("the current folder is gone", hint="go to one that is there")
    if isinstance(error, OSError) and (hint := HINTS.get(error.errno or 0)):
        name = f" ({error.filename2 or error.filename})" if error.filename else ""
        error = ReviewbotError(f"{error.strerror}{name}", hint=hint)
    if isinstance(error, ReviewbotError):
        say(f"{prefix}: {error}")
        if error.hint:
            say(error.hint)
        return error.exit_code
    import tempfile
    import traceback

    from reviewbot.text.secrets import redact

    trace = "".join(traceback.format_exception(error))
    about = f"reviewbot {__version__}, Python {sys.version}, {sys.platform}"
    attach = ""
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix="reviewbot-bug-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(redact(f"{about}\narguments: {sys.argv[1:]!r}\n\n{trace}")[0])
        attach = f"; please attach {name} to an issue"
    say(f"{prefix}: this is a bug in reviewbot: {type(error).__name__}{attach}")
    return BUG
