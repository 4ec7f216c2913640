"""``docs/benchmarks.md``: the table on it and the machine are written by ``python -m benchmarks --write``, and by nobody else."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

from benchmarks.figures import Figure

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: written by python -m benchmarks --write -->\n", "<!-- end of figures -->\n"
PACKAGES = ("reviewbot", "unidiff", "pre-commit", "ruff", "pytest", "openai")
PROGRAMS = (("git", "--version"), ("go", "version"), ("bwrap", "--version"))


def machine() -> tuple[tuple[str, str], ...]:
    """What figures depend on: names and what is here."""
    programs = (_first_line(command) for command in PROGRAMS)
    return (
        ("date", datetime.now(UTC).strftime("%Y-%m-%d")),
        ("processor", f"{_processor()}, {os.cpu_count()} cores; load before: {os.getloadavg()[0]:.1f}"),
        ("system", f"{platform.system()} {platform.release()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("tools", ", ".join(filter(None, [*map(_package, PACKAGES), *programs]))),
    )


def rendered(found: Sequence[Figure], headed: Mapping[str, str], told: Sequence[tuple[str, str]]) -> str:
    """The machine and the tables as Markdown: one for each script, by the names in ``headed``."""
    lines = ["| measured | on |", "|---|---|", *(f"| {what} | {words} |" for what, words in told), ""]
    for script, figures in groupby((one for one in found if one.is_comparable), key=lambda one: one.script):
        lines += [f"### {headed[script]}", "", "| what | measured | lowest to highest | bar | |", "|---|---|---|---|---|"]
        lines += [_row(figure) for figure in figures] + [""]
    return "\n".join(lines)


def write(section: str) -> None:
    """Put the section in the place of the one before. Raises ValueError where the page has no place for it."""
    page = PAGE.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has lost the lines {BEGIN.strip()} and {END.strip()}")
    PAGE.write_text(f"{before}{BEGIN}\n{section}\n{END}{after}", encoding="utf-8")


def _row(figure: Figure) -> str:
    spread, bar = figure.spread.strip("()"), figure.bar.replace("<=", "≤").replace(">=", "≥")
    return f"| {figure.part}: {figure.what} | {figure.measured} | {spread} | {bar} | {figure.word} |"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.machine())


def _package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _first_line(command: Sequence[str]) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    try:
        said = subprocess.run(command, env={"PATH": path, "HOME": "/nonexistent"}, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return said.stdout.partition("\n")[0].replace(" version", "").strip()
