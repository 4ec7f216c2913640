"""The diff parser beside unidiff: speed as a ratio, memory per line. Prints; asserts nothing.

    python benchmarks/diff.py [--lines 60000] [PATCH …]

Without a patch a generated change is measured; real ones come from, say, ``git diff v1.0 v2.0 > FILE``.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import figures
from unidiff import PatchSet

from reviewbot.changeset import diff
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.ports import RawDiff

PATCH = Revisions("patch", "patch", "patch", None, None)
RUNS = 5


def main() -> None:
    """Measure each patch that is named, or a generated one."""
    parser = argparse.ArgumentParser(description="Compare the diff parser with unidiff.")
    parser.add_argument("--lines", type=int, default=60_000, help="length of the generated change")
    parser.add_argument("patches", nargs="*", type=Path, metavar="PATCH")
    options = parser.parse_args()
    for path in options.patches:
        report(path.name, path.read_bytes())
    if not options.patches:
        report("generated", generated(options.lines))


def report(name: str, patch: bytes) -> None:
    """Lines per second of both, their ratio, and the bytes that each keeps for a line."""
    lines = patch.count(b"\n")
    figures.begin("diff parser", f"{name}, {lines:,} lines, beside unidiff")
    pairs = [(seconds(ours_reads, patch), seconds(unidiff_reads, patch)) for _ in range(RUNS)]
    figures.tell("lines a second of CPU", [round(lines / ours) for ours, _ in pairs], "")
    figures.tell("lines a second of CPU, unidiff", [round(lines / theirs) for _, theirs in pairs], "")
    figures.tell("times as fast as unidiff", [theirs / ours for ours, theirs in pairs], "×", least=2)
    kept, their_kept = memory(ours_reads, patch), memory(unidiff_reads, patch)
    figures.tell("bytes kept for a line", [kept / lines], "B", most=200)
    figures.tell("bytes kept for a line / unidiff's", [kept / their_kept], "×")


def ours_reads(patch: bytes) -> ChangeSet:
    """The whole change, hunks read."""
    return diff.read(RawDiff(b"", b"", patch), PATCH)


def unidiff_reads(patch: bytes) -> PatchSet:
    """The same with unidiff, which wants text."""
    return PatchSet(patch.decode("utf-8", "surrogateescape"))


def seconds(read: Callable[[bytes], object], patch: bytes) -> float:
    """Seconds of CPU."""
    gc.collect()
    started = time.process_time()
    read(patch)
    return time.process_time() - started


def memory(read: Callable[[bytes], object], patch: bytes) -> int:
    """Bytes that the result keeps."""
    gc.collect()
    tracemalloc.start()
    kept = read(patch)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size


def generated(lines: int) -> bytes:
    """A change of about so many lines in files of 600, a hunk of 30 lines each 40 lines."""
    chance = random.Random(0)
    parts: list[str] = []
    written = number = 0
    while written < lines:
        number += 1
        parts.append(f"diff --git a/src/m{number}.py b/src/m{number}.py\nindex 1111111..2222222 100644\n")
        parts.append(f"--- a/src/m{number}.py\n+++ b/src/m{number}.py\n")
        for start in range(1, 600, 40):
            rows = [f"{chance.choice(' +-')}    value_{n} = compute({chance.random():.6f}, {n})\n" for n in range(30)]
            old = sum(row[0] != "+" for row in rows)
            new = sum(row[0] != "-" for row in rows)
            parts.append(f"@@ -{start},{old} +{start},{new} @@ def function_{start}():\n{''.join(rows)}")
            written += 31
    return "".join(parts).encode()


if __name__ == "__main__":
    sys.exit(main())
