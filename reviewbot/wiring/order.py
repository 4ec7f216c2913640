"""What an entry point asks for, and what it gets."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.patch import PatchOnly
from reviewbot.config import Configuration, Source
from reviewbot.config.seats import Seating
from reviewbot.domain.audit import Rotation
from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.event import Told
from reviewbot.domain.history import History
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target
from reviewbot.errors import ConfigError
from reviewbot.ports import Portion
from reviewbot.wiring import ruling
from reviewbot.wiring.clock import SystemClock as SystemClock

if TYPE_CHECKING:
    from reviewbot.pipeline.goals import Wanted

REPOSITORY_FILES = (".reviewbot.yml", "pyproject.toml")
"""Where a repository may configure its reviews, best first. Read from the base commit."""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Order:
    """One review as an entry point asks for it. ``flags``: configuration key to (value, the flag's name). ``environment`` is the
    process's; ``config`` a file given by the operator instead of the repository's, ``user`` the user's own file. ``panel`` and
    ``models`` are what was typed for ``--panel`` and ``--model``; ``state`` is the folder of what is remembered (``None``:
    nothing is); ``fresh`` begins anew where an earlier debate could be resumed or replayed; ``offline`` asks nobody: what is not
    in the ledger is refused. ``background`` is what others said of the change, ``history`` what earlier reviews of the same pull
    request left behind, ``pull_request`` its number: only where there is one is anything left to the next review. ``config_path``
    names the file of the base commit that configures, where it is not one of ``REPOSITORY_FILES``. ``rotation`` says what
    earlier audits of the whole tree showed, ``wanted`` which findings code is made for (all where there are none), ``spared``
    for which it is not made again; ``goal`` is what is pursued instead of a review; ``dismissals`` are brought along where no
    repository tells them."""

    target: Target
    directory: Path
    environment: Mapping[str, str]
    flags: Mapping[str, tuple[object, str]]
    config: Source | None = None
    user: Source | None = None
    execute: bool = True
    title: str = ""
    focus: str = ""
    panel: str | None = None
    models: tuple[str, ...] = ()
    state: Path | None = None
    fresh: bool = False
    offline: bool = False
    background: tuple[Told, ...] = ()
    history: History = History()
    pull_request: int | None = None
    config_path: str | None = None
    rotation: Rotation = Rotation()
    wanted: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    goal: Wanted | None = None
    dismissals: Dismissals = Dismissals()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A review and the configuration it was made under."""

    review: Review
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a review would ask: who sits, what they would read, and the most that it could take."""

    seating: Seating
    portions: tuple[Portion, ...]
    calls: int
    worst_usd: float
    cap_usd: float
    notes: tuple[str, ...] = ()


class Silent:
    """An observer who looks away."""

    def saw(self, progress: object) -> None:
        """Nothing."""


def configure(order: Order, repo: GitRepo | PatchOnly, revisions: Revisions) -> Configuration:
    """Flags over environment over the base commit's file (or the operator's) over the user's over defaults."""
    repository: tuple[Source, ...] = ()
    if order.config is not None:
        repository = (order.config,)
    elif isinstance(repo, GitRepo) and revisions.base_tree is not None:
        names = (order.config_path,) if order.config_path else REPOSITORY_FILES
        found = ((name, repo.file_at(revisions.base_tree, name)) for name in names)
        repository = tuple(Source(name, data) for name, data in found if data is not None)
        if order.config_path and not repository:
            hint = "name a path below its top, as it is committed at the base"
            raise ConfigError(f"the base commit has no file {order.config_path!r}", hint=hint)
    held = config.load(flags=order.flags, environ=order.environment, repository=repository, user=order.user)
    if order.config is not None or not isinstance(repo, GitRepo):
        return held
    base = ruling.base_of(repo, repo, revisions)
    return ruling.configured(held, base) if base else held


def run_id() -> str:
    """A ULID (48 bits of milliseconds, 80 random bits, Crockford's base 32): sorts by time."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
