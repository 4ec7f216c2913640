"""What a user can configure. Defaults stand here; a test compares docs/configuration.md."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from reviewbot.severity import Severity, Threshold

SandboxKind = Literal["auto", "bubblewrap", "container", "none"]
# The formats that the output of a custom check may have, see checks/readers/.
OutputFormat = Literal["gnu", "sarif", "rdjson", "junit", "tap"]


class PanelistSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A panelist. `model` is `provider:model`; `lens` is what it pays attention to."""

    model: str
    lens: str = ""


class ReviewSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is reviewed and reported.

    Attributes:
        fail_on: findings of this severity or above make the command exit with 1.
        min_severity: findings below it are not reported.
        ignore: gitignore patterns of files that are not reviewed.
        instructions: files with rules for reviewers, read at base.
    """

    fail_on: Threshold = "none"
    min_severity: Severity = "low"
    ignore: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ("AGENTS.md",)


class CheckSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A custom check, or with the name of a built-in one, what to change about it.

    Attributes:
        run: program and arguments; `{files}` stands for the changed files.
        parse: the format of its output.
        files: the check runs if the change touches a file that matches one of these globs.
        report: a file that the command writes, to be read instead of its output.
        seconds: time limit; 0 keeps that of the built-in check, or 120.
        off: do not run it.
    """

    name: str
    run: tuple[str, ...] = ()
    parse: OutputFormat = "gnu"
    files: tuple[str, ...] = ("*",)
    report: str = ""
    seconds: Annotated[int, Meta(ge=0, le=86_400)] = 0
    off: bool = False


class LimitSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that one review may cost in US dollars, and take in seconds."""

    cost_usd: Annotated[float, Meta(ge=0, le=10_000)] = 1.0
    seconds: Annotated[int, Meta(ge=1, le=86_400)] = 600


class HookSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Findings of which severity stop a commit and a push."""

    commit: Threshold = "critical"
    push: Threshold = "high"


class SandboxSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the change is executed. `image` is a local container image with git's tools."""

    kind: SandboxKind = "auto"
    image: str = ""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    panel: dict[str, PanelistSettings] = {}
    moderator: PanelistSettings | None = None
    review: ReviewSettings = ReviewSettings()
    checks: tuple[CheckSettings, ...] = ()
    limits: LimitSettings = LimitSettings()
    hooks: HookSettings = HookSettings()
    sandbox: SandboxSettings = SandboxSettings()
