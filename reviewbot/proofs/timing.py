"""Is it slower, or faster? Times on two trees, taken alternately, as one ratio with its spread."""

from collections.abc import Sequence

from msgspec import Struct

from reviewbot.checks.check import probe
from reviewbot.checks.readers import json_of
from reviewbot.sandbox.executor import Executor
from reviewbot.sandbox.job import Job

PROGRAM = "reviewbot_timing.py"
# If nothing changed, all five times of one side are longer than all five of the other in one case
# of 252: 10! / (5! 5!) (the rank-sum test of Wilcoxon).
ROUNDS = 5
SECONDS = 30  # of one round on one side
THRESHOLD = 1.10  # less than a tenth is not spoken of, however certain it is


class Timing(Struct, frozen=True):
    """What the program reports: seconds of one call, and functions with theirs."""

    calls: int
    seconds: float
    profile: tuple[str, ...] = ()
    problem: str = ""


class Ratio(Struct, frozen=True, kw_only=True):
    """Time after over time before: of the medians, and the least and the greatest of any two."""

    middle: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """For example "3.2 times as fast (2.9 to 3.4 in 5 rounds)"."""
        if self.middle > 1:
            factors, word = (self.middle, self.low, self.high), "slow"
        else:
            factors, word = (1 / self.middle, 1 / self.high, 1 / self.low), "fast"
        middle, low, high = (f"{n:,.0f}" if n >= 100 else f"{n:.3g}" for n in factors)
        return f"{middle} times as {word} ({low} to {high} in {ROUNDS} rounds)"


async def time_snippet(
    source: str, tree: str, executor: Executor, folder: str = "", calls: int = 0, attempt: int = 1
) -> Timing:
    """Time one round; see probes/reviewbot_timing.py. Raises ValueError if it cannot be."""
    job = Job(
        tree=tree,
        command=("{python}", f"/reviewbot/{PROGRAM}", str(calls)),
        executes=True,
        folder=folder,
        tool_files=probe(PROGRAM) | {"benchmark.py": source},
        report="timing.json",
        attempt=attempt,
        seconds=SECONDS,
    )
    timing: Timing = json_of(await executor.execute(job), Timing)
    if timing.problem:
        raise ValueError(timing.problem)
    return timing


async def compare_times(
    source: str, before: str, after: str, executor: Executor, folder: str = ""
) -> Ratio:
    """The ratio of times on two trees. Raises ValueError if there is none.

    Both make as many calls as the slower side needs: the quicker one may need a million times as
    many. They take turns, so that a busy machine slows rounds of both, and cannot part them.
    """
    first = [await time_snippet(source, tree, executor, folder) for tree in (before, after)]
    calls = min(timing.calls for timing in first)
    times: dict[str, list[float]] = {before: [], after: []}
    for number in range(1, ROUNDS + 1):
        for tree in (before, after) if number % 2 else (after, before):
            timing = await time_snippet(source, tree, executor, folder, calls, number)
            times[tree].append(timing.seconds)
    return ratio_of(times[before], times[after])


def ratio_of(before: Sequence[float], after: Sequence[float]) -> Ratio:
    low, high, half = min(after) / max(before), max(after) / min(before), len(before) // 2
    return Ratio(middle=sorted(after)[half] / sorted(before)[half], low=low, high=high)
