"""Try a candidate: the gate, all checks with it, and the tests of the findings that it fixes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check, Language
from reviewbot.checks.collect import collect
from reviewbot.checks.compare import NUMBER
from reviewbot.checks.evidence import CheckResult, Evidence
from reviewbot.checks.project import load_project
from reviewbot.errors import GitError
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.proofs.prove import outcome_at
from reviewbot.sandbox.executor import Executor
from reviewbot.tasks.candidate import Candidate, Trial
from reviewbot.tasks.gate import refusals_of
from reviewbot.text.files import classify
from reviewbot.verdict.document import Finding


class Trials(Struct, frozen=True, kw_only=True):
    """What candidates for a change are tried with.

    Attributes:
        evidence: of the change itself: what is reported there is not a candidate's fault.
        off: names of scans that are turned off.
    """

    change: Change
    evidence: Evidence
    repository: Repository
    executor: Executor
    checks: Sequence[Check]
    languages: Mapping[str, Language]
    off: Collection[str]

    async def try_out(self, candidate: Candidate, findings: Sequence[Finding]) -> Trial:
        """Whether a candidate fixes findings, and breaks nothing. Results are recorded."""
        head = self.change.head_tree
        try:
            tree = await self.repository.make_tree(head, candidate.files)
        except GitError as error:
            return Trial(candidate=candidate, refusals=(str(error),))
        step = await self.repository.compare(head, tree)
        if not step.files:
            return Trial(candidate=candidate, refusals=("It changes nothing.",))
        paths = [path for file in step.files for path in (file.path, file.old_path)]
        before = await self.repository.read_files(head, paths)
        after = await self.repository.read_files(tree, paths)
        existing = await self.repository.list_files(head)
        trial = Trial(
            candidate=candidate,
            tree=tree,
            digest=digest_of(before, after),
            refusals=tuple(refusals_of(step, before, after, existing, candidate.is_tool)),
        )
        if trial.refusals:
            return trial
        if tree == self.change.base_tree:
            return replace(trial, unproven=("It takes the whole change back.",))
        whole = await self.repository.compare(self.change.base_tree, tree)
        found = await self._collect(whole)
        trial = replace(
            trial,
            regressions=tuple(_regressions(self.evidence, found)),
            unmet=tuple([words async for words in self._unmet(findings, found, tree)]),
            unproven=tuple(_unproven(findings, found)),
        )
        changed_tests = [file for file in step.files if classify(file.path) == "test"]
        if trial.outcome != "refused" and changed_tests:
            old = {file.old_path: before.get(file.old_path) for file in changed_tests}
            old |= {file.path: None for file in changed_tests if file.path not in before}
            with_old = await self.repository.make_tree(tree, old)
            change = await self.repository.compare(self.change.base_tree, with_old)
            more = _regressions(self.evidence, await self._collect(change))
            trial = replace(trial, regressions=tuple(f"With the old tests: {m}" for m in more))
        return trial

    async def _collect(self, change: Change) -> Evidence:
        project = await load_project(change, self.repository)
        return await collect(change, project, self.checks, self.off, self.executor)

    async def _unmet(
        self, findings: Sequence[Finding], found: Evidence, tree: str
    ) -> AsyncIterator[str]:
        """Findings that still stand. Their own tests run again."""
        left = Counter(_identities(found.new_results))
        for finding in findings:
            if finding.result and any(left[name] for name in _identities([finding.result])):
                yield f"{finding.id} is still reported."
            elif finding.proof and finding.proof.result == "proven":
                reproduction = finding.proof.reproduction
                language = self.languages.get(reproduction.language)
                if language:
                    outcome, _ = await outcome_at(reproduction, tree, language, self.executor)
                    if outcome != "passes":
                        yield f"The test that was written for {finding.id} does not pass."


def digest_of(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Of files by path: equal for equal changes."""
    digest = hashlib.sha256()
    for path in sorted(before.keys() | after.keys()):
        for content in (before.get(path), after.get(path)):
            blob = hashlib.sha256(content).hexdigest() if content is not None else "-"
            digest.update(f"{path}\0{blob}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _regressions(before: Evidence, after: Evidence) -> Iterator[str]:
    """What is reported in addition, and what does not come to its end any more."""
    known = Counter(_identities(before.new_results))
    for result in after.new_results:
        more = Counter(_identities([result])) - known
        known -= Counter(_identities([result]))
        if more:
            yield f"{result.check} reports {result.message} ({result.location or result.name})."
    ended = _ended(after)
    for check in sorted(_ended(before) - ended):
        yield f"{check} does not come to its end any more."


def _unproven(findings: Sequence[Finding], found: Evidence) -> Iterator[str]:
    for finding in findings:
        is_shown = finding.result or (finding.proof and finding.proof.result == "proven")
        if not is_shown:
            yield f"Nothing that was executed shows {finding.id}, so nothing shows that it is gone."
    for run in found.runs:
        if run.side == "head" and run.kind == "test" and run.outcome != "ended":
            yield f"{run.check} did not run to its end: {run.reason}."


def _ended(evidence: Evidence) -> set[str]:
    return {run.check for run in evidence.runs if run.side == "head" and run.outcome == "ended"}


def _identities(results: Iterable[CheckResult]) -> Iterator[tuple[str, ...]]:
    """What makes results the same before and after: not their line, nor numbers in messages.

    A test is the same wherever it is located: in the code that breaks it, or in its own file.
    """
    for result in results:
        if result.kind == "diagnostic":
            path = result.location.path if result.location else ""
            yield result.check, result.name, path, NUMBER.sub("#", result.message)
        else:
            yield from ((result.check, "test", id) for id in result.tests or (result.name,))
