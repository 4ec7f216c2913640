"""The order of a review. Reads like a table of contents; every line of it is somebody else's work.

``World`` holds the doors that a review needs. There is no forge among them: a review cannot post.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from reviewbot import __version__, briefing, drive
from reviewbot.briefing import BriefingOptions, Division, Library
from reviewbot.changeset import diff, excerpt, pack, select
from reviewbot.changeset.select import Scope, SelectOptions
from reviewbot.consensus import policy
from reviewbot.consensus.policy import PolicyOptions, Shown
from reviewbot.debate import improve
from reviewbot.debate.improve import ImproveOptions
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.debate.rounds import Answers, Round
from reviewbot.domain.change import ChangeSet, Contents, FileStatus, Revisions
from reviewbot.domain.debate import CheckOutcome, Transcript
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import ANALYSERS, Ledger
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Review, Timing
from reviewbot.drive import Bench, Deadline
from reviewbot.evidence import collect, plan, proof, sources
from reviewbot.evidence.match import Heard
from reviewbot.evidence.migrations import is_migration
from reviewbot.evidence.view import SETTINGS, CheckOptions, View, is_python_test
from reviewbot.ports import (
    Clock,
    Dossier,
    Experiment,
    Objects,
    Observer,
    Panel,
    Passage,
    Progress,
    Repo,
    Rule,
    Sandbox,
    Search,
    Session,
    SessionState,
    TreeEntry,
    Verification,
    Worker,
    WorkerLost,
)
from reviewbot.publish import document, load
from reviewbot.publish.document_proof import proof_name

MOST_TEST_FILES = 400
LARGEST_TEST_FILE = 300_000
LARGEST_SETTINGS_FILE = 300_000
MOST_SETTINGS_FILES = 100
"""Test files (count, bytes) that are read to find out which of them import what changed."""

ENDS = {
    Conclusion.COMPLETE: SessionState.CONVERGED,
    Conclusion.PARTIAL: SessionState.PARTIAL,
    Conclusion.NOT_REVIEWED: SessionState.FAILED,
    Conclusion.PENDING: SessionState.PENDING,
}
"""How a session ends, by how whole the review is."""


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
    ``elsewhere`` answers experiments in the sandbox's stead: what they show, or ``None`` where that is awaited."""

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


@dataclass(frozen=True, slots=True)
class Options:
    """The option values of all stages. ``budget_tokens`` bounds what is shown; ``seconds`` the whole review."""

    selection: SelectOptions = SelectOptions()
    checks: CheckOptions = CheckOptions()
    debate: DebateOptions = DebateOptions()
    improve: ImproveOptions = ImproveOptions()
    policy: PolicyOptions = PolicyOptions()
    rules: tuple[Rule, ...] = ()
    budget_tokens: int | None = None
    briefing: BriefingOptions = BriefingOptions()
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
    bench: Bench


@dataclass(frozen=True, slots=True)
class _Material:
    """What a review is about: what of the change is in scope, and what checks may read of it."""

    scope: Scope
    view: View
    blobs: Mapping[str, str]

    @property
    def change(self) -> ChangeSet:
        """The whole change."""
        return self.view.change


def review(request: ReviewRequest, revisions: Revisions, world: World, *, options: Options, identity: Identity) -> Review:
    """Review one change whose ends were resolved. Raises ReviewbotError where it cannot be read at all, and drive.Awaited where
    experiments are run elsewhere and have not been yet."""
    started = world.clock.seconds()
    run = _begun(world, options)
    material = _read(revisions, run)
    evidence = _evidence(material, run)
    division = _division(material, run)
    ledger, overlapped = evidence()
    brief = _brief(request, material, division, ledger=ledger, options=options)
    transcript, told = _debate(material, brief, run)
    seconds = world.clock.seconds() - started
    timing = Timing(round(seconds, 3), round(seconds - overlapped, 3))
    made = _concluded(material, ledger, transcript, told=told, identity=identity, timing=timing)
    world.session.close(made, ENDS[made.conclusion])
    return made


def gathered(revisions: Revisions, world: World, *, options: Options) -> Ledger:
    """What the checks say of a change, by itself: nobody is asked."""
    run = _begun(world, options)
    return _evidence(_read(revisions, run), run)()[0]


def verified(wanted: Iterable[Experiment], revisions: Revisions, world: World, *, options: Options) -> list[Verification]:
    """What the experiments show that a debate elsewhere asked for, in their order."""
    run = _begun(world, options)
    material = _read(revisions, run)
    return [found for one in wanted if (found := _verified(one, material, run))]


