"""Tests for a change: what of it no test runs, or no test would notice if it were wrong, and tests that do."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.debate.papers import Papers
from reviewbot.domain.change import FileChange
from reviewbot.domain.evidence import Category, Ledger
from reviewbot.domain.repair import Edit, Goal, Refusal, Repair, RepairOutcome
from reviewbot.drive import Chore
from reviewbot.evidence import choose, fresh, places, shown
from reviewbot.evidence.fresh import Laid
from reviewbot.evidence.mutants import Mutant
from reviewbot.evidence.statements import parse, statements
from reviewbot.evidence.view import is_library, is_python_test
from reviewbot.pipeline.goals import judging
from reviewbot.pipeline.goals.ground import Ground, Prepared, Preparing, packet
from reviewbot.pipeline.trying import Candidate
from reviewbot.ports import Task, Trialled

MOST_NAMED = 20
NOT_MEASURED = "which changed lines the tests run could not be measured"
NOTHING_LEFT = "every changed line is run by a test, and every wrong that was put into one was noticed"
NO_PYTHON = "tests are proposed for Python alone, and no Python of the project changed"


@dataclass(frozen=True, slots=True)
class Gap:
    """A changed function, or what of it tests do not look at: lines that none runs, else wrongs that none notices."""

    path: str
    function: str
    lines: tuple[int, ...]
    wrongs: tuple[Mutant, ...] = ()


@dataclass(frozen=True, slots=True)
class Covering:
    """The goal, on its ground. ``papers`` are those of the change, ``ledger`` what its checks say."""

    ground: Ground
    ledger: Ledger
    papers: Papers

    def prepared(self) -> Preparing:
        """A task for each changed function that tests do not run, then for each in which they miss what is wrong."""
        files = tuple(self._files())
        if not files:
            return Prepared(failure=NO_PYTHON)
        if not self.ledger.tests.measured:
            why = next((run.reason for run in self.ledger.checks if run.name == judging.SUITE and run.reason), "")
            return Prepared(failure=f"{NOT_MEASURED}{f': {why}' if why else ''}")
        gaps = [gap for file in files for gap in self._untested(file)]
        (missed,) = yield (Chore("putting wrongs into what tests run", self._missed),)
        gaps += _by_function(missed, self._functions(files))
        tasks = tuple(self._task(f"T{number}", gap) for number, gap in enumerate(gaps, 1))
        most = self.ground.run.options.repair.most
        left = tuple(
            Repair(task.id, task.title, RepairOutcome.SKIPPED, Goal.TESTS, f"tests are written for {most} functions at most")
            for task in tasks[most:]
        )
        notes = () if tasks else (NOTHING_LEFT,)
        return Prepared(tasks[:most], self.papers, self._texts(), left, notes)

    def refused(self, candidate: Candidate) -> tuple[Refusal, ...]:
        """Only tests may come, and what stands in those that are there stays."""
        found = judging.sides(candidate)
        strangers = [path for path in found.new if not is_python_test(path)]
        if strangers:
            return judging.refused("tests-only", strangers, "only test files (test_*.py, *_test.py) may be added or extended")
        altered = [path for path, old in found.old.items() if old is not None and not is_extended(old, found.new[path])]
        return judging.refused("tests-stay", altered, "what stands in this test file must stay as it is: only add to it")

    def judged(self, candidate: Candidate, made: Trialled, now: Ledger) -> Trialled:
        """Whether the new tests are worth something."""
        del now
        run, view, trial = candidate.court.run, self.ground.read.view, candidate.trial
        tests = tuple(path for path in judging.sides(candidate).new if is_python_test(path))
        laid = Laid(_overlay(trial.edits), _overlay(trial.before), tests, self._known_tests(), self.ledger.tests.executed)
        found = run.bench.conduct(fresh.conduct(laid, view, run.options.checks))
        if late := judging.out_of_time(candidate, made):
            return late
        if found.fault:
            return judging.undone(made, found.fault, found.output)
        return judging.shown(made, trial.tasks, found.told)

    def _files(self) -> Iterator[FileChange]:
        for file in self.ground.read.view.python():
            if file.head_path and is_library(file.path) and file.path.endswith(".py") and self.ground.meant(file.path):
                yield file

    def _texts(self) -> Mapping[str, bytes]:
        """The tests that may be added to, and the programs that are tested."""
        view = self.ground.read.view
        heads = ((file.path, view.contents_of(file).head) for file in view.files)
        return {**view.tests, **{path: head for path, head in heads if head is not None}}

    def _known_tests(self) -> tuple[str, ...]:
        return choose.tests(self.ground.read.view, self.ground.run.options.checks.max_tests)

    def _untested(self, file: FileChange) -> Iterator[Gap]:
        """The changed lines of each function that no test runs."""
        executed, added = self.ledger.tests.executed, places.added(file)
        missed: dict[str, set[int]] = {}
        for one in statements(self.ground.read.view.contents_of(file).head):
            changed = added.intersection(range(one.start, one.end + 1))
            if one.function and changed and not any((file.path, line) in executed for line in changed):
                missed.setdefault(one.function, set()).update(changed)
        for function, lines in missed.items():
            yield Gap(file.path, function, tuple(sorted(lines)))

    def _missed(self) -> tuple[Mutant, ...]:
        """Wrongs in changed lines that tests run and do not notice."""
        run, view = self.ground.run, self.ground.read.view
        laid = Laid((), (), (), self._known_tests(), self.ledger.tests.executed)
        return run.bench.conduct(fresh.unnoticed(laid, view, run.options.checks))

    def _functions(self, files: Sequence[FileChange]) -> Mapping[tuple[str, int], str]:
        """The function that each line belongs to."""
        view = self.ground.read.view
        return {
            (file.path, line): one.function
            for file in files
            for one in statements(view.contents_of(file).head)
            for line in range(one.start, one.end + 1)
        }

    def _task(self, name: str, gap: Gap) -> Task:
        where = f"`{gap.function}`" if gap.function else gap.path
        if gap.wrongs:
            title = f"test {where} so that a wrong in it is noticed"
            wish = ["The tests run these lines and pass whatever is wrong in them. Such wrongs went unnoticed:"]
            wish += [f"{wrong.path}:{wrong.line}: {wrong.told}" for wrong in gap.wrongs]
        else:
            title = f"test {where}: no test runs what changed in it"
            texts = places.lines(self._texts().get(gap.path))
            wish = ["No test runs these changed lines:"]
            wish += [f"{gap.path}:{line}: {places.line_at(texts, line)}" for line in gap.lines[:MOST_NAMED]]
        return Task(
            name,
            Goal.TESTS,
            title,
            packet((gap.path, gap.lines[0], gap.lines[-1]), title, category=Category.TESTS),
            wish=shown.excerpt("\n".join(wish)),
            paths=frozenset(self._known_tests()),
            may_add=True,
            writer="tester",
            places=((gap.path, gap.lines[0]), *((path, 1) for path in self._known_tests()[:2])),
        )


def is_extended(old: bytes, new: bytes | None) -> bool:
    """A test file only gained: every statement of it stands there as before, in its order, imports aside; what is new in a class
    comes beside what it had."""
    before, after = parse(old), parse(new)
    if before is None or after is None:
        return False
    return _holds(before.body, after.body)


def _holds(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> bool:
    left = iter([node for node in new if not isinstance(node, ast.Import | ast.ImportFrom)])
    kept = (node for node in old if not isinstance(node, ast.Import | ast.ImportFrom))
    return all(any(_same(node, other) for other in left) for node in kept) and _imports(new) >= _imports(old)


def _same(old: ast.stmt, new: ast.stmt) -> bool:
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        head = [ast.dump(ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list)) for node in (old, new)]
        return head[0] == head[1] and _holds(old.body, new.body)
    return ast.dump(old) == ast.dump(new)


def _imports(body: Sequence[ast.stmt]) -> set[tuple[str, str]]:
    """What is imported under which name."""
    return {
        (f"{'.' * getattr(node, 'level', 0)}{getattr(node, 'module', '') or ''}:{alias.name}", alias.asname or alias.name)
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _by_function(missed: Sequence[Mutant], functions: Mapping[tuple[str, int], str]) -> Iterator[Gap]:
    found: dict[tuple[str, str], list[Mutant]] = {}
    for wrong in missed:
        found.setdefault((wrong.path, functions.get((wrong.path, wrong.line), "")), []).append(wrong)
    for (path, function), wrongs in found.items():
        yield Gap(path, function, tuple(sorted({wrong.line for wrong in wrongs})), tuple(wrongs))


def _overlay(edits: Sequence[Edit]) -> tuple[tuple[str, bytes], ...]:
    return tuple((edit.path, edit.content or b"") for edit in edits)
