"""The options that commands share, as decorators that hand over one frozen value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from reviewbot.domain.event import Target, TargetKind
from reviewbot.errors import UsageError
from reviewbot.events.target import named, revision, whole

FORMATS = ("text", "json", "markdown", "sarif", "html", "rdjson")
SEVERITIES = ("none", "low", "medium", "high", "critical")
SANDBOXES = ("auto", "bubblewrap", "container", "unconfined", "none")
COLORS = ("auto", "always", "never")
EFFORTS = ("low", "medium", "high")
LOG_FORMATS = ("text", "json")
LISTINGS = ("text", "json")
ANSWERS = ("text", "json", "markdown")
ORIGINS = ("runner", "author")

#: Field of :class:`ReviewArguments`: the configuration key it overrides, and the flag as the user knows it.
OVERRIDES = {
    "fail_on": ("review.fail_on", "--fail-on"),
    "max_cost_usd": ("limits.cost_usd", "--max-cost-usd"),
    "timeout": ("limits.seconds", "--timeout"),
    "rounds": ("debate.rounds", "--rounds"),
    "effort": ("debate.effort", "--effort"),
    "sandbox": ("sandbox", "--sandbox"),
    "color": ("display.color", "--color"),
    "unproven": ("fix.unproven", "--unproven"),
}


@dataclass(frozen=True, slots=True)
class Common:
    """What every command understands. ``None`` means: not said on the command line."""

    repo: Path = Path()
    config: Path | None = None
    env_file: Path | None = None
    state: Path | None = None
    quiet: bool = False
    verbose: bool = False
    color: str | None = None

    def overrides(self) -> dict[str, tuple[object, str]]:
        """Configuration keys that flags set: key → (value, the flag's name)."""
        said = ((key, getattr(self, name, None), flag) for name, (key, flag) in OVERRIDES.items())
        return {key: (value, flag) for key, value, flag in said if value is not None}


@dataclass(frozen=True, slots=True)
class ReviewArguments(Common):
    """One ``reviewbot review`` as it was typed. ``None`` means: not said, so that configuration decides.

    ``patch`` is a file's name or ``-``; ``timeout`` is in seconds; ``model`` holds every ``--model`` as it was written.
    """

    target: str | None = None
    staged: bool = False
    worktree: bool = False
    base: str | None = None
    patch: str | None = None
    all: bool = False
    panel: str | None = None
    model: tuple[str, ...] = ()
    effort: str | None = None
    resume: bool = True
    dry_run: bool = False
    log_format: str = "text"
    format: str = "text"
    output: Path | None = None
    fail_on: str | None = None
    max_cost_usd: float | None = None
    timeout: float | None = None
    rounds: int | None = None
    sandbox: str | None = None
    no_exec: bool = False

    def chosen_target(self, read_patch: Callable[[str], bytes]) -> Target:
        """The one target that was named; of ``--all`` TARGET says the commit. Raises UsageError for two of them."""
        if self.all and not (self.staged or self.worktree or self.base is not None or self.patch is not None):
            return whole(self.target)
        said = {
            "TARGET": self.target,
            "--staged": self.staged,
            "--worktree": self.worktree,
            "--base": self.base,
            "--patch": self.patch,
            "--all": self.all,
        }
        chosen = [name for name, value in said.items() if value not in (None, False)]
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} exclude each other", hint="name one change")
        if self.staged:
            return Target(TargetKind.STAGED)
        if self.worktree:
            return Target(TargetKind.WORKTREE)
        if self.base is not None:
            return Target(TargetKind.MERGE_BASE, base=revision(self.base), head="HEAD")
        if self.patch is not None:
            return Target(TargetKind.PATCH, patch=read_patch(self.patch))
        return named(self.target)


@dataclass(frozen=True, slots=True)
class FixArguments(ReviewArguments):
    """One ``reviewbot fix`` as it was typed. ``finding`` are ids, all where there are none; ``write_patch`` a file that is
    written instead of those of the repository."""

    finding: tuple[str, ...] = ()
    yes: bool = False
    commit: bool = False
    write_patch: Path | None = None
    unproven: bool | None = None
    undo: bool = False
    report: str | None = None
    goal: str | None = None
    benchmark: str = ""
    instruction: str = ""

    def wanted(self) -> tuple[str, ...]:
        """The findings that are meant. Raises UsageError for what is no id of one."""
        for name in self.finding:
            if not (name[:1] in "Ff" and name[1:].isdigit()):
                raise UsageError(f"{name!r} is no finding", hint="name it as the report does, such as F1")
        return tuple(sorted({name.upper() for name in self.finding}))


@dataclass(frozen=True, slots=True)
class DebateArguments(ReviewArguments):
    """One ``reviewbot debate`` as it was typed: its documents, who ran the checks, and the folder it writes into."""

    changeset: Path = Path()
    evidence: Path = Path()
    request: Path | None = None
    verifications: tuple[Path, ...] = ()
    await_runner: bool = False
    evidence_origin: str = "runner"
    out: Path = Path()


Handler = TypeVar("Handler", bound=Callable[..., Any])
Decorator = Callable[[Handler], Handler]

_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEW_FILE = click.Path(dir_okay=False, path_type=Path)
_NEW_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_LISTING = click.option("--format", type=click.Choice(LISTINGS), default="text", show_default=True, help="What to print.")
_POSITIVE = click.FloatRange(min=0, min_open=True)

