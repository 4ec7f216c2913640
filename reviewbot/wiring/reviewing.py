"""One review, put together and made: by the static panel, or by models whose every call is remembered."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from reviewbot import __version__, pipeline
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.config.seats import Seating
from reviewbot.debate.diagnosis import PURSUING_ENVELOPE
from reviewbot.debate.first_pass import LocalWork
from reviewbot.debate.making.schema import MAKING_ENVELOPE
from reviewbot.domain.review import Review
from reviewbot.domain.target import TargetKind
from reviewbot.pipeline import Unremembered, goals
from reviewbot.ports import Observer, Pace, Panel, Rule, Sandbox, Session, SessionPlan
from reviewbot.publish.document_request import request_document
from reviewbot.wiring import books, course, dismissing, offers, ruling
from reviewbot.wiring.options import effort_of, for_audit, options_of, rules_for
from reviewbot.wiring.order import Forecast, Order, Outcome, Silent, SystemClock, run_id
from reviewbot.wiring.portions import for_models, local_work
from reviewbot.wiring.rooms import Rooms, open_rooms
from reviewbot.wiring.scene import Scene, opened

if TYPE_CHECKING:
    from reviewbot.wiring.seats import Laid

STATIC_NOTE = "static panel, no language model: Critic, Reviewer and Optimizer argue from executed evidence by fixed rules"


@dataclass(frozen=True, slots=True)
class Cast:
    """Who reviews, with which options, remembered where, and what is to be said about it. ``course`` is ``Identity``'s."""

    panel: Panel
    options: pipeline.Options
    session: Session
    notes: tuple[str, ...]
    course: str = ""


def review(order: Order, observer: Observer | None = None) -> Outcome:
    """Make one review. Raises ReviewbotError."""
    watcher = observer or Silent()
    with ExitStack() as stack:
        scene = stack.enter_context(opened(order))
        order = dismissing.heeded(order, scene)
        seating = offers.seated(order, scene.configuration)
        made = _unchanged(seating, scene, order) if order.goal is None else None
        if made is None:
            rooms = stack.enter_context(_rooms(scene, order))
            cast = stack.enter_context(_cast(seating, scene, order, room=rooms.room, observer=watcher))
            made = _made(cast, scene, order, rooms=rooms, observer=watcher)
        problem = books.keep(made, order, scene.project)
        made = replace(made, notes=(*made.notes, problem)) if problem else made
        return Outcome(made, scene.configuration)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def plan(order: Order) -> Forecast:
    """What a review would ask, without asking anybody. Raises ReviewbotError."""
    from reviewbot.wiring import forecast

    with opened(order) as scene:
        return forecast.foretold(offers.seated(order, scene.configuration), scene, order)


@contextmanager
def _rooms(scene: Scene, order: Order) -> Iterator[Rooms]:
    with open_rooms(scene.configuration, scene.git, scene.revisions, scratch=scene.scratch, order=order) as rooms:
        yield rooms


def _unchanged(seating: Seating, scene: Scene, order: Order) -> Review | None:
    """The review where nothing changed since the last one: no sandbox is opened for it, and nobody is even greeted."""
    options = options_of(scene.configuration, execute=order.execute)
    notes = (*seating.notices, *scene.configuration.notices)
    identity = _identity(scene, notes, course.course(seating, scene.configuration, options))
    asked = course.request(order, scene.configuration)
    return pipeline.unchanged(asked, scene.revisions, scene.repo, objects=scene.git, options=options, identity=identity)


def _identity(scene: Scene, notes: tuple[str, ...], told: str) -> pipeline.Identity:
    return pipeline.Identity(run_id(), scene.git.remote_name() if scene.git else None, notes, told)


def _made(cast: Cast, scene: Scene, order: Order, *, rooms: Rooms, observer: Observer) -> Review:
    git = scene.git
    identity = _identity(scene, (*cast.notes, *scene.configuration.notices), cast.course)
    request = course.request(order, scene.configuration)
    with closing(ProcessWorker()) as worker:
        world = pipeline.World(
            scene.repo,
            git,
            rooms.room,
            cast.panel,
            SystemClock(),
            observer,
            worker,
            search=git,
            session=cast.session,
            cores=cores(),
            trees=git,
            annex=rooms.annex,
            clerk=StaticPanel(),
        )
        if order.goal is not None:
            revisions, options = scene.revisions, cast.options
            return goals.pursued(order.goal, request, revisions, world=world, options=options, identity=identity)
        return pipeline.review(request, scene.revisions, world, options=cast.options, identity=identity)


@contextmanager
def _cast(seating: Seating, scene: Scene, order: Order, *, room: Sandbox, observer: Observer) -> Iterator[Cast]:
    plain = options_of(scene.configuration, execute=order.execute)
    plain = replace(plain, repair=replace(plain.repair, wanted=order.wanted, spared=order.spared))
    plain = for_audit(plain, order.rotation) if scene.revisions.is_audit else plain
    if seating.is_static:
        notes = (STATIC_NOTE, *seating.notices)
        yield Cast(StaticPanel(), plain, Unremembered(), notes, course.course(seating, scene.configuration, plain))
        return
    with _models(seating, scene, order, plain=plain, room=room, observer=observer) as cast:
        yield cast


