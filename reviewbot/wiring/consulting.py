"""Conversations about a change that are no review, put together and held: a question to the panel, a dispute about a finding.

They see what a review shows. Nothing of the change is run: checks only parse it, and there is no sandbox. What is asked is
remembered and paid for once, as every ask is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reviewbot import __version__, briefing, drive, pipeline
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.briefing import Library
from reviewbot.changeset import excerpt
from reviewbot.config import Configuration
from reviewbot.config.seats import Seating
from reviewbot.debate.cites import Length, nowhere
from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns import consult
from reviewbot.debate.patterns import dispute as disputing
from reviewbot.debate.patterns.charge import Charge, remembered
from reviewbot.debate.patterns.consult import Consulting, ConsultOptions, Inquiry
from reviewbot.debate.patterns.dispute import Disputing
from reviewbot.debate.rounds import Answers, Round
from reviewbot.debate.schema import CONSULTING_ENVELOPE
from reviewbot.domain.answer import Counsel, DisputeEnd, Settlement
from reviewbot.domain.debate import Attendance, Table
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.history import Known
from reviewbot.domain.money import Bill
from reviewbot.domain.review import Conclusion, Finding, Review
from reviewbot.drive import Deadline
from reviewbot.errors import UsageError
from reviewbot.pipeline import Unremembered, World, checking, material
from reviewbot.pipeline.world import begun
from reviewbot.ports import Dossier, Experiment, Observer, Passage, Rule, Sandbox, SessionPlan, SessionState, Verification
from reviewbot.screen import secrets
from reviewbot.wiring import books, course, offers, outside, ruling, tools
from reviewbot.wiring.options import effort_of, options_of
from reviewbot.wiring.order import Order, Silent, SystemClock, run_id
from reviewbot.wiring.portions import for_models
from reviewbot.wiring.reviewing import Cast, around, cores, local_of
from reviewbot.wiring.rooms import open_sandbox
from reviewbot.wiring.scene import Scene, opened

if TYPE_CHECKING:
    pass

Said = Counsel | Settlement

NOTHING_RUNS = "nothing is run in a conversation that is no review"


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """The panel's counsel, and the configuration it was asked under."""

    counsel: Counsel
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class DisputeOutcome:
    """How a dispute ended, and the configuration it was held under."""

    settlement: Settlement
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation to hold: its ``kind`` and ``words`` are a part of its name in the ledger.

    ``held`` makes the generator for a panel; ``unheld`` is what is said where no language model sits."""

    kind: str
    words: tuple[str, ...]
    held: Callable[[_Room, Table], Generator[Round, Answers, Said]]
    unheld: Callable[[_Room], Said]
    own_schemas: bool = False


@dataclass(frozen=True, slots=True)
class _Room:
    """What lies on the table."""

    passages: tuple[Passage, ...]
    papers: Papers
    ledger: Ledger
    length: Length
    options: pipeline.Options
    notes: tuple[str, ...]


def ask(order: Order, question: str, observer: Observer | None = None, *, pattern: str = outside.PATTERN) -> AnswerOutcome:
    """Put a question about the change to the panel, in a conversation of this name. Raises ReviewbotError; UsageError for an
    empty question, ConfigError for a name that no installed package adds."""
    words = _said(question, "question")
    conversation, origin = outside.pattern(pattern)

    def held(room: _Room, table: Table) -> Consulting:
        debate = room.options.debate
        inquiry = Inquiry(words, room.papers, room.ledger, room.length)
        return conversation(inquiry, table, ConsultOptions(debate.round_seconds, moderate=debate.moderate))

    def unheld(room: _Room) -> Counsel:
        return consult.without_models(words, room.ledger)

    talk = _Talk("ask", (words, pattern, origin) if origin else (words,), held, unheld, own_schemas=True)
    made, configuration = _made(talk, order, observer or Silent())
    assert isinstance(made, Counsel)
    return AnswerOutcome(made, configuration)


def dispute(order: Order, finding: Finding | Known, argument: str, *, observer: Observer | None = None) -> DisputeOutcome:
    """Put a person's argument against a finding before the panel. Raises ReviewbotError; UsageError for an empty argument."""
    words = _said(argument, "argument")
    told = remembered(finding) if isinstance(finding, Known) else finding

    def held(room: _Room, table: Table) -> Disputing:
        charge = Charge(told, words, room.passages, room.papers, room.ledger, room.length)
        return disputing.dispute(charge, table, seconds=room.options.debate.round_seconds)

    def unheld(room: _Room) -> Settlement:
        del room
        return disputing.unheard(told, words, disputing.STATIC)

    talk = _Talk("dispute", (words, repr(told)), held, unheld)
    made, configuration = _made(talk, order, observer or Silent())
    assert isinstance(made, Settlement)
    return DisputeOutcome(made, configuration)


