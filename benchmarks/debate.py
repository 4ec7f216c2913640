"""The debate with models: what it adds to the time that its answers take, what it shares, what it costs. See ``README.md``.

    python benchmarks/debate.py [--seconds 1.0] [--runs 3] [--large 60000] [--only size|checks|slow]

The models are the fake servers of ``tests/fakes``, in a process of their own. Every figure comes with its bar, where it has
one, and a word; nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import debate_journal as journal
import debate_scene as scene
import debate_slow as slow
import figures

MODEL = "openai:gpt-5.4"
"""Whose published price the cost is computed with: it caches as this fake does, by itself and without a price for writing."""

ALIKE = ("--rounds", "1")
OFF = ("--no-exec", *ALIKE)
FIRST_ROUND_CALLS = 2 * len(scene.DISPUTED)
MODERATOR_CALLS = 2


@dataclass(frozen=True, slots=True)
class Debate:
    """One review and the same review once more. Seconds, MB, shares in [0, 1], US dollars."""

    wall: float
    open_seconds: float
    waves: int
    calls: int
    in_flight: int
    share: float
    cached: float
    usd: float
    usd_uncached: float
    peak_mb: float
    findings: int
    again: float
    calls_again: int


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long every answer takes")
    parser.add_argument("--runs", type=int, default=3, help="of which medians are taken")
    parser.add_argument("--imports", type=int, default=5, help="how often the SDK's import is measured")
    parser.add_argument("--small", type=int, default=593, help="lines of the small change")
    parser.add_argument("--large", type=int, default=60_000, help="lines of the large change")
    parser.add_argument("--slow", type=int, default=5_000, help="lines of the change that a slow machine reads")
    parser.add_argument("--round-seconds", type=float, default=12.0, help="the slow machine's time for an answer")
    parser.add_argument("--only", choices=("size", "checks", "slow"), help="one part")
    options = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}, {platform.system()}")
    load = os.getloadavg()[0]
    print(f"load before: {load:.1f}; {options.runs} runs; answers take {options.seconds:g} s; medians (least to most)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only != "slow":
            with scene.compatible(folder, options.seconds) as (server, home):
                bench = Bench(server, home, folder=folder, options=options)
                if options.only != "checks":
                    bench.size("small", options.small, 0.8)
                    bench.size("large", options.large, 1.5)
                if options.only != "size":
                    bench.checks(options.small)
        if options.only in (None, "slow"):
            slow.measure(folder, lines=options.slow, round_seconds=options.round_seconds)


class Bench:
    """The server, the home that asks it, and what was asked for."""

    def __init__(self, server: scene.Process, home: scene.Home, *, folder: Path, options: argparse.Namespace) -> None:
        self._server = server
        self._home = home
        self._folder = folder
        self._options = options
        self._states = 0

    def size(self, name: str, lines: int, bar: float) -> None:
        """Parts a, c and e: a change of this size, the yardstick beside it, and for the small one the cost."""
        files = max(1, min(lines // 98, 60))
        repository = scene.repository(self._folder, name, lines=lines, files=files)
        words = f"a change of {lines:,} lines in {files} files, 3 panelists, 4 claims, 1 round, checks off"
        figures.begin(f"debate, {name}", words)
        imported = scene.import_seconds("openai", self._options.imports)
        debates, bare = [], []
        for _ in range(self._options.runs):
            debates.append(self._debate(repository))
            bare.append(self._bare(repository))
        self._tell_depth(debates[0])
        _tell_times(debates, bare, imported, bar=bar, planned=self._least_waves(debates[0].calls) * self._options.seconds)
        _tell_sharing(debates, bar=75 if name == "small" else None)
        if name == "small":
            _tell_cost(debates[0])

    def checks(self, lines: int) -> None:
        """Part b: how much of the SDK's import is hidden behind the checks. README.md derives the formula."""
        files = max(1, lines // 98)
        busy = scene.checked_repository(self._folder, "busy", lines=lines, files=files)
        idler = scene.checked_repository(self._folder, "waits", lines=lines, files=files, wait_seconds=1.0)
        words = f"the same with {files + 1} small tests and ruff; and once more with a test that waits for 1 s"
        figures.begin("debate, checks", words)
        imported = scene.import_seconds("openai", self._options.imports)
        static = ("--panel", "static")
        orders = (
            ("debate, checks off", busy, OFF),
            ("static panel, checks off", busy, (*static, "--no-exec")),
            ("static panel, checks on, busy tests", busy, static),
            ("debate, checks on, busy tests", busy, ALIKE),
            ("static panel, checks on, a test waits", idler, static),
            ("debate, checks on, a test waits", idler, ALIKE),
        )
        rows = [[self._beyond(repository, *options) for _, repository, options in orders] for _ in range(self._options.runs)]
        walls = [[wall for wall, _ in column] for column in zip(*rows, strict=True)]
        waits = [[wait for _, wait in column] for column in zip(*rows, strict=True)]
        figures.tell("importing the SDK, median beside bare Python", [imported], "s")
        for (text, _, _), seconds in zip(orders, walls, strict=True):
            figures.tell(f"wall - open: {text}", seconds, "s")
        figures.tell("first question waits: checks off", waits[0], "s")
        for text, checked, both in (("busy tests", 2, 3), ("a test waits", 4, 5)):
            alone = [on - idle for idle, on in zip(walls[1], walls[checked], strict=True)]
            hidden = [off + checks - on for off, checks, on in zip(walls[0], alone, walls[both], strict=True)]
            figures.tell(f"{text}: the checks alone", alone, "s")
            figures.tell(f"{text}: hidden of the wall", hidden, "s")
            figures.tell(f"{text}: first question waits", waits[both], "s")
            figures.tell(f"{text}: the wait / the import", [100 * wait / imported for wait in waits[both]], "%", most=50)

    def _debate(self, repository: Path) -> Debate:
        state = self._state()
        self._server.reset()
        ran, review = self._home.review(repository, state, *OFF)
        calls = self._server.journal()
        _check(calls, review)
        self._server.reset()
        again, _ = self._home.review(repository, state, *OFF)
        usd, uncached = journal.dollars(calls, review["usage"]["output_tokens"], MODEL)
        return Debate(
            wall=ran.seconds,
            open_seconds=journal.open_seconds(calls),
            waves=journal.waves(calls),
            calls=len(calls),
            in_flight=journal.most_in_flight(calls),
            share=journal.share_of_bytes(calls),
            cached=sum(call["cached"] for call in calls) / sum(call["input"] for call in calls),
            usd=usd,
            usd_uncached=uncached,
            peak_mb=ran.peak_mb,
            findings=len(review["findings"]),
            again=again.seconds,
            calls_again=len(self._server.journal()),
        )

    def _bare(self, repository: Path) -> tuple[float, float]:
        """Seconds in which the bare loop had no call open, and its peak memory."""
        self._server.reset()
        script = Path(__file__).with_name("debate_bare.py")
        ran = self._home.run(sys.executable, str(script), self._server.url, str(repository))
        return ran.seconds - journal.open_seconds(self._server.journal()), ran.peak_mb

    def _beyond(self, repository: Path, *options: str) -> tuple[float, float]:
        """Seconds of a review in which no call was open; and of the first question, before its call was."""
        self._server.reset()
        ran, _ = self._home.review(repository, self._state(), "--log-format", "json", *options)
        calls = self._server.journal()
        return ran.seconds - journal.open_seconds(calls), journal.first_wait(calls, ran.said)

    def _state(self) -> Path:
        self._states += 1
        return self._folder / f"state{self._states}"

    def _tell_depth(self, debate: Debate) -> None:
        least = self._least_waves(debate.calls)
        print(f"  {debate.calls} calls about {debate.findings} disputed claims")
        print(f"  depth of the plan: {least} waves, {least * self._options.seconds:.1f} s; in the journal: {debate.waves} waves")

    def _least_waves(self, calls: int) -> int:
        """What no order of these calls goes below: the first pass warms its cache, then come the round and the moderator."""
        opening = calls - FIRST_ROUND_CALLS - MODERATOR_CALLS
        rounds = (opening, FIRST_ROUND_CALLS, MODERATOR_CALLS)
        first, *others = (-(-number // scene.CONCURRENCY) for number in rounds)
        return max(2, first) + sum(others)


def _tell_times(
    debates: Sequence[Debate], bare: Sequence[tuple[float, float]], imported: float, *, bar: float, planned: float
) -> None:
    """Parts a and c. ``planned`` is the least that the plan needs, in seconds."""
    figures.tell("importing the SDK, median beside bare Python", [imported], "s")
    figures.tell("wall", [one.wall for one in debates], "s")
    figures.tell("a call was open", [one.open_seconds for one in debates], "s")
    own = [one.wall - one.open_seconds - imported for one in debates]
    figures.tell("own: wall - open - import", own, "s", most=bar)
    figures.tell("own, strictly: wall - plan - import", [one.wall - planned - imported for one in debates], "s", most=bar)
    figures.tell("peak memory", [max(one.peak_mb for one in debates)], "MB", most=150)
    figures.tell("second run: calls", [max(one.calls_again for one in debates)], "", most=0)
    figures.tell("second run: wall", [one.again for one in debates], "s")
    yardstick = [seconds for seconds, _ in bare]
    figures.tell("yardstick, a bare loop of 7 calls: wall - open", yardstick, "s")
    figures.tell("yardstick: peak memory", [max(peak for _, peak in bare)], "MB")
    figures.tell("own / yardstick", [median(own) / median(yardstick)], "×")


def _tell_sharing(debates: Sequence[Debate], *, bar: float | None) -> None:
    figures.tell("most calls in flight", [max(one.in_flight for one in debates)], "", most=scene.CONCURRENCY)
    shares = [100 * one.share for one in debates]
    figures.tell("bytes of prompts in the prefix of an earlier call", shares, "%", least=bar)
    figures.tell("tokens that the server counted as cached", [100 * one.cached for one in debates], "%")


def _tell_cost(debate: Debate) -> None:
    """Part e. The bar on shared bytes is for debates of 12 calls or more."""
    figures.tell("calls", [debate.calls], "", least=12)
    print(f"  computed from the published price of {MODEL} and the fake's counts of tokens:")
    figures.tell("with nothing cached", [debate.usd_uncached], "$")
    figures.tell("with the shared prefix", [debate.usd], "$")
    figures.tell("cost with the shared prefix / without", [debate.usd / debate.usd_uncached], "×")


def _check(calls: Sequence[Mapping[str, Any]], review: Mapping[str, Any]) -> None:
    """The debate was the one that is described, or the figures mean nothing."""
    failed = [call["outcome"] for call in calls if call["outcome"] != "answered"]
    asked = {name: usage["calls"] for name, usage in review["usage"]["by_panelist"].items()}
    opening = asked.get("critic", 0)
    each = opening + len(scene.DISPUTED)
    meant = {"critic": opening, "reviewer": each, "optimizer": each, "moderator": MODERATOR_CALLS}
    if failed or review["conclusion"] != "complete" or asked != meant or len(calls) != sum(meant.values()):
        print(f"  not the debate that was meant: {review['conclusion']}, calls {asked}, failed {failed}")


if __name__ == "__main__":
    main()
