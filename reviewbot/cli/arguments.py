"""What was typed, as one frozen value for each kind of command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import UsageError
from reviewbot.events.target import named, revision, whole

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


@dataclass(frozen=True, slots=True)
class HookArguments(ReviewArguments):
    """One ``reviewbot hook run`` as it was typed. ``strict``: what could not be reviewed fails, too. ``timeout`` is that of the
    hook (``hook.seconds``), and of the review in it."""

    strict: bool = False

    def overrides(self) -> dict[str, tuple[object, str]]:
        """As of a review; a hook has a limit of its own."""
        own: dict[str, tuple[object, str]] = {} if self.timeout is None else {"hook.seconds": (self.timeout, "--timeout")}
        return {**ReviewArguments.overrides(self), **own}
