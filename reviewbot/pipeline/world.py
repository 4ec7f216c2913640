"""What a review is given: the doors to the world, the options of all stages, which review it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from reviewbot.briefing import BriefingOptions
from reviewbot.changeset.select import SelectOptions
from reviewbot.consensus.policy import PolicyOptions
from reviewbot.debate.improve import ImproveOptions
from reviewbot.debate.protocol import DebateOptions
from reviewbot.domain.audit import Rotation
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import Repair, RepairOutcome
from reviewbot.domain.review import Review
from reviewbot.drive import Bench, Deadline
from reviewbot.evidence.view import CheckOptions
from reviewbot.ports import (
    Clock,
    Experiment,
    Objects,
    Observer,
    Panel,
    Repo,
    Rule,
    Sandbox,
    Search,
    Session,
    SessionState,
    Trees,
    Verification,
    Worker,
)


class Unremembered:
    """A session that nobody keeps: for panels that cost nothing."""

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """Nothing."""

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """Nothing."""

    def close(self, review: Review, state: SessionState) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class World:
    """The doors. ``objects`` and ``search`` are ``None`` where there is only a patch; ``cores`` is how many jobs run at a time.
    ``elsewhere`` answers experiments in the sandbox's stead: what they show, or ``None`` where that is awaited. ``clerk`` judges
    by fixed rules what checks say and the panel does not. ``trees`` and ``annex`` are for
    candidates that are tried: their trees, and a sandbox for such trees."""

    repo: Repo
    objects: Objects | None
    sandbox: Sandbox
    panel: Panel
    clock: Clock
    observer: Observer
    worker: Worker
    search: Search | None = None
    session: Session = Unremembered()
    cores: int = 2
    elsewhere: Callable[[Experiment], Verification | None] | None = None
    clerk: Panel | None = None
    trees: Trees | None = None
    annex: Callable[[Revisions], AbstractContextManager[Sandbox]] | None = None


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Whether code is made for accepted findings, and how far that may go. ``most``: for how many models write; ``attempts`` for
    each; ``seconds`` after the review's own; ``answer_seconds`` for each answer. ``opened``: globs of protected files that may be
    changed all the same; ``unproven``: what no check proves is written, too. ``wanted``: ids of findings, all where there are
    none; ``spared``: those for which nothing is made. ``parser`` counts syntax errors of a file, ``None`` where it does not know
    the language."""

    is_on: bool = False
    attempts: int = 2
    most: int = 5
    seconds: float = 600.0
    answer_seconds: float = 120.0
    opened: tuple[str, ...] = ()
    unproven: bool = False
    wanted: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    parser: Callable[[str, bytes], int | None] | None = field(default=None, repr=False)

    def writes(self, repair: Repair) -> bool:
        """A repair is one that is written, and that later ones may stand on."""
        suggested = repair.outcome is RepairOutcome.SUGGESTED and repair.dissent is None
        return repair.outcome is RepairOutcome.FIXED or (self.unproven and suggested)


@dataclass(frozen=True, slots=True)
class Options:
    """The option values of all stages. ``budget_tokens`` bounds what is shown; ``seconds`` the whole review; ``rotation`` says
    what earlier audits of a whole tree showed."""

    selection: SelectOptions = SelectOptions()
    checks: CheckOptions = CheckOptions()
    debate: DebateOptions = DebateOptions()
    improve: ImproveOptions = ImproveOptions()
    policy: PolicyOptions = PolicyOptions()
    rules: tuple[Rule, ...] = ()
    budget_tokens: int | None = None
    briefing: BriefingOptions = BriefingOptions()
    seconds: float = 300.0
    rotation: Rotation = Rotation()
    repair: RepairOptions = RepairOptions()


@dataclass(frozen=True, slots=True)
class Identity:
    """Which review this is: its id, the repository's name where known, and what was to be said before it began. ``course`` is a
    mark of who looks, a point, and a mark of what else decides what a review says besides the change and its history."""

    run_id: str
    repository: str | None = None
    notes: tuple[str, ...] = ()
    course: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One review under way."""

    world: World
    options: Options
    deadline: Deadline
    bench: Bench


def begun(world: World, options: Options) -> Run:
    """A review that begins now."""
    extra = options.repair.seconds if options.repair.is_on else 0.0
    deadline = Deadline(world.clock, world.clock.seconds() + options.seconds + extra)
    bench = Bench(world.sandbox, deadline=deadline, observer=world.observer, cores=world.cores)
    return Run(world, options, deadline, bench)