def _said(words: str, what: str) -> str:
    """A person's words without known secrets. Raises UsageError where there are none."""
    said = secrets.redact(words.strip())[0]
    if not said:
        raise UsageError(f"the {what} is empty", hint="say it in words")
    return said


def _made(talk: _Talk, order: Order, observer: Observer) -> tuple[Said, Configuration]:
    order = replace(order, execute=False)
    with ExitStack() as stack:
        scene = stack.enter_context(opened(order))
        seating = offers.seated(order, scene.configuration)
        sandbox = open_sandbox(scene.configuration, scene.git, scene.revisions, scratch=scene.scratch, order=order)
        door = stack.enter_context(sandbox)
        cast = stack.enter_context(_cast(talk, seating, scene, order=order, door=door, observer=observer))
        worker = stack.enter_context(closing(ProcessWorker()))
        git, clock = scene.git, SystemClock()
        world = World(scene.repo, git, door, cast.panel, clock, observer, worker, search=git, session=cast.session, cores=cores())
        made = _held(talk, world, cast, scene=scene, order=order, is_static=seating.is_static)
        notes = (*cast.notes, *scene.configuration.notices, *made.notes)
        return replace(made, notes=tuple(dict.fromkeys(notes))), scene.configuration


def _held(talk: _Talk, world: World, cast: Cast, *, scene: Scene, order: Order, is_static: bool) -> Said:
    """The conversation, held to its end and remembered."""
    deadline = Deadline(world.clock, world.clock.seconds() + cast.options.seconds)
    room = _laid_out(world, cast.options, scene, order=order)
    if is_static:
        made = talk.unheld(room)
    else:
        speaking = talk.held(room, world.panel.table)
        made = drive.converse(speaking, world.panel, drive.Laboratory(_nothing_runs), deadline=deadline, observer=world.observer)
    made = replace(made, notes=(*room.notes, *made.notes))
    state = SessionState.CONVERGED if _is_whole(made) else SessionState.FAILED
    world.session.close(_entry(made.attendance, made.bill, scene, state=state), state)
    return made


def _laid_out(world: World, options: pipeline.Options, scene: Scene, *, order: Order) -> _Room:
    """The change as a review shows it, with what checks say that only read it."""
    run = begun(world, options)
    read = material.read(scene.revisions, run)
    ledger, _ = checking.begin(read, run)()
    git, tree = scene.git, scene.revisions.head_tree
    library = Library(git, git, tree, read.blobs) if git is not None and tree is not None else None
    passages = excerpt.passages(read.scope.files, read.view.contents)
    division = briefing.divided(passages, library, options=options.briefing)
    common = Dossier(
        (),
        ledger,
        rules=options.rules,
        title=order.title,
        focus=order.focus,
        criteria=options.debate.criteria,
        background=order.background,
    )
    may_look = library is not None and scene.configuration.get("debate.tools", bool)
    length = _lengths(library) if library is not None and may_look else nowhere
    left_out = tuple(f"{item.path}: {item.reason}" for item in read.scope.coverage if not item.ignored)
    return _Room(passages, briefing.papers(common, division), ledger, length, options, (*read.scope.notes, *left_out))