@contextmanager
def _models(
    seating: Seating, scene: Scene, order: Order, *, plain: pipeline.Options, room: Sandbox, observer: Observer
) -> Iterator[Cast]:
    """A panel of models, its session begun or resumed."""
    from reviewbot.wiring import seats

    configuration, clock = scene.configuration, SystemClock()
    effort = effort_of(configuration)
    with books.opened(order, configuration) as store:
        hall = seats.Hall(configuration, order.environment, clock=clock, profiles=store.profiles)
        tools = _toolbox(scene, order, room) if configuration.get("debate.tools", bool) else None
        workshop = _workshop(scene) if plain.repair.is_on else None
        laid = seats.lay(seating, hall, tools=tools, steps=effort.steps, seconds=plain.debate.round_seconds, workshop=workshop)
        envelope = MAKING_ENVELOPE if order.goal is None else PURSUING_ENVELOPE
        laid = seats.enveloped(laid, envelope) if plain.repair.is_on else laid
        rules, unread = _rules(scene)
        plain = replace(plain, rules=rules)
        session_plan = _session_plan(seating, scene, order, plain=plain, room=room)
        with store.begin(session_plan) as begun:
            begun.session.keep("order", _retold(order))
            if not (order.offline or begun.replayable):
                hall.begin()
            options = for_models(plain, configuration, laid.seats, local=local_of(laid, plain, begun.session))
            remembered = seats.Remembered(begun.calls, begun.session, store.profiles)
            panel = seats.panel(laid, remembered, configuration, offline=order.offline, watcher=observer)
            resumed = ("an interrupted debate was resumed",) if begun.resumed else ()
            notes = (seating.why, *seating.notices, *unread, *resumed)
            yield Cast(panel, options, begun.session, notes, course.course(seating, configuration, plain))


def _toolbox(scene: Scene, order: Order, room: Sandbox) -> Any:
    """What panelists may look up, ask and run; ``None`` for a patch without a repository. Raises ConfigError."""
    from reviewbot.wiring import tools

    return tools.toolbox(scene, order, room)


def _workshop(scene: Scene) -> Any:
    """Where models write code."""
    from reviewbot.wiring import tools

    return tools.workshop(scene)


def _rules(scene: Scene) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The repository's own rules, from the base commit, and what of them is not read."""
    base = ruling.base_of(scene.git, scene.git, scene.revisions) if scene.git else None
    return ruling.ruled(scene.configuration, base) if base else (rules_for(scene.configuration, []), ())


def _session_plan(seating: Seating, scene: Scene, order: Order, *, plain: pipeline.Options, room: Sandbox) -> SessionPlan:
    """Which debate this is: everything that decides its course, and nothing that differs from run to run."""
    revisions = scene.revisions
    everyone = course.everyone(seating)
    change = (revisions.base_tree, revisions.head_tree) if scene.git else scene.repo.diff(revisions).patch
    effort = scene.configuration.get("debate.effort", str)
    asked = (order.focus, *([order.goal] if order.goal else []))
    decisive = (__version__, change, plain, everyone, effort, room.level, *asked, around(scene), *course.known(order))
    return SessionPlan(
        key=hashlib.sha256(repr(decisive).encode("utf-8", "surrogateescape")).hexdigest(),
        run_id=run_id(),
        project=scene.project,
        base=revisions.base or "",
        head=revisions.head or "",
        title=order.title,
        seats=tuple((plan.name, plan.role, str(plan.spec)) for plan in everyone),
        fresh=order.fresh,
    )


def around(scene: Scene) -> tuple[object, ...]:
    """The operator's settings that decide what checks and look-ups say, and are no options of a stage."""
    held = scene.configuration
    databases = [row for row in held.rows() if row[0].startswith("databases.")]
    places = tuple((name, setting.value) for name, setting in databases)
    return (held.texts("setup"), held.texts("tools.commands"), held.texts("tools.extra"), held.value("container.image"), places)


def _retold(order: Order) -> dict[str, Any]:
    """What was typed, for a replay."""
    flags = {key: list(said) for key, said in order.flags.items()}
    said = {"panel": order.panel, "models": list(order.models), "flags": flags, "execute": order.execute, "focus": order.focus}
    shown: dict[str, Any] = {"audit": [list(pair) for pair in order.rotation.read]}
    said |= shown if order.target.kind is TargetKind.ALL else {}
    return said | ({"request": request_document(course.told(order))} if course.known(order) else {})


def local_of(laid: Laid, plain: pipeline.Options, session: Session) -> LocalWork:
    """What local panelists are given: as it was known when this debate was begun, so that who resumes it asks the same."""
    kept: Mapping[str, Any] | None = session.recall("paces")
    if kept is not None:
        paces = tuple(Pace(**one) for one in kept["paces"])
        return local_work(plain, paces, tuple((seat, said, real) for seat, said, real in kept["errors"]))
    session.keep("paces", {"paces": [asdict(pace) for pace in laid.paces], "errors": [list(error) for error in laid.errors]})
    return local_work(plain, laid.paces, laid.errors)
