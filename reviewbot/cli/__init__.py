"""The command line: the table of commands, and the one place where every error ends.

Nothing heavy is imported here: ``reviewbot --version`` needs neither click nor the command it does not run.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from contextlib import suppress

from reviewbot import __version__
from reviewbot.errors import ReviewbotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Name of a command: the module that holds its click command under the same name, and its line in ``--help``.
COMMANDS = {
    "review": ("reviewbot.cli.review", "Review a change and print the consensus."),
    "fix": ("reviewbot.cli.fix", "Review a change, and write the fixes that proved themselves."),
    "collect": ("reviewbot.cli.collect", "Zone R: run the checks of a change and write down what a debate needs. No key."),
    "debate": ("reviewbot.cli.debate", "Zone M: hold the debate over those documents. Models, and no code of the change."),
    "publish": ("reviewbot.cli.publish", "Zone W: print a finished review, or post it, every place held against the change."),
    "github": ("reviewbot.cli.github", "Do the work of one GitHub Actions run: the Action calls it."),
    "demo": ("reviewbot.cli.demo", "Build a small repository with planted defects and review it."),
    "hook": ("reviewbot.cli.hook", "Install, remove, describe or run the git hooks of this repository."),
    "dismiss": ("reviewbot.cli.dismiss", "Remember that a finding is not to be raised again, and why."),
    "ask": ("reviewbot.cli.ask", "Ask the panel a question about a change."),
    "explain": ("reviewbot.cli.explain", "Tell who said what about one finding of the last review."),
    "status": ("reviewbot.cli.status", "Say which debates run or were interrupted, and how the last ones ended."),
    "sessions": ("reviewbot.cli.sessions", "List, show, replay or export past debates."),
    "models": ("reviewbot.cli.models", "Say which models could review here, and how fast local ones are."),
    "init": ("reviewbot.cli.init", "Write a configuration file, git hooks, workflows for GitHub."),
    "config": ("reviewbot.cli.config", "Show the effective configuration, or validate a file."),
    "doctor": ("reviewbot.cli.doctor", "Say what is found here, what is missing, and the next step."),
    "completion": ("reviewbot.cli.completion", "Print the completion script of a shell."),
    "schema": ("reviewbot.cli.schema", "Print the JSON Schema of a document."),
}

GOES_ON = "NOT REVIEWED: that is a bug in reviewbot and none in your change; git goes on (with --strict it does not)"
OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT)
EXIT_USAGE = 2
EXIT_BUG = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143  # 128 + SIGTERM
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE: what a shell reports of any tool whose reader went away


def program() -> None:
    """``reviewbot`` as a process. Everything was closed by then: taking hundreds of modules apart would cost 0.1 s more."""
    code = main()
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (``sys.argv`` by default) and return its exit code. Never raises."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _ended("reviewbot: interrupted", EXIT_INTERRUPTED)
    except _Terminated:
        return _ended("reviewbot: terminated", EXIT_TERMINATED)
    except Exception as error:  # noqa: BLE001 - the one catcher: every error becomes a line and an exit code
        return _failed(error, arguments)
    return code


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        print(f"reviewbot {__version__}")
        return 0
    if is_hook := arguments[:3] == ["hook", "run", "pre-commit"]:
        from reviewbot.cli import glance

        if (code := glance.answered(arguments, os.environ)) is not None:
            return code
    # A command lives for seconds and makes many small values: looking for cycles among them costs up to a fifth of it.
    gc.set_threshold(50_000, 20, 20)
    signal.signal(signal.SIGTERM, _terminate)
    if is_hook and (options := glance.options(arguments)) is not None and options.get("--format", "text") == "text":
        from reviewbot.cli import hook_work

        return hook_work.plain(options, arguments)
    from reviewbot.cli.group import invoke

    return invoke(arguments)


class _Terminated(BaseException):
    """SIGTERM arrived: leave as an interrupt does, so that nothing is left behind."""


def _terminate(_number: int, _frame: object) -> None:
    raise _Terminated


def _failed(error: Exception, arguments: list[str]) -> int:
    """One line for the person, and the exit code that the error stands for."""
    if isinstance(error, BrokenPipeError):
        return _ended("", EXIT_BROKEN_PIPE)
    if isinstance(error, ReviewbotError):
        return _ended(_line(str(error)), error.exit_code)
    if isinstance(error, OSError) and error.errno in OUT_OF_SPACE:
        place = f" ({error.filename})" if error.filename else ""
        return _ended(_line(f"cannot write the output: {error.strerror}{place}; free some space"), EXIT_USAGE)
    from reviewbot.cli.crash import report

    line = _line(report(error, arguments))
    if arguments[:2] == ["hook", "run"] and "--strict" not in arguments:
        return _ended(f"{line}\n{GOES_ON}", 0)
    return _ended(line, EXIT_BUG)


def _line(message: str) -> str:
    """The message as one line that cannot steer a terminal and shows no known secret."""
    from reviewbot.screen import hidden, secrets

    redacted, _ = secrets.redact(" ".join(message.split()))
    return f"reviewbot: error: {hidden.visible(redacted)}"


def _ended(line: str, code: int) -> int:
    """Say the line on stderr and let nothing that is still buffered fail again when Python shuts down."""
    try:
        if line and sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody is left to read it
    _drop_output()
    return code


def _drop_output() -> None:
    """Send what stdout still holds to nowhere where it cannot be written."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
