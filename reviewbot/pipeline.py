"""The order of a review. Reads like a table of contents; every line of it is somebody else's work.

``World`` holds the doors that a review needs. There is no forge among them: a review cannot post.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reviewbot import __version__, drive
from reviewbot.changeset import diff, excerpt, pack, select
from reviewbot.changeset.select import Scope, SelectOptions
from reviewbot.consensus import policy
from reviewbot.consensus.policy import PolicyOptions, Shown
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.change import ChangeSet, Contents, FileStatus, Revisions
from reviewbot.domain.debate import Transcript
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import Finding, Review, Timing
from reviewbot.drive import Deadline
from reviewbot.evidence import collect, plan, proof
from reviewbot.evidence.view import CheckOptions, View, is_python_test
from reviewbot.ports import Clock, Experiment, Objects, Observer, Panel, Passage, Progress, Repo, Sandbox, Verification

MOST_TEST_FILES = 400
LARGEST_TEST_FILE = 300_000
"""Test files (count, bytes) that are read to find out which of them import what changed."""


@dataclass(frozen=True, slots=True)
class World:
    """The doors. ``objects`` is ``None`` where there is only a patch."""

    repo: Repo
    objects: Objects | None
    sandbox: Sandbox
    panel: Panel
    clock: Clock
    observer: Observer


@dataclass(frozen=True, slots=True)
class Options:
    """The option values of all stages. ``budget_tokens`` bounds what is shown; ``seconds`` the whole review."""

    selection: SelectOptions = SelectOptions()
    checks: CheckOptions = CheckOptions()
    debate: DebateOptions = DebateOptions()
    policy: PolicyOptions = PolicyOptions()
    budget_tokens: int | None = None
    seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Which review this is: its id, the repository's name where known, and what was to be said before it began."""

    run_id: str
    repository: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """One review under way."""

    world: World
    options: Options
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class _Material:
    """What a review is about: what of the change is in scope, how it is shown to people, and what checks may read of it."""

    scope: Scope
    passages: tuple[Passage, ...]
    view: View

    @property
    def change(self) -> ChangeSet:
        """The whole change."""
        return self.view.change


def review(request: ReviewRequest, revisions: Revisions, world: World, *, options: Options, identity: Identity) -> Review:
    """Review one change whose ends were resolved. Raises ReviewbotError where it cannot be read at all."""
    started = world.clock.seconds()
    run = _Run(world, options, Deadline(world.clock, started + options.seconds))
    material = _read(revisions, run)
    ledger, overlapped = _examine(material, run)
    transcript = _debate(request, material, ledger, run=run)
    told = policy.findings(transcript, _shown(material, transcript), options.policy)
    seconds = world.clock.seconds() - started
    timing = Timing(round(seconds, 3), round(seconds - overlapped, 3))
    return _concluded(material, ledger, transcript, told=told, identity=identity, timing=timing)


def _read(revisions: Revisions, run: _Run) -> _Material:
    """What changed, what of it is looked at, and how it is shown."""
    world, options = run.world, run.options
    change = diff.read(world.repo.diff(revisions), revisions)
    scope = select.scope(change, options.selection)
    contents = _contents(scope, world.objects)
    scope = select.refine(scope, contents, options.selection)
    scope = pack.fit(scope, _smaller(options.budget_tokens, world.panel.capacity))
    world.observer.saw(Progress("changeset", f"{len(change.files)} files changed, {len(scope.files)} in scope"))
    return _Material(scope, excerpt.passages(scope.files, contents), _view(change, scope, contents, world=world))


def _contents(scope: Scope, objects: Objects | None) -> Mapping[str, Contents]:
    """Both sides of every file in scope. From a patch alone only what it adds whole is known."""
    if objects is None:
        return {file.path: Contents(None, excerpt.rebuilt(file)) for file in scope.files}

    def side(object_id: str | None) -> bytes | None:
        return objects.blob(object_id) if object_id else None

    return {
        file.path: Contents(
            None if file.status is FileStatus.ADDED else side(file.old_id),
            None if file.status is FileStatus.DELETED else side(file.new_id),
        )
        for file in scope.files
    }


