"""What all benchmarks measure with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

RUNS = 7
BIN = Path(sys.executable).parent


# Runs the program and says what this process alone used.
OWN = """
import os, resource, sys
def say_and_exit(code, exit=os._exit):
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr, flush=True)
    exit(code)
os._exit = say_and_exit
from reviewbot.cli import main
main()
"""


class Figure(NamedTuple):
    what: str
    value: float
    unit: str
    most: float


def best(call: Callable[[], None]) -> float:
    """The shortest time of several, in seconds: the others waited for something else."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def run(folder: Path, *command: str | Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True, env=environment())


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(("git", *identity, *arguments), cwd=folder, check=True, capture_output=True)


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}


def own(folder: Path, variables: Mapping[str, str] | None, *arguments: str) -> tuple[float, float]:
    """CPU seconds and MB of the program itself, without the programs that it starts."""
    command = (sys.executable, "-c", OWN, *arguments)
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, env=variables
    )
    cpu, memory = ended.stderr.splitlines()[-1].split()
    return float(cpu), float(memory)
