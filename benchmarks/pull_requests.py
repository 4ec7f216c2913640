"""A review on GitHub: its calls, and what it adds to the time that the forge takes. See ``README.md``.

    python benchmarks/pull_requests.py [--delay 0.1] [--rounds 3] [--only S|M|L|forty] [--huge]

The forge is the fake hub of ``tests/forge``, which answers every call ``--delay`` seconds later. Beside each review, in the same
run and in turn, stand a floor of three calls (``pull_requests_bare.py``) and ``reviewbot review`` of that range.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import debate_scene  # noqa: F401 - makes the tests' fakes importable
import figures
import pull_requests_scene as scene
from pull_requests_scene import Case, Forge, Place, Took

from tests.forge.hub import Hub

FLOOR, ALONE, FIRST, AGAIN, PUSH = "floor", "no forge", "first", "again", "push"
WORDS = {
    FLOOR: "a floor of three calls",
    ALONE: "reviewbot review, no forge",
    FIRST: "first review",
    AGAIN: "the same head again",
    PUSH: "a push that mends three",
}
BARS: Mapping[str, Mapping[str, float]] = {FIRST: {"calls": 6}, AGAIN: {"calls": 1, "writes": 0}, PUSH: {"calls": 8}}
"""Calls that each run of the Action may make, of a change whose diff GitHub hands out in one piece."""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds that the forge takes for each call of its API")
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are taken")
    parser.add_argument("--only", choices=("S", "M", "L", "forty"), help="one change")
    parser.add_argument("--huge", action="store_true", help="also a change of 59,969 lines in 300 files")
    options = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}, {platform.system()}")
    print(
        f"load before: {os.getloadavg()[0]:.1f}; {options.rounds} rounds; a call takes {options.delay:g} s longer than the fake"
    )
    with tempfile.TemporaryDirectory() as name, Hub() as hub:
        folder = Path(name)
        _warm(Forge(hub, 0.0), folder / "warm")
        forge = Forge(hub, options.delay)
        for case in _cases(options.only, huge=options.huge):
            _tell(case, _measured(case, forge, [folder / f"{case.name}{number}" for number in range(options.rounds)]))
        _start_up(forge, folder / "skipped", options.rounds)


def _cases(only: str | None, *, huge: bool) -> list[Case]:
    every = [
        scene.sized("S", 63, files=3, findings=3),
        scene.sized("M", 593, files=6, findings=6),
        scene.sized("L", 5_979, files=60, findings=12),
        scene.forty(),
    ]
    chosen = [case for case in every if only in (None, case.name)]
    return [*chosen, scene.sized("H", 59_969, files=300, findings=12)] if huge else chosen


def _warm(forge: Forge, folder: Path) -> None:
    """The fake reads GitHub's descriptions when it is first asked, and Python writes its bytecode."""
    place = Place.built(forge, scene.sized("warm", 63, files=3, findings=3), folder)
    place.floor()
    place.act("opened")


def _measured(case: Case, forge: Forge, folders: Sequence[Path]) -> dict[str, list[Took]]:
    """One change, every way, in turn, once in each folder."""
    measured: dict[str, list[Took]] = {name: [] for name in WORDS}
    for folder in folders:
        place = Place.built(forge, case, folder)
        measured[FLOOR].append(place.floor())
        measured[ALONE].append(place.alone())
        measured[FIRST].append(_acted(place, "opened", threads=case.findings, resolved=0))
        measured[AGAIN].append(_acted(place, "opened", threads=case.findings, resolved=0))
        place.pull.push(dict(case.mended))
        measured[PUSH].append(_acted(place, "synchronize", threads=case.findings, resolved=scene.MENDED_FILES))
    return measured


def _acted(place: Place, action: str, *, threads: int, resolved: int) -> Took:
    """A run of the Action, and a line where it was another one than is described: its figures mean nothing then."""
    took, ran = place.act(action)
    closed = sum(thread.is_resolved for thread in place.pull.threads)
    if (len(place.pull.threads), closed) != (threads, resolved):
        print(f"  not what was meant: {len(place.pull.threads)} threads, {closed} resolved, {ran.outputs}")
    return took


def _tell(case: Case, measured: Mapping[str, Sequence[Took]]) -> None:
    """What each way took, and which calls the Action makes."""
    words = f"{case.lines:,} changed lines in {len(case.after)} files, {case.findings} findings"
    figures.begin(f"pull request {case.name}", words)
    floor, alone = _middle(measured[FLOOR], _wall), _middle(measured[ALONE], _own)
    for name, told in WORDS.items():
        ran, bars = measured[name], BARS.get(name, {})
        if name != ALONE:
            figures.tell(f"{told}: calls", [sum(one.calls.values()) for one in ran], "", most=bars.get("calls"))
            figures.tell(f"{told}: calls that write", [one.writes for one in ran], "", most=bars.get("writes"))
        figures.tell(f"{told}: wall", [one.wall for one in ran], "s")
        if name != FLOOR:
            figures.tell(f"{told}: own time", [one.own for one in ran], "s")
            figures.tell(f"{told}: CPU", [one.cpu for one in ran], "s")
            figures.tell(f"{told}: peak memory", [one.peak_mb for one in ran], "MB")
        if name in BARS:
            figures.tell(f"{told}: wall / the floor's", [one.wall / floor for one in ran], "×")
            figures.tell(f"{told}: own / without a forge", [one.own / alone for one in ran], "×")
    for name in BARS:
        calls = measured[name][-1].calls.items()
        print(f"  {name}: {', '.join(f'{operation} × {count}' if count > 1 else operation for operation, count in calls)}")


def _start_up(forge: Forge, folder: Path, rounds: int) -> None:
    """A run that has nothing to do, beside a Python that does nothing."""
    place = Place.built(forge, scene.sized("skipped", 63, files=3, findings=3), folder)
    place.pull.draft = True
    pairs = [(_seconds(sys.executable, "-c", "pass"), place.act("opened")[0]) for _ in range(3 * rounds)]
    calls = max(sum(took.calls.values()) for _, took in pairs)
    figures.begin("pull request, a draft", f"skipped after {calls} calls, beside bare Python")
    bare = [1000 * seconds for seconds, _ in pairs]
    skipped = [1000 * took.wall for _, took in pairs]
    figures.tell("bare Python", bare, "ms")
    figures.tell("a run with nothing to do", skipped, "ms")
    figures.tell("a run with nothing to do / bare Python", [median(skipped) / median(bare)], "×")


def _seconds(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def _wall(took: Took) -> float:
    return took.wall


def _own(took: Took) -> float:
    return took.own


def _middle(ran: Sequence[Took], what: Callable[[Took], float]) -> float:
    return median(what(one) for one in ran)


if __name__ == "__main__":
    main()
