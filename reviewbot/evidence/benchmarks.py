"""The user's benchmarks, run at base and head in turn: the ratio with its spread says whether the change made it slower."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from reviewbot.domain.change import FileChange, is_test_path
from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, EvidenceStatus, Precision, Result, Severity, Side
from reviewbot.evidence import places, profiles, shown
from reviewbot.evidence.match import Heard, Mark
from reviewbot.evidence.parsers import go_bench, hyperfine, profile, pytest_benchmark
from reviewbot.evidence.parsers.profile import Profile
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.timing import Timing
from reviewbot.evidence.ratio import Pace, Ratio, compare
from reviewbot.evidence.view import Benchmark, CheckOptions, View
from reviewbot.ports import Ended, Job, Outcome

ROUNDS = 5
"""Runs of each end: the fewest with which a spread can be given (``ratio``)."""

GRAVE = 2.0
"""From twice the time on, a slow-down is high [design]."""

STOPWATCH = "stopwatch"
"""What the probe of that name writes, which takes the time of any command."""
PARSERS: Mapping[str, Callable[[bytes], tuple[Timing, ...]]] = {
    "pytest-benchmark": pytest_benchmark.read,
    "hyperfine": hyperfine.read,
    "go-bench": go_bench.read,
    STOPWATCH: lambda data: (Timing("the command", profile.read(data).seconds),),
}
PROFILES: Mapping[str, Callable[[bytes], Profile]] = {
    "pprof": profile.read_pprof,
    "stacks": profile.read_stacks,
    STOPWATCH: lambda data: profile.read(data).profile,
}


def jobs(view: View, options: CheckOptions) -> tuple[Job, ...]:
    """Every benchmark at base and head in turn, then its profile at both ends. Alone: they measure. An audit compares nothing."""
    if view.is_audit or not any(not is_test_path(file.path) for file in view.files):
        return ()
    return tuple(job for benchmark in options.benchmarks for job in rounds(benchmark, options))


def rounds(benchmark: Benchmark, options: CheckOptions) -> Iterator[Job]:
    """The runs of one benchmark in their order."""
    for number in range(1, ROUNDS + 1):
        for side in (Side.BASE, Side.HEAD):
            yield _job(f"{benchmark.name}:{side}:{number}", benchmark.run, benchmark.report, side=side, seconds=options.seconds)
    for side in Side if benchmark.profile else ():
        yield _job(
            f"{benchmark.name}:profile:{side}", benchmark.profile, benchmark.profile_report, side=side, seconds=options.seconds
        )


def hear(view: View, outcomes: Mapping[str, Outcome], options: CheckOptions) -> Heard:
    """What all benchmarks showed."""
    heard = [_heard(view, benchmark, outcomes) for benchmark in options.benchmarks if f"{benchmark.name}:head:1" in outcomes]
    return Heard(
        marks=tuple(mark for one in heard for mark in one.marks),
        runs=tuple(run for one in heard for run in one.runs),
        notes=tuple(note for one in heard for note in one.notes),
    )


def ratios(benchmark: Benchmark, outcomes: Mapping[str, Outcome]) -> Mapping[str, Ratio]:
    """Head over base for every benchmark that both ends measured in all rounds. Raises Unreadable for a run without a report."""
    found: dict[Side, list[Mapping[str, float]]] = {side: [] for side in Side}
    for number in range(1, ROUNDS + 1):
        for side in Side:
            found[side].append(times(benchmark, outcomes[f"{benchmark.name}:{side}:{number}"], side))
    names = [name for name in found[Side.BASE][0] if all(name in one for side in Side for one in found[side])]
    return {name: compare(*([one[name] for one in found[side]] for side in (Side.BASE, Side.HEAD))) for name in names}


def words(ratio: Ratio) -> str:
    """A ratio with its spread."""
    return f"{ratio.middle:.2f} times the base's ({ratio.low:.2f} to {ratio.high:.2f} in {ratio.rounds} rounds taken in turn)"


def profiled(benchmark: Benchmark, outcomes: Mapping[str, Outcome], view: View) -> Iterator[str]:
    """What the profiles of both ends say of the changed functions, where there are profiles."""
    for side in Side if benchmark.profile else ():
        outcome = outcomes.get(f"{benchmark.name}:profile:{side}")
        data = _report(outcome, benchmark.profile_report) if outcome else b""
        try:
            yield f"profile at {side}:"
            yield from profiles.of_changed(PROFILES[benchmark.profile_format](data), view)
        except Unreadable as exc:
            yield f"none: {exc}"


def _heard(view: View, benchmark: Benchmark, outcomes: Mapping[str, Outcome]) -> Heard:
    mine = [outcome for name, outcome in outcomes.items() if name.startswith(f"{benchmark.name}:")]
    seconds = sum(outcome.seconds for outcome in mine)
    try:
        found = ratios(benchmark, outcomes)
    except (Unreadable, ValueError) as exc:
        missing = any(outcome.ended is Ended.MISSING for outcome in mine)
        run = CheckRun(benchmark.name, ran=False, reason=str(exc), seconds=seconds, cut_short=not missing)
        return Heard(runs=(run,))
    detail = "\n".join(profiled(benchmark, outcomes, view))
    slower = [(name, ratio) for name, ratio in found.items() if ratio.pace() is Pace.SLOWER]
    marks = tuple(
        Mark(EvidenceStatus.NEW, Side.HEAD, _result(view, benchmark, name, ratio=ratio, detail=detail)) for name, ratio in slower
    )
    notes = tuple(f"{benchmark.name}: {name} takes {words(ratio)}" for name, ratio in found.items())
    return Heard(marks=marks, runs=(CheckRun(benchmark.name, ran=True, seconds=seconds),), notes=notes)


def _job(name: str, argv: Sequence[str], report: str, *, side: Side, seconds: float) -> Job:
    collect = (report,) if report else ()
    return Job(name, tuple(argv), seconds, executes=True, tree=side, collect=collect, alone=True)


def times(benchmark: Benchmark, outcome: Outcome, side: Side) -> Mapping[str, float]:
    """Median seconds of one run by name. Raises Unreadable."""
    if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
        said = shown.sentence(outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2])
        raise Unreadable(f"it failed at {side}: {outcome.reason or said}")
    return {timing.name: median(timing.seconds) for timing in PARSERS[benchmark.parser](_report(outcome, benchmark.report))}


def _report(outcome: Outcome, name: str) -> bytes:
    return (outcome.file(name) if name else outcome.stdout) or b""


def _result(view: View, benchmark: Benchmark, name: str, *, ratio: Ratio, detail: str) -> Result:
    file = _blamed(view)
    line = min(places.added(file) | places.beside_removals(file), default=0)
    return Result(
        EvidenceKind.PERFORMANCE,
        benchmark.name,
        "slower",
        file.path,
        line,
        f"{shown.sentence(name)} became slower: it takes {words(ratio)}",
        Category.PERFORMANCE,
        Severity.HIGH if ratio.low >= GRAVE else Severity.MEDIUM,
        Precision.LIKELY,
        end_line=line,
        anchor=places.line_at(places.lines(view.contents_of(file).head), line),
        trigger=f"the benchmark {benchmark.name} runs",
        consequence="users wait longer, and more so with more data where the work grows",
        excerpt=shown.excerpt(f"{name}: {words(ratio)}\n{detail}".strip()),
        command=benchmark.run,
        exit_code=0,
        subject=name,
    )


def _blamed(view: View) -> FileChange:
    """The changed file that is no test; a benchmark does not say where."""
    return next((file for file in view.files if file.head_path and not is_test_path(file.path)), view.files[0])
