"""Zone M put together: a debate over documents. It has the keys of models; no repository, no sandbox, no code of the change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from reviewbot import __version__, config, pipeline
from reviewbot.adapters.handover import NO_RUNNER, Handover, NoRunner, ToldSession
from reviewbot.adapters.panel.static import StaticPanel
from reviewbot.adapters.worker import ProcessWorker
from reviewbot.changeset import diff, select
from reviewbot.changeset.select import SelectOptions
from reviewbot.config import Configuration, Source
from reviewbot.config.seats import Seating
from reviewbot.domain.change import ChangeSet, FileStatus
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import Review
from reviewbot.drive import Awaited
from reviewbot.errors import UsageError
from reviewbot.evidence.origin import Origin, beside, of_author
from reviewbot.pipeline import Unremembered
from reviewbot.ports import Experiment, Observer, Rule, SessionPlan, TreeEntry, Verification
from reviewbot.publish import document, document_proof, load_proof
from reviewbot.publish.document_change import Handed
from reviewbot.publish.load_change import load_change
from reviewbot.publish.load_evidence import load_evidence
from reviewbot.publish.load_request import Request, load_request
from reviewbot.wiring import books, course, offers, ruling
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import Order, Outcome, Silent, SystemClock, run_id
from reviewbot.wiring.portions import for_models
from reviewbot.wiring.reviewing import STATIC_NOTE, Cast, local_of

NOT_A_REPOSITORY = "handed over"
"""The name of a repository that has none, in what is remembered."""

UNBELIEVED = "what the author's own run says of checks that the debate asked for is not read"
UNCONFIGURED = "configuration, rules and dismissals in the change document are the author's word and are not read"


@dataclass(frozen=True, slots=True)
class Papers:
    """What a debate is given: documents as they were read. ``awaits``: a runner will answer the experiments it asks for.

    ``own`` is evidence that was gathered beside the change document by whoever holds the debate, without running anything. Where
    it is there, ``origin`` is about ``evidence`` alone: the change, its configuration and its rules are ours."""

    changeset: bytes
    evidence: bytes
    request: bytes | None = None
    verifications: tuple[bytes, ...] = ()
    origin: Origin = Origin.RUNNER
    awaits: bool = False
    own: bytes | None = None

    @property
    def is_change_theirs(self) -> bool:
        """The change document is the author's word, too."""
        return self.origin is Origin.AUTHOR and self.own is None


