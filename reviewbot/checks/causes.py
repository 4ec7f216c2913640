"""Which edit of a change breaks a test: the one without which the test passes."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.compare_tests import Causes, outcome_before
from reviewbot.checks.evidence import CheckResult, Evidence
from reviewbot.checks.project import Project
from reviewbot.checks.run import IDS, job_of, read
from reviewbot.concurrency import run_all
from reviewbot.git.change import Change, ChangedFile, Location
from reviewbot.sandbox.executor import Executor
from reviewbot.text.files import classify

Place = tuple[str, int]  # a path and a line
MAX_TESTS = 5  # of a result that run again
MAX_NEAR = 8  # edits where results are
MAX_SECONDS, MAX_RUN_SECONDS = 60, 20  # for a suite, and of one run


class Edit(Struct, frozen=True):
    """Lines that change together: where they are at head, how many, and what was there."""

    place: Location
    count: int
    removed: tuple[str, ...]

    def is_at(self, result: CheckResult) -> bool:
        return result.location is not None and self.place.is_near(result.location)

    def lines_in(self, executed: Container[Place]) -> list[int]:
        numbers = range(self.place.line, self.place.end_line + 1)
        return [number for number in numbers if (self.place.path, number) in executed]


async def find_causes(
    evidence: Evidence, change: Change, project: Project, executor: Executor
) -> Causes:
    """Find the edit without which broken tests pass: where they are reported, or by halving others.

    A few tests of a result stand for all. A single edit, or a slow suite without ids, is left out.
    """
    if all(result.kind != "broken_test" for result in evidence.new_results):
        return {}
    texts = {path: text for path, text in project.head_texts.items() if "\ufffd" not in text}
    edits = [edit for file in change.files if file.path in texts for edit in edits_of(file)]
    suites = {run.check: run for run in evidence.runs if run.side == "head"}
    causes: dict[tuple[str, str], tuple[Location, bool]] = {}

    async def find_in(check: Check, broken: list[CheckResult]) -> None:
        report = suites[check.name].report
        ran = {t.id: {(path, n) for path in t.lines for n in t.lines[path]} for t in report.tests}
        passed = Counter(chain(*(ran[t.id] for t in report.tests if t.outcome == "passed")))

        def apart(result: CheckResult) -> list[CheckResult]:
            """Where it is not known what tests execute, each may have a cause of its own."""
            if any(ran[id] for id in result.tests):
                return [result]
            parts: dict[tuple[str, int], list[str]] = {}  # so many of each file
            for number, id in enumerate(sorted(result.tests)):
                parts.setdefault((id.partition("::")[0], number % MAX_TESTS), []).append(id)
            return [replace(result, id=f"{result.id} {i[0]}", tests=(*i,)) for i in parts.values()]

        broken = list(chain.from_iterable(map(apart, broken)))
        some = {result.id: result.tests[:MAX_TESTS] for result in broken}
        seconds = float(MAX_SECONDS)

        async def pass_without(undone: Sequence[Edit], *results: CheckResult) -> list[CheckResult]:
            """Those of the results whose tests pass."""
            nonlocal seconds
            ids = [id for result in results for id in some[result.id]]
            job = job_of(check, change.head_tree, project, ids=ids)
            files = {**job.extra_files, **undo(undone, texts)}
            job = replace(job, extra_files=files, seconds=min(job.seconds, MAX_RUN_SECONDS))
            completed = await executor.execute(job)
            # What is stopped takes too long without any other edit as well.
            seconds -= MAX_SECONDS if completed.outcome == "stopped" else completed.seconds
            found = read(check, "head", completed)[2].outcomes
            passing = {id for id in ids if outcome_before(id, found, {}) == "passed"}
            return [result for result in results if passing.issuperset(some[result.id])]

        async def find_among(rest: list[Edit], result: CheckResult) -> list[Edit]:
            """The edit that is left of the others, or none."""
            lines = ran[result.tests[0]]

            def rank(edit: Edit) -> tuple[bool, bool, int]:
                counts = [passed[edit.place.path, line] for line in edit.lines_in(lines)]
                return not counts, classify(edit.place.path) != "source", min(counts, default=0)

            rest = sorted(rest, key=rank)
            if not rest or not await pass_without(rest, result):
                return []
            while len(rest) > 1 and seconds > 0:
                half = rest[: len(rest) // 2]
                rest = half if await pass_without(half, result) else rest[len(half) :]
            return rest if len(rest) == 1 and await pass_without(rest, result) else []

        def blame(edit: Edit, result: CheckResult) -> None:
            lines = edit.lines_in(ran[result.tests[0]]) or [edit.place.line]
            line = min(lines, key=lambda n: passed[edit.place.path, n])
            at = next((r.location for r in broken if edit.is_at(r)), None)
            place = at or Location(edit.place.path, line, line)
            for id in result.tests:
                causes[check.name, id] = place, id in some[result.id]

        left = sorted(broken, key=lambda result: -len(result.tests))
        near = list(dict.fromkeys(e for r in left for e in edits if e.is_at(r)))[:MAX_NEAR]
        passing = [await pass_without([edit], *left) for edit in near[:1]]
        if seconds > 0:  # else only the first edit was tried
            passing += await run_all(*(pass_without([edit], *left) for edit in near[1:]))
        for result in tuple(left):
            fits = [edit for edit, alike in zip(near, passing, strict=False) if result in alike]
            for edit in sorted(fits, key=lambda edit: not edit.is_at(result))[:1]:
                blame(edit, result)
                left.remove(result)
        while left and seconds > 0:
            first = left.pop(0)
            for edit in await find_among([edit for edit in edits if edit not in near], first):
                alike = await pass_without([edit], *left) if left else []
                for result in (first, *alike):
                    blame(edit, result)
                left = [result for result in left if result not in alike]

    for check in project.checks if len(edits) > 1 else ():
        new = (result for result in evidence.new_results if result.check == check.name)
        broken = [result for result in new if result.kind == "broken_test"]
        if broken and (IDS in check.command or suites[check.name].seconds < MAX_RUN_SECONDS / 2):
            await find_in(check, broken)
    return causes


def undo(edits: Iterable[Edit], texts: Mapping[str, str]) -> dict[str, str]:
    """The texts of the files of edits, by path, without these."""
    undone = dict[str, str]()
    for edit in sorted(edits, key=lambda edit: edit.place, reverse=True):  # those below first
        lines = undone.get(edit.place.path, texts[edit.place.path]).split("\n")
        lines[edit.place.line - 1 : edit.place.line - 1 + edit.count] = edit.removed
        undone[edit.place.path] = "\n".join(lines)
    return undone


def edits_of(file: ChangedFile) -> Iterator[Edit]:
    for hunk in file.hunks:
        above = min((number for number, _ in hunk.at("head")), default=1) - 1
        for is_changed, group in groupby(hunk.lines, key=lambda line: line.is_changed):
            lines = list(group)
            count = sum(line.head is not None for line in lines)
            if is_changed:
                place = Location(file.path, above + 1, above + max(count, 1))
                yield Edit(place, count, tuple(line.text for line in lines if line.head is None))
            above += count
