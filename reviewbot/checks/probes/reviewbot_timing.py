"""Times a Python snippet on one tree.

`benchmark.py` beside it defines `run(*arguments)`, and where something is needed first `setup()`,
which returns the arguments and is not timed. CALLS, the argument, is 0 for what takes MIN_SECONDS.

Writes {"calls": number, "seconds": of one call, "profile": [words], "problem": words} to
/out/timing.json. The profile is of the round that finds the number of calls.
"""

from __future__ import annotations

import cProfile
import json
import os
import sys
import time
import traceback
from pathlib import Path
from timeit import Timer
from typing import Any

REPORT = "/out/timing.json"
MIN_SECONDS, LONG, REPEATS = 0.02, 0.3, 6
MAX_CALLS, MAX_ROWS = 100_000_000, 10
CLOCK = time.perf_counter  # taken before the tree could put another in its place


def main(calls: int) -> None:
    tree = os.getcwd()
    sys.path[:0] = [folder for folder in (tree, os.path.join(tree, "src")) if os.path.isdir(folder)]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    answer: dict[str, Any] = {"calls": calls, "seconds": 0.0, "profile": [], "problem": ""}
    try:
        names: dict[str, Any] = {"__name__": "benchmark"}
        text = Path(__file__).with_name("benchmark.py").read_text(encoding="utf-8")
        exec(compile(text, "benchmark.py", "exec"), names)

        def prepare() -> tuple[Any, ...]:
            given = names.get("setup", tuple)()
            return given if isinstance(given, tuple) else (given,)

        given = {"run": names["run"], "prepare": prepare}
        time_round = Timer("run(*arguments)", "arguments = prepare()", CLOCK, given).timeit
        if not calls:
            calls = 1
            while time_round(calls) < MIN_SECONDS and calls < MAX_CALLS:
                calls *= 2
            profiler, arguments = cProfile.Profile(), prepare()
            for _ in range(calls):
                profiler.runcall(names["run"], *arguments)
            answer["profile"] = rows_of(profiler, tree)
        rounds = [time_round(calls)]
        while len(rounds) < REPEATS and sum(rounds) < LONG:
            rounds.append(time_round(calls))
        # The quickest: what else the machine does only adds to it.
        answer.update(calls=calls, seconds=max(1e-9, min(rounds) / calls))
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.relpath(frame.filename, tree)}:{frame.lineno}"
        answer["problem"] = f"{type(error).__name__}: {error} ({place})"[:500]
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump(answer, file)


def rows_of(profiler: cProfile.Profile, tree: str) -> list[str]:
    """Functions of the tree with the seconds that were spent in them and below."""
    profiler.create_stats()
    stats: Any = profiler.stats
    rows = [
        (whole, f"{os.path.relpath(file, tree)}:{line} {name}: {whole:.3g} s")
        for (file, line, name), (_, _, _, whole, _) in stats.items()
        if file.startswith(tree + os.sep)
    ]
    return [words for _, words in sorted(rows, reverse=True)[:MAX_ROWS]]


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)  # what the project left to be done at exit says nothing
