"""What the measurements of a debate happen in: repositories of any size, configurations, the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

TOP = Path(__file__).resolve().parents[1]
CLOCK = TOP / "benchmarks" / "debate_clock.py"
sys.path.insert(0, str(TOP))

from tests.fakes import Process  # noqa: E402 - found at the top of the source tree only
from tests.fakes.reviewer import claim  # noqa: E402
from tests.repo import Repo  # noqa: E402

__all__ = ["Home", "Process", "Ran", "claim"]

CONCURRENCY = 12
DISPUTED = (3, 25, 48, 75)
"""Lines of the first module about which the critic claims something."""
LEAST_LINES = 83
"""Of the first module, so that these lines are in it."""
ROLES = ("critic", "reviewer", "optimizer")
LIMITS = "limits: {tokens: 20000000, cost_usd: 100, seconds: 900}\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """One command: wall seconds, peak resident memory in MB, its standard output."""

    seconds: float
    peak_mb: float
    said: str


class Home:
    """A folder with a user's configuration in it, where commands run that know nothing else of this machine."""

    def __init__(self, folder: Path, configuration: str) -> None:
        file = folder / ".config" / "reviewbot" / "config.yml"
        file.parent.mkdir(parents=True)
        file.write_text(configuration, encoding="utf-8")
        self._environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GPU_API_KEY": "benchmark", "LC_ALL": "C.UTF-8"}

    def review(self, repository: Path, state: Path, *options: str) -> tuple[Ran, Mapping[str, Any]]:
        """The last commit reviewed: what it took, and the review."""
        report = state.with_suffix(".json")
        fixed = ("HEAD", "-C", str(repository), "--state", str(state), "--format", "json", "-o", str(report), "-q")
        ran = self.run(str(Path(sys.executable).with_name("reviewbot")), "review", *fixed, *options)
        return ran, json.loads(report.read_text(encoding="utf-8"))

    def run(self, *command: str) -> Ran:
        """A command to its end. An exit that is neither 0, nor 1, nor 3 ends the benchmark with what it said."""
        clocked = (sys.executable, "-SE", str(CLOCK), *command)
        done = subprocess.run(clocked, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        said, _, last = done.stdout.decode("utf-8", "replace").rstrip("\n").rpartition("\n")
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{said}\n{last}")
        seconds, peak_kb, code = json.loads(last)
        if code not in (0, 1, 3):
            sys.exit(f"{' '.join(command)} ended with {code}\n{said}")
        return Ran(seconds, peak_kb / 1024, said)


def import_seconds(module: str, rounds: int) -> float:
    """What importing a module adds to a bare Python: the difference of medians, measured in turn."""
    bare, loaded = [], []
    for _ in range(rounds):
        bare.append(_python("pass"))
        loaded.append(_python(f"import {module}"))
    return median(loaded) - median(bare)


def _python(code: str) -> float:
    began = time.perf_counter()
    subprocess.run((sys.executable, "-c", code), check=True)
    return time.perf_counter() - began


@contextmanager
def compatible(folder: Path, seconds: float) -> Iterator[tuple[Process, Home]]:
    """A server that speaks OpenAI's language and takes so long for every answer, and a home whose whole panel asks it.

    The critic makes four claims about the first module. Both others oppose three of them; the fourth they support, just so
    strongly that it stays too close to call and goes before the moderator, twice.
    """
    with served(folder, "panel", seconds=seconds, script=_script()) as server:
        providers = f"providers:\n  gpu: {{base_url: '{server.url}/v1', concurrency: {CONCURRENCY}}}\n"
        seats = "".join(f"  {role}: {{model: 'gpu:qwen'}}\n" for role in ROLES)
        yield server, Home(folder / "home", f"{providers}panel:\n{seats}{LIMITS}")


@contextmanager
def served(folder: Path, name: str, **options: Any) -> Iterator[Process]:
    """The fake servers in a process of their own; what the script of ``options`` says is written to a file first."""
    script = folder / f"{name}.script.json"
    script.write_text(json.dumps(options.pop("script")), encoding="utf-8")
    with Process(**options, script=script) as server:
        yield server


def _script() -> dict[str, Any]:
    lines = module(0, LEAST_LINES)
    claims = [claim("pkg/m0.py", number, lines[number - 1]) for number in DISPUTED]
    stuck = f"line {DISPUTED[-1]} of pkg/m0.py"
    return {
        "claims": {"critic": claims, "reviewer": [], "optimizer": []},
        "stance": {stuck: ["support", 0.8], "*": "oppose"},
        "judgement": "upheld",
    }


def repository(folder: Path, name: str, *, lines: int, files: int) -> Path:
    """A repository whose last commit adds so many lines in so many modules."""
    repo = Repo(folder, name=name)
    repo.write("pkg/__init__.py", "")
    repo.commit("Begin")
    for number, size in enumerate(_parts(lines, files)):
        repo.write(f"pkg/m{number}.py", "\n".join(module(number, size)) + "\n")
    repo.commit("Add the modules")
    return repo.path


def checked_repository(folder: Path, name: str, *, lines: int, files: int, wait_seconds: float = 0.0) -> Path:
    """The same, with a suite of tests and a configuration of ruff that were there before; the change adds tests, too. One of
    the tests does nothing for ``wait_seconds``."""
    repo = Repo(folder, name=name)
    repo.write("pkg/__init__.py", "")
    repo.write("pyproject.toml", '[tool.ruff.lint]\nselect = ["E", "F", "B"]\n[tool.ruff]\nline-length = 130\n')
    repo.write("pkg/old.py", "def twice(value):\n    return 2 * value\n")
    repo.write("tests/test_old.py", "from pkg.old import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n")
    if wait_seconds:
        wait = f"import time\n\n\ndef test_wait():\n    time.sleep({wait_seconds:g})\n"
        repo.write("tests/test_wait.py", wait)
    repo.commit("Begin")
    for number, size in enumerate(_parts(lines, files)):
        repo.write(f"pkg/m{number}.py", "\n".join(module(number, size)) + "\n")
        works = f"[getattr(m{number}, name) for name in dir(m{number}) if name.startswith('work')]"
        test = f"from pkg import m{number}\n\n\ndef test_works():\n    assert not any(work([0]) for work in {works})\n"
        repo.write(f"tests/test_m{number}.py", test)
    repo.commit("Add the modules and their tests")
    return repo.path


def module(number: int, lines: int) -> list[str]:
    """A module of so many lines: whole functions, and comments where no other fits."""
    found = [f'"""Module {number}."""', ""]
    while len(found) + 9 <= lines:
        index = len(found)
        found += [
            f"def work_{number}_{(index - 2) // 9}(values, limit={index}):",
            f'    """Sum what is below the limit, weighed by its place in group {index % 17}."""',
            "    total = 0",
            "    for place, value in enumerate(values):",
            f"        if value < limit + {index % 29}:",
            f"            total += value * {index} + place",
            "    return total",
            "",
            "",
        ]
    return [*found, *(f"# {left} lines to the end" for left in range(lines - len(found), 0, -1))]


def _parts(lines: int, files: int) -> Sequence[int]:
    """``lines`` in ``files`` nearly equal parts."""
    return [lines // files + (number < lines % files) for number in range(files)]
