"""``reviewbot fix`` put together: a review whose accepted findings are mended, and the steps that are written of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot import pipeline
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.git.writing import LocalWriter
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import Edit, Repair
from reviewbot.domain.review import Review
from reviewbot.domain.target import TargetKind
from reviewbot.errors import PatchError, UsageError
from reviewbot.ports import Observer, Trialled
from reviewbot.ports.writing import Recovered, Undone, WritePlan, WriteStep, Written
from reviewbot.publish import fixes
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import Order, Outcome, Silent, SystemClock
from reviewbot.wiring.reviewing import cores, review
from reviewbot.wiring.rooms import open_rooms
from reviewbot.wiring.scene import Scene, opened

NO_REPOSITORY = "a patch alone cannot be fixed"
MADE = "commit"
"""The mode of a local fix: what comes of it is decided by who is asked."""


@dataclass(frozen=True, slots=True)
class Step:
    """One repair that is to be written: the files as they are after it, and all steps before."""

    repair: Repair
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """What is to be written, in order, and git's own patch of all of it. ``left``: repairs that need one that was not chosen."""

    steps: tuple[Step, ...]
    patch: bytes
    left: tuple[Repair, ...] = ()


def fix(order: Order, wanted: tuple[str, ...], observer: Observer | None = None) -> Outcome:
    """The review with code for its accepted findings, or for those of them that are ``wanted``. Raises ReviewbotError."""
    if order.target.kind is TargetKind.PATCH:
        raise UsageError(NO_REPOSITORY, hint="run it in the repository that the patch is for, on a commit or on uncommitted work")
    flags = {**order.flags, "fix.mode": (MADE, "reviewbot fix")}
    return review(replace(order, flags=flags, wanted=wanted), observer)


def ready(outcome: Outcome) -> list[Repair]:
    """What of a review may be written: what is proven, and with ``fix.unproven`` what is not."""
    options = options_of(outcome.configuration).repair
    return [repair for repair in outcome.review.repairs if options.writes(repair)]


def steps(order: Order, revisions: Revisions, chosen: Iterable[Repair]) -> Steps:
    """The chosen repairs, one on top of the other; each patch is applied exactly. Raises ReviewbotError."""
    with opened(order) as scene:
        return _steps(scene, revisions, chosen)


def write(order: Order, revisions: Revisions, chosen: Steps, *, commit: bool) -> Written:
    """Write what was chosen: into the files, or as one commit for each. Raises WriteError, and then nothing is changed."""
    with opened(order) as scene:
        git, kind = _git(scene), TargetKind(revisions.kind)
        writer = LocalWriter(git.place, git.place.index, environment=order.environment)
        return writer.write(WritePlan(kind, revisions.head_tree or "", tuple(_written(step) for step in chosen.steps), commit))


def undo(order: Order) -> Undone:
    """Take back what was written last. Raises WriteError, and then nothing is changed."""
    with _writer(order) as writer:
        return writer.undo()


def recover(order: Order) -> Recovered | None:
    """Mend what a run that was killed left half done. Raises WriteError."""
    with _writer(order) as writer:
        return writer.recover()


def proved(order: Order, made: Review, *, chosen: Steps, observer: Observer | None = None) -> Trialled:
    """Some of what a review made, tried once more without the rest. Raises ReviewbotError."""
    with ExitStack() as stack:
        scene = stack.enter_context(opened(order))
        configuration, git = scene.configuration, _git(scene)
        rooms = stack.enter_context(open_rooms(configuration, git, made.revisions, scratch=scene.scratch, order=order))
        worker = stack.enter_context(closing(ProcessWorker()))
        world = pipeline.World(
            scene.repo,
            git,
            rooms.room,
            StaticPanel(),
            SystemClock(),
            observer or Silent(),
            worker,
            cores=cores(),
            trees=git,
            annex=rooms.annex,
        )
        options = options_of(configuration, execute=order.execute)
        repairs = tuple(step.repair for step in chosen.steps)
        return pipeline.retried(repairs, chosen.steps[-1].edits, made, world=world, options=options)


def as_tried(chosen: Steps, tried: Trialled) -> Steps:
    """The steps, the last of them with what was tried really: a formatter may have gone over it."""
    return replace(chosen, steps=(*chosen.steps[:-1], replace(chosen.steps[-1], edits=tried.edits)), patch=tried.patch)


def _steps(scene: Scene, revisions: Revisions, chosen: Iterable[Repair]) -> Steps:
    git, head = _git(scene), revisions.head_tree
    if head is None or scene.revisions.head_tree != head:
        raise UsageError("what was reviewed has changed meanwhile: nothing was written", hint="run it again")
    tree, made, left = head, list[Step](), list[Repair]()
    for repair in (one for one in chosen if one.patch):
        try:
            tree = git.apply(tree, repair.patch)
        except PatchError:
            left.append(repair)
            continue
        made.append(Step(repair, tuple(_edits(scene, head, tree))))
    return Steps(tuple(made), git.between(head, tree).patch if made else b"", tuple(left))


def _edits(scene: Scene, old: str, new: str) -> Iterator[Edit]:
    """What differs between two trees, as whole files."""
    git = _git(scene)
    before, after = ({entry.path: entry.object_id for entry in git.entries(tree)} for tree in (old, new))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield Edit(path, git.blob(after[path]) if path in after else None)


def _written(step: Step) -> WriteStep:
    said = fixes.message(step.repair)
    return WriteStep(step.edits, step.repair.id, f"{said.headline}\n\n{said.body}\n")


@contextmanager
def _writer(order: Order) -> Iterator[LocalWriter]:
    with tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True) as scratch:
        yield LocalWriter.open(order.directory, Path(scratch), environment=order.environment)


def _git(scene: Scene) -> GitRepo:
    if scene.git is None:
        raise UsageError(NO_REPOSITORY, hint="run it in the repository that the patch is for")
    return scene.git
