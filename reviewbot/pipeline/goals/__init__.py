"""Goals other than to mend a review's findings: a bug that was reported, speed, structure, tests. One conversation each.

What is to be made is found out, made by the cycle of ``debate.making``, and judged by what the goal asks beside what all code
that is made must hold: ``reporting``, ``speeding``, ``tidying``, ``covering``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol

from reviewbot import drive
from reviewbot.debate.making import MakeOptions, Shop, make
from reviewbot.domain.change import Revisions
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.repair import Goal
from reviewbot.domain.review import Review
from reviewbot.drive import Laboratory
from reviewbot.errors import ConfigError, UsageError
from reviewbot.evidence.plan import why_not
from reviewbot.pipeline import checking, material
from reviewbot.pipeline import ending as endings
from reviewbot.pipeline.conversation import Talk
from reviewbot.pipeline.goals import ending, ground
from reviewbot.pipeline.goals.covering import Covering
from reviewbot.pipeline.goals.ground import Ground, Prepared, Preparing, Wanted
from reviewbot.pipeline.goals.reporting import Reporting
from reviewbot.pipeline.goals.speeding import Speeding
from reviewbot.pipeline.goals.tidying import Tidying
from reviewbot.pipeline.past import past
from reviewbot.pipeline.trying import Court, Judge
from reviewbot.pipeline.world import Identity, Options, World, begun
from reviewbot.ports import Experiment, SessionState, Verification

__all__ = ["Wanted", "pursued"]

STATIC = "static"
"""The family of seats behind which no language model sits."""


class Pursuit(Judge, Protocol):
    """A goal on its ground. ``ledger`` is what checks say of the change, where it is about one."""

    @property
    def ledger(self) -> Ledger:
        """What the checks said before anything was made."""
        ...

    def prepared(self) -> Preparing:
        """What is to be made."""
        ...


def pursued(
    wanted: Wanted, request: ReviewRequest, revisions: Revisions, *, world: World, options: Options, identity: Identity
) -> Review:
    """Pursue a goal at the head of these revisions. The review holds what was made, and no findings.

    Raises UsageError for a goal that is a review's own, or words that name nothing; ConfigError without language models."""
    _demand(wanted, world)
    started = world.clock.seconds()
    run = begun(world, options)
    read = material.read(revisions, run)
    here = ground.laid(wanted, request, read, run=run)
    if why := why_not(read.view, options.checks):
        failed = Prepared(failure=f"nothing can be shown to work: {why}", ledger=_nothing(here))
        silence = here.minutes.transcript((), options.debate.criteria)
        made = ending.ended(here, failed, silence, repairs=(), identity=identity)
    else:
        made = _held(here, identity)
    made = endings.timed(made, world.clock.seconds() - started)
    world.session.close(made, endings.ENDS[made.conclusion])
    return made


def _demand(wanted: Wanted, world: World) -> None:
    """What every goal needs. Raises UsageError, ConfigError."""
    if wanted.goal not in PURSUITS:
        raise UsageError(f"the goal {wanted.goal} is what a review does by itself", hint="run `reviewbot fix` without --goal")
    if world.trees is None or world.annex is None or world.objects is None:
        raise UsageError("nothing can be made from a patch alone", hint="run it in the repository that the patch is for")
    if all(seat.family == STATIC for seat in world.panel.table.seats):
        raise ConfigError(
            f"{_NEEDS[wanted.goal]} language models, and the static panel has none",
            hint="configure a panel, or set a vendor's key such as ANTHROPIC_API_KEY, or OLLAMA_HOST",
        )


_NEEDS: Mapping[Goal, str] = MappingProxyType(
    {
        Goal.REPORT: "a report of a bug is read by",
        Goal.PERFORMANCE: "faster code is written by",
        Goal.REFACTOR: "code is restructured by",
        Goal.TESTS: "tests are written by",
    }
)


def _report(here: Ground, identity: Identity) -> Pursuit:
    del identity
    return Reporting.of(here, _nothing(here))


def _speed(here: Ground, identity: Identity) -> Pursuit:
    del identity
    return Speeding.of(here, _nothing(here))


def _structure(here: Ground, identity: Identity) -> Pursuit:
    del identity
    return Tidying(here, _nothing(here))


def _tests(here: Ground, identity: Identity) -> Pursuit:
    """With what the checks say of the change, as a review has them run."""
    read, run = here.read, here.run
    ledger, _ = checking.begin(read, run)()
    talk = Talk(read, here.request, past(here.request, read.chosen, identity.course), run)
    papers = talk.brief(talk.division(read.chosen.shown), ledger, read.chosen.shown).papers
    return Covering(here, ledger, papers)


PURSUITS: Mapping[Goal, Callable[[Ground, Identity], Pursuit]] = MappingProxyType(
    {Goal.REPORT: _report, Goal.PERFORMANCE: _speed, Goal.REFACTOR: _structure, Goal.TESTS: _tests}
)


def _nothing(here: Ground) -> Ledger:
    """No check was run before: the goal is not about a change."""
    room = here.run.world.sandbox
    return Ledger(sandbox=room.level, notes=room.notes)


def _held(here: Ground, identity: Identity) -> Review:
    """The conversation: what is to be made, and the making of it."""
    run, world = here.run, here.run.world
    assert world.trees is not None
    if here.wanted.goal is not Goal.TESTS:  # whose checks say themselves that the debate begins
        world.session.keep("pursuing", {"goal": here.wanted.goal.value}, SessionState.IN_DEBATE)
    pursuit = PURSUITS[here.wanted.goal](here, identity)
    court = Court(here.read, run, pursuit.ledger, world.trees, judge=pursuit)

    def experiment(wanted: Experiment) -> Verification | None:
        return checking.verified(wanted, here.read, run)

    def stop() -> None:
        court.benches.close()  # first: a trial that meets a closed bench must know why
        run.bench.close()

    laboratory = Laboratory(experiment, court.tried)
    speaking = _conversation(here, pursuit, identity)
    return drive.converse(speaking, world.panel, laboratory, deadline=run.deadline, observer=world.observer, stop=stop)


def _conversation(here: Ground, pursuit: Pursuit, identity: Identity) -> Generator[Any, Any, Review]:
    options, table = here.run.options, here.run.world.panel.table
    prepared = yield from pursuit.prepared()
    prepared = replace(prepared, ledger=pursuit.ledger)
    transcript = here.minutes.transcript((), options.debate.criteria)
    if not prepared.tasks:
        return ending.ended(here, prepared, transcript, repairs=prepared.left, identity=identity)
    moderator = table.moderator if options.debate.moderate else None
    shop = Shop(prepared.files, prepared.papers, moderator, unproven=options.repair.unproven)
    limits = MakeOptions(attempts=options.repair.attempts, most=options.repair.most, seconds=options.repair.answer_seconds)
    made = yield from make(prepared.tasks, shop, transcript, options=limits)
    repairs = (*made.repairs, *prepared.left)
    return ending.ended(here, prepared, made.transcript, repairs=repairs, identity=identity)
