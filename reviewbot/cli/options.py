"""The options that commands share, as decorators that hand over one frozen value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from reviewbot.cli import suggest
from reviewbot.cli.arguments import Common as Common
from reviewbot.cli.arguments import DebateArguments as DebateArguments
from reviewbot.cli.arguments import FixArguments as FixArguments
from reviewbot.cli.arguments import HookArguments as HookArguments
from reviewbot.cli.arguments import ReviewArguments as ReviewArguments

FORMATS = ("text", "json", "markdown", "sarif", "html", "rdjson")
SEVERITIES = ("none", "low", "medium", "high", "critical")
SANDBOXES = ("auto", "bubblewrap", "container", "unconfined", "none")
COLORS = ("auto", "always", "never")
EFFORTS = ("low", "medium", "high")
LOG_FORMATS = ("text", "json")
LISTINGS = ("text", "json")
ANSWERS = ("text", "json", "markdown")
ORIGINS = ("runner", "author")

Handler = TypeVar("Handler", bound=Callable[..., Any])
Decorator = Callable[[Handler], Handler]

_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEW_FILE = click.Path(dir_okay=False, path_type=Path)
_NEW_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_LISTING = click.option("--format", type=click.Choice(LISTINGS), default="text", show_default=True, help="What to print.")
_POSITIVE = click.FloatRange(min=0, min_open=True)

_FAIL_ON = click.option(
    "--fail-on", type=click.Choice(SEVERITIES), help="Exit 1 for findings this bad or worse; as configured, else never."
)
_LOG_FORMAT = click.option(
    "--log-format",
    type=click.Choice(LOG_FORMATS),
    default="text",
    show_default=True,
    help="How progress is told on standard error.",
)
_RESUME = click.option(
    "--resume/--fresh", default=True, help="Go on where an equal review was (default), or pay for everything again."
)
_ROUNDS = click.option(
    "--rounds", type=click.IntRange(0, 5), metavar="N", help="Rounds per disputed claim; as configured, else 2."
)
_TIMEOUT = click.option(
    "--timeout", type=_POSITIVE, metavar="SECONDS", help="Take at most this long; as configured, else 300 s, a hook 120 s."
)
REPO = click.option("-C", "--repo", type=_DIRECTORY, default=Path(), help="Work in this directory instead of the current one.")
_CONFIG = click.option("--config", type=_FILE, help="Read this file instead of the repository's configuration.")

TOLD: tuple[Decorator[Any], ...] = (
    click.option("-q", "--quiet", is_flag=True, help="Say only what was asked for: no progress, no notices."),
    click.option("-v", "--verbose", is_flag=True, help="Show more: of a review the whole debate."),
    click.option("--color", type=click.Choice(COLORS), help="Use colour; by default on a terminal, unless NO_COLOR is set."),
)

ANYWHERE: tuple[Decorator[Any], ...] = (
    click.option("--env-file", type=_FILE, help="Fill what the environment lacks from NAME=VALUE lines of this file."),
    click.option("--state", type=_NEW_DIRECTORY, help="Keep what is remembered here, not in ~/.local/state/reviewbot."),
    *TOLD,
)

COMMON: tuple[Decorator[Any], ...] = (REPO, _CONFIG, *ANYWHERE)

REPORT: tuple[Decorator[Any], ...] = (
    click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print."),
    click.option("-o", "--output", type=_NEW_FILE, help="Write the report to this file instead of standard output."),
)

SEATS: tuple[Decorator[Any], ...] = (
    click.option(
        "--panel",
        metavar="NAME",
        shell_complete=suggest.panels,
        help="Who reviews: static, models, or a configured panel; by default models where a key is set, static before a commit.",
    ),
    click.option(
        "--model",
        multiple=True,
        metavar="[ROLE=]PROVIDER:MODEL",
        help="Who sits in a role, or without one on every seat. Repeatable.",
    ),
)

PANEL: tuple[Decorator[Any], ...] = (
    *SEATS,
    click.option("--effort", type=click.Choice(EFFORTS), help="How much thought models spend; as configured, else medium."),
    click.option(
        "--max-cost-usd",
        type=click.FloatRange(min=0),
        metavar="USD",
        help="Spend at most so many US dollars; as configured, else 0.50.",
    ),
    _LOG_FORMAT,
)

TARGETS: tuple[Decorator[Any], ...] = (
    click.argument("target", required=False, shell_complete=suggest.revisions),
    click.option("--staged", is_flag=True, help="Review the index against HEAD."),
    click.option("--worktree", is_flag=True, help="Review everything uncommitted against HEAD."),
    click.option(
        "--base",
        metavar="REF",
        shell_complete=suggest.revisions,
        help="Review HEAD since it left REF: what a pull request into REF would show.",
    ),
    click.option("--patch", metavar="FILE|-", help="Review a unified diff, - for standard input; no repository is needed."),
)

CHECKS: tuple[Decorator[Any], ...] = (
    click.option(
        "--sandbox", type=click.Choice(SANDBOXES), help="Where tests run; as configured, else the best that starts here."
    ),
    click.option("--no-exec", is_flag=True, help="Run no test and no linter."),
)

_ALL = click.option("--all", is_flag=True, help="Audit the whole tree of HEAD, or of the commit TARGET.")
REVIEW: tuple[Decorator[Any], ...] = (
    *TARGETS,
    _ALL,
    *PANEL,
    _RESUME,
    click.option("--dry-run", is_flag=True, help="Say who would be asked what and the most it could cost; ask nobody."),
    *REPORT,
    _FAIL_ON,
    _TIMEOUT,
    _ROUNDS,
    *CHECKS,
    *COMMON,
)

ASK: tuple[Decorator[Any], ...] = (
    *TARGETS,
    *PANEL,
    _RESUME,
    click.option("--format", type=click.Choice(ANSWERS), default="text", show_default=True, help="What to print."),
    click.option("-o", "--output", type=_NEW_FILE, help="Write the answer to this file instead of standard output."),
    _TIMEOUT,
    *COMMON,
)

GOALS = ("performance", "refactor", "tests")
FIX: tuple[Decorator[Any], ...] = (
    *TARGETS,
    _ALL,
    click.option("--finding", multiple=True, metavar="F1", help="Fix this finding. Repeatable; by default all."),
    click.option("-y", "--yes", is_flag=True, help="Write every fix that is proven, and ask nothing."),
    click.option("--commit", is_flag=True, help="Make one commit for each finding."),
    click.option("--write-patch", type=_NEW_FILE, metavar="FILE", help="Write a patch instead of the files."),
    click.option("--unproven", is_flag=True, default=None, help="Also write fixes that no check proves."),
    click.option("--undo", is_flag=True, help="Take back what was written last."),
    click.option("--report", metavar="FILE", help="Mend what this report of a bug tells; - reads standard input."),
    click.option("--goal", type=click.Choice(GOALS), help="Make something else than fixes of findings."),
    click.option("--benchmark", metavar="CMD", default="", help="What is to be faster: a command, or a configured one by name."),
    click.option("--instruction", metavar="TEXT", default="", help="What is to be restructured, in words."),
    *PANEL,
    _RESUME,
    *REPORT,
    _FAIL_ON,
    _TIMEOUT,
    _ROUNDS,
    *CHECKS,
    *COMMON,
)
OUT = click.option("--out", type=_NEW_DIRECTORY, default=Path(), help="Write into this folder instead of the current one.")
COLLECT: tuple[Decorator[Any], ...] = (*TARGETS, _LOG_FORMAT, _TIMEOUT, *CHECKS, REPO, _CONFIG, *TOLD)
DEBATE: tuple[Decorator[Any], ...] = (
    click.option("--changeset", type=_FILE, required=True, help="The change, as `reviewbot collect` wrote it."),
    click.option("--evidence", type=_FILE, required=True, help="What its checks said, as `reviewbot collect` wrote it."),
    click.option("--request", type=_FILE, help="Title and focus of the review: see `reviewbot schema request`."),
    click.option("--verifications", type=_FILE, multiple=True, help="What experiments of this debate showed. Repeatable."),
    click.option("--await-runner", is_flag=True, help="Stop where a check is wanted, and write experiments.json."),
    click.option(
        "--evidence-origin",
        type=click.Choice(ORIGINS),
        default="runner",
        show_default=True,
        help="Who ran the checks: a runner that the author cannot steer, or a workflow of the author's own.",
    ),
    OUT,
    *PANEL,
    _RESUME,
    _FAIL_ON,
    _TIMEOUT,
    _ROUNDS,
    _CONFIG,
    *ANYWHERE,
)
HOOK: tuple[Decorator[Any], ...] = (
    *SEATS,
    _FAIL_ON,
    click.option("--strict", is_flag=True, help="Fail also where something could not be reviewed."),
    _TIMEOUT,
    _LISTING,
    *COMMON,
)
PUBLISH: tuple[Decorator[Any], ...] = (*REPORT, _FAIL_ON, *TOLD)


def common_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the common options, as one :class:`Common`."""
    return gathered(handler, Common, COMMON)


