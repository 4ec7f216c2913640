"""Is it slower, or faster? Times on two trees, taken alternately, as one ratio with its spread."""

from __future__ import annotations

from statistics import median

import msgspec
from msgspec import Struct

from reviewbot.checks.probes import probe
from reviewbot.sandbox.executor import Executor
from reviewbot.sandbox.job import Job, last_line

PROGRAM = "reviewbot_timing.py"
# The true median lies between the least and the greatest of five with a probability of 0.9375:
# 1 - 2 / 2**5 (David and Nagaraja, Order Statistics, third edition, section 7.1).
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
    """Time after over time before: the median of all rounds, the least and the greatest."""

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
        middle, low, high = (
            f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}" for factor in factors
        )
        return f"{middle} times as {word} ({low} to {high} in {ROUNDS} rounds)"


async def time_snippet(
    source: str,
    tree: str,
    executor: Executor,
    folder: str = "",
    *,
    calls: int = 0,
    attempt: int = 1,
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
    completed = await executor.execute(job)
    try:
        timing = msgspec.json.decode(completed.report or b"", type=Timing)
    except msgspec.DecodeError:
        reason = completed.reason or last_line(completed.stderr) or "it reported nothing"
        raise ValueError(reason) from None
    if timing.problem:
        raise ValueError(timing.problem)
    return timing


async def compare_times(
    source: str, before: str, after: str, executor: Executor, folder: str = ""
) -> Ratio:
    """The ratio of times on two trees. Raises ValueError if there is none.

    What slows a round slows both of its times, so they are compared round by round. Both make as
    many calls as the slower side needs: the quicker one may need a million times as many.
    """
    first = [await time_snippet(source, tree, executor, folder) for tree in (before, after)]
    calls = min(timing.calls for timing in first)
    ratios = []
    for number in range(1, ROUNDS + 1):
        times = {}
        for tree in (before, after) if number % 2 else (after, before):
            timing = await time_snippet(source, tree, executor, folder, calls=calls, attempt=number)
            times[tree] = timing.seconds
        ratios.append(times[after] / times[before])
    return Ratio(middle=median(ratios), low=min(ratios), high=max(ratios))
