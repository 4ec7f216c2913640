"""What the command costs: start-up against a bare Python, and the review of a large patch against unidiff alone.

Both sides of a ratio are measured in turn, in one run; medians are compared: machines are noisy, ratios less so.
Run it with the Python that has reviewbot and unidiff: ``python benchmarks/command.py [--lines 60000] [--rounds 5]``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import figures

SECRET = "AKIA" + "Z7QK3J5XW2NDVB4T"
UNIDIFF = "import sys, unidiff; unidiff.PatchSet(open(sys.argv[1], encoding='utf-8', newline='').read())"


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    reviewbot = str(Path(sys.executable).parent / "reviewbot")
    with tempfile.TemporaryDirectory() as folder:
        patch = Path(folder) / "large.diff"
        added, planted = write_patch(patch, options.lines)
        figures.begin("command", f"start-up, and a patch of {added:,} added lines")
        starts = (lambda: run(sys.executable, "-c", "pass")), (lambda: run(reviewbot, "--version"))
        bare, version = measured(options.rounds * 4, *starts)
        figures.tell("bare Python", [1000 * one for one in bare], "ms")
        figures.tell("reviewbot --version", [1000 * one for one in version], "ms")
        figures.tell("reviewbot --version / bare Python", [median(version) / median(bare)], "×", most=4)
        report = Path(folder) / "review.json"
        command = (reviewbot, "review", "--patch", str(patch), "--format", "json", "-o", str(report), "-q")
        parse = (sys.executable, "-c", UNIDIFF, str(patch))
        alone, review = measured(options.rounds, lambda: run(*parse), lambda: run(*command))
        figures.tell("unidiff reads the patch", alone, "s")
        figures.tell("reviewbot review --patch", review, "s")
        figures.tell("reviewbot review --patch / unidiff", [median(review) / median(alone)], "×", most=12)
        figures.tell("peak memory of that review", [peak_mb(command)], "MB", most=300)
        figures.tell("planted secrets that it names", [100 * found(report) / planted], "%", least=100)


def measured(rounds: int, one: Callable[[], float], other: Callable[[], float]) -> tuple[list[float], list[float]]:
    """The seconds of each, measured in turn."""
    pairs = [(one(), other()) for _ in range(rounds)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def run(*command: str) -> float:
    """Seconds of one command."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr.decode())
    return seconds


def peak_mb(command: tuple[str, ...]) -> float:
    """Peak resident memory in MB of one command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1024


def write_patch(path: Path, lines: int) -> tuple[int, int]:
    """A diff of so many added lines: half in new Python files, half in changed ones. Returns (added lines, planted secrets)."""
    chance = random.Random(7)
    words = ["total", "item", "value", "row", "count", "name", "user", "price", "order", "line"]
    sections, added, planted = [], 0, 0
    while added < lines:
        number = len(sections)
        body = [_code(chance, words, index) for index in range(300)]
        body[chance.randrange(300)] = f'KEY_{number} = "{SECRET}"'
        planted += 1
        name = f"pkg/module_{number}.py"
        if number % 2:
            head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,300 @@\n"
            sections.append(head + "".join(f"+{line}\n" for line in body))
        else:
            head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,303 @@\n import os\n"
            sections.append(head + "".join(f"+{line}\n" for line in body) + " import sys\n import json\n")
        added += 300
    path.write_text("".join(sections), "utf-8")
    return added, planted


def _code(chance: random.Random, words: list[str], index: int) -> str:
    one, other = chance.choice(words), chance.choice(words)
    if index % 10 == 0:
        return f"def {one}_{other}_{index}({one}, {other}):"
    return f"    {one} = {other} + {chance.randrange(1000)}  # {chance.choice(words)} of the {chance.choice(words)}"


def found(report: Path) -> int:
    """How many secrets the review's evidence names."""
    document = json.loads(report.read_text("utf-8"))
    return sum(item["kind"] == "secret" for item in document["evidence"])


if __name__ == "__main__":
    main()