def list_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that lists something the common options, and ``format`` beside them: ``text`` or ``json``."""
    return _LISTING(common_options(handler))


def review_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command all options of a review, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, REVIEW)


def fix_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command all options of a fix, as one :class:`FixArguments`."""
    return gathered(handler, FixArguments, FIX)


def ask_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern who is asked about which change, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, ASK)


def seat_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that lists models the options that seat them, and ``format``, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, (*SEATS, _LISTING, *COMMON))


def report_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that reports a review of the past the options of a report, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, (*REPORT, *COMMON))


def collect_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its change and the checks, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, COLLECT)


def debate_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its debate, and its documents, as one :class:`DebateArguments`."""
    return gathered(handler, DebateArguments, DEBATE)


def publish_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its report, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, PUBLISH)


def hook_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a git hook, as one :class:`HookArguments`."""
    return gathered(handler, HookArguments, HOOK)


def push_options(handler: Callable[..., int]) -> Callable[..., int]:
    """The same for a hook in which checks run."""
    return gathered(handler, HookArguments, (*HOOK, *CHECKS))


def demo_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review whose change is given, as one :class:`ReviewArguments`."""
    return gathered(handler, ReviewArguments, (*PANEL, *REPORT, *ANYWHERE))


def gathered(handler: Callable[..., int], kind: type[Common], decorators: tuple[Decorator[Any], ...]) -> Callable[..., int]:
    """Apply the decorators and collect their values in ``kind``; what else the command takes is passed on."""
    names = {field.name for field in fields(kind)}

    @functools.wraps(handler)
    def command(**values: Any) -> int:
        own = {name: values.pop(name) for name in names & values.keys()}
        return handler(kind(**own), **values)

    for decorator in reversed(decorators):
        command = decorator(command)
    return command
