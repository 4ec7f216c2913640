"""One run of the Action, as its surroundings tell it: inputs, folders, addresses, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from reviewbot.domain.event import Event, Happening
from reviewbot.domain.history import PullMemory
from reviewbot.domain.review import Conclusion, Finding, Verdict
from reviewbot.errors import ConfigError
from reviewbot.events.facts import Mode

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "fail_on": "review.fail_on",
        "min_severity": "review.min_severity",
        "effort": "debate.effort",
        "autofix": "fix.mode",
        "base_url": "providers.openai.base_url",
    }
)
"""Inputs that are a word for a configuration key."""

COUNTS: Mapping[str, str] = MappingProxyType({"max_comments": "review.max_comments"})
AMOUNTS: Mapping[str, str] = MappingProxyType({"max_cost_usd": "limits.cost_usd"})
SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        "incremental": "github.incremental",
        "sticky_summary": "github.sticky_summary",
        "resolve_outdated": "github.resolve_outdated",
        "allow_approve": "github.allow_approve",
    }
)
LISTS: Mapping[str, str] = MappingProxyType({"allowed_bots": "github.allowed_bots"})


@dataclass(frozen=True, slots=True)
class Inputs:
    """The Action's inputs by their names; one that was left empty is not said."""

    values: Mapping[str, str]

    def text(self, name: str) -> str:
        """What was given, without space around it; empty where nothing was."""
        return self.values.get(name, "").strip()

    def switch(self, name: str) -> bool | None:
        """``true`` or ``false``; ``None`` where nothing was given. Raises ConfigError."""
        said = self.text(name).lower()
        if said not in ("", "true", "false"):
            raise ConfigError(f"input {name} is {said[:40]!r}", hint="give true or false")
        return said == "true" if said else None

    def amount(self, name: str) -> float | None:
        """A number of at least 0. Raises ConfigError."""
        said = self.text(name)
        try:
            value = float(said) if said else None
        except ValueError as exc:
            raise ConfigError(f"input {name} is {said[:40]!r}", hint="give a number") from exc
        if value is not None and not 0 <= value < 1e9:
            raise ConfigError(f"input {name} is {said[:40]!r}", hint="give a number that is not negative")
        return value

    def items(self, name: str) -> tuple[str, ...]:
        """Words between commas or lines."""
        return tuple(word for line in self.text(name).splitlines() for part in line.split(",") if (word := part.strip()))

    @property
    def mode(self) -> Mode:
        """Which part of the work. Raises ConfigError."""
        said = self.text("mode") or Mode.ALL.value
        if said not in list(Mode):
            raise ConfigError(f"input mode is {said[:40]!r}", hint=f"give one of {', '.join(Mode)}")
        return Mode(said)

    @property
    def is_dry(self) -> bool:
        """Nothing is to be written on the forge."""
        return self.switch("dry_run") is True

    def flags(self) -> dict[str, tuple[object, str]]:
        """The configuration keys that inputs set: key → (value, what to call it). Raises ConfigError."""
        said: dict[str, tuple[object, str]] = {}
        for name, key in OPTIONS.items():
            if text := self.text(name):
                said[key] = (text, f"input {name}")
        for name, key in {**COUNTS, **AMOUNTS}.items():
            if (amount := self.amount(name)) is not None:
                said[key] = (int(amount) if name in COUNTS else amount, f"input {name}")
        for name, key in SWITCHES.items():
            if (switch := self.switch(name)) is not None:
                said[key] = (switch, f"input {name}")
        for name, key in LISTS.items():
            if items := self.items(name):
                said[key] = (list(items), f"input {name}")
        if minutes := self.amount("timeout_minutes"):
            said["limits.seconds"] = (minutes * 60, "input timeout_minutes")
        return said


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on a forge, and who we are there: a token, or an app by its id and private key. No ``repr`` shows either."""

    repository: str
    api_url: str
    token: str = field(default="", repr=False)
    app: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Job:
    """One run. ``documents`` is the folder of what goes from job to job, ``state`` that of what is remembered between runs;
    ``now`` are seconds since 1970. ``environment`` holds what providers and git may know; The forge's token is in
    ``place``, and in no environment that anybody is given. ``run_id`` is the forge's number of this workflow run, ``sha`` the
    commit that it is about."""

    event: Event
    inputs: Inputs
    place: Place
    server_url: str
    environment: Mapping[str, str]
    workspace: Path
    documents: Path
    state: Path
    now: float
    run_id: str = ""
    sha: str = ""

    @property
    def repository(self) -> str:
        """``owner/name``."""
        return self.place.repository

    @property
    def git_url(self) -> str:
        """Where git fetches the repository."""
        return f"{self.server_url.rstrip('/')}/{self.repository}.git"

    @property
    def has_secrets(self) -> bool:
        """A model's key is here, or an app's; or the run is of a kind whose token may write whoever's change it is about."""
        owned = self.place.app is not None or any(self.environment.get(name) for name in KEYS)
        return owned or self.event.kind is not Happening.PULL_REQUEST


KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
)
"""Variables whose being there makes a job one with secrets."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. ``exit_code`` as of `reviewbot review`; ``summary`` is Markdown for the job's page, ``annotations`` lines
    of workflow commands. The counts are of what stands on the pull request because of this run. ``told`` is what a command is
    answered with, ``memory`` what is remembered afterwards. ``posted``: the review stands there; ``autofix_sha`` is the last
    commit of fixes that this run made."""

    exit_code: int = 0
    skip_reason: str = ""
    conclusion: Conclusion | None = None
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    summary: str = ""
    annotations: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    summary_url: str = ""
    comments_total: int = 0
    comments_inline: int = 0
    comments_resolved: int = 0
    range_mode: str = ""
    reviewed_sha: str = ""
    cost_usd: float = 0.0
    llm_calls: int = 0
    sarif_file: str = ""
    run_id: str = ""
    told: str = ""
    memory: PullMemory | None = None
    posted: bool = False
    autofix_sha: str = ""
