"""What ``doctor`` is told about this place."""

from __future__ import annotations

import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.installed import Extension
from reviewbot.adapters.sandbox.survey import Rung, Spot, rungs, spots
from reviewbot.config import Configuration
from reviewbot.errors import ConfigError, GitError, RepositoryError, RevisionError
from reviewbot.events.target import whole
from reviewbot.wiring import hosting, languages, outside
from reviewbot.wiring.rooms import open_repository

Line = tuple[str, str, str, str]
"""Name, ``ok``, ``open`` or ``warn`` (see ``reviewbot.cli.diagnosis``), what and why it matters, next step."""

TOOLS = (
    *("ruff", "mypy", "pyright", "pytest", "coverage", "crosshair", "go", "golangci-lint", "node", "npm", "eslint", "tsc"),
    *("bash", "shellcheck", "sqlfluff", "psql", "initdb", "zizmor", "actionlint", "hadolint", "hyperfine"),
)
"""The programs that presets and checks run where they are."""
PASSED = "self-test passed: it starts, has no network and no power, and writes nothing but its own copy"
MIB = 1024 * 1024


def diagnose(directory: Path, environment: Mapping[str, str], configuration: Configuration) -> Iterator[Line]:
    """What is found in this place: repository, sandbox with every level, limits, tools, the tests' Python."""
    toplevel: Path | None = None
    paths: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                toplevel, paths = repo.toplevel, _paths(repo)
                yield "repository", "ok", str(toplevel), ""
        except RepositoryError as exc:
            yield "repository", "warn", exc.message, exc.hint or "run it inside a git repository"
        empty = Path(scratch, "tree")
        empty.mkdir()
        interpreters, host = sandbox.discover(toplevel), hosting.host(environment, configuration)
        ground = sandbox.Ground(lambda _: empty, interpreters, sandbox.Limits(), toplevel, host)
        tried = rungs(ground)
        good = _good(configuration.get("sandbox", str), tried)
        yield from _sandbox(configuration.get("sandbox", str), ground, tried=tried, good=good)
        has_own = any("run" in check for check in configuration.records("checks"))
        yield from languages.lines(paths, _finder(ground, good), has_own=has_own)
    if interpreters.project:
        yield "tests", "ok", f"run with the project's own {interpreters.project}", ""
    elif any(path.endswith(".py") for path in paths):
        step = "make a .venv with the project's dependencies and pytest in it"
        yield "tests", "warn", "no environment of the project's own: tests run with reviewbot's Python", step
    try:
        yield from _extensions(outside.extensions())
    except ConfigError as exc:
        yield "extension", "warn", exc.message, exc.hint


def _extensions(found: Iterable[Extension]) -> Iterator[Line]:
    """What installed packages add, a line for each package; and names that several add, which nobody can use."""
    listed = tuple(found)
    for origin in dict.fromkeys(one.origin for one in listed):
        added = ", ".join(f"the {one.kind} {one.name}" for one in listed if one.origin == origin)
        yield "extension", "ok", f"{origin} adds {added}", ""
    owners: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in listed:
        owners[one.kind, one.name].append(one.origin)
    for (kind, name), origins in owners.items():
        if len(origins) > 1:
            yield "extension", "warn", f"the {kind} {name} is added by {' and '.join(origins)}", "remove all of them but one"


def _paths(repo: GitRepo) -> tuple[str, ...]:
    """The files of HEAD; none where nothing is committed."""
    try:
        head = repo.resolve(whole(None)).head_tree
        return tuple(entry.path for entry in repo.entries(head)) if head else ()
    except (RevisionError, GitError):
        return ()


def _good(wanted: str, tried: tuple[Rung, ...]) -> Rung | None:
    """The level that a review would have here."""
    return next((rung for rung in tried if not rung.problem and wanted in ("auto", rung.level)), None)


def _finder(ground: sandbox.Ground, good: Rung | None) -> Callable[[str], bool]:
    """Whether a job would find a program."""
    if good is not None and good.programs is not None:
        return good.programs.__contains__
    return lambda name: any(spot.path for spot in spots((name,), ground))


def _sandbox(wanted: str, ground: sandbox.Ground, *, tried: tuple[Rung, ...], good: Rung | None) -> Iterator[Line]:
    """The level that a review would have here, then every level."""
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
