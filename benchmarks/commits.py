"""What a review without models reports of commits of a real project, to be judged by a person.

    ./dev bench commits FOLDER [COUNT]

FOLDER is a clone with the environment of its tests in `.venv`. The newest COUNT commits (40 by
default) that change a Python file in 5 to 400 lines are reviewed. Prints a finding a line, with
tabs between its fields; then to standard error how long it took. docs/quality.md has what was found
so far.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.timing import BIN, environment

COUNT = 40
LINES = range(5, 401)
LOOKED_AT = 600  # commits


def main(folder: Path, count: int = COUNT) -> int:
    seconds: list[float] = []
    incomplete = 0
    for commit in list(commits(folder))[:count]:
        started = time.perf_counter()
        command = (BIN / "reviewbot", "review", commit, "--format", "json")
        ended = subprocess.run(command, cwd=folder, capture_output=True, env=environment())
        if ended.returncode:
            print(f"{commit}: exit code {ended.returncode}", file=sys.stderr)
            sys.stderr.buffer.write(ended.stderr)
            return 1
        review = json.loads(ended.stdout)
        seconds.append(time.perf_counter() - started)
        incomplete += not review["complete"]
        for finding in review["findings"]:
            if finding["status"] != "recorded":
                print("\t".join(fields(folder.resolve().name, commit, finding)), flush=True)
    summary = f"{len(seconds)} commits, {incomplete} incomplete"
    took = f"; median {median(seconds):.1f} s, longest {max(seconds):.1f} s" if seconds else ""
    print(f"{summary}{took}", file=sys.stderr)
    return 0


def commits(folder: Path) -> Iterator[str]:
    """Ids, newest first."""
    command = ("git", "log", "--no-merges", f"-n{LOOKED_AT}", "--numstat", "--format=commit %H")
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    for entry in printed.removeprefix("commit ").split("\ncommit "):
        commit, *rest = entry.strip().splitlines()
        rows = [row.split("\t", 2) for row in rest if row]
        lines = sum(int(count) for row in rows for count in row[:2] if count.isdecimal())
        if lines in LINES and any(path.endswith(".py") for _, _, path in rows):
            yield commit


def fields(project: str, commit: str, finding: dict[str, object]) -> Iterator[str]:
    result, place = finding["result"], finding["location"]
    yield from (project, commit[:10])
    yield str(result["check"]) if isinstance(result, dict) else ""
    yield from (str(finding["rule"]), str(finding["severity"]))
    yield f"{place['path']}:{place['line']}" if isinstance(place, dict) else ""
    yield str(finding["title"]).replace("\t", " ")
