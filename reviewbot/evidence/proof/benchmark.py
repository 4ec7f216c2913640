"""A slow-down as a check: a snippet, or a configured benchmark, timed at base and head in turn. The ratio's spread decides."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import Side
from reviewbot.evidence import benchmarks, profiles, shown
from reviewbot.evidence.benchmarks import ROUNDS, words
from reviewbot.evidence.parsers import profile
from reviewbot.evidence.parsers.profile import TimingReport
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.proof import fixed
from reviewbot.evidence.proof.method import Ground, Procedure, Unfit
from reviewbot.evidence.ratio import THRESHOLD, Pace, Ratio, compare
from reviewbot.ports import Ended, Job, Outcome, Verification

REPORT = "report.json"
MIN_SECONDS = 0.02
"""Of a round at base: below it the clock and the scheduler speak louder than the code [design]."""
Overlay = tuple[tuple[str, bytes], ...]
Measuring = Generator[tuple[Job, ...], tuple[Outcome, ...], Ratio]


def conduct(ground: Ground) -> Procedure:
    """Measure, and once more with the fix where there is one and the head is slower."""
    check = ground.experiment.check
    if not check.source:
        return (yield from _configured(ground))
    calibration = yield (_job(ground, Side.BASE, "calibration", calls=0),)
    calls = _read(calibration[0], "base").calls
    ratio = yield from _measured(ground, calls)
    slower = ratio.pace() is Pace.SLOWER
    profiling = yield tuple(_job(ground, side, f"profile:{side}", calls=calls, profiled=True) for side in Side)
    text = "\n".join((f"the head's time is {words(ratio)}", *_profiles(ground, profiling)))
    mended = fixed.overlay(ground.view, ground.experiment.fix)
    mends = None
    if slower and mended:
        mends = (yield from _measured(ground, calls, mended)).pace() is not Pace.SLOWER
    return Verification(replace(check, outcome=_outcome((ratio,))), shown.excerpt(text), mends)


def _configured(ground: Ground) -> Procedure:
    """One of the user's own benchmarks, by its name, or ``name/benchmark`` for one of several."""
    check, known = ground.experiment.check, {one.name: one for one in ground.options.benchmarks}
    name, _, inner = check.subject.partition("/")
    if name not in known:
        raise Unfit(f"no benchmark is called {check.subject!r}; there are {', '.join(known) or 'none'}")
    jobs = tuple(benchmarks.rounds(known[name], ground.options))
    outcomes = yield jobs
    by_name = {job.name: outcome for job, outcome in zip(jobs, outcomes, strict=True)}
    try:
        found = benchmarks.ratios(known[name], by_name)
    except (Unreadable, ValueError) as exc:
        raise Unfit(str(exc)) from exc
    meant = {one: ratio for one, ratio in found.items() if not inner or one == inner}
    if not meant:
        raise Unfit(f"the benchmark measures no {inner!r}; it measures {', '.join(found) or 'nothing'}")
    lines = [f"{one}: {words(ratio)}" for one, ratio in meant.items()]
    text = "\n".join((*lines, *benchmarks.profiled(known[name], by_name, ground.view)))
    return Verification(replace(check, outcome=_outcome(meant.values())), shown.excerpt(text))


def _outcome(ratios: Iterable[Ratio]) -> CheckOutcome:
    """A spread that holds both a slow-down and none contradicts nobody."""
    listed = tuple(ratios)
    if any(ratio.pace() is Pace.SLOWER for ratio in listed):
        return CheckOutcome.FAILS_AT_HEAD
    shown_well = all(ratio.high <= 1 + THRESHOLD for ratio in listed)
    return CheckOutcome.PASSES_AT_HEAD if shown_well else CheckOutcome.UNSTABLE


def _measured(ground: Ground, calls: int, overlay: Overlay = ()) -> Measuring:
    """Both ends in turn. Raises Unfit."""
    jobs = tuple(
        _job(ground, side, f"{side}:{number}", calls=calls, overlay=overlay if side is Side.HEAD else ())
        for number in range(1, ROUNDS + 1)
        for side in (Side.BASE, Side.HEAD)
    )
    outcomes = yield jobs
    times = [_read(outcome, job.name).seconds[0] for job, outcome in zip(jobs, outcomes, strict=True)]
    return compare(times[::2], times[1::2])


def _job(ground: Ground, side: Side, name: str, *, calls: int, overlay: Overlay = (), profiled: bool = False) -> Job:
    check = ground.experiment.check
    spec = {"rounds": 1, "min_seconds": MIN_SECONDS, "calls": calls, "profile": profiled}
    argv = ("{python}", "-I", "{probes}/reviewbot_timing.py", "{scratch}/spec.json")
    files = (("spec.json", json.dumps(spec).encode()), ("check.py", check.source.encode("utf-8", "surrogateescape")))
    return Job(
        f"proof:{name}",
        (*argv, "tree={tree}", "source={scratch}/check.py", f"report={{scratch}}/{REPORT}"),
        ground.options.seconds,
        executes=True,
        tree=side,
        files=files,
        overlay=overlay,
        collect=(REPORT,),
        environment=(("PYTHONHASHSEED", "0"),),
        alone=True,
    )


def _read(outcome: Outcome, where: str) -> TimingReport:
    """What was measured. Raises Unfit."""
    if outcome.ended is not Ended.EXITED:
        raise Unfit(f"{where}: {outcome.reason}")
    try:
        report = profile.read(outcome.file(REPORT) or b"")
    except Unreadable as exc:
        raise Unfit(f"{where}: {exc}") from exc
    if report.error:
        raise Unfit(f"{where}: {shown.excerpt(report.error)}")
    return report


def _profiles(ground: Ground, outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    for side, outcome in zip(Side, outcomes, strict=True):
        yield f"profile at {side}:"
        yield from profiles.of_changed(_read(outcome, str(side)).profile, ground.view)
