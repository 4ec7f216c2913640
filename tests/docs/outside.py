"""What a page's commands are not run as they stand, each with its reason. Everything else on a page is run."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

import click

from reviewbot.cli.group import reviewbot
from tests.docs.pages import TOP

Check = Callable[[str], str]
"""Looks at a command that is not run; what is wrong with it, or nothing."""


@dataclass(frozen=True)
class Row:
    """Commands that match ``pattern`` (of the whole command, comment included) are not run, but looked at."""

    pattern: str
    reason: str
    check: Check | None = None


@dataclass(frozen=True)
class StandIn:
    """Commands that match ``pattern`` are run as ``command``."""

    pattern: str
    command: str
    reason: str


def known_options(command: str) -> str:
    """A call of reviewbot names a command and options that ``--help`` knows."""
    words = shlex.split(command, comments=True)
    words = words[words.index("reviewbot") + 1 :]
    node: click.Command = reviewbot
    while isinstance(node, click.Group):
        context = click.Context(node)
        if not words or (inner := node.get_command(context, words[0])) is None:
            return f"{node.name} has no command {words[:1]}"
        node, words = inner, words[1:]
    known = {option for parameter in node.params for option in (*parameter.opts, *parameter.secondary_opts)}
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known]
    return f"{node.name} does not know {unknown}" if unknown else ""


def known_extra(command: str) -> str:
    """An installation names extras that the project has."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra.strip() for group in re.findall(r"\[([^\]]+)\]", command) for extra in group.split(",")}
    unknown = named - set(project["optional-dependencies"])
    return f"there is no extra {sorted(unknown)}" if unknown else ""


def known_script(command: str) -> str:
    """A folder of this repository can be run as a module, which names every option."""
    name, *words = shlex.split(command, comments=True)[2:]
    main = TOP / name / "__main__.py"
    if not main.is_file():
        return f"{name} is no module to run"
    source = main.read_text(encoding="utf-8")
    unknown = [word for word in words if word.startswith("--") and f'"{word}"' not in source]
    return f"{name} does not know {unknown}" if unknown else ""


OUTSIDE = (
    Row(r"(?:\S*/)?(?:pip|pipx|uv) (?:tool )?install .*", "asks a package index", known_extra),
    Row(r"ollama .*", "Ollama is not on the machine of the tests; a fake server speaks its protocol"),
    Row(r"python -m benchmarks.*", "takes minutes, and measures nothing beside other tests", known_script),
    Row(
        r"reviewbot publish .*--pull-request.*",
        "needs a pull request; tests/forge and tests/action post on a fake one",
        known_options,
    ),
    Row(
        r"reviewbot ask .*--pattern relay",
        "needs the package that its page shows; tests/extension installs it and runs this",
        known_options,
    ),
    Row(r"pre-commit (?:try-repo|run) .*", "fetches this repository; tests/hooks/test_framework.py does it from a disk"),
)
"""The first row that matches decides."""

STAND_INS = (
    StandIn(
        r"export ANTHROPIC_API_KEY=….*",
        'export ANTHROPIC_API_KEY=key-of-the-tests REVIEWBOT__PROVIDERS__ANTHROPIC__BASE_URL="$FAKE_MODELS"',
        "a key of the reader's; fake models answer for the vendor",
    ),
    StandIn(
        r"export OLLAMA_HOST=\S+.*",
        'export OLLAMA_HOST="$FAKE_MODELS"',
        "a server of the reader's; a fake one speaks Ollama's protocol",
    ),
)

ENDS_WITH: dict[tuple[str, str], int] = {
    ("docs/cost.md", "reviewbot review --no-exec --max-cost-usd 0.01"): 3,
}
"""Commands that end with another code than 0, by page and command: that is what the page says of them."""

GIVEN: dict[str, str] = {
    "docs/fixes.md": "git checkout -q -b tax main && printf 'import os\\n\\nTAX = 20\\n' > shop/tax.py && git add shop && git commit -q -m 'Add a tax'",
    "docs/examples/README.md": 'ln -s "$REVIEWBOT_TOP" ~/reviewbot',
}
"""What a page takes for granted before its first block, as lines of shell. By page."""


def row_of(command: str) -> Row | None:
    """The row of a command that is not run."""
    return next((row for row in OUTSIDE if re.fullmatch(row.pattern, command, re.DOTALL)), None)


def stood_in(command: str) -> str:
    """The command that is run in a command's place; mostly itself."""
    return next((one.command for one in STAND_INS if re.fullmatch(one.pattern, command, re.DOTALL)), command)