_FAIL_ON = click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit 1 for findings this bad or worse.")
_LOG_FORMAT = click.option(
    "--log-format", type=click.Choice(LOG_FORMATS), default="text", show_default=True, help="How progress is told."
)
_RESUME = click.option("--resume/--fresh", default=True, help="Go on where an equal review was; or pay for every answer again.")
_ROUNDS = click.option("--rounds", type=click.IntRange(0, 5), metavar="N", help="Rounds per disputed claim.")
_TIMEOUT = click.option("--timeout", type=_POSITIVE, metavar="SECONDS", help="Take at most this long.")
_REPO = click.option("-C", "--repo", type=_DIRECTORY, default=Path(), help="Work in this directory.")
_CONFIG = click.option("--config", type=_FILE, help="Read this file instead of the repository's configuration.")

TOLD: tuple[Decorator[Any], ...] = (
    click.option("-q", "--quiet", is_flag=True, help="Say only what was asked for."),
    click.option("-v", "--verbose", is_flag=True, help="Show the whole debate."),
    click.option("--color", type=click.Choice(COLORS), help="Colour; by default on a terminal without NO_COLOR."),
)

ANYWHERE: tuple[Decorator[Any], ...] = (
    click.option("--env-file", type=_FILE, help="Fill what the environment lacks from this file of NAME=VALUE lines."),
    click.option("--state", type=_NEW_DIRECTORY, help="Where reviewbot keeps what it remembers."),
    *TOLD,
)

COMMON: tuple[Decorator[Any], ...] = (_REPO, _CONFIG, *ANYWHERE)

REPORT: tuple[Decorator[Any], ...] = (
    click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print."),
    click.option("-o", "--output", type=_NEW_FILE, help="Write the report to this file."),
)

SEATS: tuple[Decorator[Any], ...] = (
    click.option("--panel", metavar="NAME", help="Who reviews: `static`, `models`, or a panel of the configuration."),
    click.option(
        "--model",
        multiple=True,
        metavar="[ROLE=]PROVIDER:MODEL",
        help="Who sits there; without a role, on every seat. Repeatable.",
    ),
)

PANEL: tuple[Decorator[Any], ...] = (
    *SEATS,
    click.option("--effort", type=click.Choice(EFFORTS), help="How much thought a panel of models spends."),
    click.option("--max-cost-usd", type=click.FloatRange(min=0), metavar="N", help="Spend at most this much."),
    _LOG_FORMAT,
)

TARGETS: tuple[Decorator[Any], ...] = (
    click.argument("target", required=False),
    click.option("--staged", is_flag=True, help="Review the index against HEAD."),
    click.option("--worktree", is_flag=True, help="Review everything uncommitted against HEAD."),
    click.option("--base", metavar="REF", help="Review HEAD since it left REF."),
    click.option("--patch", metavar="FILE|-", help="Review a unified diff; no repository is needed."),
)

CHECKS: tuple[Decorator[Any], ...] = (
    click.option("--sandbox", type=click.Choice(SANDBOXES), help="Where tests run."),
    click.option("--no-exec", is_flag=True, help="Run no tests or linters."),
)

_ALL = click.option("--all", is_flag=True, help="Audit the whole tree of HEAD, or of the commit TARGET.")
REVIEW: tuple[Decorator[Any], ...] = (
    *TARGETS,
    _ALL,
    *PANEL,
    _RESUME,
    click.option("--dry-run", is_flag=True, help="Say who would be asked what, and its worst price; ask nobody."),
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
    click.option("-o", "--output", type=_NEW_FILE, help="Write the answer to this file."),
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
    click.option("--unproven", is_flag=True, default=None, help="Also fixes that no check proves."),
    click.option("--undo", is_flag=True, help="Take back what was written last."),
    click.option("--report", metavar="FILE", help="Mend what this report of a bug tells; - reads standard input."),
    click.option("--goal", type=click.Choice(GOALS), help="Write something else than fixes of findings."),
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
OUT = click.option("--out", type=_NEW_DIRECTORY, default=Path(), help="Write into this folder.")
COLLECT: tuple[Decorator[Any], ...] = (*TARGETS, _LOG_FORMAT, _TIMEOUT, *CHECKS, _REPO, _CONFIG, *TOLD)
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
PUBLISH: tuple[Decorator[Any], ...] = (*REPORT, _FAIL_ON, *TOLD)


def common_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the common options, as one :class:`Common`."""
    return _gathered(handler, Common, COMMON)


def list_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that lists something the common options, and ``format`` beside them: ``text`` or ``json``."""
    return _LISTING(common_options(handler))


def review_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command all options of a review, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, REVIEW)


def fix_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command all options of a fix, as one :class:`FixArguments`."""
    return _gathered(handler, FixArguments, FIX)


def ask_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern who is asked about which change, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, ASK)


def seat_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that lists models the options that seat them, and ``format``, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, (*SEATS, _LISTING, *COMMON))


def report_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command that reports a review of the past the options of a report, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, (*REPORT, *COMMON))


def collect_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its change and the checks, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, COLLECT)


def debate_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its debate, and its documents, as one :class:`DebateArguments`."""
    return _gathered(handler, DebateArguments, DEBATE)


def publish_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review that concern its report, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, PUBLISH)


def demo_options(handler: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review whose change is given, as one :class:`ReviewArguments`."""
    return _gathered(handler, ReviewArguments, (*PANEL, *REPORT, *ANYWHERE))


def _gathered(handler: Callable[..., int], kind: type[Common], decorators: tuple[Decorator[Any], ...]) -> Callable[..., int]:
    """Apply the decorators and collect their values in ``kind``; what else the command takes is passed on."""
    names = {field.name for field in fields(kind)}

    @functools.wraps(handler)
    def command(**values: Any) -> int:
        own = {name: values.pop(name) for name in names & values.keys()}
        return handler(kind(**own), **values)

    for decorator in reversed(decorators):
        command = decorator(command)
    return command
