"""Zone R put together: the change and what runs over it, written down for a debate elsewhere. No key, no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace

from reviewbot import pipeline
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.handover import Handover
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.changeset import diff, select
from reviewbot.changeset.select import SelectOptions
from reviewbot.domain.change import FileChange, FileStatus, Revisions
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import Ledger
from reviewbot.errors import IncompleteError, UsageError
from reviewbot.pipeline import World
from reviewbot.ports import Experiment, Observer, Verification
from reviewbot.publish import document, document_change, document_proof, load_proof
from reviewbot.publish.document_change import MOST_BYTES, Handed
from reviewbot.wiring import dismissing, ruling
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import REPOSITORY_FILES, Order, Silent, SystemClock
from reviewbot.wiring.reviewing import cores
from reviewbot.wiring.rooms import open_sandbox
from reviewbot.wiring.scene import Scene, opened


@dataclass(frozen=True, slots=True)
class Collected:
    """The two documents as JSON text, and the ledger that one of them holds."""

    changeset: str
    evidence: str
    ledger: Ledger
    revisions: Revisions


@dataclass(frozen=True, slots=True)
class Conducted:
    """The document of verifications as JSON text; how many experiments were wanted, and how many of them came to no result."""

    verifications: str
    wanted: int
    without_result: int


def collect(order: Order, observer: Observer | None = None) -> Collected:
    """What a debate needs to know of a change. Raises ReviewbotError; IncompleteError where it is too large to be handed over."""
    with opened(order) as scene:
        handed = replace(_handed(scene, order), dismissals=dismissing.heeded(order, scene).dismissals)
        with _world(scene, order, handed, observer=observer or Silent()) as world:
            ledger = pipeline.gathered(scene.revisions, world, options=options_of(scene.configuration, execute=order.execute))
    written = document.evidence_document(ledger, scene.revisions)
    changeset = document_change.change_document(handed)
    return Collected(document.dumps(changeset), document.dumps(written), ledger, scene.revisions)


def conduct(order: Order, experiments: bytes, *, earlier: bytes | None = None, observer: Observer | None = None) -> Conducted:
    """What the experiments of a debate show. What ``earlier``, a document of verifications of the same change, tells already is
    not run again. Raises ReviewbotError; UsageError where the debate was about another change."""
    with opened(order) as scene:
        wanted = load_proof.load_experiments(experiments, about=scene.revisions)
        known = _known(earlier, scene.revisions)
        left = [one for one in wanted if _is_open(known.get(document_proof.proof_name(one)))]
        handed = Handed(scene.revisions, scene.repo.diff(scene.revisions), {})
        with _world(scene, order, handed, observer=observer or Silent()) as world:
            options = options_of(scene.configuration, execute=order.execute)
            found = pipeline.verified(left, scene.revisions, world, options=options)
    known |= {document_proof.proof_name(one): (one, shown) for one, shown in zip(left, found, strict=True)}
    written = document_proof.verifications_document(known.values(), scene.revisions)
    return Conducted(document.dumps(written), len(wanted), sum(map(_is_without_result, found)))


def _known(earlier: bytes | None, about: Revisions) -> dict[str, tuple[Experiment, Verification]]:
    """What was found before. A document about another change, or none that can be read, is begun anew."""
    try:
        found = load_proof.load_verifications(earlier, about=about) if earlier else ()
    except UsageError:
        return {}
    return {document_proof.proof_name(one): (one, shown) for one, shown in found}


def _is_open(known: tuple[Experiment, Verification] | None) -> bool:
    return known is None or _is_without_result(known[1])


def _is_without_result(shown: Verification) -> bool:
    return shown.check.outcome is CheckOutcome.NOT_RUN


@contextmanager
def _world(scene: Scene, order: Order, handed: Handed, *, observer: Observer) -> Iterator[World]:
    """The doors of a runner. The panel is there because a world has one; it is asked nothing."""
    git = scene.git
    repo = Handover(scene.revisions, handed.diff, blobs={}, entries={})
    with ExitStack() as stack:
        room = stack.enter_context(open_sandbox(scene.configuration, git, scene.revisions, scratch=scene.scratch, order=order))
        worker = stack.enter_context(closing(ProcessWorker()))
        yield World(repo, git, room, StaticPanel(), SystemClock(), observer, worker, search=git, cores=cores())


def _handed(scene: Scene, order: Order) -> Handed:
    """The change with both sides of every file that some configuration could have in scope."""
    git, revisions = scene.git, scene.revisions
    bare = Handed(revisions, scene.repo.diff(revisions), {})
    if git is None:
        return bare
    blobs: dict[str, bytes] = {}
    left = MOST_BYTES - bare.size
    for name in _wanted(select.scope(diff.read(bare.diff, revisions), SelectOptions()).files):
        if name not in blobs and left >= 0:
            blobs[name] = git.blob(name)
            left -= len(blobs[name])
    if left < 0:
        raise IncompleteError(
            f"the change and its files have more than the {MOST_BYTES:,} bytes that are handed over",
            hint="review it in parts, or in one process with 'reviewbot review'",
        )
    base = ruling.base_of(Handover(revisions, bare.diff, blobs={}, entries={}), git, revisions)
    rules = ruling.handed(scene.configuration, base) if base else ()
    named = (order.config_path,) if order.config_path else REPOSITORY_FILES
    configuration = _base(git, revisions, named)
    return replace(bare, blobs=blobs, repository=git.remote_name(), configuration=configuration, rules=rules)


def _wanted(files: tuple[FileChange, ...]) -> Iterator[str]:
    for file in files:
        base = None if file.status is FileStatus.ADDED else file.old_id
        head = None if file.status is FileStatus.DELETED else file.new_id
        yield from (name for name in (base, head) if name)


def _base(git: GitRepo, revisions: Revisions, names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Those of the base's files that are there."""
    tree = revisions.base_tree
    found = ((name, git.file_at(tree, name)) for name in dict.fromkeys(names)) if tree else ()
    return tuple((name, data) for name, data in found if data is not None)