@dataclass(frozen=True, slots=True)
class Pending:
    """A debate that waits: the document of experiments as JSON text, and how many there are."""

    experiments: str
    awaited: int


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything that was handed over, read."""

    handed: Handed
    change: ChangeSet
    request: Request
    configuration: Configuration
    options: pipeline.Options
    ledger: Ledger
    shown: Mapping[str, Verification]
    notes: tuple[str, ...]


def debate(order: Order, papers: Papers, observer: Observer | None = None) -> Outcome | Pending:
    """Hold the debate, or go on with it. Raises ReviewbotError; UsageError where documents do not belong together."""
    case, watcher = _read(order, papers), observer or Silent()
    seating = offers.seated(order, case.configuration)
    order = _asked(order, case.request, Dismissals() if papers.is_change_theirs else case.handed.dismissals)
    if (known := _unchanged(seating, case, order)) is not None:
        return Outcome(known, case.configuration)
    with _cast(seating, case, order, observer=watcher) as cast:
        try:
            made = _made(cast, case, order, elsewhere=_elsewhere(papers.awaits), observer=watcher)
        except Awaited as waiting:
            wanted = {document_proof.proof_name(one): one for one in waiting.experiments}
            written = document_proof.experiments_document(wanted.values(), case.handed.revisions)
            return Pending(document.dumps(written), len(wanted))
    return Outcome(made, case.configuration)


def _asked(order: Order, request: Request, dismissals: Dismissals) -> Order:
    """The order with what the request says; where it dismisses nothing, ``dismissals`` do."""
    return replace(
        order,
        title=request.title,
        focus=request.focus,
        background=request.background,
        history=request.earlier,
        pull_request=request.pull_request,
        dismissals=dismissals if request.dismissals == Dismissals() else request.dismissals,
    )


def _read(order: Order, papers: Papers) -> _Case:
    """The documents, which must be about one change."""
    handed = load_change(papers.changeset)
    about, is_author = handed.revisions, papers.origin is Origin.AUTHOR
    request = load_request(papers.request, about=about) if papers.request is not None else Request()
    configuration = _configuration(order, handed, trusted=not papers.is_change_theirs)
    plain = options_of(configuration)
    plain = replace(plain, debate=replace(plain.debate, runner=papers.awaits))
    options = replace(plain, rules=_rules(configuration, handed, trusted=not papers.is_change_theirs))
    ledger = load_evidence(papers.evidence, about=about)
    shown: dict[str, Verification] = {}
    notes: tuple[str, ...] = ()
    if is_author:
        ledger = of_author(ledger, options.checks.required)
        ledger = beside(load_evidence(papers.own, about=about), ledger) if papers.own else ledger
        notes = tuple(_unbelieved(handed, papers))
    else:
        for text in papers.verifications:
            shown |= {document_proof.proof_name(one): found for one, found in load_proof.load_verifications(text, about=about)}
    return _Case(handed, _change(handed), request, configuration, options, ledger, shown, notes)


def _unbelieved(handed: Handed, papers: Papers) -> Iterator[str]:
    if papers.verifications:
        yield UNBELIEVED
    if papers.is_change_theirs and (handed.configuration or handed.rules or handed.dismissals != Dismissals()):
        yield UNCONFIGURED


def _configuration(order: Order, handed: Handed, *, trusted: bool) -> Configuration:
    """Flags over environment over the operator's file (or the base commit's, as a runner handed it over) over the user's."""
    repository: tuple[Source, ...] = (order.config,) if order.config else ()
    if order.config is None and trusted:
        repository = tuple(Source(name, data) for name, data in handed.configuration)
    held = config.load(flags=order.flags, environ=order.environment, repository=repository, user=order.user)
    return held if order.config or not trusted else ruling.configured_by(held, handed.rules, ruling.changed(handed.diff))


def _rules(configuration: Configuration, handed: Handed, *, trusted: bool) -> tuple[Rule, ...]:
    """The repository's own rules, from the base commit."""
    return ruling.ruled_by(configuration, handed.rules if trusted else (), ruling.changed(handed.diff))


def _change(handed: Handed) -> ChangeSet:
    """What changed. Raises UsageError where a name leads out of the tree, or a file that may be shown is not there."""
    change = diff.read(handed.diff, handed.revisions)
    hint = "write it with 'reviewbot collect'"
    for file in change.files:
        if any({"", ".", ".."} & set(name.split("/")) for name in (file.path, file.old_path) if name is not None):
            raise UsageError("the change document is wrong at $.diff: a path inside the repository is expected", hint=hint)
    if handed.revisions.head_tree is not None:
        for file in select.scope(change, SelectOptions()).files:
            base = None if file.status is FileStatus.ADDED else file.old_id
            head = None if file.status is FileStatus.DELETED else file.new_id
            if any(name not in handed.blobs for name in (base, head) if name):
                raise UsageError(f"the change document is wrong at $.contents: {file.path} is missing", hint=hint)
    return change


def _elsewhere(awaits: bool) -> Callable[[Experiment], Verification | None]:
    """Who answers experiments that no document tells of: nobody, or a runner later."""

    def answered(wanted: Experiment) -> Verification | None:
        if awaits and document_proof.can_be_handed_over(wanted):
            return None
        return Verification(replace(wanted.check, outcome=CheckOutcome.NOT_RUN), NO_RUNNER)

    return answered


def _unchanged(seating: Seating, case: _Case, order: Order) -> Review | None:
    """The review where nothing changed since the last one: nobody is even greeted."""
    told = course.course(seating, case.configuration, case.options)
    notes = (*seating.notices, *case.configuration.notices, *case.notes)
    identity = pipeline.Identity(run_id(), case.handed.repository, notes, told)
    repo, revisions = _handover(case), case.handed.revisions
    objects = repo if revisions.head_tree is not None else None
    return pipeline.unchanged(
        course.request(order, case.configuration), revisions, repo, objects=objects, options=case.options, identity=identity
    )


def _handover(case: _Case) -> Handover:
    handed = case.handed
    return Handover(handed.revisions, handed.diff, blobs=handed.blobs, entries=_entries(case))