def _lengths(library: Library) -> Length:
    """How many lines files have at head, for those who could look them up."""

    def length(path: str) -> int:
        name = library.blobs.get(path)
        return len(library.objects.blob(name).splitlines()) if name is not None else 0

    return length


def _nothing_runs(wanted: Experiment) -> Verification:
    return Verification(wanted.check, NOTHING_RUNS)


def _is_whole(made: Said) -> bool:
    if isinstance(made, Settlement):
        return made.end is not DisputeEnd.UNHEARD
    return not made.unanswered


def _entry(attendance: tuple[Attendance, ...], bill: Bill, scene: Scene, *, state: SessionState) -> Review:
    """What the ledger's list of debates shows of it: a debate without findings and without a verdict."""
    whole = Conclusion.COMPLETE if state is SessionState.CONVERGED else Conclusion.NOT_REVIEWED
    return Review(run_id(), __version__, whole, None, scene.revisions, attendance=attendance, bill=bill)


@contextmanager
def _cast(talk: _Talk, seating: Seating, scene: Scene, *, order: Order, door: Sandbox, observer: Observer) -> Iterator[Cast]:
    """Who is asked: as in a review, but that nothing is run."""
    plain = options_of(scene.configuration)
    if seating.is_static:
        yield Cast(StaticPanel(), plain, Unremembered(), seating.notices)
        return
    from reviewbot.wiring import seats

    configuration, clock = scene.configuration, SystemClock()
    rules, notes = _rules(scene)
    plain = replace(plain, rules=rules)
    with books.opened(order, configuration) as store:
        hall = seats.Hall(configuration, order.environment, clock=clock, profiles=store.profiles)
        box = tools.toolbox(scene, order, door) if configuration.get("debate.tools", bool) else None
        steps, seconds = effort_of(configuration).steps, plain.debate.round_seconds
        laid = seats.lay(seating, hall, tools=box, steps=steps, seconds=seconds)
        laid = seats.enveloped(laid, CONSULTING_ENVELOPE) if talk.own_schemas else laid
        with store.begin(_session_plan(talk, seating, scene, order=order, plain=plain)) as begun:
            begun.session.keep(talk.kind, {"words": list(talk.words)})
            if not (order.offline or begun.replayable):
                hall.begin()
            options = for_models(plain, configuration, laid.seats, local=local_of(laid, plain, begun.session))
            kept = seats.Remembered(begun.calls, begun.session, store.profiles)
            panel = seats.panel(laid, kept, configuration, offline=order.offline, watcher=observer)
            resumed = ("an interrupted conversation was resumed",) if begun.resumed else ()
            yield Cast(panel, options, begun.session, (seating.why, *seating.notices, *notes, *resumed))


def _rules(scene: Scene) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    base = ruling.base_of(scene.repo, scene.git, scene.revisions) if scene.git is not None else None
    return ruling.ruled(scene.configuration, base) if base is not None else ((), ())


def _session_plan(talk: _Talk, seating: Seating, scene: Scene, *, order: Order, plain: pipeline.Options) -> SessionPlan:
    """Which conversation this is: everything that decides its course."""
    revisions = scene.revisions
    everyone = course.everyone(seating)
    change = (revisions.base_tree, revisions.head_tree) if scene.git else scene.repo.diff(revisions).patch
    effort = scene.configuration.get("debate.effort", str)
    said = (order.title, order.focus, order.background)
    decisive = (__version__, talk.kind, talk.words, change, plain, everyone, effort, said, around(scene))
    return SessionPlan(
        key=hashlib.sha256(repr(decisive).encode("utf-8", "surrogateescape")).hexdigest(),
        run_id=run_id(),
        project=scene.project,
        base=revisions.base or "",
        head=revisions.head or "",
        title=order.title,  # of the change: its reviews have the same
        seats=tuple((plan.name, plan.role, str(plan.spec)) for plan in everyone),
        fresh=order.fresh,
    )
