"""Which edit of a change breaks a test: the one without which the test passes."""

from collections import Counter
from collections.abc import Container, Iterator
from itertools import chain, groupby

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.compare_tests import Causes, outcome_before
from reviewbot.checks.evidence import CheckResult, Evidence, TestOutcome
from reviewbot.checks.project import Project
from reviewbot.checks.run import IDS, job_of_tests, read
from reviewbot.concurrency import run_all
from reviewbot.git.change import Change, ChangedFile, Location
from reviewbot.sandbox.executor import Executor
from reviewbot.text.files import classify

Place = tuple[str, int]  # a path and a line
MAX_TESTS = 5  # of a result that run again
MAX_EDITS = 8  # without which tests of a suite run, one at a time
MAX_SECONDS = 20  # of such a run; if one takes longer, there are no more


class Edit(Struct, frozen=True):
    """Lines that change together: where they are at head, how many, and what was there."""

    place: Location
    count: int
    removed: tuple[str, ...]

    def is_at(self, result: CheckResult) -> bool:
        return result.location is not None and self.place.is_near(result.location)

    def undo(self, text: str) -> str:
        lines, above = text.split("\n"), self.place.line - 1
        return "\n".join([*lines[:above], *self.removed, *lines[above + self.count :]])

    def lines_in(self, executed: Container[Place]) -> list[int]:
        numbers = range(self.place.line, self.place.end_line + 1)
        return [number for number in numbers if (self.place.path, number) in executed]


async def find_causes(
    evidence: Evidence, change: Change, project: Project, executor: Executor
) -> Causes:
    """Run tests that the change breaks without each of its likeliest edits.

    Those are where results are, then those that broken tests executed, and fewest others. A change
    of one edit is left out, and so is a suite that takes long and cannot run some tests alone.
    """
    if all(result.kind != "broken_test" for result in evidence.new_results):
        return {}
    texts = {path: text for path, text in project.head_texts.items() if "\ufffd" not in text}
    edits = [edit for file in change.files if file.path in texts for edit in edits_of(file)]
    suites = {run.check: run for run in evidence.runs if run.side == "head"}
    causes: dict[tuple[str, str], Location] = {}

    async def find_in(check: Check, broken: list[CheckResult]) -> None:
        tests = suites[check.name].report.tests
        ran = {test.id: {*_ran(test)} for test in tests if test.outcome != "passed"}
        passed = Counter(chain(*(map(_ran, (test for test in tests if test.id not in ran)))))
        failed = set[Place]().union(*(ran[id] for result in broken for id in result.tests))

        def rank(edit: Edit) -> tuple[bool, bool, bool, int]:
            path, is_near = edit.place.path, any(map(edit.is_at, broken))
            counts = [passed[path, line] for line in edit.lines_in(failed)]
            return not is_near, not counts, classify(path) != "source", min(counts, default=0)

        ranked = sorted(edits, key=rank)[:MAX_EDITS]
        near = [edit for edit in ranked if any(map(edit.is_at, broken))]
        for tried in (near, [edit for edit in ranked if edit not in near]):
            left = [result for result in broken if (check.name, result.tests[0]) not in causes]
            ids = [id for result in left for id in result.tests[:MAX_TESTS]]
            job = job_of_tests(check, ids, change.head_tree, project)
            undone = ({e.place.path: e.undo(texts[e.place.path])} for e in tried if left)
            job = replace(job, seconds=min(job.seconds, MAX_SECONDS))
            jobs = (replace(job, extra_files={**job.extra_files, **files}) for files in undone)
            runs = await run_all(*map(executor.execute, jobs))
            outcomes = [read(check, "head", completed)[2].outcomes for completed in runs]
            for result in left:
                some = result.tests[:MAX_TESTS]
                fits = [all(outcome_before(i, o, {}) == "passed" for i in some) for o in outcomes]
                found = [edit for edit, is_cause in zip(tried, fits, strict=False) if is_cause]
                for edit in sorted(found, key=lambda edit: not edit.is_at(result))[:1]:
                    lines = edit.lines_in(ran[some[0]]) or [edit.place.line]
                    line = min(lines, key=lambda n: passed[edit.place.path, n])
                    at = next((r.location for r in broken if edit.is_at(r)), None)
                    place = at or Location(edit.place.path, line, line)
                    causes.update({(check.name, id): place for id in result.tests})
            if any(completed.outcome != "ended" for completed in runs):
                break

    for check in project.checks if len(edits) > 1 else ():
        new = (result for result in evidence.new_results if result.check == check.name)
        broken = [result for result in new if result.kind == "broken_test"]
        if broken and (IDS in check.command or suites[check.name].seconds < MAX_SECONDS / 2):
            await find_in(check, broken)
    return causes


def _ran(test: TestOutcome) -> Iterator[Place]:
    return ((path, line) for path, lines in test.lines.items() for line in lines)


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