def _made(
    cast: Cast,
    case: _Case,
    order: Order,
    *,
    elsewhere: Callable[[Experiment], Verification | None],
    observer: Observer,
) -> Review:
    revisions, handed = case.handed.revisions, case.handed
    told: dict[str, Mapping[str, Any]] = {"evidence": document.evidence_document(case.ledger, revisions)}
    told |= {name: document.verification_document(shown) for name, shown in case.shown.items()}
    repo = _handover(case)
    notes = (*cast.notes, *case.configuration.notices, *case.notes)
    identity = pipeline.Identity(run_id(), handed.repository, notes, cast.course)
    request = course.request(order, case.configuration)
    with closing(ProcessWorker()) as worker:
        world = pipeline.World(
            repo,
            repo if revisions.head_tree is not None else None,
            NoRunner(),
            cast.panel,
            SystemClock(),
            observer,
            worker,
            session=ToldSession(told, cast.session),
            elsewhere=elsewhere,
            clerk=StaticPanel(),
        )
        return pipeline.review(request, revisions, world, options=cast.options, identity=identity)


def _entries(case: _Case) -> dict[str, tuple[TreeEntry, ...]]:
    """Of both trees, the files that changed and were handed over."""
    revisions, blobs, files = case.handed.revisions, case.handed.blobs, case.change.files
    base = tuple(found for file in files for found in _entry(file.base_path, file.old_mode, blobs=blobs, name=file.old_id))
    head = tuple(found for file in files for found in _entry(file.head_path, file.new_mode, blobs=blobs, name=file.new_id))
    return {tree: found for tree, found in ((revisions.base_tree, base), (revisions.head_tree, head)) if tree is not None}


def _entry(path: str | None, mode: int, *, blobs: Mapping[str, bytes], name: str | None) -> Iterator[TreeEntry]:
    if path is not None and name is not None and name in blobs:
        yield TreeEntry(path, mode, name, len(blobs[name]))


@contextmanager
def _cast(seating: Seating, case: _Case, order: Order, *, observer: Observer) -> Iterator[Cast]:
    """Who reviews: as in a review, but that nobody looks anything up."""
    if seating.is_static:
        told = course.course(seating, case.configuration, case.options)
        yield Cast(StaticPanel(), case.options, Unremembered(), (STATIC_NOTE, *seating.notices), told)
        return
    from reviewbot.wiring import seats

    configuration = case.configuration
    with books.opened(order, configuration) as store:
        hall = seats.Hall(configuration, order.environment, clock=SystemClock(), profiles=store.profiles)
        laid = seats.lay(seating, hall, tools=None, steps=0, seconds=case.options.debate.round_seconds)
        with store.begin(_session_plan(seating, case, order)) as begun:
            if not (order.offline or begun.replayable):
                hall.begin()
            options = for_models(case.options, configuration, laid.seats, local=local_of(laid, case.options, begun.session))
            remembered = seats.Remembered(begun.calls, begun.session, store.profiles)
            panel = seats.panel(laid, remembered, configuration, offline=order.offline, watcher=observer)
            resumed = ("an interrupted debate was resumed",) if begun.resumed else ()
            notes = (seating.why, *seating.notices, *resumed)
            yield Cast(panel, options, begun.session, notes, course.course(seating, configuration, case.options))


def _session_plan(seating: Seating, case: _Case, order: Order) -> SessionPlan:
    """Which debate this is: everything that decides its course. What experiments show is no part of it: they resume it."""
    handed, revisions = case.handed, case.handed.revisions
    everyone = course.everyone(seating)
    given = (handed.diff, revisions.base_tree, revisions.head_tree, document.evidence_document(case.ledger, revisions))
    effort = case.configuration.get("debate.effort", str)
    decisive = (__version__, "documents", given, case.options, everyone, effort, order.focus, *course.known(order))
    return SessionPlan(
        key=hashlib.sha256(repr(decisive).encode("utf-8", "surrogateescape")).hexdigest(),
        run_id=run_id(),
        project=handed.repository or NOT_A_REPOSITORY,
        base=revisions.base,
        head=revisions.head,
        title=order.title,
        seats=tuple((plan.name, plan.role, str(plan.spec)) for plan in everyone),
        fresh=order.fresh,
    )
