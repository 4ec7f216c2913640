"""A report of a bug: what it speaks of, what may be behind it, which of that can be shown to fail, and code that mends it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.context import traces
from reviewbot.context.traces import Trace
from reviewbot.debate.diagnosis import Hypothesis
from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns import hypotheses
from reviewbot.debate.patterns.hypotheses import Formed
from reviewbot.domain.change import is_test_path
from reviewbot.domain.debate import CheckKind
from reviewbot.domain.evidence import Category, Ledger
from reviewbot.domain.repair import Edit, Goal, Refusal, Repair, RepairOutcome
from reviewbot.drive import Chore
from reviewbot.errors import GitError, UsageError
from reviewbot.evidence import reproduce, shown
from reviewbot.evidence.reproduce import Reproduced
from reviewbot.evidence.unchanged import side_by_side
from reviewbot.evidence.view import is_python_test
from reviewbot.pipeline.goals import judging
from reviewbot.pipeline.goals.ground import MOST_LINES, Ground, Prepared, Preparing, packet
from reviewbot.pipeline.trying import Candidate
from reviewbot.ports import Experiment, Task, Trialled

MOST_REPORT = 30_000
"""Characters of a report that are read; its middle is left out where it is longer."""

MOST_WISH = 9_000
"""Of them for who writes and judges code."""

MOST_HITS = 400
NOTHING_NAMED = "the report names no file, line or name of this tree, and the tree is too large to be shown whole"
NO_HYPOTHESIS = "nobody formed a hypothesis about the report"

_LANGUAGES = (
    *(".py", ".go", ".rs", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"),
    *(".java", ".kt", ".rb", ".php", ".cs", ".sh", ".sql"),
)
_DEFINES = re.compile(rb"^\s*(?:export\s+|pub\s+|public\s+|async\s+)*(?:def|class|func|function|fn|type|struct|interface)\b")
_WORD = re.compile(r"[a-z0-9]+")
_GO_TEST = "_test.go"


@dataclass(frozen=True, slots=True)
class Reporting:
    """The goal, on its ground."""

    ground: Ground
    ledger: Ledger
    report: str

    @classmethod
    def of(cls, ground: Ground, ledger: Ledger) -> Reporting:
        """With the report as it is shown. Raises UsageError where there is nothing to read."""
        report = shown.excerpt(ground.wanted.words.strip(), MOST_REPORT)
        if not report:
            raise UsageError("the report is empty", hint="give an issue's text, a traceback or a log")
        return cls(ground, ledger, report)

    def prepared(self) -> Preparing:
        """Read the report, ask for hypotheses, and run their checks: a task for each that fails."""
        trace = traces.read(self.report)
        finding = Chore("finding what the report speaks of", lambda: self.ground.papers(self._places(trace), self.ledger))
        (papers,) = yield (finding,)
        assert isinstance(papers, Papers)
        if not papers.dossiers[0].passages:
            return Prepared(failure=NOTHING_NAMED)
        repair = self.ground.run.options.repair
        formed = yield from hypotheses.form(
            self.report, papers, self.ground.minutes, most=repair.most, seconds=repair.answer_seconds
        )
        if not formed.answered:
            return Prepared(failure=f"none of {', '.join(formed.asked) or 'the panel'} gave a valid answer about the report")
        (found,) = yield (Chore("running the checks of the hypotheses", lambda: self._reproduced(formed, trace)),)
        return self._sorted(formed, found, papers)

    def refused(self, candidate: Candidate) -> tuple[Refusal, ...]:
        """Nothing beside what all candidates must not do."""
        del candidate
        return ()

    def judged(self, candidate: Candidate, made: Trialled, now: Ledger) -> Trialled:
        """Its check has decided. Where the project's tests do not come to their end with it, nobody knows what else it does."""
        if now.tests.passed or not self.ground.read.view.tests or not made.passed:
            return made
        names = tuple(task.id for task in candidate.trial.tasks)
        return replace(made, unknown=names, beside=(judging.silent(now), *made.beside))

    def _places(self, trace: Trace) -> Iterator[tuple[str, int]]:
        """What the report speaks of in this tree: places, then definitions of names; of a small tree all there is."""
        contents = self.ground.contents
        yield from traces.located(trace.places, contents)
        yield from self._defined(trace.names, contents)
        code = [path for path in self.ground.code() if path.endswith(_LANGUAGES)]
        if sum(contents[path].count(b"\n") for path in code) <= MOST_LINES:
            yield from ((path, 1) for path in sorted(code, key=lambda path: len(contents[path])))

    def _defined(self, names: tuple[str, ...], contents: Mapping[str, bytes]) -> Iterator[tuple[str, int]]:
        search, tree = self.ground.run.world.search, self.ground.whole.change.revisions.head_tree
        if search is None or tree is None or not names:
            return
        try:
            hits = search.find(tree, names, whole=True, most=MOST_HITS)
        except GitError:  # a tree too large to be searched in time: what the report names by path is all there is
            return
        defined = [hit for hit in hits if hit.path in contents and _DEFINES.match(hit.text)]
        yield from ((hit.path, hit.line) for hit in sorted(defined, key=lambda hit: is_test_path(hit.path)))

    def _reproduced(self, formed: Formed, trace: Trace) -> list[Reproduced]:
        """What the check of each hypothesis shows at head, or showed when this was begun."""
        run, view = self.ground.run, self.ground.read.view
        experiments = [self._experiment(one) for one in formed.hypotheses]
        name = f"reproduced {hashlib.sha256(repr(experiments).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"
        if (kept := run.world.session.recall(name)) is not None:
            return [Reproduced(bool(one["fails"]), str(one["why"]), str(one["output"])) for one in kept["checks"]]
        procedures = [reproduce.conduct(one, view, run.options.checks, spoken=trace.exceptions) for one in experiments]
        found = list(run.bench.conduct(side_by_side(procedures)))
        if run.deadline.left() and not run.bench.is_closed:
            told = [{"fails": one.fails, "why": one.why, "output": one.output} for one in found]
            run.world.session.keep(name, {"checks": told})
        return found

    def _experiment(self, one: Hypothesis) -> Experiment:
        """Its check, held against the function that it names."""
        known = one.path in self.ground.contents and one.line > 0
        start, end = self.ground.body(one.path, one.line) if known else (0, 0)
        return Experiment("report", one.check, one.path if known else "", start, end)

    def _sorted(self, formed: Formed, found: Iterable[Reproduced], papers: Papers) -> Prepared:
        """A task for each hypothesis whose check fails; of the others the reason."""
        tasks: list[Task] = []
        left: list[Repair] = []
        taken = set(self.ground.read.blobs)
        for number, (one, ran) in enumerate(zip(formed.hypotheses, found, strict=True), 1):
            name = f"H{number}"
            why = ran.why if one.path in self.ground.contents else f"it names no file of this tree: {shown.sentence(one.path)}"
            if why:
                left.append(Repair(name, one.title, RepairOutcome.SKIPPED, Goal.REPORT, f"its check shows nothing: {why}"))
                continue
            tasks.append(self._task(name, one, ran, taken=taken))
        notes = () if formed.hypotheses else (NO_HYPOTHESIS,)
        return Prepared(tuple(tasks), papers, self.ground.contents, tuple(left), notes)

    def _task(self, name: str, one: Hypothesis, ran: Reproduced, *, taken: set[str]) -> Task:
        brought = brought_test(one, self.ground.read.view.tests, taken)
        taken.update(edit.path for edit in brought)
        start, end = self.ground.span(one.path, one.line)
        place = packet(
            (one.path, start, end), one.title, trigger=one.symptom, consequence=one.cause, category=Category.CORRECTNESS
        )
        return Task(
            name,
            Goal.REPORT,
            one.title,
            place,
            wish=shown.excerpt(self.report, MOST_WISH),
            check=replace(one.check, output=ran.output),
            paths=frozenset(self.ground.code()),
            may_add=True,
            places=((one.path, one.line),),
            brings=brought,
        )