def _examine(material: _Material, run: _Run) -> tuple[Ledger, float]:
    """S0: the checks that the change deserves, run at base and head, and what they say.

    Also the seconds that would be saved if all checks could run at once."""
    world, options = run.world, run.options
    planned = plan.plan(material.view, options.checks)
    began = world.clock.seconds()
    outcomes = drive.run_jobs(planned.jobs, world.sandbox, deadline=run.deadline, observer=world.observer)
    waited = world.clock.seconds() - began
    ledger = collect.collect(material.view, planned, outcomes, options=options.checks)
    world.observer.saw(Progress("evidence", f"{len(ledger.items)} results, {len(ledger.new())} new"))
    return ledger, max(waited - max((outcome.seconds for outcome in outcomes), default=waited), 0.0)


def _view(change: ChangeSet, scope: Scope, contents: Mapping[str, Contents], *, world: World) -> View:
    """What checks may read: the change, the names in the head tree, and its test files."""
    paths: tuple[str, ...] = ()
    tests: Mapping[str, bytes] = MappingProxyType({})
    head = change.revisions.head_tree
    if world.objects is not None and head is not None:
        objects, entries = world.objects, world.objects.entries(head)
        paths = tuple(entry.path for entry in entries)
        found = [entry for entry in entries if is_python_test(entry.path) and 0 <= entry.size <= LARGEST_TEST_FILE]
        tests = {entry.path: objects.blob(entry.object_id) for entry in found[:MOST_TEST_FILES]}
    sandbox = world.sandbox
    return View(change, scope.files, contents, paths, tests, sandbox.level, sandbox.notes)


def _debate(request: ReviewRequest, material: _Material, ledger: Ledger, *, run: _Run) -> Transcript:
    """S1 to S6 over the evidence."""
    world, options = run.world, run.options
    paths = frozenset(file.path for file in material.change.files)
    prose = bool(paths) and all(select.is_documentation(path) for path in paths)
    brief = Brief(material.passages, paths, ledger, request.title, request.focus, documentation_only=prose)

    def experiment(wanted: Experiment) -> Verification:
        jobs = proof.jobs(wanted.check, material.view, options.checks)
        return proof.judge(wanted, drive.run_jobs(jobs, world.sandbox, deadline=run.deadline, observer=world.observer))

    conversation = debate(brief, world.panel.seats, options.debate)
    return drive.converse(conversation, world.panel, experiment, deadline=run.deadline, observer=world.observer)


def _shown(material: _Material, transcript: Transcript) -> Shown:
    """The passages, and the whole text of those files that something is said about."""
    paths = dict.fromkeys(case.lead.path for case in transcript.cases)
    contents = material.view.contents
    heads = {path: contents[path].head for path in paths if path in contents}
    lines = {path: excerpt.shown_lines(head) for path, head in heads.items() if head is not None}
    return Shown(material.passages, lines, {file.path: file.base_path or file.path for file in material.change.files})


def _concluded(
    material: _Material,
    ledger: Ledger,
    transcript: Transcript,
    *,
    told: tuple[Finding, ...],
    identity: Identity,
    timing: Timing,
) -> Review:
    revisions, scope = material.change.revisions, material.scope
    seen = select.coverage(material.change, scope)
    whole, reasons = policy.conclusion(seen, ledger, transcript)
    spoken = (f"{run.name}: {'' if run.ran else 'not run: '}{run.reason}" for run in ledger.checks if run.reason)
    notes = (*identity.notes, *revisions.notes, *scope.notes, *ledger.notes, *spoken, *transcript.notes, *reasons)
    return Review(
        run_id=identity.run_id,
        tool_version=__version__,
        conclusion=whole,
        verdict=policy.verdict(whole, told, ledger, coverage=seen),
        revisions=revisions,
        coverage=seen,
        findings=told,
        evidence=ledger.items,
        checks=ledger.checks,
        attendance=transcript.attendance,
        turns=transcript.turns,
        rulings=transcript.rulings,
        rounds=transcript.rounds,
        criteria=transcript.criteria,
        bill=transcript.bill,
        timing=timing,
        sandbox=ledger.sandbox,
        notes=tuple(dict.fromkeys(notes)),
        repository=identity.repository,
    )


def _smaller(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
