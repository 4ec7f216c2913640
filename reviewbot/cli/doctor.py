from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Literal

import click
from msgspec import Struct
from ruff import find_ruff_bin

from reviewbot import __version__
from reviewbot.cli.config import committed_files
from reviewbot.cli.host import open_repository, read_layers
from reviewbot.cli.options import common
from reviewbot.cli.output import deliver, uses_color, width
from reviewbot.config.load import Loaded, load_settings, read_layer
from reviewbot.errors import GitError, ReviewbotError, SandboxError, UsageError
from reviewbot.git.process import ENVIRONMENT, Git
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.hooks.install import describe_hooks
from reviewbot.journal import Journal
from reviewbot.process import run_process
from reviewbot.sandbox.choose import open_sandbox
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.executor import LocalExecutor
from reviewbot.sandbox.job import Job, Sandbox
from reviewbot.text.plain import plain

Mark = Literal["✓", "!", "✗"]
COLORS: Mapping[Mark, str] = {"✓": "green", "!": "yellow", "✗": "red"}
# What runs in the sandbox to see whether the project's tests could.
PROGRAM = """
import sys
try:
    import pytest
    version = pytest.__version__
except ImportError:
    version = ""
print(sys.version.split()[0], version)
"""


class Item(Struct, frozen=True):
    """Something that works, that could be better, or that is broken and needed."""

    group: str
    mark: Mark
    text: str
    next_step: str = ""


@click.command
@common
def command() -> None:
    """Show what works here, what is missing, and the next step. Exit with 3 if it is broken."""
    items = asyncio.run(_collect(os.environ))
    deliver("\n".join(_lines(items)), None)
    if any(item.mark == "✗" for item in items):
        raise SystemExit(ReviewbotError.exit_code)


async def _collect(variables: Mapping[str, str]) -> list[Item]:
    return [item async for item in _items(variables)]


async def _items(variables: Mapping[str, str]) -> AsyncIterator[Item]:
    machine, project, panel = "This machine", "This project", "Language models"
    python = ".".join(map(str, sys.version_info[:3]))
    yield Item(machine, "✓", f"reviewbot {__version__} on Python {python}")
    try:
        version = (await Git(Path("/"))("version")).decode().strip()
        yield Item(machine, "✓", version)
    except GitError as error:
        yield Item(machine, "✗", str(error), error.hint or "")
    command = (find_ruff_bin(), "--version")
    ended = await run_process(command, environment=ENVIRONMENT, seconds=20, max_output=1_000)
    if ended.exit_code:
        yield Item(machine, "✗", "ruff does not run", "install reviewbot again")
    else:
        yield Item(machine, "✓", ended.stdout.decode().strip())

    loaded = Loaded(load_settings([]).settings, {})
    configuration = Item(project, "✓", "the configuration is valid")
    try:
        committed = await committed_files(variables)
        layers = [read_layer(name, "repository", text) for name, text in committed.items()]
        loaded = load_settings([*read_layers(variables, {}), *layers])
        if not committed:
            step = "reviewbot init"
            configuration = Item(
                project, "✓", "no configuration is committed: defaults count", step
            )
    except ReviewbotError as error:
        configuration = Item(project, "✗", str(error), error.hint or "reviewbot config check")

    settings = loaded.settings
    with open_repository(variables) as repository:
        try:
            root = await repository.root()
        except GitError as error:
            root = None
            yield Item(project, "!", str(error), "go to a git repository, or name one with -C")
        environment = find_environment(root, variables)
        sandbox = open_sandbox(settings.sandbox.kind, settings.sandbox.image, environment)
        try:
            await sandbox.check()
            reason = sandbox.reason
        except SandboxError as error:
            reason = f"{error}: {error.hint}" if error.hint else str(error)
        if reason:
            text = f"no sandbox starts, so tests of a change do not run: {reason}"
            yield Item(machine, "!", text, reason.rpartition(": ")[2])
        else:
            yield Item(machine, "✓", "the sandbox starts, so tests of a change run in it")
        yield configuration
        if root:
            if not reason:
                yield await _tests(project, repository, sandbox)
            for is_well, text in await describe_hooks(root, variables):
                mark: Mark = "✓" if is_well else "!"
                yield Item(project, mark, text, "" if is_well else "reviewbot hook install")
    if settings.panel:
        yield Item(panel, "✓", f"configured panelists: {', '.join(settings.panel)}")
    else:
        step = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST"
        yield Item(panel, "!", "no panel is configured: only executed checks decide", step)


async def _tests(group: str, repository: Repository, sandbox: Sandbox) -> Item:
    """Run the project's interpreter in the sandbox, on the last commit."""
    try:
        head = await repository.load_change(Target(kind="revision", revision="HEAD"))
    except UsageError:
        return Item(group, "!", "there is no commit yet", "git commit")
    job = Job(
        tree=head.head_tree,
        command=("{python}", "-c", PROGRAM),
        executes=True,
        paths=(),
        seconds=30,
    )
    with LocalExecutor(repository, sandbox, Journal()) as executor:
        completed = await executor.execute(job)
    if completed.exit_code != 0:
        lines = completed.stderr.decode(errors="replace").strip().splitlines() or [completed.reason]
        return Item(group, "!", f"the project's Python does not run in the sandbox: {lines[-1]}")
    python, _, pytest = completed.stdout.decode(errors="replace").strip().partition(" ")
    if not pytest:
        step = "install pytest into the project's environment"
        return Item(group, "!", f"the project's Python {python} has no pytest", step)
    return Item(group, "✓", f"the project's Python {python} has pytest {pytest}")


def _lines(items: list[Item]) -> list[str]:
    lines: list[str] = []
    columns = max(40, width())
    for group in dict.fromkeys(item.group for item in items):
        lines += ["", group] if lines else [group]
        for item in items:
            if item.group != group:
                continue
            mark: str = item.mark
            if uses_color(sys.stdout):
                mark = click.style(item.mark, fg=COLORS[item.mark], bold=True)
            wrapped = textwrap.wrap(plain(item.text), columns - 4, break_long_words=False)
            lines += [f"  {mark} {wrapped[0]}", *(f"    {line}" for line in wrapped[1:])]
    steps = [item.next_step for mark in "✗!✓" for item in items if item.mark == mark]
    step = next(filter(None, steps), "reviewbot review")
    return [*lines, "", f"Next: {plain(step)}"]
