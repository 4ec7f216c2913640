"""The composition root: the only place that knows which adapter stands behind which port."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot import config, pipeline
from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.patch import PatchOnly
from reviewbot.changeset.select import SelectOptions
from reviewbot.config import Configuration, Source
from reviewbot.consensus.policy import PolicyOptions
from reviewbot.debate.protocol import DebateOptions
from reviewbot.domain.change import Revisions
from reviewbot.domain.event import ReviewRequest, Target, TargetKind
from reviewbot.domain.evidence import Severity, Side
from reviewbot.domain.review import Review
from reviewbot.errors import RepositoryError
from reviewbot.evidence.view import CheckOptions
from reviewbot.ports import Objects, Observer, Sandbox

REPOSITORY_FILES = (".reviewbot.yml", "pyproject.toml")
"""Where a repository may configure its reviews, best first. Read from the base commit."""

STATIC_NOTE = "static panel, no language model: Critic, Reviewer and Optimizer argue from executed evidence by fixed rules"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Order:
    """One review as an entry point asks for it. ``flags``: configuration key to (value, the flag's name). ``environment`` is the
    process's; ``config`` a file given by the operator instead of the repository's, ``user`` the user's own file."""

    target: Target
    directory: Path
    environment: Mapping[str, str]
    flags: Mapping[str, tuple[object, str]]
    config: Source | None = None
    user: Source | None = None
    execute: bool = True
    title: str = ""
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A review and the configuration it was made under."""

    review: Review
    configuration: Configuration


class SystemClock:
    """The machine's monotonic clock."""

    def seconds(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()


class Silent:
    """An observer who looks away."""

    def saw(self, progress: object) -> None:
        """Nothing."""


def review(order: Order, observer: Observer | None = None) -> Outcome:
    """Make one review. Raises ReviewbotError."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True)))
        repo: GitRepo | PatchOnly
        if order.target.kind is TargetKind.PATCH:
            repo = PatchOnly()
        else:
            repo = stack.enter_context(open_repository(order.directory, scratch, order.environment))
        revisions = repo.resolve(order.target)
        configuration = configure(order, repo, revisions)
        options = options_of(configuration, execute=order.execute)
        objects = repo if isinstance(repo, GitRepo) else None
        room = stack.enter_context(
            open_sandbox(configuration.get("sandbox", str), objects, revisions, scratch=scratch, order=order)
        )
        world = pipeline.World(repo, objects, room, StaticPanel(), SystemClock(), observer or Silent())
        identity = pipeline.Identity(run_id(), objects.remote_name() if objects else None, (STATIC_NOTE, *configuration.notices))
        request = ReviewRequest(order.target, order.title, order.focus)
        return Outcome(pipeline.review(request, revisions, world, options=options, identity=identity), configuration)


@contextmanager
def open_repository(directory: Path, scratch: Path, environment: Mapping[str, str]) -> Iterator[GitRepo]:
    """The repository around a directory. Raises RepositoryError."""
    repo = GitRepo.open(directory, scratch, environment=environment)
    try:
        yield repo
    finally:
        repo.close()


def repository_files(directory: Path, environment: Mapping[str, str]) -> tuple[Source, ...]:
    """The committed files that would configure a review of uncommitted work here; none outside a repository."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                found = [(name, repo.head_config(name)) for name in REPOSITORY_FILES]
        except RepositoryError:
            return ()
    return tuple(Source(name, data) for name, data in found if data is not None)


def diagnose(directory: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """What is found in this place, as (name, ``ok`` or ``warn``, text, next step): repository, sandbox, the tests' Python."""
    toplevel = None
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                toplevel = repo.toplevel
                yield "repository", "ok", str(toplevel), ""
        except RepositoryError as exc:
            yield "repository", "warn", exc.message, exc.hint or "run it inside a git repository"
        interpreters = sandbox.discover(toplevel)
        room = sandbox.choose("auto", trees=lambda _: Path(scratch), interpreters=interpreters, toplevel=toplevel)
        room.close()
    if room.level == "none":
        yield "sandbox", "warn", "; ".join(room.notes), "install bubblewrap: sudo apt-get install bubblewrap"
    else:
        yield "sandbox", "ok", "; ".join((room.level, *room.notes)), ""
    if interpreters.project:
        yield "tests", "ok", f"run with the project's own {interpreters.project}", ""
    else:
        step = "make a .venv with the project's dependencies and pytest in it"
        yield "tests", "warn", "no environment of the project's own: tests run with reviewbot's Python", step


def configure(order: Order, repo: GitRepo | PatchOnly, revisions: Revisions) -> Configuration:
    """Flags over environment over the base commit's file (or the operator's) over the user's over defaults."""
    repository: tuple[Source, ...] = ()
    if order.config is not None:
        repository = (order.config,)
    elif isinstance(repo, GitRepo) and revisions.base_tree is not None:
        found = ((name, repo.file_at(revisions.base_tree, name)) for name in REPOSITORY_FILES)
        repository = tuple(Source(name, data) for name, data in found if data is not None)
    return config.load(flags=order.flags, environ=order.environment, repository=repository, user=order.user)


def options_of(configuration: Configuration, *, execute: bool = True) -> pipeline.Options:
    """The option values of the stages."""
    criteria = tuple((name, configuration.get(f"debate.criteria.{name}", int)) for name, _ in DebateOptions().criteria)
    checks = configuration.records("checks")
    presets = tuple(str(check["preset"]) for check in checks if "preset" in check)
    required = tuple(str(check["preset"]) for check in checks if "preset" in check and check.get("required"))
    seconds = configuration.get("limits.seconds", float)
    default_checks = CheckOptions()
    return pipeline.Options(
        selection=SelectOptions(ignore=configuration.texts("review.ignore")),
        checks=replace(
            default_checks, execute=execute, presets=presets, required=required, seconds=min(default_checks.seconds, seconds)
        ),
        debate=DebateOptions(
            criteria=criteria,
            rounds=configuration.get("debate.rounds", int),
            round_seconds=configuration.get("debate.round_seconds", float),
            max_disputes=configuration.get("debate.max_disputes", int),
        ),
        policy=PolicyOptions(
            posting=configuration.get("debate.posting", str),
            min_severity=Severity[configuration.get("review.min_severity", str).upper()],
        ),
        budget_tokens=_token_budget(configuration),
        seconds=seconds,
    )


def _token_budget(configuration: Configuration) -> int | None:
    """The static panel has no window: only a limit that somebody set bounds what it is shown."""
    setting = configuration.setting("limits.tokens")
    return None if setting.origin == "default" else configuration.get("limits.tokens", int)


@contextmanager
def open_sandbox(level: str, objects: GitRepo | None, revisions: Revisions, *, scratch: Path, order: Order) -> Iterator[Sandbox]:
    """The sandbox for one review, with both trees exported when first needed. Ends every process it started."""
    toplevel = objects.toplevel if objects is not None else None
    room = sandbox.choose(
        level if order.execute else "none",
        trees=_exports(objects, revisions, scratch),
        toplevel=toplevel,
        interpreters=sandbox.discover(toplevel),
    )
    try:
        yield room
    finally:
        room.close()


def _exports(objects: Objects | None, revisions: Revisions, scratch: Path) -> Callable[[Side], Path]:
    """Where each side's tree lies; it is written once, when somebody first asks."""
    lock = threading.Lock()
    trees = {Side.BASE: revisions.base_tree, Side.HEAD: revisions.head_tree}
    done: dict[Side, Path] = {}

    def tree(side: Side) -> Path:
        with lock:
            if side not in done:
                done[side] = scratch / f"tree-{side.value}"
                done[side].mkdir()
                name = trees[side]
                if objects is not None and name is not None:
                    objects.export(name, done[side])
            return done[side]

    return tree


def run_id() -> str:
    """A ULID (48 bits of milliseconds, 80 random bits, Crockford's base 32): sorts by time."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))