def _begun(world: World, options: Options) -> _Run:
    deadline = Deadline(world.clock, world.clock.seconds() + options.seconds)
    bench = Bench(world.sandbox, deadline=deadline, observer=world.observer, cores=world.cores)
    return _Run(world, options, deadline, bench)


def shown(
    revisions: Revisions, repo: Repo, objects: Objects | None, *, options: Options
) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The passages that a review would show, and what of the change it would not, in words."""
    change = diff.read(repo.diff(revisions), revisions)
    scope, contents = _selected(change, objects, options)
    left_out = tuple(f"{item.path}: {item.reason}" for item in scope.coverage if not item.ignored)
    return excerpt.passages(scope.files, contents), (*scope.notes, *left_out)


def _selected(change: ChangeSet, objects: Objects | None, options: Options) -> tuple[Scope, Mapping[str, Contents]]:
    """What of a change is looked at, with both sides of its files."""
    scope = select.scope(change, options.selection)
    contents = _contents(scope, objects)
    scope = select.refine(scope, contents, options.selection)
    scope = pack.fit(scope, options.budget_tokens)
    return replace(scope, notes=(*scope.notes, *excerpt.unshown(scope.files))), contents


def _read(revisions: Revisions, run: _Run) -> _Material:
    """What changed, and what of it is looked at."""
    world = run.world
    found = world.repo.diff(revisions)
    if world.session.recall("evidence") is None:
        world.worker.expect(len(found.patch))
    change = diff.read(found, revisions)
    scope, contents = _selected(change, world.objects, run.options)
    world.observer.saw(Progress("changeset", f"{len(change.files)} files changed, {len(scope.files)} in scope"))
    head = change.revisions.head_tree
    entries = world.objects.entries(head) if world.objects is not None and head is not None else ()
    blobs = {entry.path: entry.object_id for entry in entries if entry.size >= 0}
    view = _view(change, scope, contents, entries=entries, world=world)
    return _Material(scope, view, blobs)


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


def _evidence(material: _Material, run: _Run) -> Callable[[], tuple[Ledger, float]]:
    """S0: what the checks say, or said when this debate was begun: who resumes it sees the same.

    Begun here, and asked for when it is needed. Also the seconds that would be saved if all checks could run at once."""
    session = run.world.session
    if (kept := session.recall("evidence")) is not None:
        run.world.observer.saw(Progress("evidence", "taken from the debate that is resumed"))
        session.keep("evidence", kept, SessionState.IN_DEBATE)
        return lambda: (load.load_evidence(document.dumps(kept)), 0.0)
    session.keep("checking", {}, SessionState.CHECKING)
    reading = run.world.worker.begin(sources.hear, sources.ends(material.view))

    def evidence() -> tuple[Ledger, float]:
        ledger, overlapped = _examined(material, reading, run)
        written = document.evidence_document(ledger, material.change.revisions)
        # Analysers that were lost are worth another try: who resumes the debate shall not find them lost for ever.
        whole = all(check.ran for check in ledger.checks if check.name == ANALYSERS)
        session.keep("evidence" if whole else "evidence without analysers", written, SessionState.IN_DEBATE)
        return ledger, overlapped

    return evidence


def _examined(material: _Material, reading: Callable[[float], Heard], run: _Run) -> tuple[Ledger, float]:
    """The checks that the change deserves, run at base and head."""
    world, options = run.world, run.options
    planned = plan.plan(material.view, options.checks)
    began = world.clock.seconds()
    outcomes = run.bench.run(planned.jobs)
    waited = world.clock.seconds() - began
    try:
        read = reading(run.deadline.left())
    except WorkerLost as exc:
        read = sources.unheard(str(exc))
    ledger = collect.collect(material.view, planned, outcomes, read=read, options=options.checks)
    world.observer.saw(Progress("evidence", f"{len(ledger.items)} results, {len(ledger.new())} new"))
    return ledger, max(waited - max((outcome.seconds for outcome in outcomes), default=waited), 0.0)


def _view(
    change: ChangeSet, scope: Scope, contents: Mapping[str, Contents], *, entries: tuple[TreeEntry, ...], world: World
) -> View:
    """What checks may read: the change, the names in the head tree, and its test files."""
    found = [entry for entry in entries if is_python_test(entry.path) and 0 <= entry.size <= LARGEST_TEST_FILE]
    tests = {entry.path: world.objects.blob(entry.object_id) for entry in found[:MOST_TEST_FILES] if world.objects}
    paths, room = tuple(entry.path for entry in entries), world.sandbox
    return View(
        change,
        scope.files,
        contents,
        paths,
        tests,
        settings=_settings(change, world.objects),
        sandbox=room.level,
        sandbox_notes=room.notes,
    )


def _settings(change: ChangeSet, objects: Objects | None) -> Mapping[str, bytes]:
    """The base's files that say which tools the project uses, and its migrations, whose words tell the database."""
    tree = change.revisions.base_tree
    if objects is None or tree is None:
        return {}
    small = (entry for entry in objects.entries(tree) if 0 <= entry.size <= LARGEST_SETTINGS_FILE)
    known = sorted(
        (entry for entry in small if entry.path in SETTINGS or is_migration(entry.path)),
        key=lambda entry: entry.path not in SETTINGS,
    )
    return {entry.path: objects.blob(entry.object_id) for entry in islice(known, MOST_SETTINGS_FILES)}


