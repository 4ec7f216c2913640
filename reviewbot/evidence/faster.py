"""Is a candidate faster? A benchmark of the user's, by its name or as a command, at both ends in turn: the spread decides."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.domain.change import is_test_path
from reviewbot.domain.evidence import Side
from reviewbot.evidence import benchmarks, shown
from reviewbot.evidence.benchmarks import STOPWATCH
from reviewbot.evidence.parsers import profile
from reviewbot.evidence.parsers.profile import Spot
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.proof.command import PYTHONS, known
from reviewbot.evidence.ratio import Pace, Ratio
from reviewbot.evidence.view import Benchmark, CheckOptions
from reviewbot.ports import Ended, Job, Outcome

REPORT = "benchmark.json"
GIVEN = "benchmark"
"""The name of one that was given as a command."""
_STOPWATCH = ("{python}", "-I", "{probes}/reviewbot_stopwatch.py", f"{{scratch}}/{REPORT}")
_IN_SCRATCH = f"{{scratch}}/{REPORT}"
_FOLDERS = ("bench", "benches", "benchmark", "benchmarks", "perf")


class NoBenchmark(ValueError):
    """Nothing can be measured with what was given; the message says why."""


@dataclass(frozen=True, slots=True)
class Sped:
    """What the measurement shows: in words, and whether something is faster beyond the noise and nothing slower."""

    is_faster: bool
    told: str


def meant(words: str, options: CheckOptions) -> Benchmark:
    """The benchmark that is configured under this name, or the one that this command is. Raises NoBenchmark."""
    for benchmark in options.benchmarks:
        if benchmark.name == words.strip():
            return benchmark
    try:
        argv = tuple(shlex.split(words))
    except ValueError as exc:
        raise NoBenchmark(f"the command cannot be taken apart: {exc}") from exc
    if not argv:
        raise NoBenchmark("the benchmark's command is empty")
    return _commanded(argv)


def _commanded(argv: tuple[str, ...]) -> Benchmark:
    """A command, with what reads its report. Of one that is no benchmark itself the whole time is taken."""
    program, run = argv[0].rpartition("/")[2], known(argv)
    if program == "hyperfine":
        return Benchmark(GIVEN, (*run, "--export-json", _IN_SCRATCH), "hyperfine", REPORT)
    if program == "go" and argv[1:2] == ("test",) and any(word.startswith("-bench") for word in argv):
        return Benchmark(GIVEN, run, "go-bench")
    if any(word.startswith("--benchmark-") for word in argv):
        return Benchmark(GIVEN, (*run, f"--benchmark-json={_IN_SCRATCH}"), "pytest-benchmark", REPORT)
    watched = (*_STOPWATCH, "--", *run)
    profiling = (*_STOPWATCH, "profile", "--", *run) if program in PYTHONS else ()
    return Benchmark(GIVEN, watched, STOPWATCH, REPORT, profiling, STOPWATCH, REPORT)


def is_of_benchmark(path: str, benchmark: Benchmark) -> bool:
    """A file that says what is measured: nobody who shall be faster may change it."""
    named = {word.removeprefix("./") for word in benchmark.run}
    folders = path.lower().split("/")[:-1]
    return path in named or is_test_path(path) or any(part in _FOLDERS for part in folders)


def begun(benchmark: Benchmark, options: CheckOptions) -> Generator[tuple[Job, ...], tuple[Outcome, ...], tuple[Spot, ...]]:
    """One run at head, and where it spends its time: the functions of its profile, those that take most first; none where it has
    no profile that can be read. Raises NoBenchmark where it cannot be measured."""
    wanted = (f"{benchmark.name}:{Side.HEAD}:1", f"{benchmark.name}:profile:{Side.HEAD}")
    jobs = tuple(job for job in benchmarks.rounds(benchmark, options) if job.name in wanted)
    outcomes = yield jobs
    try:
        benchmarks.times(benchmark, outcomes[0], Side.HEAD)
    except (Unreadable, ValueError) as exc:
        raise NoBenchmark(_why(benchmark, outcomes[:1]) or str(exc)) from exc
    if len(outcomes) < len(wanted):
        return ()
    data = (outcomes[1].file(benchmark.profile_report) if benchmark.profile_report else outcomes[1].stdout) or b""
    try:
        return benchmarks.PROFILES[benchmark.profile_format](data).spots
    except Unreadable:
        return ()


def measured(benchmark: Benchmark, options: CheckOptions) -> Generator[tuple[Job, ...], tuple[Outcome, ...], Sped]:
    """Both ends in turn: what was before is the base, the candidate the head. Raises NoBenchmark where it cannot be measured."""
    jobs = tuple(job for job in benchmarks.rounds(benchmark, options) if ":profile:" not in job.name)
    outcomes = yield jobs
    by_name = {job.name: outcome for job, outcome in zip(jobs, outcomes, strict=True)}
    try:
        found = benchmarks.ratios(benchmark, by_name)
    except (Unreadable, ValueError) as exc:
        raise NoBenchmark(_why(benchmark, outcomes) or str(exc)) from exc
    if not found:
        raise NoBenchmark("it measures nothing at both ends")
    paces = {ratio.pace() for ratio in found.values()}
    return Sped(Pace.FASTER in paces and Pace.SLOWER not in paces, "; ".join(_told(found)))


def _told(found: Mapping[str, Ratio]) -> Iterator[str]:
    for name, ratio in found.items():
        verdict = "faster" if ratio.pace() is Pace.FASTER else str(ratio.pace())
        spread = f"{ratio.low:.2f} to {ratio.high:.2f} in {ratio.rounds} rounds taken in turn"
        yield f"{shown.sentence(name)} takes {ratio.middle:.2f} times as long as before ({spread}): {verdict}"


def _why(benchmark: Benchmark, outcomes: Sequence[Outcome]) -> str:
    """What the command itself said where it failed, empty where it did not."""
    for outcome in outcomes:
        if outcome.ended is not Ended.EXITED:
            return outcome.reason
        if benchmark.parser == STOPWATCH and outcome.exit_code:
            try:
                return shown.excerpt(profile.read(outcome.file(REPORT) or b"").error)
            except Unreadable:
                return ""
    return ""
