"""A candidate on trial: the gate, the formatter, the check that must turn green, and everything else that must not turn red.

A candidate is a change like any other: from what was accepted before to what it makes of it. So it is judged by the same checks.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from reviewbot.autofix import gate, syntax
from reviewbot.autofix.gate import GateOptions
from reviewbot.changeset.globs import Globs
from reviewbot.debate.making import DRAFT
from reviewbot.domain.change import FileStatus, Revisions, is_test_path
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision, Result
from reviewbot.domain.repair import Edit, Refusal
from reviewbot.drive import Bench
from reviewbot.evidence import formatters, proof
from reviewbot.pipeline import checking, material
from reviewbot.pipeline.material import Material
from reviewbot.pipeline.world import Run, Unremembered
from reviewbot.ports import Experiment, Task, Trees, Trial, Trialled, Verification
from reviewbot.publish import document
from reviewbot.publish.document_trial import trial_document, trial_name
from reviewbot.publish.load_trial import load_trial

_Rule = tuple[str, str, str, str]

MUST_NOT_COME = frozenset(
    {EvidenceKind.TEST, EvidenceKind.LINT, EvidenceKind.API, EvidenceKind.SECRET, EvidenceKind.UNICODE, EvidenceKind.MARKER}
)
"""Results of which a candidate may bring none that is new."""

MOST_RESULTS = 5_000
"""Results of a trial that are compared: one candidate may mend a thousand findings of a linter."""

MOST_WORSE = 8
"""Results that are told to who has to mend them."""


@dataclass(slots=True)
class Benches:
    """Where jobs of trials run now, so that they can be told to stop."""

    open: list[Bench] = field(default_factory=list)
    closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, bench: Bench) -> None:
        """One more, which is closed where all are."""
        with self._lock:
            self.open.append(bench)
            if self.closed:
                bench.close()

    def close(self) -> None:
        """Begin nothing more in any of them, or in one that comes later: a trial goes on in its thread."""
        with self._lock:
            self.closed = True
            for bench in self.open:
                bench.close()


@dataclass(frozen=True, slots=True)
class Court:
    """Where candidates are tried: the review they belong to, what its checks said, and the benches that are in use. ``judge``
    says what the goal asks of them, where that is not to mend something."""

    material: Material
    run: Run
    ledger: Ledger
    trees: Trees
    benches: Benches = field(default_factory=Benches)
    judge: Judge | None = None

    @property
    def head(self) -> str:
        """The tree that was reviewed."""
        tree = self.material.change.revisions.head_tree
        assert tree is not None
        return tree

    def tried(self, trial: Trial) -> Trialled:
        """What comes of a candidate, or came of it when this debate was begun."""
        session, name = self.run.world.session, trial_name(trial)
        if (kept := session.recall(name)) is not None:
            return load_trial(document.dumps(kept))
        made = self._held(trial)
        if self._may_be_kept(made):
            session.keep(name, trial_document(made))
        return made

    def _may_be_kept(self, made: Trialled) -> bool:
        """It will be the same another day: it was not stopped, there was time, and every check came to tell."""
        unrun = any(check.outcome is CheckOutcome.NOT_RUN for _, check in made.checks)
        stopped = self.benches.closed or self.run.bench.is_closed
        return not stopped and self.run.deadline.left() > 0 and not unrun

    def _held(self, trial: Trial) -> Trialled:
        trial = _with_brought(trial)
        before = self.tree(trial.before)
        made, tree = self._admitted(trial, before)
        if made.refusals or made.reason:
            return made
        formatted = self._formatted(made.edits)
        if formatted != made.edits:
            made, tree = self._admitted(replace(trial, edits=formatted), before)
            if made.refusals or made.reason:
                return made
        found = self._checked(trial, made.edits)
        made = _with_verdicts(made, {name: _of_check(shown) for name, shown in found.items()}, found)
        if made.red or self.benches.closed:  # what else it does matters no more, or nobody waits for it
            return made
        if trial.edits == trial.before:  # whether what was accepted does this, too: what went away did so since the head
            before = self.head
        now = self._compared(before, tree)
        made = _with_verdicts(made, {task.id: one for task, one in self._verdicts(trial, found, now)}, found)
        brought = frozenset(edit.path for task in trial.tasks for edit in task.brings)
        here = self._worse(now, brought, self._meant(trial))
        worse = tuple(dict.fromkeys((*here, *self._worse_in_old_tests(trial, made.edits, before))))
        made = replace(made, worse=worse[:MOST_WORSE], beside=(*made.beside, *_beside(now)))
        if self.judge is None or not made.harmless:
            return made
        return self.judge.judged(Candidate(self, replace(trial, edits=made.edits), before, tree), made, now)

    def tree(self, edits: tuple[Edit, ...]) -> str:
        """The head with these files in it."""
        return self.trees.graft(self.head, edits) if edits else self.head

    def _admitted(self, trial: Trial, before: str) -> tuple[Trialled, str]:
        """The candidate as the gate sees it: git's own patch, applied to what was there before."""
        options, objects = self._gate(trial), self.run.world.objects
        assert objects is not None
        if invented := gate.foreseen(trial.edits, options):  # no tree can be made with such names
            return Trialled(b"", trial.edits, refusals=invented), before
        patch = self.trees.between(before, self.tree(trial.edits)).patch
        if not patch:  # what was accepted already may do this task, too
            return Trialled(patch, trial.edits), before
        admitted = gate.admitted(patch, before, trees=self.trees, objects=objects, options=options)
        refusals = admitted.refusals
        if self.judge is not None and not refusals:
            refusals = self.judge.refused(Candidate(self, trial, before, admitted.tree))
        return Trialled(patch, trial.edits, refusals=refusals), admitted.tree

    def _gate(self, trial: Trial) -> GateOptions:
        """What the candidate may do. What tools mend at once may be more than what a model writes."""
        repair = self.run.options.repair
        offers = [one.author for task in trial.tasks for one in task.proposals if one.author != DRAFT]
        many = len(trial.tasks) > 1 or trial.author in offers
        return GateOptions(
            reviewed=frozenset(path for task in trial.tasks for path in task.paths),
            may_add=any(task.may_add for task in trial.tasks),
            opened=Globs(repair.opened).match,
            parser=repair.parser or syntax.unknown,
            limits=gate.BATCH if many else gate.SMALL,
        )

    def _formatted(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """The files as the project formats them."""
        return self.run.bench.conduct(formatters.formatted(self.material.view, edits, self.run.options.checks))

    def _compared(self, before: str, tree: str) -> Ledger:
        """What all checks say of the change from one tree to the other."""
        with self.opened(before, tree) as (read, run):
            return checking.begin(read, run)()[0]

    @contextmanager
    def opened(self, before: str, tree: str) -> Iterator[tuple[Material, Run]]:
        """A sandbox with both trees, and the change from one to the other."""
        world, options = self.run.world, self.run.options
        assert world.annex is not None
        revisions = Revisions("range", "before", "candidate", before, tree)
        checks = replace(options.checks, max_items=MOST_RESULTS, is_trial=True)
        with world.annex(revisions) as room:
            bench = Bench(room, deadline=self.run.deadline, observer=world.observer, cores=world.cores)
            self.benches.add(bench)
            apart = replace(world, sandbox=room, session=Unremembered())
            run = Run(apart, replace(options, checks=checks), self.run.deadline, bench)
            yield material.read(revisions, run), run

    def _checked(self, trial: Trial, edits: tuple[Edit, ...]) -> Mapping[str, Verification]:
        """What the tasks' own checks show, twice at head and twice with the candidate. Of many tasks at once only of those of
        which no result of the ledger would tell."""
        single = len(trial.tasks) == 1
        wanted = (task for task in trial.tasks if task.check is not None and (single or not task.evidence))
        view, options = self.material.view, self.run.options.checks
        return {task.id: self.run.bench.conduct(proof.conduct(self._experiment(task, edits), view, options)) for task in wanted}

    def _verdicts(self, trial: Trial, found: Mapping[str, Verification], now: Ledger) -> Iterator[tuple[Task, _Verdict]]:
        """Which tasks are done: their check is red at head and green with it, and their results went away."""
        gone = Counter(_mark(item.result) for item in now.items if item.status is EvidenceStatus.FIXED)
        for task in trial.tasks:
            items = self._items(task)
            missed = [item.result for item in items if not _taken(gone, item.result)]
            verdict = _of_check(found[task.id]) if task.id in found else _Verdict(done=True if items else None)
            if missed:
                verdict = _Verdict(done=False, words="\n".join(map(_told, missed)))
            elif verdict.done and items:
                verdict = _Verdict(done=True, words=_gone(items))
            if now.sandbox == "none" and verdict.done:  # nobody saw what else it does
                verdict = _Verdict(done=None)
            yield task, verdict

    def _experiment(self, task: Task, edits: tuple[Edit, ...]) -> Experiment:
        assert task.check is not None
        packet = task.packet
        return Experiment(task.id, task.check, packet.path, packet.start_line, packet.line, edits)

    def _items(self, task: Task) -> tuple[Evidence, ...]:
        return tuple(item for name in task.evidence if (item := self.ledger.item(name)))

    def _meant(self, trial: Trial) -> Collection[_Rule]:
        """The rules that the tasks are about."""
        return {_rule(item.result) for task in trial.tasks for item in self._items(task)}

    def _worse(self, now: Ledger, brought: Collection[str] = (), meant: Collection[_Rule] = ()) -> Iterator[str]:
        """What a candidate brings: new results, and checks that do not come to their end any more. What linters say of files that
        come along is not its writer's doing. What a task is to mend must not come back in other words, however likely it is."""
        for item in now.new():
            heuristic = item.result.precision is Precision.HEURISTIC and item.result.kind is not EvidenceKind.TEST
            along = item.result.kind is EvidenceKind.LINT and item.result.path in brought
            if item.result.kind in MUST_NOT_COME and not along and (not heuristic or _rule(item.result) in meant):
                yield _told(item.result)
        before = {run.name: run for run in self.ledger.checks}
        for run in now.checks:
            known = before.get(run.name)
            if known is not None and known.ran and (not run.ran or (run.cut_short and not known.cut_short)):
                yield f"{run.name} does not come to its end any more: {run.reason}"

    def _worse_in_old_tests(self, trial: Trial, edits: tuple[Edit, ...], before: str) -> Iterator[str]:
        """The same with tests as they were: those that the change altered as at base, those that the candidate altered as before
        it. Who may write tests could else write away what they ask for."""
        older = tuple(self._older_tests())
        touched = {edit.path for edit in (*trial.before, *edits) if is_test_path(edit.path)}
        heads = tuple(self._heads(touched - {edit.path for edit in older}))
        if self.benches.closed or not (older or heads):
            return
        one = self.trees.graft(before, (*older, *heads))
        other = self.trees.graft(self.tree(edits), (*older, *heads))
        if one == other:
            return
        for item in self._compared(one, other).new():
            if item.result.kind is EvidenceKind.TEST:
                yield f"with the tests as they were: {_told(item.result)}"

    def _older_tests(self) -> Iterator[Edit]:
        """Test files that the change modified, as they are at base."""
        for file in self.material.change.files:
            if file.status is FileStatus.MODIFIED and is_test_path(file.path):
                base = self.material.view.contents_of(file).base
                if base is not None:
                    yield Edit(file.path, base)

    def _heads(self, paths: Iterable[str]) -> Iterator[Edit]:
        """Files as they are at head, those that are there."""
        objects, blobs = self.run.world.objects, self.material.blobs
        assert objects is not None
        for path in sorted(paths):
            if path in blobs:
                yield Edit(path, objects.blob(blobs[path]))


class Judge(Protocol):
    """What a goal asks of a candidate beside what all of them must hold."""

    def refused(self, candidate: Candidate) -> tuple[Refusal, ...]:
        """What it may not do at all, said before anything is run."""
        ...

    def judged(self, candidate: Candidate, made: Trialled, now: Ledger) -> Trialled:
        """Whether the tasks are done by a candidate that passed the gate and made nothing worse. ``now`` is what all checks say
        of it."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate before its judge: ``before`` and ``tree`` are the trees without and with it."""

    court: Court
    trial: Trial
    before: str
    tree: str


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether a task is done (``None``: nothing was there to show it), and in words why or why not."""

    done: bool | None
    words: str = ""


def _of_check(found: Verification) -> _Verdict:
    """What a check says of its task."""
    if found.fixed is None or found.check.outcome is CheckOutcome.PASSES_AT_HEAD:
        return _Verdict(None, found.excerpt)
    if not found.fixed or found.check.outcome is CheckOutcome.UNSTABLE:
        return _Verdict(done=False, words=found.excerpt)
    if found.check.outcome is CheckOutcome.NOT_RUN:  # it passes with the candidate, and nobody saw it fail without
        return _Verdict(None, found.excerpt)
    return _Verdict(done=True)


def _with_verdicts(made: Trialled, verdicts: Mapping[str, _Verdict], found: Mapping[str, Verification]) -> Trialled:
    """The result with what is known of each task."""
    failed = [one.words for one in verdicts.values() if one.done is False and one.words]
    return replace(
        made,
        red=tuple(name for name, one in verdicts.items() if one.done is False),
        unknown=tuple(name for name, one in verdicts.items() if one.done is None),
        checks=tuple((name, shown.check) for name, shown in found.items()),
        shown=tuple((name, one.words) for name, one in verdicts.items() if one.done and one.words),
        output="\n".join(failed[:1]),
    )


def _with_brought(trial: Trial) -> Trial:
    """The candidate with the files that come along, as they were written."""
    brought = {edit.path: edit for task in trial.tasks for edit in task.brings}
    edits = {edit.path: edit for edit in trial.edits} | brought
    return replace(trial, edits=tuple(edits[path] for path in sorted(edits))) if brought else trial


def _mark(result: Result) -> tuple[str, str, str, str]:
    """What a result is, wherever its line went: of a test its id, else the text of its line."""
    return (result.tool, result.rule or "", result.path, result.subject or result.anchor)


def _rule(result: Result) -> _Rule:
    """What is broken, wherever in its file; of a test, the test."""
    return (result.tool, result.rule or "", result.path, result.subject)


def _taken(gone: Counter[tuple[str, str, str, str]], result: Result) -> bool:
    """Whether a result went away. Each that did counts for one."""
    mark = _mark(result)
    if not gone[mark]:
        return False
    gone[mark] -= 1
    return True


def _told(result: Result) -> str:
    rule = f" {result.rule}" if result.rule else ""
    return f"{result.tool}{rule} at {result.path}:{result.line}: {result.message}"


def _gone(items: tuple[Evidence, ...]) -> str:
    """In words, what is not reported any more."""
    first = items[0].result
    if first.kind is EvidenceKind.TEST:
        return f"{first.trigger or first.subject} failed before and passes with it"
    more = f", and {len(items) - 1} more" if len(items) > 1 else ""
    return f"{first.tool} {first.rule or ''}".strip() + f" no longer reports {first.path}:{first.line}{more}"


def _beside(now: Ledger) -> Iterator[str]:
    """What else was run, in words."""
    if now.sandbox == "none":
        yield "nothing was executed: there is no sandbox"
        return
    if now.tests.passed:
        yield f"{now.tests.passed} tests pass as before"
    tools = [run.name for run in now.checks if run.ran and run.name not in ("analysers", "api")]
    if tools:
        yield f"nothing new from {', '.join(tools)}"
