"""Try a candidate: the gate, all checks with it, and what its task asks for."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check, Language
from reviewbot.checks.compare import NUMBER
from reviewbot.checks.evidence import CheckResult, Evidence
from reviewbot.checks.languages.python import PYTHON
from reviewbot.checks.project import Project, folder_of, load_project
from reviewbot.checks.run import collect, job_of
from reviewbot.context.brief import Brief
from reviewbot.debate.panel import Panel
from reviewbot.errors import GitError
from reviewbot.git.change import Change, Location
from reviewbot.git.repository import Repository
from reviewbot.sandbox.executor import Executor
from reviewbot.tasks.gate import refusals_of
from reviewbot.tasks.task import Candidate, Judgement, Task, Trial
from reviewbot.text.files import classify
from reviewbot.text.secrets import shown


class Trials(Struct, frozen=True, kw_only=True):
    """What candidates for a change are made and tried with.

    Attributes:
        brief: what all questions about a task begin with.
        change: it ends where candidates begin. Where nothing is reviewed, nothing differs in it.
        evidence: of the change itself: what is reported there is not a candidate's fault.
    """

    change: Change
    evidence: Evidence
    repository: Repository
    executor: Executor
    checks: Sequence[Check]
    languages: Mapping[str, Language]
    off: Collection[str]
    panel: Panel
    brief: Brief

    async def try_out(self, candidate: Candidate, task: Task) -> Trial:
        """Whether a candidate does what a task asks for, and breaks nothing."""
        head = self.change.head_tree
        try:
            start = await self.repository.make_tree(head, task.given) if task.given else head
            tree = await self.repository.make_tree(start, candidate.files)
        except GitError as error:
            return Trial(candidate=candidate, refusals=(str(error),))
        if tree == start:
            return Trial(candidate=candidate, refusals=("It changes nothing.",))
        own, before, refusals = await self.refusals(tree, candidate.is_tool)
        changed = tuple(file for file in own.files if file.path not in task.given)
        trial = Trial(candidate=candidate, tree=tree, changed=changed, refusals=tuple(refusals))
        if trial.refusals:
            return trial
        if tree == self.change.base_tree:
            words = ("It takes the whole change back.",)
            return replace(trial, judgement=Judgement(unproven=words))
        found = await self._collect(tree)
        # Of a test that is given, nothing can be mended.
        places = [(r, r.location) for r in found.all_new if r.kind == "diagnostic"]
        given = tuple(result for result, at in places if at and at.path in task.given)
        about_given = {*_regressions(Evidence(), Evidence(results=given))}
        worse = tuple(w for w in _regressions(self.evidence, found) if w not in about_given)
        if worse:  # what the task asks for need not be run
            return replace(trial, refusals=worse, evidence=found)
        judgement = await task.judge(own, found)
        facts, unproven = [*judgement.facts], [*judgement.unproven, *sorted(about_given)]
        for run in found.runs:
            if run.side == "head" and run.outcome != "ended":
                said = f"{run.check} did not run to its end: {run.reason.rstrip('.')}."
                (unproven if run.kind == "test" else facts).append(said)
        judgement = replace(judgement, facts=tuple(facts), unproven=tuple(unproven))
        trial = replace(trial, evidence=found, judgement=judgement)
        old = {f.path: before.get(f.path) for f in own.files if classify(f.path) == "test"}
        if old and trial.outcome != "refused":
            with_old = await self.repository.make_tree(tree, old)
            # What passes with the candidate has to pass with the old tests.
            known = [r for r in self.evidence.results if r.kind == "diagnostic"]
            known += [r for r in found.results if r.kind != "diagnostic"]
            seen = replace(self.evidence, results=tuple(known))
            more = _regressions(seen, await self._collect(with_old))
            trial = replace(trial, refusals=tuple(f"With the old tests: {m}" for m in more))
        return trial

    async def refusals(
        self, tree: str, is_tool: bool = False
    ) -> tuple[Change, dict[str, bytes], list[str]]:
        """What differs in a tree, its files before, and what the gate says against it."""
        own = await self.repository.compare(self.change.head_tree, tree)
        paths = [file.path for file in own.files]  # renamed files are refused unread
        before, after = await self.read(paths), await self.repository.read_files(tree, paths)
        return own, before, refusals_of(own, before, after, await self.paths(), is_tool)

    async def tidy(self, path: str, content: bytes) -> tuple[bytes, list[str], list[str]]:
        """A new file, with what linters fix in it themselves; what the gate and they say then."""

        async def look(content: bytes) -> tuple[str, Project, Evidence]:
            tree = await self.repository.make_tree(self.change.head_tree, {path: content})
            change = await self.repository.compare(self.change.head_tree, tree)
            project = await load_project(change, self.repository, [c for c in self.checks if c.fix])
            return tree, project, await collect(change, project, self.off, self.executor)

        tree, project, found = await look(content)
        fixed = await self.draft_tool_fixes(found.new_results, tree, project)
        if fixed and (better := fixed.files.get(path)):
            content, (tree, _, found) = better, await look(better)
        return content, (await self.refusals(tree))[2], [*_regressions(Evidence(), found)]

    async def draft_tool_fixes(
        self, results: Sequence[CheckResult], head: str, project: Project
    ) -> Candidate | None:
        """One candidate for a tree of all linters that fix something; None if none does.

        Tools fix whole files. What is about none of the results, or a consequence, is left out.
        """
        tree, names = head, list[str]()
        for check in project.checks:
            own = [(r, r.location) for r in results if r.check == check.name and r.location]
            if not own or not check.fix:
                continue
            paths = sorted({place.path for _, place in own})
            rules = sorted({result.name for result, _ in own})
            job = job_of(check, tree, project, files=paths, rules=rules)
            completed = await self.executor.execute(job)
            if completed.outcome == "ended" and completed.stdout.strip():
                try:
                    fixed = await self.repository.apply_patch(tree, completed.stdout, check.folder)
                except GitError:  # the tool printed no patch
                    continue
                tree = await self._only_near([place for _, place in own], tree, fixed)
                names.append(check.name)
        if tree == head:
            return None
        changed = (await self.repository.compare(head, tree)).files
        contents = await self.repository.read_files(tree, [file.path for file in changed])
        return Candidate(author=", ".join(names), is_tool=True, files=contents)

    async def _only_near(self, places: Sequence[Location], tree: str, fixed: str) -> str:
        """A tree with those of the changes that touch one of the lines."""
        paths = [file.path for file in (await self.repository.compare(tree, fixed)).files]
        before, after = [await self.repository.read_files(each, paths) for each in (tree, fixed)]
        files = {
            path: _merged(before[path], after[path], [at for at in places if at.path == path])
            for path in before.keys() & after.keys()  # those that are not above 1 MB
        }
        return await self.repository.make_tree(tree, files)

    async def paths(self) -> list[str]:
        """The files where candidates begin."""
        return sorted(await self.repository.list_files(self.change.head_tree))

    async def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """Some of them, without those above 1 MB."""
        return await self.repository.read_files(self.change.head_tree, paths)

    async def folder_of(self, paths: Sequence[str]) -> str:
        """The top of the Python project of the first of some files, "" if there is none."""
        return folder_of(next(iter(paths), ""), PYTHON.project_files, await self.paths())

    async def _collect(self, tree: str) -> Evidence:
        change = await self.repository.compare(self.change.base_tree, tree)
        project = await load_project(change, self.repository, self.checks)
        known = {id for result in self.evidence.new_results for id in result.tests}
        return await collect(change, project, self.off, self.executor, known)


def _merged(before: bytes, after: bytes, places: Sequence[Location]) -> bytes:
    """The old lines, with the new ones where they replace a line of one of the places."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines: list[bytes] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        # What is inserted stands before the line after it, or after the line before it.
        first, last = (start + 1, end) if end > start else (start, start + 1)
        is_wanted = any(at.line <= last and first <= at.end_line for at in places)
        lines += new[new_start:new_end] if kind != "equal" and is_wanted else old[start:end]
    return b"".join(lines)


