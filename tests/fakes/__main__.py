"""``python -m tests.fakes``: the fake servers until standard input ends (or a signal comes)."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.fakes.reviewer import reviewer
from tests.fakes.scripts import Item, fitting
from tests.fakes.seen import Speed
from tests.fakes.server import NAMES, Models


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m tests.fakes", description=__doc__)
    found.add_argument("--seconds", type=float, default=0.0, help="how long every answer takes")
    found.add_argument("--port-file", type=Path, help="where the port is written once somebody listens (else: standard output)")
    found.add_argument("--script", default="reviewer", help="reviewer, fitting, or a JSON file with the arguments of reviewer()")
    found.add_argument("--journal", type=Path, help="a file to which every ended call is appended as a line of JSON")
    found.add_argument("--speed", default="", help="PROMPT,OUTPUT,LOAD[,SCALE] of the local machine")
    found.add_argument("--parallel", type=int, help="how many answers the local machine makes at once")
    found.add_argument(
        "--counts", default="cached", choices=("cached", "whole", "computed"), help="how the local machine counts prompts"
    )
    found.add_argument("--names", default=",".join(NAMES), help="the models that listings name")
    found.add_argument("--forever", action="store_true", help="go on when standard input ends")
    return found


def script(name: str) -> Item:
    """A script by its name, or by the file of its arguments."""
    if name == "fitting":
        return fitting()
    options: dict[str, Any] = {} if name == "reviewer" else json.loads(Path(name).read_text(encoding="utf-8"))
    return reviewer(**options)


def main() -> None:
    """Serve."""
    asked = parser().parse_args()
    speed = Speed(*map(float, asked.speed.split(","))) if asked.speed else Speed()
    models = Models(
        asked.seconds,
        script(asked.script),
        names=asked.names.split(","),
        speed=speed,
        parallel=asked.parallel,
        counts=asked.counts,
        journal_file=asked.journal,
    )
    with contextlib.suppress(KeyboardInterrupt), models:
        if asked.port_file is None:
            print(models.port, flush=True)
        else:
            fresh = asked.port_file.with_suffix(".new")
            fresh.write_text(str(models.port), encoding="utf-8")
            fresh.rename(asked.port_file)
        while asked.forever or sys.stdin.buffer.read(1):
            time.sleep(0.05)


main()
