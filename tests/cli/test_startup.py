"""What the first milliseconds may cost."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "asyncio",
    "coverage",
    "git",
    "griffe",
    "jinja2",
    "markdown_it",
    "pytest",
    "rich",
    "sqlite3",
    "subprocess",
    "tomllib",
    "yaml",
}
NEEDLESS = HEAVY | {
    "click",
    "dataclasses",
    "inspect",
    "json",
    "pathlib",
    "re",
    "tempfile",
    "traceback",
    "typing",
    "reviewbot.screen",
}


def loaded_by(*arguments: str) -> tuple[str, set[str]]:
    """What a command line prints, and the modules that are loaded after it."""
    program = (
        "import sys; from reviewbot.cli import main; code = main(sys.argv[1:]); "
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {program}", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, set(done.stderr.split())


def test_the_version_is_told_without_click():
    said, modules = loaded_by("--version")
    assert said.startswith("reviewbot 0.")
    assert not modules & NEEDLESS


def test_help_is_told_without_importing_a_command():
    said, modules = loaded_by("--help")
    assert "doctor" in said
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("reviewbot.cli.") and name != "reviewbot.cli.group"}


@pytest.mark.parametrize("command", ["schema", "init", "config"])
def test_a_small_command_does_not_load_the_review(command: str):
    _, modules = loaded_by(command, "--help")
    assert not modules & {"git", "jinja2", "rich", "reviewbot.pipeline", "reviewbot.wiring"}