def _regressions(before: Evidence, after: Evidence) -> Iterator[str]:
    """What is reported in addition, and what does not come to its end any more."""
    known, worse = Counter(identities(before.all_new)), set[str]()
    for result in sorted(after.all_new, key=lambda result: bool(result.cause)):
        own = Counter(identities([result]))
        # What was there before excuses nothing new, although it may explain it.
        if own - known and result.cause not in worse:
            worse.add(result.id)
            said = f"{result.check} reports {result.message} ({result.location or result.name})."
            yield f"{said}\n{shown(result.output)}".rstrip()
        known -= own
    # Linters do not run where no file that they read differs any more.
    ran = {run.check for run in after.runs}
    ended = {run.check for run, _ in before.ended if run.kind == "test" or run.check in ran}
    for check in sorted(ended - {run.check for run, _ in after.ended}):
        yield f"{check} does not come to its end any more."


def identities(results: Iterable[CheckResult]) -> Iterator[tuple[str, ...]]:
    """What makes results the same before and after: not their line, nor numbers in messages.

    A test is the same wherever it is located: in the code that breaks it, or in its own file.
    """
    for result in results:
        if result.kind == "diagnostic":
            path = result.location.path if result.location else ""
            yield result.check, result.name, path, NUMBER.sub("#", result.message)
        else:
            yield from ((result.check, "test", id) for id in result.tests or (result.name,))