def brought_test(one: Hypothesis, tests: Mapping[str, bytes], taken: Iterable[str]) -> tuple[Edit, ...]:
    """The check as a test file of the project, beside its other tests. Programs that no test runner finds stay checks."""
    check = one.check
    data = (check.source.rstrip("\n") + "\n").encode("utf-8", "surrogateescape")
    if check.kind is CheckKind.SCRIPT and check.subject.endswith(_GO_TEST):
        return (Edit(check.subject, data),)
    if check.kind is not CheckKind.TEST or not check.source:
        return ()
    stem = "_".join(_WORD.findall(one.title.lower())[:6])[:50] or "reported"
    folder, known = _folder(one.path, tests), frozenset(taken)
    names = (f"{folder}test_{stem}{suffix}.py" for suffix in ("", *(f"_{number}" for number in range(2, 100))))
    return (Edit(next(name for name in names if name not in known), data),)


def _folder(path: str, tests: Mapping[str, bytes]) -> str:
    """Where tests of a file belong: with those that speak of it, else with most others."""
    stem = path.rpartition("/")[2].removesuffix(".py").encode("utf-8", "surrogateescape")
    named = [test for test, source in tests.items() if is_python_test(test) and stem in source]
    folders = Counter(test.rpartition("/")[0] for test in named or tests)
    most = max(sorted(folders), key=lambda folder: folders[folder], default="tests")
    return f"{most}/" if most else ""
