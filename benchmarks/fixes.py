"""A fix that proves itself, beside the review of the same change and beside its tests run by hand. See ``docs/benchmarks.md``.

    python benchmarks/fixes.py [--rounds 3] [--bug python/tariff-boundary]

A bug of ``tests/corpus`` is claimed and mended by scripted models, the fake servers of ``tests/fakes``; everything else is real:
the checks, both trials of the patch, the judges' round, the commit. Run it from a source tree, with reviewbot and its extras.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import debate_journal as journal
import debate_scene  # noqa: F401 - makes the tests' fakes importable
import figures

from tests.fakes import Models
from tests.fixing.seeded import MENDS, SEEDED, SUITES, Seeded

RUNS = re.compile(r"running (?:pytest|proof):")
"""The events of which each is one run of tests: the project's own, or the one that shows the bug."""


@dataclass(frozen=True, slots=True)
class Took:
    """One command: wall seconds, those in which a model was asked, those in which tests ran, how often they did, calls."""

    wall: float
    waited: float
    testing: float
    runs: int
    calls: int

    @property
    def own(self) -> float:
        """What is left: git, sandboxes, linters, prompts, the gate, the ledger."""
        return self.wall - self.waited - self.testing


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are taken")
    names = [bug.name for bug in SEEDED if bug.name.startswith("python/")]
    parser.add_argument("--bug", default="python/tariff-boundary", choices=names)
    parser.add_argument("--seconds", type=float, default=0.2, help="how long every answer of a model takes")
    options = parser.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory(prefix="reviewbot-bench-") as folder:
        for number in range(options.rounds):
            rounds.append(_round(Path(folder) / str(number), options.bug, options.seconds))
    _tell(options.bug, rounds)


def _round(folder: Path, name: str, seconds: float) -> tuple[Took, Took, float]:
    """The review, the fix, and one run of the tests by hand, in turn and in places of their own."""
    folder.mkdir()
    bug = next(bug for bug in SEEDED if bug.name == name)
    took = []
    for word, more in (("review", ()), ("fix", ("--yes", "--commit"))):
        (folder / word).mkdir()
        place = Seeded(folder / word, bug)
        with Models(seconds=seconds) as models:
            place.seat(models, written=[MENDS[name]["right"]])
            began = time.perf_counter()
            ran = place.run(word, "HEAD", "--format", "json", "--log-format", "json", *more)
            wall = time.perf_counter() - began
            waited = journal.open_seconds([call.document() for call in models.calls])
            took.append(Took(wall, waited, *_tests(ran.err), calls=len(models.calls)))
        _check(word, ran.document)
        tested = _by_hand(place)
        place.close()
    return took[0], took[1], tested


def _tests(said: str) -> tuple[float, int]:
    """Seconds from the start of a run of tests to the next event that is none; and how many runs there were."""
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    are_tests = [bool(RUNS.match(event["text"])) for event in events]
    spans = [later["at"] - event["at"] for (event, later), is_test in zip(pairwise(events), are_tests, strict=False) if is_test]
    return sum(spans), sum(are_tests)


def _by_hand(place: Seeded) -> float:
    """Seconds of the project's tests at head."""
    began = time.perf_counter()
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(place.folder)}
    subprocess.run(SUITES["python"], cwd=place.repo.path, env=environment, capture_output=True, check=False)
    return time.perf_counter() - began


def _check(word: str, review: dict[str, object]) -> None:
    """The run was the one that is described, or the figures mean nothing."""
    repairs = review.get("repairs") or []
    assert isinstance(repairs, list)
    outcomes = [repair["outcome"] for repair in repairs]
    if review["conclusion"] != "complete" or (word == "fix" and outcomes != ["fixed"]):
        print(f"  not what was meant: {word}: {review['conclusion']}, {outcomes}")


def _tell(name: str, rounds: Sequence[tuple[Took, Took, float]]) -> None:
    reviews, fixes, tests = zip(*rounds, strict=True)
    runs = round(median(one.runs for one in fixes))
    figures.begin("fix", f"the seeded bug {name}, mended and committed; scripted models; the proof runs tests {runs} times")
    figures.tell("review: wall", [one.wall for one in reviews], "s")
    figures.tell("fix: wall", [one.wall for one in fixes], "s")
    figures.tell("fix: calls of models", [one.calls for one in fixes], "")
    figures.tell("fix: a model was asked", [one.waited for one in fixes], "s")
    figures.tell("fix: tests ran", [one.testing for one in fixes], "s")
    figures.tell("fix: own, beyond models and tests", [one.own for one in fixes], "s")
    figures.tell("the tests by hand, once", tests, "s")
    figures.tell(f"the tests by hand, {runs} times", [runs * once for once in tests], "s")
    beside = [(fixed.wall - fixed.waited) / (seen.wall - seen.waited) for seen, fixed, _ in rounds]
    figures.tell("fix / review of the same change, less models", beside, "×")
    by_hand = [(fixed.wall - fixed.waited) / (runs * once) for _, fixed, once in rounds]
    figures.tell("fix, less models / its tests by hand as often", by_hand, "×")


if __name__ == "__main__":
    main()
