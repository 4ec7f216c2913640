"""What ``doctor`` is told about this place."""

from __future__ import annotations

import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.survey import Rung, Spot, rungs, spots
from reviewbot.config import Configuration
from reviewbot.errors import RepositoryError
from reviewbot.wiring import hosting
from reviewbot.wiring.rooms import open_repository

Line = tuple[str, str, str, str]
"""Name, ``ok`` or ``warn``, text, next step."""

TOOLS = (
    *("ruff", "mypy", "pyright", "pytest", "coverage", "crosshair", "go", "golangci-lint", "node", "npm", "eslint", "tsc"),
    *("bash", "shellcheck", "sqlfluff", "psql", "initdb", "zizmor", "actionlint", "hadolint", "hyperfine"),
)
"""The programs that presets and checks run where they are."""
PASSED = "self-test passed: it starts, has no network and no power, and writes nothing but its own copy"
MIB = 1024 * 1024


def diagnose(directory: Path, environment: Mapping[str, str], configuration: Configuration) -> Iterator[Line]:
    """What is found in this place: repository, sandbox with every level, limits, tools, the tests' Python."""
    toplevel = None
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                toplevel = repo.toplevel
                yield "repository", "ok", str(toplevel), ""
        except RepositoryError as exc:
            yield "repository", "warn", exc.message, exc.hint or "run it inside a git repository"
        empty = Path(scratch, "tree")
        empty.mkdir()
        interpreters, host = sandbox.discover(toplevel), hosting.host(environment, configuration)
        ground = sandbox.Ground(lambda _: empty, interpreters, sandbox.Limits(), toplevel, host)
        yield from _sandbox(configuration.get("sandbox", str), ground)
    if interpreters.project:
        yield "tests", "ok", f"run with the project's own {interpreters.project}", ""
    else:
        step = "make a .venv with the project's dependencies and pytest in it"
        yield "tests", "warn", "no environment of the project's own: tests run with reviewbot's Python", step


def _sandbox(wanted: str, ground: sandbox.Ground) -> Iterator[Line]:
    """The level that a review would have here, then every level."""
    tried = rungs(ground)
    good = next((rung for rung in tried if not rung.problem and wanted in ("auto", rung.level)), None)
    yield _chosen(wanted, good, tried)
    for rung in tried:
        needed = good is None and wanted in ("auto", rung.level)
        text = PASSED if not rung.problem else f"not here: {rung.problem}"
        yield rung.level, "warn" if needed else "ok", text, rung.next_step if needed else ""
    yield "unconfined", "ok", "only where it is asked for by name: limits and an empty environment, but no wall", ""
    yield "limits", "ok", _limits(ground.limits), ""
    if good and good.programs is not None:
        yield "tools", "ok", f"those of the image: {_names(name for name in TOOLS if name in good.programs)}", ""
    else:
        yield from _tools(spots(TOOLS, ground))


def _chosen(wanted: str, good: Rung | None, tried: tuple[Rung, ...]) -> Line:
    if wanted in ("none", "unconfined"):
        text = "nothing of a change is executed" if wanted == "none" else "a change is executed without a wall"
        return "sandbox", "warn", f"{wanted}, as configured: {text}", "--sandbox auto uses the best that is here"
    if good:
        return "sandbox", "ok", good.level, ""
    text = "none: nothing of a change is executed, only parsed"
    return "sandbox", "warn", text, tried[0].next_step or "see the levels below"


def _limits(limits: sandbox.Limits) -> str:
    """Of one job, in whole mebibytes."""
    sizes = f"{limits.memory_bytes // MIB} MiB of memory, {limits.folder_bytes // MIB} MiB of files in its tree and home each"
    return f"a job has {sizes}, {limits.processes} processes, {limits.threads} threads, {limits.cpu_seconds} s of CPU a process"


def _tools(found: tuple[Spot, ...]) -> Iterator[Line]:
    """Where they are, a line for each owner."""
    beside = sysconfig.get_path("scripts")
    project = [spot.name for spot in found if spot.owner == "project"]
    ours = [spot.name for spot in found if spot.owner == "machine" and spot.path.rpartition("/")[0] == beside]
    system = [spot.path for spot in found if spot.owner == "machine" and spot.name not in ours]
    missing = [spot.name for spot in found if not spot.path]
    for text, names in (
        ("of the project", project),
        ("beside reviewbot", ours),
        ("of the machine", system),
        ("not found, so their checks are left out", missing),
    ):
        if names:
            yield "tools", "ok", f"{text}: {_names(names)}", ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none that is known"
