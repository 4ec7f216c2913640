"""Whether a panel finds bugs that real projects introduced and later fixed.

    ./dev bench bugs FOLDER

FOLDER has clones of projects of bugs.tsv, each with the environment of its tests in `.venv`. The
commits that introduced the bugs are reviewed by the panel that is configured for this user. A bug
is found if a finding is within 3 lines of one that the fix replaced later. Prints a line a bug,
with tabs between its fields: project, commits, found or missed, status of the finding, dollars, and
the title. A person has to compare: another defect may stand there, or the same one elsewhere.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import BIN

BUGS = Path(__file__).with_name("bugs.tsv")
OPTIONS = ("--effort", "medium", "--format", "json")
NEAR_LINES = 3
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


def main(folder: Path) -> int:
    with BUGS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = [(folder / row["project"].rpartition("/")[2], row) for row in rows]
    found = [(project, row) for project, row in found if (project / ".git").exists()]
    if not found:
        print(f"{folder} has no clone of a project of {BUGS}", file=sys.stderr)
        return 2
    for project, row in found:
        command = (BIN / "reviewbot", "review", row["introduced"], *OPTIONS)
        ended = subprocess.run(command, cwd=project, capture_output=True)
        if ended.returncode not in (0, 1):
            sys.stderr.buffer.write(ended.stderr)
            return 1
        review = json.loads(ended.stdout)
        said = verdict(review, set(places(project, row["introduced"], row["fixed"])))
        cost = f"${review['usage']['cost_usd']:.2f}"
        print("\t".join((*[*row.values()][:3], *said[:2], cost, said[2])), flush=True)
    return 0


def places(project: Path, introduced: str, fixed: str) -> Iterator[tuple[str, int]]:
    """The lines that the fix replaced, as the commit that introduced the bug has them."""
    before = f"{fixed}^"
    names = git(project, "diff", "--name-only", before, fixed).splitlines()
    for path in names:
        diff = git(project, "diff", "-U0", before, fixed, "--", path)
        for start, count in ((int(m[1]), int(m[2] or 1)) for m in HUNK.finditer(diff)):
            if not count:
                continue
            span = f"-L{start},+{count}"
            for line in git(project, "blame", "-ws", "-fnl", span, before, "--", path).splitlines():
                commit, old_path, number, *_ = line.lstrip("^").split()
                if commit.startswith(introduced[:10]):
                    yield old_path, int(number)


def verdict(review: dict[str, Any], wanted: set[tuple[str, int]]) -> tuple[str, str, str]:
    """Found or missed, and the status and title of the finding that is nearest."""
    near = [
        (max(place["line"] - number, number - place["end_line"], 0), finding)
        for finding in review["findings"]
        if finding["status"] != "recorded" and (place := finding["location"])
        for path, number in wanted
        if path == place["path"]
    ]
    distance, found = min(near, key=lambda pair: pair[0], default=(NEAR_LINES + 1, {}))
    if distance > NEAR_LINES:
        return "missed", "", ""
    return "found", found["status"], found["title"]


def git(project: Path, *words: str) -> str:
    command = ("git", *words)
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout
