"""What the first milliseconds may cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo import Repo

#: What language models and their ledger bring. A review by the static panel pays for none of it.
OF_MODELS = {
    "alembic",
    "anthropic",
    "ast_grep_py",
    "boto3",
    "botocore",
    "google.genai",
    "httpx2",
    "openai",
    "psycopg",
    "pydantic",
    "sqlalchemy",
}

HEAVY = OF_MODELS | {
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


def loaded_by(*arguments: str, environment: dict[str, str] | None = None) -> tuple[str, set[str]]:
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
        env=environment,
        timeout=120,
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
    assert not modules & {"git", "jinja2", "rich", "reviewbot.pipeline"}
    assert {name for name in modules if name.startswith("reviewbot.wiring.")} <= {"reviewbot.wiring.places"}


@pytest.mark.parametrize("command", ["models", "sessions", "status", "explain", "doctor"])
def test_a_command_about_models_loads_no_library_of_theirs_to_tell_its_options(command: str):
    _, modules = loaded_by(command, "--help")
    assert not modules & OF_MODELS


@pytest.mark.parametrize("words", [(), ("--panel", "static")])
def test_a_review_by_the_static_panel_loads_nothing_of_language_models(git_repo: Repo, tmp_path: Path, words: tuple[str, ...]):
    git_repo.write("a.py", "def double(n, seen=[]):\n    return 2 * n\n")
    git_repo.commit()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    if words:
        environment["ANTHROPIC_API_KEY"] = "never-used"
    said, modules = loaded_by("review", "-C", str(git_repo.path), "-q", *words, environment=environment)
    assert "static panel, no language model" in said
    assert "a.py:1" in said
    assert not modules & (OF_MODELS | {"sqlite3"})
