"""A local machine that turns four times slower in mid-run: what it is asked before and after, and whether it still answers."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import debate_scene as scene
import figures

FAST = {"prompt": 5_500.0, "output": 600.0, "load": 0.2}
"""Tokens a second, and seconds to load the model: a 7B model on a good graphics card."""

SLOWER = 4.0
ASKS_BEFORE = 3
Call = dict[str, Any]


def measure(folder: Path, *, lines: int, round_seconds: float) -> None:
    """Print what each ask was, and what became of those after the machine turned slow."""
    # About a file that is not there: an answer of some length about which nobody argues.
    claims = [scene.claim("nowhere.py", 1, "x = 1")]
    with scene.served(folder, "ollama", parallel=1, script={"claims": claims}) as server:
        server.speed(**FAST)
        _learn(folder, server)
        server.reset()
        repository = scene.repository(folder, "slow", lines=lines, files=max(1, lines // 200))
        home = scene.Home(folder / "slow home", _configuration(server, round_seconds))
        words = f"one local panelist, {lines:,} lines, {round_seconds:g} s for an answer; 4 × slower after {ASKS_BEFORE} asks"
        figures.begin("debate, a machine that turns slow", words)
        with ThreadPoolExecutor(1) as pool:
            review = pool.submit(home.review, repository, folder / "slow state", "--no-exec", "--rounds", "1")
            turned = _turn_slow(server, review)
            ran, told = review.result()
        _tell(server.journal(), turned, round_seconds)
        print(f"  the review took {ran.seconds:.1f} s and is {told['conclusion']}")


def _learn(folder: Path, server: scene.Process) -> None:
    """A first review, of a small change and with the usual time for an answer: afterwards the ledger knows the machine."""
    home = scene.Home(folder / "first home", _configuration(server, 120.0))
    first = scene.repository(folder, "first", lines=scene.LEAST_LINES, files=1)
    home.review(first, folder / "slow state", "--no-exec", "--rounds", "1")


def _configuration(server: scene.Process, round_seconds: float) -> str:
    return (
        f"providers:\n  ollama: {{base_url: '{server.url}'}}\npanel:\n  critic: {{model: 'ollama:fake:1b'}}\n"
        f"debate: {{round_seconds: {round_seconds:g}}}\n{scene.LIMITS}"
    )


def _turn_slow(server: scene.Process, review: Future[Any]) -> float:
    """Wait for the first answers, then slow the machine down. Returns the moment, on the journal's clock."""
    while sum(call["ended"] is not None for call in server.journal()) < ASKS_BEFORE and not review.done():
        time.sleep(0.02)
    server.speed(prompt=FAST["prompt"] / SLOWER, output=FAST["output"] / SLOWER, load=FAST["load"])
    return time.monotonic()


def _tell(calls: list[Call], turned: float, round_seconds: float) -> None:
    """The first answer that is slow was asked for by what was known before; every ask after it can know better."""
    before = [call for call in calls if call["ended"] <= turned]
    later = calls[len(before) :]
    print(f"  {'ask':<10} {'prompt tokens':>13} {'seconds':>8} {'of':>5}  became")
    for number, call in enumerate(calls):
        name = "before" if number < len(before) else "first slow" if number == len(before) else "after"
        print(f"  {name:<10} {call['input']:>13,} {_seconds(call):>8.1f} {round_seconds:>5g}  {call['outcome']}")
    if not before or len(later) < 2:
        print("  too few asks to tell: give it more --slow lines")
        return
    usual = median(call["input"] for call in before)
    answered = [call for call in later if call["outcome"] == "answered" and _seconds(call) <= round_seconds]
    figures.tell("prompt of the next ask / median before", [later[1]["input"] / usual], "×", most=0.9)
    figures.tell("later asks answered within their time", [100 * len(answered) / len(later)], "%", least=100)


def _seconds(call: Call) -> float:
    return float(call["ended"] - call["began"])
