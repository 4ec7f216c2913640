"""What documentation says about the program holds."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Union, get_args, get_origin

import click
import msgspec
import pytest
import yaml
from click.testing import CliRunner
from each import each
from msgspec import Struct

from reviewbot.checks.languages import LANGUAGES
from reviewbot.checks.readers import READERS
from reviewbot.checks.scans import SCANS, SYNTAX, SYNTAX_LANGUAGES
from reviewbot.cli.commands import BROKEN_PIPE, BUG, COMMANDS, reviewbot
from reviewbot.config.load import WHO_MAY_SET, allowed, load_settings, read_layer
from reviewbot.config.settings import Settings
from reviewbot.debate import first_pass, judge, plan, reproduce
from reviewbot.debate.panel import LENSES
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.hooks.run import PUSH_SECONDS
from reviewbot.llm.providers import VENDORS
from reviewbot.llm.tools import TOOLS
from reviewbot.proofs import proof
from reviewbot.reports import FORMATS
from reviewbot.sandbox.job import Limits
from reviewbot.text.secrets import FORMATS as SECRETS
from reviewbot.verdict.rules import TABLE

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
COMMON = {"-C", "-v", "--verbose", "-q", "--quiet", "--color", "--help"}
MAY_SET = {None: "anyone", "lower": "lower only", "operator": "operator"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """What stands below a heading, up to the next one of the same level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    _, found, rest = text_of(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading}"
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without their headings."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if re.match(r"\|[-|]+\|$", line):
            found.pop()
        elif line.startswith("|"):
            found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# --- links and commands


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_resolves(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for link in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
        target, _, anchor = "".join(link).partition("#")
        if "://" in target:
            continue
        file = page.parent / target if target else page
        assert file.exists(), link
        assert not anchor or anchor in anchors(file), link


def shown_commands() -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for block in blocks(page, "console"):
            for line in block.splitlines():
                words = shlex.split(line.removeprefix("$ ").rpartition(" | ")[2], comments=True)
                if words[:1] == ["reviewbot"]:
                    yield page.name, words[1:]


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words behind its name."""
    command: click.Command = reviewbot
    context = click.Context(command)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        assert inner, f"there is no command {words[0]}"
        command, words = inner, words[1:]
    return command, words


def options_of(command: click.Command) -> set[str]:
    options = {opt for parameter in command.params for opt in parameter.opts if opt[0] == "-"}
    hidden = {
        opt for p in command.params if isinstance(p, click.Option) and p.hidden for opt in p.opts
    }
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            if inner := command.get_command(click.Context(command), name):
                options |= options_of(inner)
    return options - hidden - COMMON


@each(("page", "words"), [*shown_commands()])
def test_every_command_that_is_shown_exists(page: str, words: list[str]) -> None:
    command, rest = command_of(words)
    options = {word for word in rest if word.startswith("-") and word not in ("-", "--")}
    assert options <= options_of(command) | COMMON, page
    names = words[: len(words) - len(rest)]
    assert CliRunner().invoke(reviewbot, [*names, "--help"]).exit_code == 0


def test_the_readme_is_short_and_lists_every_command() -> None:
    assert len(text_of("README.md").split()) <= 700, "shorten another sentence of README.md"
    names = [code(cells[0])[0] for cells in rows(section("README.md", "## Commands"))]
    assert names == [f"reviewbot {name}" for name in COMMANDS]


@each("name", [*COMMANDS])
def test_every_option_of_a_command_is_documented(name: str) -> None:
    command, _ = command_of([name])
    words = re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", section("docs/cli.md", f"## {name}"))
    assert set(words) == options_of(command)
    for option in command.params:
        if isinstance(option.type, click.Choice) and option.name in ("fail_on", "sandbox"):
            choices = f"{option.opts[0]} " + "\\|".join(option.type.choices)
            assert choices in section("docs/cli.md", f"## {name}")
    if isinstance(command, click.Group):
        for inner in command.list_commands(click.Context(command)):
            assert f"`reviewbot {name} {inner}" in section("docs/cli.md", f"## {name}")


def test_formats_and_exit_codes_are_documented() -> None:
    assert [code(cells[0])[0] for cells in rows(section("docs/cli.md", "## Formats"))] == [*FORMATS]
    codes = [
        int(number)
        for cells in rows(section("docs/cli.md", "## Exit codes"))
        for number in re.findall(r"\d+", cells[0])
    ]
    known = {0, 1, UsageError.exit_code, ReviewbotError.exit_code, BUG, 129, 130, 143, BROKEN_PIPE}
    assert set(codes) == known


# --- configuration


def keys(struct: type[Struct], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """(key, values, default) of all settings, as the documentation writes them."""
    for field in msgspec.structs.fields(struct):
        kind, name = field.type, f"{prefix}{field.name}"
        options = (kind, *get_args(kind))
        inner = next(
            (one for one in options if isinstance(one, type) and issubclass(one, Struct)), None
        )
        if inner:
            place = ".NAME" if get_origin(kind) is dict else "[]" if len(options) > 1 else ""
            place = "" if get_origin(kind) in (Union, types.UnionType) else place
            yield from keys(inner, f"{name}{place}.")
        else:
            values = "a list" if get_origin(kind) is tuple else allowed(kind)
            default = "required" if field.required else f"`{json.dumps(field.default)}`"
            yield name, values, default


def test_every_key_is_documented_with_its_values_default_and_who_may_set_it() -> None:
    documented = {code(cells[0])[0]: cells[1:] for cells in rows(section(*CONFIGURATION))}
    known = {key: (values, default) for key, values, default in keys(Settings)}
    assert documented.keys() == known.keys()
    for key, (values, default) in known.items():
        assert documented[key][0].startswith(values), key
        section_name = re.split(r"[.\[]", key)[0]
        assert documented[key][1:] == [default, MAY_SET[WHO_MAY_SET.get(section_name)]], key


CONFIGURATION = ("docs/configuration.md", "## Keys")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_configuration_that_is_shown_is_valid(page: Path) -> None:
    sections = {field.name for field in msgspec.structs.fields(Settings)}
    for block in blocks(page, "yaml"):
        if yaml.safe_load(block).keys() & sections:
            load_settings([read_layer(".reviewbot.yml", "user", block.encode())])
    for block in blocks(page, "toml"):
        if "reviewbot" in tomllib.loads(block).get("tool", {}):
            load_settings([read_layer("pyproject.toml", "user", block.encode())])


# --- checks, debate, sandbox


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_everything_that_an_example_imports_exists(page: Path) -> None:
    for line in "\n".join(blocks(page, "python")).splitlines():
        if line.startswith(("import ", "from ")):
            exec(line, {})


def test_every_check_is_documented() -> None:
    built_in = [check for language in LANGUAGES for check in language.checks]
    kinds = {
        **dict.fromkeys((*SCANS, SYNTAX), ("scan", "no")),
        **{
            check.name: (
                "tests" if check.kind == "test" else "linter",
                "yes" if check.executes else "no",
            )
            for check in built_in
        },
    }
    table = rows(section("docs/checks.md", "## Built-in checks"))
    assert {code(cells[0])[0]: (cells[1], cells[-1]) for cells in table} == kinds


def test_formats_of_tools_secrets_and_languages_are_documented() -> None:
    readers = rows(section("docs/checks.md", "## Checks of your own"))
    kinds = {name: {"lint": "linter", "test": "tests"}[kind] for name, (kind, _) in READERS.items()}
    assert {code(cells[0])[0]: cells[1] for cells in readers} == kinds
    secrets = rows(section("docs/checks.md", "## Secrets"))
    names = [name for cells in secrets for cell in cells for name in code(cell)]
    assert sorted(names) == sorted({format_.name for format_ in SECRETS})
    syntax = rows(section("docs/checks.md", "## Syntax errors"))
    languages = {name: cells[0] for cells in syntax for name in code(cells[1])}
    assert languages == SYNTAX_LANGUAGES


def test_the_decision_table_is_that_of_the_program() -> None:
    table = [
        [
            str(number),
            rule.words,
            rule.status,
            f"from {rule.blocks_from}" if rule.blocks_from else "never",
        ]
        for number, rule in enumerate(TABLE, start=1)
    ]
    assert rows(section("docs/debate.md", "## Decision table"))[: len(table)] == table


def test_panelists_and_limits_of_the_debate_are_documented() -> None:
    lenses = {code(cells[0])[0]: cells[1] for cells in rows(section("docs/debate.md", PANEL))}
    assert lenses == LENSES
    limits = {cells[0]: int(cells[1]) for cells in rows(section("docs/debate.md", "## Protocol"))}
    assert limits == {
        "claims of one panelist": first_pass.MAX_CLAIMS,
        "claims in one question": judge.MAX_CASES,
        "claims for which a test is asked": reproduce.MAX_TESTED,
        "runs of a test on each side": proof.TIMES,
    }


def test_efforts_and_the_time_of_a_push_are_documented() -> None:
    table = rows(section("docs/debate.md", "## Effort"))
    rounds = {code(cells[0])[0]: int(cells[2][0]) for cells in table}
    assert rounds == plan.ROUNDS
    assert f"more than {plan.SMALL_LINES} lines" in text_of("docs/debate.md")
    assert f"{PUSH_SECONDS} s" in text_of("docs/hooks.md")


def test_providers_and_their_keys_are_documented() -> None:
    table = rows(section("docs/models.md", "## Providers"))
    shown = {code(cells[0])[0]: cells[1:] for cells in table}
    assert shown.keys() == VENDORS.keys()
    for name, vendor in VENDORS.items():
        key, extra, model = shown[name]
        assert tuple(code(key)) == (vendor.key_names or vendor.opt_in), name
        assert (extra, model) == (f"`{vendor.extra}`", f"`{vendor.model}`"), name
        extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
        assert vendor.extra in extras


def test_tools_are_documented() -> None:
    table = rows(section("docs/models.md", "## Tools"))
    assert [code(cells[0])[0] for cells in table] == [*TOOLS]


PANEL = "## Panelists"


def test_the_limits_of_the_sandbox_are_documented() -> None:
    limits = Limits()
    table = [cells[1] for cells in rows(section("docs/security.md", "## The sandbox"))]
    sizes = (limits.memory, limits.file, limits.tree, limits.temporary, limits.shared)
    assert table == [
        str(limits.processes),
        *(f"{size >> 20} MiB" for size in sizes),
        *(f"{size // 1_000_000} MB" for size in (limits.output, limits.report)),
        f"{limits.seconds:.0f} s",
    ]


# --- contributing


def package_rows() -> list[tuple[list[str], int]]:
    table = rows(section("CONTRIBUTING.md", "## How a review flows"))
    return [(code(cells[0]), int(cells[-1])) for cells in table]


@each(("names", "most"), package_rows())
def test_a_package_is_no_larger_than_planned(names: list[str], most: int) -> None:
    program = ROOT / "reviewbot"
    found = (file for n in names for file in (program / f"{n}.py", *(program / n).rglob("*.py")))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in found if file.exists())
    assert 0 < lines <= most, "raise the number in CONTRIBUTING.md, or shorten the code"


def test_every_package_stands_in_the_order_of_the_import_contract() -> None:
    documented = [name for names, _ in package_rows() for name in names]
    program = ROOT / "reviewbot"
    modules = {path.stem for path in program.glob("*.py") if not path.stem.startswith("__")}
    packages = {path.parent.name for path in program.glob("*/__init__.py")}
    assert set(documented) == modules | packages
    listed = text_of(".importlinter").partition("layers =")[2]
    layers = re.findall(r"^    \(?(\w+)\)?$", listed, re.MULTILINE)
    assert set(layers) == set(documented)
    lowest = {*package_rows()[0][0]}
    upwards = [name for name in reversed(layers) if name not in lowest | OPTIONAL]
    assert [name for name in documented if name not in lowest | OPTIONAL] == upwards


# Neither of these is imported by another, so their order means nothing.
OPTIONAL = {"hooks", "demo", "services", "pipeline"}


def test_every_file_that_a_task_touches_exists() -> None:
    tasks = section("CONTRIBUTING.md", "## Where to change what")
    paths = [word for word in code(tasks) if "/" in word or word.endswith(".md")]
    assert len(re.findall(r"^\*\*", tasks, re.MULTILINE)) == 16
    assert len(paths) > 30
    for path in paths:
        file = ROOT / path
        assert file.parent.is_dir() if "NAME" in path else file.exists(), path


def test_every_name_that_a_task_touches_is_one_of_its_files() -> None:
    """Constants and classes."""
    for task in section("CONTRIBUTING.md", "## Where to change what").split("\n\n"):
        words = code(task)
        files = [ROOT / word for word in words if "/" in word and (ROOT / word).is_file()]
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
        names = {word for word in words if re.fullmatch(r"[A-Z]\w+", word)} - {"FILE", "NAME"}
        unknown = {name for name in names if not re.search(rf"\b{name}\b", text)}
        assert not unknown, f"{unknown} is in no file of: {task.split(':')[0]}"


def test_actions_are_pinned() -> None:
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        for line in re.findall(r"uses: (.+)", workflow.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", line)
