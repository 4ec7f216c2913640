"""Speed: what a benchmark spends its time in, and candidates that are faster beyond the noise and do what was done before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reviewbot.domain.evidence import Category, Ledger
from reviewbot.domain.repair import Goal, Refusal
from reviewbot.drive import Chore
from reviewbot.errors import UsageError
from reviewbot.evidence import faster, profiles, shown
from reviewbot.evidence.faster import NoBenchmark
from reviewbot.evidence.parsers.profile import Profile, Spot, Unit
from reviewbot.evidence.view import Benchmark
from reviewbot.pipeline.goals import judging
from reviewbot.pipeline.goals.ground import MOST_FILES, Ground, Prepared, Preparing, packet
from reviewbot.pipeline.trying import Candidate
from reviewbot.ports import Task, Trialled

MOST_SPOTS = 20
MOST_WISH = 9_000
NOTHING_TO_CHANGE = "there is no file that may be changed: tests and benchmarks may not"


@dataclass(frozen=True, slots=True)
class Began:
    """The benchmark as it is at head: where it spends its time, or why it cannot be measured."""

    spots: tuple[Spot, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Speeding:
    """The goal, on its ground."""

    ground: Ground
    ledger: Ledger
    benchmark: Benchmark

    @classmethod
    def of(cls, ground: Ground, ledger: Ledger) -> Speeding:
        """With the benchmark that was named. Raises UsageError."""
        checks = ground.run.options.checks
        try:
            return cls(ground, ledger, faster.meant(ground.wanted.benchmark, checks))
        except NoBenchmark as exc:
            known = ", ".join(one.name for one in checks.benchmarks)
            hint = f"give a command, or the name of a configured benchmark{f': {known}' if known else ''}"
            raise UsageError(str(exc), hint=hint) from exc

    def prepared(self) -> Preparing:
        """Run the benchmark once, and make one task of it."""
        (began,) = yield (Chore("running the benchmark at head", self._begun),)
        assert isinstance(began, Began)
        if began.failure:
            return Prepared(failure=f"the benchmark cannot be measured at head: {began.failure}")
        paths = frozenset(path for path in self.ground.code() if self.ground.meant(path) and not self._is_bound(path))
        if not paths:
            return Prepared(failure=NOTHING_TO_CHANGE)
        hot = list(dict.fromkeys(self._hot(began.spots, paths)))
        places = hot or list(self._largest(paths))
        papers = self.ground.papers(places, self.ledger)
        return Prepared((self._task(began, paths, places),), papers, self.ground.contents)

    def refused(self, candidate: Candidate) -> tuple[Refusal, ...]:
        """Nothing of what is measured, or says what must hold, may change."""
        touched = (path for path in judging.sides(candidate).new if self._is_bound(path))
        return judging.refused("benchmark", touched, "what is measured, and tests, stay as they are")

    def judged(self, candidate: Candidate, made: Trialled, now: Ledger) -> Trialled:
        """Whether it is faster, and does the same."""
        tasks = candidate.trial.tasks
        with candidate.court.opened(candidate.before, candidate.tree) as (_, run):
            try:
                sped = run.bench.conduct(faster.measured(self.benchmark, run.options.checks))
            except NoBenchmark as exc:
                late = judging.out_of_time(candidate, made)
                return late or replace(made, worse=(f"the benchmark does not come to its end any more: {exc}",))
        if not sped.is_faster:
            return judging.undone(made, f"it is not faster beyond the noise: {sped.told}")
        kept = judging.kept(candidate)
        if kept.differs:
            return replace(made, worse=kept.differs)
        doubt = "" if kept.same else judging.silent(now)
        made = replace(made, beside=(*kept.words, *made.beside))
        return judging.shown(made, tasks, sped.told, doubt=doubt)

    def _begun(self) -> Began:
        run = self.ground.run
        try:
            spots = run.bench.conduct(faster.begun(self.benchmark, run.options.checks))
        except NoBenchmark as exc:
            return Began(failure=str(exc))
        return Began(spots[:MOST_SPOTS])

    def _is_bound(self, path: str) -> bool:
        return faster.is_of_benchmark(path, self.benchmark)

    def _hot(self, spots: tuple[Spot, ...], paths: frozenset[str]) -> Iterator[tuple[str, int]]:
        """Where the time goes, in files that may be changed."""
        yield from ((spot.path, spot.line) for spot in spots if spot.path in paths)

    def _largest(self, paths: frozenset[str]) -> Iterator[tuple[str, int]]:
        """The other files, the largest first: where no profile tells, these are all there is to go by."""
        contents = self.ground.contents
        yield from ((path, 1) for path in sorted(paths, key=lambda path: (-len(contents[path]), path))[:MOST_FILES])

    def _task(self, began: Began, paths: frozenset[str], places: list[tuple[str, int]]) -> Task:
        given = self.ground.wanted.benchmark.strip()
        command = " ".join(self.benchmark.run) if given == self.benchmark.name else given
        title = f"make `{shown.sentence(command, 120)}` faster"
        path, line = places[0] if places else (min(paths), 1)
        place = (path, *self.ground.span(path, line))
        spent = profiles.listed(Profile(Unit.SECONDS, 0.0, began.spots)) if began.spots else ()
        words = [f"The benchmark: {command}", *([self.ground.wanted.words.strip()] if self.ground.wanted.words.strip() else [])]
        words += ["Where it spends its time now, as a profiler says:", *spent] if spent else []
        return Task(
            "P1",
            Goal.PERFORMANCE,
            title,
            packet(place, title, category=Category.PERFORMANCE),
            wish=shown.excerpt("\n".join(words), MOST_WISH),
            paths=paths,
            writer="optimizer",
            places=tuple(places),
        )