def _division(material: _Material, run: _Run) -> Division:
    """The change as it is shown to people, in portions, with what the rest of the tree says about each."""
    world, tree = run.world, material.change.revisions.head_tree
    library = None
    if world.objects is not None and world.search is not None and tree is not None:
        library = Library(world.objects, world.search, tree, material.blobs)
    passages = excerpt.passages(material.scope.files, material.view.contents)
    return briefing.divided(passages, library, options=run.options.briefing)


def _brief(request: ReviewRequest, material: _Material, division: Division, *, ledger: Ledger, options: Options) -> Brief:
    """What the debate is about, and what lies before the panel."""
    criteria = options.debate.criteria
    common = Dossier((), ledger, rules=options.rules, title=request.title, focus=request.focus, criteria=criteria)
    paths = frozenset(file.path for file in material.change.files)
    prose = bool(paths) and all(select.is_documentation(path) or select.is_lock_file(path) for path in paths)
    return Brief(division.passages, briefing.papers(common, division), paths, ledger, documentation_only=prose)


def _debate(material: _Material, brief: Brief, run: _Run) -> tuple[Transcript, tuple[Finding, ...]]:
    """S1 to S8 over the evidence: the debate, what consensus tells of it, and replacements for what was accepted."""
    world, options = run.world, run.options

    def conversation() -> Generator[Round, Answers, tuple[Transcript, tuple[Finding, ...]]]:
        transcript = yield from debate(brief, world.panel.table, options.debate)
        shown = _shown(material, brief, transcript)
        told = policy.findings(transcript, shown, options.policy)
        accepted = [finding.id for finding in told if finding.status is FindingStatus.ACCEPTED]
        made = yield from improve.improve(transcript, accepted, brief.papers, options=options.improve)
        drafts = dict(made.suggestions)
        told = policy.findings(made.transcript, shown, options.policy)  # a draft may have proved its claim
        return made.transcript, tuple(replace(finding, suggestion=drafts.get(finding.id)) for finding in told)

    def experiment(wanted: Experiment) -> Verification | None:
        return _verified(wanted, material, run)

    observer, stop = world.observer, run.bench.close
    return drive.converse(conversation(), world.panel, experiment, deadline=run.deadline, observer=observer, stop=stop)


def _verified(wanted: Experiment, material: _Material, run: _Run) -> Verification | None:
    """What an experiment shows, or showed when this debate was begun; ``None`` where that is awaited."""
    world, name = run.world, proof_name(wanted)
    if (kept := world.session.recall(name)) is not None:
        return load.load_verification(document.dumps(kept))
    if world.elsewhere is not None:
        return world.elsewhere(wanted)
    shown = run.bench.conduct(proof.conduct(wanted, material.view, run.options.checks))
    if shown.check.outcome is not CheckOutcome.NOT_RUN:  # time or a program may be there another day
        world.session.keep(name, document.verification_document(shown))
    return shown


def _shown(material: _Material, brief: Brief, transcript: Transcript) -> Shown:
    """The passages, and the whole text of those files that something is said about."""
    paths = dict.fromkeys(case.lead.path for case in transcript.cases)
    contents = material.view.contents
    heads = {path: contents[path].head for path in paths if path in contents}
    lines = {path: excerpt.shown_lines(head) for path, head in heads.items() if head is not None}
    return Shown(brief.passages, lines, {file.path: file.base_path or file.path for file in material.change.files})


def _concluded(
    material: _Material, ledger: Ledger, transcript: Transcript, *, told: tuple[Finding, ...], identity: Identity, timing: Timing
) -> Review:
    revisions, scope = material.change.revisions, material.scope
    seen = select.coverage(material.change, scope, transcript.unread)
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
