"""The review of what is about to be committed: the index, by checks that only read, and by models where somebody asks."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot import pipeline
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.config import Configuration
from reviewbot.config.seats import STATIC
from reviewbot.domain.review import Review
from reviewbot.ports import Observer
from reviewbot.wiring import books, course, dismissing
from reviewbot.wiring.hook_order import StagedOrder
from reviewbot.wiring.hook_quiet import RunBefore
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import Order, Outcome, Silent, SystemClock, run_id
from reviewbot.wiring.rooms import open_sandbox
from reviewbot.wiring.scene import Scene, configured_here, opened


@dataclass(frozen=True, slots=True)
class Staged:
    """A review and the configuration it was made under. ``kept``: the file that remembers it, ``None`` where none does, or models
    were asked."""

    outcome: Outcome
    kept: Path | None = None


def is_of_models(order: StagedOrder) -> bool:
    """Somebody asks for models: before a commit they do not sit by themselves, whatever is configured."""
    return bool(order.models) or order.panel not in (None, STATIC)


def staged(order: StagedOrder, observer: Observer | None = None) -> Staged:
    """Make one review. Raises ReviewbotError."""
    if is_of_models(order):
        return Staged(_with_models(order, observer))
    still = replace(order, execute=False, fresh=True)
    with opened(still) as scene:
        review = _read(scene, dismissing.heeded(still, scene), observer or Silent())
        problem = books.keep(review, order, scene.project)
        review = replace(review, notes=(*review.notes, problem)) if problem else review
        kept = None if problem or order.state is None else books.latest(order.state, scene.project)
        return Staged(Outcome(review, scene.configuration), kept)


def staged_options(configuration: Configuration) -> pipeline.Options:
    """Those of a review by checks that only read what is staged. Nothing is mended here."""
    options = options_of(configuration)
    seconds = min(options.seconds, configuration.get("hook.seconds", float))
    checks = replace(options.checks, staged=True, seconds=min(options.checks.seconds, seconds))
    return replace(options, checks=checks, seconds=seconds, repair=pipeline.RepairOptions())


def _read(scene: Scene, order: Order, observer: Observer) -> Review:
    git, held, revisions = scene.git, scene.configuration, scene.revisions
    with ExitStack() as stack:
        room = stack.enter_context(open_sandbox(held, git, revisions, scratch=scene.scratch, order=order))
        told = RunBefore(room, order.ran if isinstance(order, StagedOrder) else ())
        worker = stack.enter_context(closing(ProcessWorker()))
        panel = StaticPanel()
        world = pipeline.World(scene.repo, git, told, panel, SystemClock(), observer, worker, clerk=panel)
        identity = pipeline.Identity(run_id(), git.remote_name() if git else None, held.notices)
        request, options = course.request(order, held), staged_options(held)
        return pipeline.review(request, revisions, world, options=options, identity=identity)


def _with_models(order: StagedOrder, observer: Observer | None) -> Outcome:
    """The normal seating, in the time of a hook. Nothing of the change is executed all the same."""
    from reviewbot.wiring import reviewing

    held = configured_here(order)
    seconds = min(held.get("limits.seconds", float), held.get("hook.seconds", float))
    flags = {**order.flags, "limits.seconds": (seconds, "hook.seconds"), "sandbox": ("none", "the hook")}
    return reviewing.review(replace(order, flags=flags, names=None), observer)
