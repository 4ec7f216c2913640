"""Every figure of reviewbot, by one command: ``python -m benchmarks [--quick] [--only NAME …] [--write]``.

Each script runs by itself, one after the other, and prints what it measures; at the end all ratios and bars stand in one table.
``--write`` puts that table, with the machine it was measured on, into ``docs/benchmarks.md``. Let nothing else run meanwhile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import page
from benchmarks.figures import RECORD, Figure, recorded

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Script:
    """A file here, and its options where everything is measured quickly. ``about`` heads its figures on the page."""

    about: str
    quick: tuple[str, ...]
    whole: tuple[str, ...] = ()


SCRIPTS = {
    "diff": Script("The diff parser", ("--lines=20000",)),
    "command": Script("The command", ("--rounds=1",)),
    "proof": Script("Checks at both ends", ("--rounds=1",)),
    "debate": Script("The debate with models", ("--runs=1", "--imports=3", "--seconds=0.3", "--only=size")),
    "pull_requests": Script("A review on GitHub", ("--rounds=1", "--only=forty")),
    "fixes": Script("A fix that proves itself", ("--rounds=1",)),
    "hook": Script("The hook before a commit", ("--rounds=3", "--files=1000")),
}
"""In the order in which they were built; what each measures is told in ``docs/benchmarks.md``."""


def main() -> int:
    """Run what is wanted, print the table, and write it where that was asked for. 1 where a script did not come to its end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print every figure of reviewbot as ratios.")
    parser.add_argument("--quick", action="store_true", help="few rounds and smaller changes: less time than the whole")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, metavar="NAME", help=f"some of {', '.join(SCRIPTS)}")
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    names = options.only or list(SCRIPTS)
    machine = page.machine()
    print("\n".join(f"{what}: {told}" for what, told in machine), flush=True)
    began, ended = time.monotonic(), {}
    with tempfile.TemporaryDirectory(prefix="reviewbot-bench-") as folder:
        record = Path(folder) / "figures"
        for name in names:
            ended[name] = _run(name, SCRIPTS[name].quick if options.quick else SCRIPTS[name].whole, record)
        found = recorded(record)
    minutes = (time.monotonic() - began) / 60
    _tell(found, minutes)
    if options.write:
        words = " ".join(("python -m benchmarks", *sys.argv[1:]))
        headed = {name: SCRIPTS[name].about for name in names}
        page.write(page.rendered(found, headed, (*machine, ("command", f"`{words}`, {minutes:.0f} min"))))
    for name in (name for name, code in ended.items() if code):
        print(f"{name}.py ended with {ended[name]}: its figures are missing or not all there", file=sys.stderr)
    return 1 if any(ended.values()) else 0


def _run(name: str, options: Sequence[str], record: Path) -> int:
    print(f"\n=== {name}.py {' '.join(options)}".rstrip(), flush=True)
    command = (sys.executable, str(HERE / f"{name}.py"), *options)
    return subprocess.run(command, env={**os.environ, RECORD: str(record)}, check=False).returncode


def _tell(found: Sequence[Figure], minutes: float) -> None:
    """All that can be compared, a line each."""
    told = [figure for figure in found if figure.is_comparable]
    words = [figure.word for figure in told]
    print(f"\n=== all ratios and bars, after {minutes:.1f} min: {words.count('pass')} pass, {words.count('FAIL')} FAIL\n")
    for figure in told:
        name = f"{figure.part}: {figure.what}"
        print(f"{name:<84} {figure.measured:>10} {figure.spread:<20} {figure.bar:<8} {figure.word}".rstrip())


if __name__ == "__main__":
    sys.exit(main())
